"""Settings as frozen dataclasses: checked when they are created, changed by ``key=value`` texts.

>>> with_setting(BootstrapSettings(), "max_bootstrapped_demos", "2")
BootstrapSettings(max_bootstrapped_demos=2, max_labeled_demos=2, max_rounds=1)
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from decimal import Decimal
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from kg.errors import ConfigError

SettingsT = TypeVar("SettingsT")


def at_least(low: float, default: Any) -> Any:
    """A dataclass field of a number that must be at least ``low``."""
    return field(default=default, metadata={"low": low})


@dataclass(frozen=True)
class OptimizerSettings:
    """Checks the numbers of its subclasses against what their fields allow.

    Raises:
        ConfigError: A number is too small.
    """

    def __post_init__(self) -> None:
        for one in dataclasses.fields(self):
            value, low = getattr(self, one.name), one.metadata.get("low")
            if low is not None and value is not None and value < low:
                raise ConfigError(f"{one.name} must be at least {low}, got {value}")


def with_setting(settings: SettingsT, key: str, text: str) -> SettingsT:
    """A copy of ``settings`` with one value changed; a dot leads into settings within settings.

    Raises:
        ConfigError: There is no such setting, or the text is not a value of its type.
    """
    name, _, rest = key.partition(".")
    known = [one.name for one in dataclasses.fields(settings)]  # type: ignore[arg-type]
    if name not in known:
        have = f"it has {', '.join(known)}" if known else "it has none"
        raise ConfigError(f"{type(settings).__name__} has no setting {name!r}; {have}")
    current = getattr(settings, name)
    if rest:
        if not dataclasses.is_dataclass(current):
            raise ConfigError(f"{name} holds one value, so {key!r} leads nowhere")
        value: Any = with_setting(current, rest, text)
    else:
        value = _read(get_type_hints(type(settings))[name], text, name)
    changed: SettingsT = dataclasses.replace(settings, **{name: value})  # type: ignore[type-var]
    return changed


def _read(kind: Any, text: str, name: str) -> Any:
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise ConfigError(f"{name} must be one of {', '.join(map(str, get_args(kind)))}; got {text!r}")
        return text
    if get_origin(kind) in (Union, UnionType):
        if text == "none":
            return None
        kind = next(one for one in get_args(kind) if one is not type(None))
    if kind is bool:
        if text not in ("true", "false"):
            raise ConfigError(f"{name} must be true or false, got {text!r}")
        return text == "true"
    if kind not in (int, float, Decimal, str):
        raise ConfigError(f"{name} is not a single value; set one of its parts as {name}.PART=VALUE")
    try:
        return kind(text)
    except (ValueError, ArithmeticError):
        what = "a whole number" if kind is int else "a number"
        raise ConfigError(f"{name} must be {what}, got {text!r}") from None
