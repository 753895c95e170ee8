"""Names of entities, relations and classes, and the units in the names of relations.

>>> words_of("maxSpeedKmh")
'max speed kmh'
>>> split_unit("max speed kmh")
('max speed', 'km/h')
"""

from __future__ import annotations

import re
from decimal import Decimal

from kg.graphs import local_name

_RDFS, _SKOS = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2004/02/skos/core#"
_FOAF, _DC = "http://xmlns.com/foaf/0.1/", "http://purl.org/dc/"
FIRST_NAMES = (
    f"{_RDFS}label",
    f"{_SKOS}prefLabel",
    "https://schema.org/name",
    "http://schema.org/name",
    f"{_FOAF}name",
    f"{_DC}terms/title",
    f"{_DC}elements/1.1/title",
)
"""The properties of names, in order of preference."""

OTHER_NAMES = (
    f"{_SKOS}altLabel",
    "https://schema.org/alternateName",
    "http://schema.org/alternateName",
    f"{_FOAF}nick",
)
"""The properties of other names."""

_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SYMBOL = re.compile(r"\((\S+)\)\s*$")
_UNITS = {
    "km/h": "kmh kph km/h kmph",
    "m/s": "ms m/s",
    "mph": "mph",
    "kg": "kg kilograms kilogrammes kilos",
    "g": "grams",
    "t": "tonnes",
    "km": "km kilometres kilometers",
    "m": "m metres meters",
    "cm": "cm centimetres centimeters",
    "mm": "mm millimetres millimeters",
    "ft": "ft feet",
    "miles": "miles mi",
    "m²": "sqm m2",
    "km²": "sqkm km2",
    "ha": "ha hectares",
    "EUR": "eur euro euros",
    "USD": "usd dollars",
    "GBP": "gbp",
    "kB": "kb",
    "MB": "mb",
    "GB": "gb",
    "°C": "celsius",
    "%": "percent pct",
    "s": "seconds secs",
    "min": "minutes mins",
    "h": "hours hrs",
    "days": "days",
    "years": "years",
    "W": "watts",
    "kW": "kw",
    "MW": "mw",
    "l": "litres liters",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_AREAS = {"m": "m²", "km": "km²", "ft": "ft²", "miles": "square miles", "cm": "cm²"}


_SCALES: dict[str, dict[str, str]] = {
    "length": {"km": "1000", "m": "1", "cm": "0.01", "mm": "0.001", "ft": "0.3048", "miles": "1609.344"},
    "area": {"m²": "1", "km²": "1000000", "ha": "10000"},
    "mass": {"t": "1000", "kg": "1", "g": "0.001"},
    "duration": {"s": "1", "min": "60", "h": "3600", "days": "86400", "years": "31557600"},
    "speed": {"km/h": "1", "m/s": "3.6", "mph": "1.609344"},
    "data": {"kB": "1", "MB": "1000", "GB": "1000000"},
    "power": {"W": "1", "kW": "1000", "MW": "1000000"},
    "volume": {"l": "1"},
    "temperature": {"°C": "1"},
    "EUR": {"EUR": "1"},
    "USD": {"USD": "1"},
    "GBP": {"GBP": "1"},
}
_SCALE_OF = {unit: (dimension, Decimal(scale)) for dimension, own in _SCALES.items() for unit, scale in own.items()}
_CURRENCIES = frozenset(("EUR", "USD", "GBP"))


def unit_of(word: str) -> str:
    """The unit that a word in lower case means, such as "km" for "kilometres"; empty if none."""
    return _UNIT_OF.get(word, _UNIT_OF.get(f"{word}s", ""))


def dimension_of(unit: str) -> str:
    """The dimension of a unit, such as length, money or duration; empty for an unknown one."""
    known = _SCALE_OF.get(_UNIT_OF.get(unit.lower(), unit))
    if known is None:
        return ""
    return "money" if known[0] in _CURRENCIES else known[0]


def converted(number: Decimal, unit: str, wanted: str) -> Decimal | None:
    """A number in another unit, which may be unknown or the same; ``None`` if the units measure different things."""
    one, other = (_SCALE_OF.get(_UNIT_OF.get(name.lower(), name)) for name in (unit, wanted))
    if one is None or other is None:
        return number
    return number * one[1] / other[1] if one[0] == other[0] else None


def is_unit(word: str) -> bool:
    """Whether a word in lower case is a unit of measurement."""
    return word in _UNIT_OF


def words_of(iri: str) -> str:
    """The words of a relation's or class's local name, in lower case but for abbreviations."""
    if "." in iri and not any(sign.isspace() or sign in ":/#" for sign in iri):
        iri = iri.rsplit(".", 1)[-1]  # a name in a hierarchy: people.person.place_of_birth
    is_written = any(sign.isspace() for sign in iri)
    spaced = iri if is_written else _CAMEL.sub(" ", re.sub(r"[_.\-/]+", " ", local_name(iri)))
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in spaced.split()]
    return " ".join(words) or iri


def entity_name(iri: str) -> str:
    """The name of an entity that has no label."""
    return " ".join(local_name(iri).replace("_", " ").split()) or iri


def split_unit(name: str) -> tuple[str, str]:
    """A relation's name without the unit at its end, and the unit or an empty text."""
    symbol = _SYMBOL.search(name)
    if symbol is not None and symbol[1] in _UNITS:
        return name[: symbol.start()].strip(), symbol[1]
    words = name.replace("(", " ").replace(")", " ").split()
    if len(words) < 2:
        return name, ""
    last, before = words[-1].lower(), words[-2].lower()
    if last not in _UNIT_OF:
        return name, ""
    unit = _UNIT_OF[last]
    if before in ("square", "sq") and unit in _AREAS and len(words) > 2:
        return " ".join(words[:-2]), _AREAS[unit]
    if before in ("in", "per"):
        return (" ".join(words[:-2]), unit) if before == "in" and len(words) > 2 else (name, "")
    return " ".join(words[:-1]), unit
