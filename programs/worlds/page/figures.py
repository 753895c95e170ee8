"""The figures of a page by the identifiers that a language model is shown.

    >>> figures = PageFigures(index)
    >>> figures.number("r3c2")
    Number(text='206588', path='IncomeStatement_2009 -> net_sales -> 206588', source='r3c2')
    >>> figures.names(["r3c1", "r3c2"])
    ['2009', '2008']

An identifier is that of the figure's observation in the report's graph. Any other is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kg.calculations import ReportIndex
from kg.errors import ProgramError
from kg.reports import CellSource, Observation
from kg.search import Derivation, Number, Operand, Step
from kg.text import tokens, years

IDENTIFIER = re.compile(r"(?:r\d+c\d+|s\d+)(?:n\d+)?")
_MARK = re.compile(r"\[\s*((?:r\d+c\d+|s\d+n\d+|a\d+)(?:n\d+)?)\s*\]", re.IGNORECASE)


class CalculationError(ProgramError):
    """A calculation that is not over figures of the page, or not written in the language."""


def without_identifiers(text: str) -> str:
    """A text of a report in which nothing reads as an identifier of a figure."""
    return _MARK.sub(r"(\1)", text)


class PageFigures:
    """The figures of a page.

    Args:
        index: The report's index.
    """

    def __init__(self, index: ReportIndex) -> None:
        self.index = index
        self._known = {one.id: one for one in index.reported()}

    def observation(self, identifier: str) -> Observation:
        """The figure of an identifier.

        Raises:
            CalculationError: There is none.
        """
        found = self._known.get(identifier)
        if found is None:
            raise CalculationError(f"[{identifier}] is no figure of the page")
        return found

    def has(self, identifier: str) -> bool:
        """Whether the page has a figure of this identifier."""
        return identifier in self._known

    def number(self, identifier: str) -> Number:
        """A figure as a calculation has it; a percentage such as 12% counts as 0.12.

        Raises:
            CalculationError: There is no such figure.
        """
        one = self.observation(identifier)
        text = one.quantity.text
        if one.quantity.unit == "percent" and not text.endswith("%"):
            text = f"{text}%"
        return Number(text, one.path, one.id)

    def of_value(self, text: str, question: str) -> Number | None:
        """The figure with a value that was written in place of its identifier; ``None`` without one.

        Where several have it, the one whose labels share most with the question is meant.
        """
        bare = text.removesuffix("%").lstrip("-")
        places = self.index.align(Derivation.look_up(Number(bare)), question)
        if not places or self.index.observations[places[0]].in_header:
            return None
        found = self.number(self.index.observations[places[0]].id)
        return found if found.text.startswith("-") == text.startswith("-") else None

    def identified(self, derivation: Derivation, question: str) -> Derivation | None:
        """A derivation whose figures have no source, with that of the figure that each most likely means.

        Returns:
            ``None`` if a figure is not on the page.
        """
        steps = []
        for step in derivation.steps:
            operands: list[Operand] = []
            for operand in step.operands:
                if isinstance(operand, Number):
                    places = self.index.align(Derivation.look_up(operand), question)
                    if not places:
                        return None
                    one = self.index.observations[places[0]]
                    operand = Number(operand.text, one.path, one.id)
                operands.append(operand)
            steps.append(Step(step.operation, tuple(operands)))
        return Derivation(tuple(steps))

    def names(self, identifiers: Sequence[str]) -> list[str]:
        """The names by which figures differ: their years, or else the labels of their rows or columns.

        Raises:
            CalculationError: A figure does not exist, or two figures have the same name.
        """
        every = [self.observation(identifier) for identifier in identifiers]
        dated = [years(one.period or "") for one in every]
        if all(dated) and len({found[-1] for found in dated}) == len(every):
            return [str(found[-1]) for found in dated]
        for labels in ([one.column_label for one in every], [one.label for one in every]):
            if all(labels) and len(set(labels)) == len(labels) and all(map(_is_cell, every)):
                return labels
        written = ", ".join(f"[{identifier}]" for identifier in identifiers)
        raise CalculationError(
            f'{written} have no names of their own: write each name, as in argmax("east"=[s1n0], ...)'
        )

    def check_name(self, name: str, identifiers: Sequence[str]) -> None:
        """Refuses a name whose words are not those of its figures' labels or sentences.

        Raises:
            CalculationError: The page does not have the name there.
        """
        known: set[str] = set()
        for one in map(self.observation, identifiers):
            parts = [one.label, one.column_label, one.section, one.period or ""]
            if not isinstance(one.source, CellSource):
                parts.append(self.index.sentences[one.source.sentence])
            known.update(word for part in parts for word in tokens(part))
        if not tokens(name) or not set(tokens(name)) <= known:
            raise CalculationError(f"{name!r} is no name of {', '.join(f'[{one}]' for one in identifiers)} on the page")


def _is_cell(one: Observation) -> bool:
    return isinstance(one.source, CellSource)
