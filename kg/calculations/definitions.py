"""Items that a table does not name but defines: gross profit of revenue and its cost, or a margin.

The definitions are in ``definitions.json``, each with its source. An item joins the figures of a report where one row
holds each input, for every column in which the inputs have one unit and scale. Its calculation stands for it in every
derivation, so that an answer rests on figures of the report alone::

    >>> [(one.label, one.period, str(steps)) for one, steps in derived_observations(graph.observations)]
    [('gross profit', '2019', 'subtract(160, 80)')]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kg.errors import ProgramError
from kg.reports import US_GAAP, CellSource, Observation, close_matches, line_item_key
from kg.search import Derivation, Number, spelled_out
from kg.text import Quantity, Unit

PREFIX = "derived:"
"""The beginning of the id of a derived observation."""

_INPUT = re.compile(r"\{([^}]+)\}")
_DIGITS = 12


class _Definition(TypedDict, total=False):
    name: str
    concepts: list[str]
    formula: str
    source: str


class _Definitions(TypedDict):
    inputs: dict[str, list[str]]
    definitions: list[_Definition]


@cache
def definitions() -> _Definitions:
    """Returns the table of definitions."""
    text = Path(__file__).with_name("definitions.json").read_text(encoding="utf-8")
    return TypeAdapter(_Definitions).validate_json(text)


def derived_observations(observations: Sequence[Observation]) -> list[tuple[Observation, Derivation]]:
    """Returns the items that the observations define, with their calculations.

    Args:
        observations: The figures of a report. Where two rows fit an input, or one names the item, nothing is derived.
    """
    rows = _rows(observations)
    known = {line_item_key(one.label) for one in observations}
    below = max((one.source.row for one in observations if isinstance(one.source, CellSource)), default=0)
    found: list[tuple[Observation, Derivation]] = []
    for definition in definitions()["definitions"]:
        key = line_item_key(definition["name"])
        inputs = [rows.get(name) for name in dict.fromkeys(_INPUT.findall(definition["formula"]))]
        if key in known or any(one in rows for one in definition.get("concepts", ())) or not all(inputs):
            continue
        known.add(key)
        below += 1
        cells = [one for one in inputs if one is not None]
        for column in sorted(set.intersection(*(set(one) for one in cells))):
            one = _derived(definition, [row[column] for row in cells], below)
            if one is not None:
                found.append(one)
    return found


def _rows(observations: Sequence[Observation]) -> Mapping[str, Mapping[int, Observation]]:
    """The figures by column of the one row that holds each input; concepts that a row has, too."""
    lines: dict[tuple[int, str, str], dict[int, Observation]] = {}
    for one in observations:
        if isinstance(one.source, CellSource) and not one.in_header:
            line = lines.setdefault((one.source.row, one.section, one.label), {})
            line.setdefault(one.source.column, one)
    by_concept: dict[str, list[dict[int, Observation]]] = {}
    for (_, _, label), line in lines.items():
        for concept in close_matches().get(line_item_key(label), ()):
            by_concept.setdefault(concept.removeprefix(US_GAAP), []).append(line)
    found: dict[str, Mapping[int, Observation]] = {name: own[0] for name, own in by_concept.items()}
    for name, concepts in definitions()["inputs"].items():
        fitting = [line for concept in concepts for line in by_concept.get(concept, ())]
        if len(fitting) == 1:
            found[name] = fitting[0]
    return found


def _derived(definition: _Definition, inputs: Sequence[Observation], row: int) -> tuple[Observation, Derivation] | None:
    """The item of one column; ``None`` where units differ or the arithmetic has no result."""
    if len({(one.quantity.unit, one.quantity.scale) for one in inputs}) != 1:
        return None
    first = inputs[0]
    assert isinstance(first.source, CellSource)
    names = dict.fromkeys(_INPUT.findall(definition["formula"]))
    places = {name: str(place) for place, name in enumerate(names)}
    template = Derivation.parse(_INPUT.sub(lambda match: places[match[1]], definition["formula"]))
    numbers = [Number(one.quantity.text, one.path, one.id) for one in inputs]
    derivation = spelled_out(template, list(map(Derivation.look_up, numbers)))
    try:
        value = derivation.execute()
    except ProgramError:
        return None
    if not isinstance(value, Decimal):
        return None
    ratio = any(step.operation == "divide" for step in derivation.steps)
    unit: Unit
    unit, scale = ("ratio", 1) if ratio else (first.quantity.unit, first.quantity.scale)
    name = definition["name"]
    observation = replace(
        first,
        id=f"{PREFIX}{name}:{first.source.column}",
        property=name.replace(" ", "_"),
        label=name,
        section="",
        quantity=Quantity(round(value, _DIGITS), unit, scale, f"{round(value, _DIGITS):f}", 0, 0),
        source=CellSource(row, first.source.column, 0, 0),
        mapped=False,
    )
    return observation, derivation
