"""Names of a report's figures for a small language model, different wherever the figures are.

>>> names = figure_names(index)
>>> names["r3c2"], names["s7n1"]
('[net income, 2009]', '"we sold *5* units in", 2009')

A cell has its row and column, and a figure of a text the words around it, with the figure marked. Figures with another
value under the same name also have their period, their section or, as a last resort, their value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from kg.calculations import ReportIndex
from kg.reports import CellSource, Observation
from programs.lm import plain_text

_LONGEST_LABEL = 60
_LONGEST_COLUMN = 30
_LONGEST_DETAIL = 30
_WORDS_BEFORE, _WORDS_AFTER = 5, 2

_known: WeakKeyDictionary[ReportIndex, dict[str, str]] = WeakKeyDictionary()


def figure_names(index: ReportIndex) -> dict[str, str]:
    """Returns the name of each observation of a report by its id."""
    found = _known.get(index)
    if found is None:
        found = _known[index] = _names(index.observations, index.sentences)
    return found


def _names(observations: Sequence[Observation], sentences: Sequence[str]) -> dict[str, str]:
    names = {one.id: _name(one, "", sentences) for one in observations}
    details: tuple[Callable[[Observation], str], ...] = (_period, _section, _value)
    for detail in details:
        for group in _ambiguous(observations, names):
            found = {one.id: detail(one) for one in group}
            if detail is _value or len({(found[one.id], _value(one)) for one in group}) == len(set(found.values())) > 1:
                names.update({one.id: _name(one, found[one.id], sentences) for one in group})
    return names


def _ambiguous(observations: Sequence[Observation], names: dict[str, str]) -> list[list[Observation]]:
    """The figures with the same name, where their values differ."""
    groups: dict[str, list[Observation]] = defaultdict(list)
    for one in observations:
        groups[names[one.id]].append(one)
    return [group for group in groups.values() if len({_value(one) for one in group}) > 1]


def _name(one: Observation, detail: str, sentences: Sequence[str]) -> str:
    source = one.source
    if isinstance(source, CellSource):
        parts = [_shortened(one.label, _LONGEST_LABEL), _shortened(one.column_label or _period(one), _LONGEST_COLUMN)]
        return f"[{', '.join(part for part in (*parts, detail) if part)}]"
    sentence = sentences[source.sentence]
    before = sentence[: source.start].split()[-_WORDS_BEFORE:]
    after = sentence[source.end :].split()[:_WORDS_AFTER]
    marked = f"*{sentence[source.start : source.end].strip()}*"
    quoted = plain_text(" ".join([*before, marked, *after]))
    return ", ".join([f'"{quoted}"', *dict.fromkeys(one for one in (_new_period(one, quoted), detail) if one)])


def _new_period(one: Observation, quoted: str) -> str:
    return "" if one.period is None or one.period in quoted else one.period


def _period(one: Observation) -> str:
    return one.period or ""


def _section(one: Observation) -> str:
    return _shortened(one.section, _LONGEST_DETAIL)


def _value(one: Observation) -> str:
    return one.quantity.text


def _shortened(text: str, longest: int) -> str:
    """A text without its middle, since long headers differ at their ends."""
    words = plain_text(text)
    half = (longest - 1) // 2
    return words if len(words) <= longest else f"{words[:half]}…{words[-half:]}"
