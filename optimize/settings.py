"""Settings from texts: ``key=value`` for the fields of a dataclass, and values of a type.

>>> with_setting(TrainingConfig(), "hours", "0.5").hours
0.5
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from kg.errors import ConfigError

SettingsT = TypeVar("SettingsT")


def with_setting(settings: SettingsT, key: str, text: str) -> SettingsT:
    """Returns a copy of a dataclass with one field read from a text; a dot leads into settings within settings.

    Raises:
        ConfigError: There is no such setting, or the text is not a value of its type.
    """
    name, dot, rest = key.partition(".")
    known = [field.name for field in dataclasses.fields(settings)]  # type: ignore[arg-type]
    if name not in known:
        raise ConfigError(f"{type(settings).__name__} has no setting {name!r}; it has {', '.join(known) or 'none'}")
    current = getattr(settings, name)
    if dot and not dataclasses.is_dataclass(current):
        raise ConfigError(f"{name} is one value, so there is no {key!r}")
    value = with_setting(current, rest, text) if dot else read_value(get_type_hints(type(settings))[name], text, name)
    try:
        changed: SettingsT = dataclasses.replace(settings, **{name: value})  # type: ignore[type-var]
    except ValidationError as error:
        raise _refusal(name, text, error) from None
    return changed


def read_value(hint: Any, text: str, name: str) -> Any:
    """Returns the value of a type that a text is as JSON, or else by itself; ``none`` is ``None``.

    Raises:
        ConfigError: It is none.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    try:
        return adapter.validate_json("null" if text == "none" else text)
    except ValidationError:
        try:
            return adapter.validate_python(text)
        except ValidationError as error:
            raise _refusal(name, text, error) from None


def _refusal(name: str, text: str, error: ValidationError) -> ConfigError:
    return ConfigError(f"{name} cannot be {text!r}: {error.errors()[0]['msg']}")
