"""Fetching of addresses that others choose: public ones only, within limits of time and size.

    fetched(("GET", "https://example.org/a"), limits)

A name is looked up once and the connection goes to the address that was checked; a second look-up could give another
one. The list of refused networks is the IANA's registries of special addresses. Python's ``is_global`` misses some.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import ssl
import time
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import httpcore
import httpx

from kg.errors import DataError

_AGENT = "finpath (https://w3id.org/finpath)"
_REDIRECTS = (301, 302, 303, 307, 308)

REFUSED = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
            *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4"),
            *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
        ),
    )
)
"""Networks that are no public ones."""

_PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
"""All public addresses of IPv6; translated, mapped, local and multicast ones are outside."""


@dataclass(frozen=True)
class WebLimits:
    """The limits of one request.

    Attributes:
        seconds: For the whole request, its redirects included.
        size: Bytes of the reply.
        redirects: Followed at the most.
        private: Whether addresses of this machine and its network are allowed.
    """

    seconds: float = 15.0
    size: int = 5_000_000
    redirects: int = 5
    private: bool = False


def is_public(address: str) -> bool:
    """Whether an IP address is a public one."""
    given = ipaddress.ip_address(address.partition("%")[0])
    if given.version == 6 and given not in _PUBLIC_IPV6:
        return False
    return not any(given.version == network.version and given in network for network in REFUSED)


def fetch(address: str, parameters: Mapping[str, str] | None, limits: WebLimits) -> tuple[str, bytes]:
    """Returns the type and the content of the reply of an address.

    Raises:
        DataError: The address is malformed or not allowed, does not answer in time, or the reply is too large.
    """
    deadline = time.monotonic() + limits.seconds
    if parameters:
        address = f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}"
    for _ in range(limits.redirects + 1):
        try:
            reply = _fetched(address, limits, deadline)
        except DataError:
            raise
        except (httpcore.TimeoutException, TimeoutError) as error:
            raise DataError(f"took longer than {limits.seconds:g} seconds", file=address) from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpx.InvalidURL, OSError, ValueError) as error:
            raise DataError(f"cannot be fetched: {type(error).__name__}: {error}", file=address) from error
        if not isinstance(reply, str):
            return reply
        address = reply
    raise DataError(f"redirects more than {limits.redirects} times", file=address)


def _fetched(address: str, limits: WebLimits, deadline: float) -> tuple[str, bytes] | str:
    """Returns the reply, or the address that it redirects to."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DataError("an address must begin with http:// or https://", file=address)
    url = httpx.URL(address)  # names in other scripts, and characters that an address cannot hold
    headers = {"Host": url.netloc.decode(), "User-Agent": _AGENT, "Accept-Encoding": "identity"}
    # A pool for each request: no connection to an address that was checked earlier is used again.
    with _pool(parts.scheme, parts.hostname, limits, deadline) as pool:
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        with pool.stream("GET", target, headers=list(headers.items())) as reply:
            named: dict[str, str] = {key.decode().lower(): value.decode("latin-1") for key, value in reply.headers}
            if reply.status in _REDIRECTS:
                if "location" not in named:
                    raise DataError("redirects to no address", file=address)
                return str(urljoin(address, named["location"]))
            if reply.status >= 300:
                raise DataError(f"the server answered {reply.status}", file=address)
            if named.get("content-encoding", "identity") != "identity":
                raise DataError(f"is packed by {named['content-encoding']}, which was not asked for", file=address)
            kind = named.get("content-type", "").partition(";")[0].strip().lower()
            return kind, _body(reply.iter_stream(), address, limits)


def _body(chunks: Iterable[bytes], address: str, limits: WebLimits) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > limits.size:
            raise DataError(f"is larger than {limits.size} bytes", file=address)
    return bytes(body)


def _pool(scheme: str, host: str, limits: WebLimits, deadline: float) -> Any:
    backend = _Backend(limits.private, deadline)
    context = httpx.create_ssl_context()
    proxy = urllib.request.getproxies().get(scheme) if limits.private else None
    if proxy is not None and not urllib.request.proxy_bypass(host):
        return httpcore.HTTPProxy(proxy, ssl_context=context, network_backend=backend)
    # A proxy would look the name up itself: pages that a model chooses are fetched without one.
    return httpcore.ConnectionPool(ssl_context=context, network_backend=backend)


class _Backend(httpcore.NetworkBackend):
    """Connects to the address that was checked, until a deadline.

    Args:
        private: Whether addresses of this machine and its network are allowed.
        deadline: By the monotonic clock.
    """

    def __init__(self, private: bool, deadline: float) -> None:
        self._private, self._deadline, self._inner = private, deadline, httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline is the only limit
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        problem: Exception | None = None
        for address in self._checked(host, port):
            try:
                left = _left(self._deadline)
                stream = self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
            else:
                return _Stream(self._checked_peer(stream, host), self._deadline)
        raise problem if problem is not None else httpcore.ConnectError(f"{host} has no address")

    def _checked_peer(self, stream: httpcore.NetworkStream, host: str) -> httpcore.NetworkStream:
        """Returns a connection whose other end is allowed too, whatever the name was looked up as."""
        peer = stream.get_extra_info("server_addr")
        if self._private or (peer and is_public(str(peer[0]))):
            return stream
        stream.close()
        raise DataError("led to an address of this machine or its network, which is not allowed", file=host)

    def _checked(self, host: str, port: int) -> list[str]:
        """Returns the addresses of a name, looked up once; all must be public."""
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise DataError(f"cannot be found: {error}", file=host) from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
        if not self._private and not all(map(is_public, addresses)):
            raise DataError("is an address of this machine or its network, which is not allowed", file=host)
        return addresses

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    """A connection that ends at a deadline."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._inner.read(max_bytes, _left(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._inner.write(buffer, _left(self._deadline))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, _left(self._deadline))
        return _Stream(inner, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout
    return left
