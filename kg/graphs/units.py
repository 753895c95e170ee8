"""Names of entities, relations and classes, and the units in the names of relations.

>>> words_of("maxSpeedKmh")
'max speed kmh'
>>> split_unit("max speed kmh")
('max speed', 'km/h')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from kg.graphs.naming import LABEL, is_iri, local_name, plain_name

_SKOS, _FOAF, _DC = "http://www.w3.org/2004/02/skos/core#", "http://xmlns.com/foaf/0.1/", "http://purl.org/dc/"
_FREEBASE = ("http://rdf.freebase.com/ns/{}.{}.{}", "{}.{}.{}", "/{}/{}/{}")
FIRST_NAMES = (
    LABEL,
    f"{_SKOS}prefLabel",
    "https://schema.org/name",
    "http://schema.org/name",
    f"{_FOAF}name",
    f"{_DC}terms/title",
    f"{_DC}elements/1.1/title",
    "http://www.w3.org/2006/vcard/ns#fn",
    *(form.format("type", "object", "name") for form in _FREEBASE),
)
"""The properties of names, in order of preference."""

OTHER_NAMES = (
    f"{_SKOS}altLabel",
    "https://schema.org/alternateName",
    "http://schema.org/alternateName",
    f"{_FOAF}nick",
    *(form.format("common", "topic", "alias") for form in _FREEBASE),
)
"""The properties of other names."""

CLASS_RELATIONS = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
    "http://www.wikidata.org/prop/direct/P31",
    *(form.format("type", "object", "type") for form in _FREEBASE),
)
"""The properties of classes."""

_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SYMBOL = re.compile(r"\((\S+)\)\s*$")
_DIMENSIONS = {
    "length": "km 1000 km kilometres kilometers, m 1 m metres meters, cm 0.01 cm centimetres centimeters, "
    "mm 0.001 mm millimetres millimeters, ft 0.3048 ft feet, miles 1609.344 miles mi, nautical_miles 1852 nm nmi",
    "area": "m² 1 sqm m2, km² 1000000 sqkm km2, ha 10000 ha hectares",
    "mass": "t 1000 tonnes, kg 1 kg kilograms kilogrammes kilos, g 0.001 grams",
    "duration": "s 1 seconds secs, min 60 minutes mins, h 3600 hours hrs, days 86400 days, weeks 604800 weeks, "
    "months 2629800 months, years 31557600 years",
    "speed": "km/h 1 kmh kph km/h kmph, m/s 3.6 ms m/s, mph 1.609344 mph, knots 1.852 kn knots knot kts",
    "data": "kB 1 kb, MB 1000 mb, GB 1000000 gb",
    "power": "W 1 watts, kW 1000 kw, MW 1000000 mw",
    "volume": "l 1 litres liters",
    "multiple": "thousand 1000 thousand thousands k, million 1000000 million millions mn mln mio, "
    "billion 1000000000 billion billions bn",
    "temperature": "°C 1 celsius",
    "": "% 1 percent pct",
    "money": "EUR 1 eur euro euros, USD 1 usd dollars, GBP 1 gbp, INR 1 inr rupees rs, NGN 1 ngn naira, "
    "KES 1 kes ksh, ZAR 1 zar rand, PLN 1 pln zloty zlotys, CHF 1 chf francs, SEK 1 sek kronor, NOK 1 nok, "
    "DKK 1 dkk, JPY 1 jpy yen, CNY 1 cny yuan, CAD 1 cad, AUD 1 aud",
}
"""The units of each dimension: the symbol, its size, and the words in lower case that mean it."""

_SCALE_OF: dict[str, tuple[str, Decimal]] = {}
_UNIT_OF: dict[str, str] = {}
for _dimension, _rows in _DIMENSIONS.items():
    for _symbol, _size, *_words in (row.split() for row in _rows.split(", ")):
        _unit = _symbol.replace("_", " ")
        _UNIT_OF |= dict.fromkeys(_words, _unit)
        if _dimension:
            _SCALE_OF[_unit] = _dimension, Decimal(_size)
_AREAS = {"m": "m²", "km": "km²", "ft": "ft²", "miles": "square miles", "cm": "cm²"}

_ABBREVIATIONS = {
    "abbr": "abbreviation", "acct": "account", "addr": "address", "alt": "altitude", "amt": "amount",
    "asst": "assistant", "avg": "average", "cap": "capacity", "cert": "certificate", "ctry": "country",
    "dept": "department", "desc": "description", "dest": "destination", "diam": "diameter", "dir": "director",
    "dist": "distance", "dob": "birth date", "dod": "death date", "dur": "duration", "elev": "elevation",
    "est": "established", "govt": "government", "hq": "headquarters", "lang": "language",
    "len": "length", "loc": "location", "manuf": "manufacturer", "mfr": "manufacturer", "mgr": "manager",
    "no": "number", "nr": "number", "num": "number", "occ": "occupation",
    "org": "organization", "orig": "original", "pop": "population", "pos": "position", "pres": "president",
    "prof": "professor", "pub": "published", "qty": "quantity", "ref": "reference", "reg": "registered",
    "rel": "released", "sec": "secretary", "spec": "specification", "tel": "telephone", "temp": "temperature",
    "univ": "university", "vol": "volume", "wt": "weight", "yr": "year", "yrs": "years",
}  # fmt: skip
"""Abbreviations of databases and forms, written out."""

_SPELLED = 5
"""Letters of a name that is only a unit: "minutes"."""

_CLEAR_TEXT = "days kg km cm mm kmh kph kmph mph kw mw kb mb gb mins hrs secs sqm eur usd gbp inr ngn kes ksh pln chf"
_CLEAR = frozenset(_CLEAR_TEXT.split())
"""Shorter ones that mean nothing else."""

_MEASURES = {"length": "distance", "mass": "weight", "money": "price"}


def unit_of(word: str) -> str:
    """The unit that a word in lower case means, such as "km" for "kilometres"; empty if none."""
    return _UNIT_OF.get(word, _UNIT_OF.get(f"{word}s", ""))


def dimension_of(unit: str) -> str:
    """The dimension of a unit, such as length, money or duration; empty for an unknown one."""
    known = _SCALE_OF.get(_UNIT_OF.get(unit.lower(), unit))
    return known[0] if known is not None else ""


def converted(number: Decimal, unit: str, wanted: str) -> Decimal | None:
    """A number in another unit, which may be unknown or the same; ``None`` if the units measure different things."""
    names = [_UNIT_OF.get(name.lower(), name) for name in (unit, wanted)]
    one, other = (_SCALE_OF.get(name) for name in names)
    if other is not None and other[0] == "multiple" and (one is None or one[0] != "multiple"):
        return number / other[1] if number >= other[1] else number
    if one is None or other is None:
        return number
    is_alike = one[0] == other[0] and (one[0] != "money" or names[0] == names[1])
    return number * one[1] / other[1] if is_alike else None


def words_of(iri: str) -> str:
    """The words of a relation's or class's local name, in lower case but for abbreviations."""
    is_written, own = any(sign.isspace() for sign in iri), local_name(iri)
    if "." in own and own.rsplit(".", 1)[-1].isidentifier():
        own = own.rsplit(".", 1)[-1]  # a name in a hierarchy: people.person.place_of_birth
    spaced = iri if is_written else _CAMEL.sub(" ", re.sub(r"[_.\-/]+", " ", own))
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in spaced.split()]
    return " ".join(words) or iri


def spelled_out(name: str) -> str:
    """A name with its abbreviations written out; one that is only a unit as what that measures ("mins")."""
    words = name.split()
    if len(words) == 1 and (dimension := dimension_of(words[0])):
        return _MEASURES.get(dimension, dimension)
    return " ".join(_ABBREVIATIONS.get(word.lower(), word) for word in words)


def entity_name(iri: str, *, is_camel: bool = False) -> str:
    """The name of an entity that has no label.

    Args:
        iri: The entity.
        is_camel: Whether a capital within a local name begins a word: "AdaLind" is "Ada Lind".
    """
    own = local_name(iri) if is_iri(iri) or iri.startswith("_:") else plain_name(iri)
    return " ".join((_CAMEL.sub(" ", own) if is_camel else own).replace("_", " ").split()) or iri


def writes_camel_case(iris: Iterable[str]) -> bool:
    """Whether more of some IRIs begin their words with capitals than separate them: ``AdaLind`` and ``Ada_Lind``."""
    own = [local_name(iri) for iri in iris if ":" in iri and not iri.startswith("_:")]
    apart = sum(any(sign in name for sign in "_- ") for name in own)
    return sum(bool(_CAMEL.search(name)) for name in own) > apart


def split_unit(name: str) -> tuple[str, str]:
    """A relation's name without the unit at its end, and the unit or an empty text."""
    symbol = _SYMBOL.search(name)
    if symbol is not None and symbol[1] in _UNIT_OF.values():
        return name[: symbol.start()].strip(), symbol[1]
    words = name.replace("(", " ").replace(")", " ").split()
    if len(words) < 2:
        is_unit_alone = len(name) >= _SPELLED or name.lower() in _CLEAR
        return name, _UNIT_OF.get(name.lower(), "") if is_unit_alone else ""
    last, before = words[-1].lower(), words[-2].lower()
    if last not in _UNIT_OF:
        return name, ""
    unit = _UNIT_OF[last]
    if before in ("square", "sq") and unit in _AREAS and len(words) > 2:
        return " ".join(words[:-2]), _AREAS[unit]
    if before in ("in", "per"):
        return (" ".join(words[:-2]), unit) if before == "in" and len(words) > 2 else (name, "")
    return " ".join(words[:-1]), unit
