"""Errors without the keys of the environment.

redact(error)      # an error "401: key sk-123 is wrong" now reads "401: key [OPENAI_API_KEY] is wrong"
"""

from __future__ import annotations

from typing import Any

from dspy.utils.callback import BaseCallback

from kg.secrets import without_secrets


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
