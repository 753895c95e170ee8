"""The door of a server: who may come in, the size of a request, and the headers of every reply.

    app = Guard(make_app(...), token="...", host="0.0.0.0")

On loopback everyone on the machine may come in, but no page of another site: its requests name another host or origin.
At any other address a request has the token: as ``Authorization: Bearer TOKEN``, or as the password that a browser asks
for.
"""

from __future__ import annotations

import base64
import hmac
import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kg.errors import ConfigError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of replies: nothing of another site, and no script or style inside a page."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_LOCAL = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def check_token(host: str, token: str | None) -> None:
    """Raises ConfigError where an address that others can reach has no token, or one that can be guessed."""
    if token is None and not is_loopback(host):
        raise ConfigError(f"token must be set where others can reach the server, got host {host} and no token")
    if token is not None and (len(token) < 16 or not token.isascii()):
        raise ConfigError(f"token must have at least 16 ASCII characters, got {len(token)}")


def _hostname(address: str) -> str | None:
    """The host of an address; ``None`` where it has none or is malformed."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


class Guard:
    """An application, after the checks of each request.

    Args:
        app: The application.
        token: The token, if one is needed.
        host: The address of the server.
        largest: Bytes that a request may have.
    """

    def __init__(self, app: ASGIApp, *, token: str | None, host: str, largest: int) -> None:
        self.app, self.token, self.largest = app, token, largest
        self.hosts = {*_LOCAL, host} if is_loopback(host) else None

    def allows(self, headers: Headers) -> bool:
        """Whether the headers of a request have the token."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            with suppress(ValueError):
                given = base64.b64decode(given).decode().partition(":")[2]
        return self.token is None or hmac.compare_digest(given.strip().encode(), self.token.encode())

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the reason for which a request is refused, if it is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.hosts is not None and _hostname(f"//{host}") not in self.hosts:
            return 421, "this server answers on loopback only"
        if scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
            if site not in ("same-origin", "none") or (origin is not None and origin.partition("://")[2] != host):
                return 403, "a page of another site must not ask here"
            length = headers.get("content-length", "")
            if not length.isdigit():
                return 411, "a request must have its length"
            if int(length) > self.largest:
                return 413, f"a request must have at most {self.largest:,} bytes, got {int(length):,}"
        if not self.allows(headers):
            return 401, "the token is missing or wrong"
        return None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses a request, or passes it on; the reply gets its headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update({name: value for name, value in HEADERS.items() if name not in headers})
            await send(message)

        app = self.app
        if (refusal := self.refusal(scope)) is not None:
            status, reason = refusal
            asks = {"WWW-Authenticate": 'Basic realm="the password is the token of finpath"'} if status == 401 else {}
            app = JSONResponse({"detail": reason}, status, asks)
        await app(scope, receive, send_with_headers)
