"""Learning from use: the calls of predictors that led to right answers become their demonstrations.

>>> learned = learn_from_use(program, turns)      # of each right turn the calls of its predictors
>>> [demo.next_tool_name for demo in learned.turn.act.react.demos]
['query_kg', 'query_kg', 'calculate', 'finish']

A demonstration is a whole turn, plan and steps. Each turn takes another course of tools; the most frequent course comes
first. Of a page the lines remain whose figures the calls name, with their neighbours.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dspy

from programs.worlds.page import IDENTIFIER, excerpt

_FIGURE = re.compile(rf"\[({IDENTIFIER.pattern})\]\D{{0,3}}([\d.,]*\d)")
_WORD = re.compile(r"\w+(?:[.,]\w+)*")


Call = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A call of a predictor: its inputs and its outputs by the names of their fields."""


def learn_from_use(program: Any, turns: Iterable[Sequence[Call]], most: int = 3) -> Any:
    """Returns a copy of a program whose predictors have demonstrations of right turns in place of those before.

    Args:
        program: The program. A predictor without calls keeps its demonstrations.
        turns: The calls of each right turn, in their order.
        most: The most turns that are shown.
    """
    courses: defaultdict[tuple[str, ...], list[Sequence[Call]]] = defaultdict(list)
    for calls in turns:
        courses[tuple(str(outputs.get("next_tool_name", "")) for _, outputs in calls)].append(calls)
    frequent = sorted(courses.values(), key=len, reverse=True)[:most]
    shown = [min(group, key=lambda calls: len(_written(calls))) for group in frequent]
    learned = program.deepcopy()
    for _, predictor in learned.named_predictors():
        fields = predictor.signature.output_fields.keys()
        demos = [
            dspy.Example(**_cut(inputs, calls), **outputs, augmented=True)
            for calls in shown
            for inputs, outputs in calls
            if outputs.keys() == fields
        ]
        predictor.demos = demos or predictor.demos
    return learned


def _written(calls: Sequence[Call]) -> str:
    """Returns a turn without its page."""
    return " ".join(str([given.get("question"), given.get("trajectory"), outputs]) for given, outputs in calls)


def _cut(inputs: Mapping[str, Any], calls: Sequence[Call]) -> dict[str, Any]:
    """Returns inputs with the lines of the page that a turn needs."""
    page, words = str(inputs.get("concepts", "")), {word.replace(",", "") for word in _WORD.findall(_written(calls))}
    used = [name for name, figure in _FIGURE.findall(page) if words & {name, figure.replace(",", "")}]
    return {**inputs, **({"concepts": excerpt(page, used)} if page else {})}
