"""Settings as frozen dataclasses: checked by pydantic when they are created, changed by ``key=value`` texts.

>>> with_setting(BootstrapOptimizer(), "max_bootstrapped_demos", "2")
BootstrapOptimizer(max_bootstrapped_demos=2, max_labeled_demos=2, max_rounds=1)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, dataclass_transform, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from kg.errors import ConfigError

SettingsT = TypeVar("SettingsT")

AtLeast0 = Annotated[int, Field(ge=0)]
AtLeast1 = Annotated[int, Field(ge=1)]
AtLeast2 = Annotated[int, Field(ge=2)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


@dataclass_transform(frozen_default=True)
def settings(cls: type[SettingsT]) -> type[SettingsT]:
    """Returns the class as a frozen dataclass that raises a :class:`ConfigError` for a value out of its range."""
    made: Any = checked_dataclass(frozen=True)(cls)
    validate = made.__init__

    def __init__(self: Any, *args: Any, **values: Any) -> None:  # noqa: N807 - becomes the method of the class
        try:
            validate(self, *args, **values)
        except ValidationError as error:
            raise _config_error(error) from None

    made.__init__ = __init__
    checked: type[SettingsT] = made
    return checked


def _config_error(error: ValidationError, name: str = "") -> ConfigError:
    first = error.errors()[0]
    limits, value = first.get("ctx", {}), first["input"]
    name = name or ".".join(map(str, first["loc"]))
    rules = {
        "greater_than_equal": f"at least {limits.get('ge', 0):g}",
        "greater_than": f"more than {limits.get('gt', 0):g}",
        "less_than": f"less than {limits.get('lt', 0):g}",
        "less_than_equal": f"at most {limits.get('le', 0):g}",
        "literal_error": str(limits.get("expected")),
        "int_parsing": "a whole number",
        "int_from_float": "a whole number",
        "float_parsing": "a number",
        "decimal_parsing": "a number",
        "bool_parsing": "true or false",
    }
    rule = rules.get(first["type"])
    return ConfigError(f"{name} must be {rule}, got {value!r}" if rule else f"{name}: {first['msg']}")


def with_setting(settings: SettingsT, key: str, text: str) -> SettingsT:
    """Returns a copy of ``settings`` with one value changed; a dot leads into settings within settings.

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
    elif dataclasses.is_dataclass(current) or isinstance(current, tuple | Mapping):
        raise ConfigError(f"{name} is not a single value; set one of its parts as {name}.PART=VALUE")
    else:
        value = _read(get_type_hints(type(settings))[name], text, name)
    changed: SettingsT = dataclasses.replace(settings, **{name: value})  # type: ignore[type-var]
    return changed


def _read(kind: Any, text: str, name: str) -> Any:
    try:
        return TypeAdapter(kind).validate_python(None if text == "none" else text)
    except ValidationError as error:
        raise _config_error(error, name) from None
