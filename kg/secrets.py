"""Texts without the keys of the environment, and without users and passwords in addresses.

>>> without_secrets("401: key sk-1234567 is wrong for https://ann:pw@example.org")  # where API_KEY=sk-1234567
'401: key [API_KEY] is wrong for https://[…]@example.org'
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from html.entities import codepoint2name
from typing import Any

_NAME = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|PAT)($|_)", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^/@\s'\"]*@")
_SHORTEST = 8


def without_secrets(value: Any) -> Any:
    """Plain data with the name of a key in place of its value in every text, and whole characters alone.

    The values of environment variables that a name calls a key are replaced, as they are and as a server may echo
    them: in base64 or base32, also inside a longer text, in hexadecimal, and with escapes of JSON, addresses or HTML.
    """
    named = {name: text for name, text in os.environ.items() if _NAME.search(name) and len(text) >= _SHORTEST}
    return _mapped(value, _pattern(tuple(sorted(named.items(), key=lambda item: -len(item[1])))))


_Pattern = tuple[re.Pattern[str], tuple[str, ...]]


@lru_cache(maxsize=8)
def _pattern(secrets: tuple[tuple[str, str], ...]) -> _Pattern | None:
    """A pattern with a group for each secret, which matches its forms, and the names of the secrets."""
    if not secrets:
        return None
    groups = (f"({'|'.join(_forms(secret))})" for _, secret in secrets)
    return re.compile("|".join(groups), re.IGNORECASE), tuple(name for name, _ in secrets)


def _forms(secret: str) -> Iterator[str]:
    """Patterns of a secret in each encoding."""
    raw = secret.encode("utf-8", errors="surrogateescape")
    yield "".join(map(_escaped, secret))
    yield "[: -]?".join(f"{byte:02x}" for byte in raw)
    for encode, bits, group in ((base64.b64encode, 6, 3), (base64.b32encode, 5, 5)):
        for before in range(group):  # bytes before it in the text that is encoded: only whole letters are its own
            text = encode(bytes(before) + raw)[-(-8 * before // bits) : 8 * (before + len(raw)) // bits].decode()
            yield text.replace("+", "[+-]").replace("/", "[/_]")


def _escaped(letter: str) -> str:
    """A pattern of a character, as it is or with an escape of JSON, Python, an address or HTML."""
    code, raw = ord(letter), letter.encode("utf-8", errors="surrogateescape")
    forms = [rf"\\*{re.escape(letter)}", rf"\\+u{code:04x}", rf"&\#0*{code};", rf"&\#x0*{code:x};"]
    forms += ["".join(rf"%(?:25)*{byte:02x}" for byte in raw), "".join(rf"\\+x{byte:02x}" for byte in raw)]
    return f"(?:{'|'.join([*forms, f'&{codepoint2name[code]};'] if code in codepoint2name else forms)})"


def _mapped(value: Any, secrets: _Pattern | None) -> Any:
    if isinstance(value, str):
        if secrets is not None:
            pattern, names = secrets
            value = pattern.sub(lambda match: f"[{names[(match.lastindex or 1) - 1]}]", value)
        return _USER.sub("[…]@", value).encode("utf-8", errors="replace").decode("utf-8")
    if isinstance(value, dict):
        return {_mapped(key, secrets): _mapped(part, secrets) for key, part in value.items()}
    return [_mapped(part, secrets) for part in value] if isinstance(value, list) else value
