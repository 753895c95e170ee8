"""Texts and errors without the keys of the environment.

redact(error)      # an error "401: key sk-123 is wrong" now reads "401: key [OPENAI_API_KEY] is wrong"
"""

from __future__ import annotations

import os
import re
from typing import Any

from dspy.utils.callback import BaseCallback

_SECRET = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)($|_)", re.IGNORECASE)
_SHORTEST_SECRET = 8


class Redacting(BaseCallback):
    """Takes keys out of a failed call's error before any other callback sees it."""

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: ARG002
        """A call has ended."""
        if exception is not None:
            redact(exception)


def redact(error: BaseException) -> None:
    """Takes the values of keys out of an error's texts, and out of those of the errors that led to it."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        current.args = tuple(without_secrets(part) if isinstance(part, str) else part for part in current.args)
        for name in ("message", "__notes__"):
            if isinstance(value := getattr(current, name, None), str | list):
                setattr(current, name, without_secrets(value))
        current = current.__cause__ if current.__cause__ is not None else current.__context__


def without_secrets(value: Any) -> Any:
    """Plain data with the name of a key in place of its value in every text, and whole characters alone."""
    secrets = {
        text: name for name, text in os.environ.items() if _SECRET.search(name) and len(text) >= _SHORTEST_SECRET
    }
    return _mapped(value, sorted(secrets.items(), key=lambda item: -len(item[0])))


def _mapped(value: Any, secrets: list[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for secret, name in secrets:
            value = value.replace(secret, f"[{name}]")
        return value.encode("utf-8", errors="replace").decode("utf-8")
    if isinstance(value, dict):
        return {_mapped(key, secrets): _mapped(part, secrets) for key, part in value.items()}
    return [_mapped(part, secrets) for part in value] if isinstance(value, list) else value
