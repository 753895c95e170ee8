"""Errors without the keys of the environment.

redact(error)      # an error "401: key sk-123 is wrong" now reads "401: key [OPENAI_API_KEY] is wrong"
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from dspy.utils.callback import BaseCallback

_SECRET = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)($|_)", re.IGNORECASE)
_SHORTEST_SECRET = 8


class Redacting(BaseCallback):
    """Takes keys out of a failed call's error before any other callback sees it."""

    def on_lm_end(
        self,
        call_id: str,  # noqa: ARG002 - DSPy's interface
        outputs: dict[str, Any] | None,  # noqa: ARG002
        exception: BaseException | None = None,
    ) -> None:
        """A call has ended."""
        if exception is not None:
            redact(exception)


def redact(error: BaseException) -> None:
    """Takes the values of keys out of an error's texts, and out of those of the errors that led to it."""
    secrets = _secrets()
    seen: set[int] = set()
    current: BaseException | None = error
    while secrets and current is not None and id(current) not in seen:
        seen.add(id(current))
        current.args = tuple(_redacted(item, secrets) for item in current.args)
        for name in ("message", "__notes__"):
            value = getattr(current, name, None)
            if isinstance(value, str):
                setattr(current, name, _redacted(value, secrets))
            elif isinstance(value, list):
                setattr(current, name, [_redacted(item, secrets) for item in value])
        current = current.__cause__ if current.__cause__ is not None else current.__context__


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Returns a value with every text in it changed: in data classes, mappings, lists and tuples, at any depth."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        found: Any = {mapped(key, change): mapped(one, change) for key, one in value.items()}
        return value if found == value else found
    if isinstance(value, list | tuple):
        parts = [mapped(one, change) for one in value]
        return value if all(map(operator.is_, parts, value)) else type(value)(parts)
    if is_dataclass(value) and not isinstance(value, type):
        held = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        changed = {name: new for name, old in held.items() if (new := mapped(old, change)) is not old}
        return replace(value, **changed) if changed else value
    return value


def redactor() -> Callable[[str], str]:
    """Returns a function that puts the name of a key in place of its value; the environment is read once."""
    secrets = _secrets()
    return lambda text: str(_redacted(text, secrets))


def _redacted(value: Any, secrets: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for secret, name in secrets.items():
            value = value.replace(secret, f"[{name}]")
    return value


def _secrets() -> dict[str, str]:
    """The values of the environment's variables that hold a key, the longest first."""
    found = {
        value: name for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= _SHORTEST_SECRET
    }
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))
