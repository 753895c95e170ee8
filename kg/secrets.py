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
from typing import Any
from urllib.parse import quote

_NAME = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|PAT)($|_)", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^/@\s'\"]*@")
_SHORTEST = 8


def without_secrets(value: Any) -> Any:
    """Plain data with the name of a key in place of its value in every text, and whole characters alone.

    The values of environment variables that a name calls a key are replaced, as they are and as a server may echo
    them: in base64, also inside a longer text, in hexadecimal and with percent signs.
    """
    named = {name: text for name, text in os.environ.items() if _NAME.search(name) and len(text) >= _SHORTEST}
    return _mapped(value, _pattern(tuple(sorted(named.items(), key=lambda item: -len(item[1])))))


@lru_cache(maxsize=8)
def _pattern(secrets: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    """A pattern of all forms of the secrets, and the name of each form in lower case."""
    names = {form.lower(): name for name, secret in reversed(secrets) for form in _forms(secret)}
    forms = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return (re.compile(forms, re.IGNORECASE) if forms else None), names


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", errors="surrogateescape")
    yield from (secret, quote(raw, safe=""), quote(raw), raw.hex())
    for before in range(3):  # bytes before it in the text that is encoded: their letters, and the last, are not its own
        text = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        text = text[before + 1 if before else 0 : None if (before + len(raw)) % 3 == 0 else -1]
        yield from (text, text.translate({ord("+"): "-", ord("/"): "_"}))


def _mapped(value: Any, secrets: tuple[re.Pattern[str] | None, dict[str, str]]) -> Any:
    if isinstance(value, str):
        pattern, names = secrets
        if pattern is not None:
            value = pattern.sub(lambda found: f"[{names[found[0].lower()]}]", value)
        return _USER.sub("[…]@", value).encode("utf-8", errors="replace").decode("utf-8")
    if isinstance(value, dict):
        return {_mapped(key, secrets): _mapped(part, secrets) for key, part in value.items()}
    return [_mapped(part, secrets) for part in value] if isinstance(value, list) else value
