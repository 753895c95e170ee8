"""Facts of inline XBRL: period, unit and scale of a figure in a page.

>>> facts = InlineFacts.of(lxml.html.fromstring(page))
>>> facts.fact_in(cell)
XbrlFact(period='2024', unit='currency', scale=1000000)

A period is named by its fiscal year. This may differ from the year in which the period ends. The page states both, as
``dei:DocumentFiscalYearFocus`` and ``dei:DocumentPeriodEndDate``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kg.readers.content import XbrlFact
from kg.text import Unit

_YEAR = re.compile(r"\d{4}")
_UNITS: Mapping[str, Unit] = {"shares": "shares", "pure": "plain"}
_FIGURE_TAG = "ix:nonfraction"
_ZEROS = frozenset(("numdash", "zerodash", "fixed-zero"))
"""The transformations of inline XBRL that make zero of any text."""


@dataclass(frozen=True)
class InlineFacts:
    """The contexts and units of a page.

    Attributes:
        periods: The fiscal year of each context.
        members: The members of dimensions of each context.
        units: The unit of each unit's name; a name without a unit of finpath's is left out.
    """

    periods: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Any) -> InlineFacts:
        """The facts of a page; one without inline XBRL has none."""
        shift = _fiscal_shift(root)
        periods: dict[str, str] = {}
        members: dict[str, tuple[str, ...]] = {}
        for context in root.iter("xbrli:context", "context"):
            name = str(context.get("id"))
            end = next((one for tag in ("instant", "enddate") for one in _inside(context, tag)), None)
            year = _YEAR.search(end.text_content()) if end is not None else None
            if year is not None:
                periods[name] = str(int(year[0]) + shift)
            members[name] = tuple(one.text_content().strip() for one in _inside(context, "explicitmember"))
        units = {str(one.get("id")): _unit(one) for one in root.iter("xbrli:unit", "unit")}
        return cls(periods, members, {name: unit for name, unit in units.items() if unit is not None})

    def concept_of(self, element: Any) -> str:
        """The concept of a cell's fact with its members, such as ``us-gaap:Revenues``."""
        one = _only_fact(element)
        return (
            "" if one is None else " ".join((str(one.get("name")), *self.members.get(str(one.get("contextref")), ())))
        )

    def is_zero(self, element: Any) -> bool:
        """Whether the file states that a cell's dash is zero."""
        one = _only_fact(element)
        return one is not None and str(one.get("format")).lower().partition(":")[2] in _ZEROS

    def fact_in(self, element: Any) -> XbrlFact | None:
        """The fact of a cell; ``None`` where it holds none, or several."""
        one = _only_fact(element)
        if one is None:
            return None
        context = str(one.get("contextref"))
        power = _integer(one.get("scale"))
        unit = self.units.get(str(one.get("unitref")))
        if unit == "plain" and power == -2:
            unit = "percent"
        return XbrlFact(self.periods.get(context), unit, 10 ** max(power, 0))


def _only_fact(element: Any) -> Any:
    found = list(element.iter(_FIGURE_TAG))
    return found[0] if len(found) == 1 else None


def _fiscal_shift(root: Any) -> int:
    """The fiscal year less the year in which it ends; 0 where the page does not say."""
    stated: dict[str, str] = {}
    for one in root.iter("ix:nonnumeric"):
        stated.setdefault(str(one.get("name")), one.text_content())
    focus, end = (
        _YEAR.search(stated.get(name, "")) for name in ("dei:DocumentFiscalYearFocus", "dei:DocumentPeriodEndDate")
    )
    shift = int(focus[0]) - int(end[0]) if focus is not None and end is not None else 0
    return shift if abs(shift) <= 1 else 0


def _inside(element: Any, name: str) -> Iterator[Any]:
    return (one for one in element.iter() if isinstance(one.tag, str) and one.tag.rpartition(":")[2] == name)


def _unit(unit: Any) -> Unit | None:
    """The unit of an XBRL unit's measures."""
    numerator, *below = [one.text_content().strip().lower() for one in _inside(unit, "measure")] or [""]
    if numerator.startswith("iso4217:"):
        return "per-share" if below and below[0].endswith("shares") else None if below else "currency"
    if below:
        return None
    return _UNITS.get(numerator.rpartition(":")[2])


def _integer(text: Any) -> int:
    return int(text) if re.fullmatch(r"-?\d{1,2}", str(text)) else 0
