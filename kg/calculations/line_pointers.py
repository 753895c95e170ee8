"""Lines of a table as a question sees them: the labels that it names, and the figures at which templates point.

The comparisons over whole lines (:mod:`kg.calculations.comparisons`) are built on this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product

import numpy as np

from kg.arrays import FloatArray, IntArray
from kg.calculations.forms import ParsedForm
from kg.calculations.lines import FigureLine, TableLines
from kg.calculations.space import DerivationSpace
from kg.text import content_tokens, years

FIGURES_OF_OPTION = 3
"""Figures that are compared for each thing of a choice at the most."""

NAMED = 0.6
"""The least share of a label's words that a question which names it has."""


class LinePointers:
    """The lines of a report for one question.

    Args:
        space: The search of the question.
    """

    def __init__(self, space: DerivationSpace) -> None:
        self.space = space
        self.index = space.index
        self.history = int(np.argmax(space.priors))
        self.table = TableLines(space.index)
        self.words = set(content_tokens(space.question.questions[-1]))
        self.item = np.flatnonzero(self.index.variant == 0)
        self._pointed: dict[tuple[str, int, int], FloatArray] = {}

    @property
    def years(self) -> tuple[int, ...]:
        """The years that the question names."""
        return self.space.question.years

    def named_shares(self, line: FigureLine) -> list[float]:
        """The share of each label that the question names, in [0, 1], by the words that not all labels have."""
        if line.dated:
            return [float(int(label) in self.years) for label in line.labels]
        own = [set(content_tokens(label)) for label in line.labels]
        shared = set.intersection(*own)
        totals = [self._weight(words - shared) for words in own]
        named = [self._weight((words - shared) & self.words) for words in own]
        return [part / total if total else 0.0 for part, total in zip(named, totals, strict=True)]

    def _weight(self, words: Iterable[str]) -> float:
        return sum(map(self.index.idf, words))

    def optional(self, options: Sequence[str], pointed: FloatArray) -> Iterator[FigureLine]:
        """Figures of the table or the text, one for each thing between which the question asks to choose.

        Args:
            options: The things as the question names them.
            pointed: The log-probability of each observation as the figure that is looked up.
        """
        own = [set(content_tokens(option)) for option in options]
        shared = set.intersection(*own) if own else set()
        own = [words - shared for words in own]
        if not all(own) or all(map(years, options)):
            return
        found = [self._figures_of(words, set.union(*own) - words, pointed) for words in own]
        for chosen in product(*found):
            observations = [self.index.observations[cell] for cell in chosen]
            if len(set(chosen)) == len(chosen) and len({one.quantity.unit for one in observations}) == 1:
                in_table = self.index.row[list(chosen)] >= 0
                if in_table.any() and not (in_table.all() and self._in_line(chosen)):
                    continue
                by_row = in_table.all() and len({one.label for one in observations}) == len(chosen)
                labels = [one.label for one in observations] if by_row else options
                yield FigureLine(tuple(chosen), tuple(labels), False, False, False, "options")

    def _in_line(self, cells: Sequence[int]) -> bool:
        """Whether cells are of one row or of one column."""
        return 1 in (len({int(of[cell]) for cell in cells}) for of in (self.index.row, self.index.column))

    def _figures_of(self, words: set[str], others: set[str], pointed: FloatArray) -> list[int]:
        """The most probable figures near which most of the words of one thing are, and fewer of the other things."""
        held = self._holding(words)
        less = self._holding(others)
        places = np.flatnonzero((held >= NAMED) & (held > less) & self.index.is_figure)
        score = pointed[places] + 4 * (held[places] - less[places])
        return [int(place) for place in places[np.argsort(-score, kind="stable")[:FIGURES_OF_OPTION]]]

    def _holding(self, words: set[str]) -> FloatArray:
        """The share of some words that each observation's labels or clause have, in [0, 1]."""
        vector, fields = self.index.vector(list(words)), self.index.fields
        said = np.where(self.index.row >= 0, fields["sentence"].overlap(vector), fields["clause"].overlap(vector))
        return (said / (self._weight(words) or 1.0)).astype(np.float32)

    def period_of(self, cells: Sequence[int]) -> int:
        """The one period of some figures; -1 for none or several."""
        found = {int(self.index.period[cell]) for cell in cells}
        return found.pop() if len(found) == 1 else -1

    @cached_property
    def periods_of_columns(self) -> dict[int, int]:
        """The period of each column that has one."""
        found: dict[int, set[int]] = {}
        for (_, column), cell in self.table.cell_at.items():
            found.setdefault(column, set()).add(int(self.index.period[cell]))
        return {column: min(own) for column, own in found.items() if len(own) == 1 and min(own) >= 0}

    def earlier_columns(self, period: int) -> list[int]:
        """The column of the period before, and those of earlier years that the question names."""
        earlier = {own: other for other, own in self.periods_of_columns.items() if own < period}
        if period < 0 or not earlier:
            return []
        named = [year for year in self.years if year in earlier]
        return [earlier[year] for year in dict.fromkeys([*named, max(earlier)])]

    def logs(self, form: ParsedForm, position: int, first: int) -> FloatArray:
        """The log-probabilities of all observations as an operand."""
        key = (form.name, position, first)
        if key not in self._pointed:
            item = int(self.item[first]) if first >= 0 else -1
            pointers = self.space.pointers
            # Of the second figure the pointers alone are asked, which is faster.
            logs = pointers.operands(self.history, form, position, item) if pointers is not None and position else None
            if logs is None:
                state: IntArray = np.array([self.history, self.space.scorer.parsed.index(form), max(item, 0), 0])
                logs = self.space.operands(state, position)[1]
            self._pointed[key] = logs[self.item]
        return self._pointed[key]

    @cached_property
    def overlaps(self) -> dict[str, FloatArray]:
        """The share of the question in each observation's labels, and their agreement; relative to the best."""
        vector = self.index.vector(list(self.words))
        found = {}
        for name in ("label", "column"):
            field = self.index.fields[name]
            shared = field.overlap(vector)
            agreement = 2 * shared / np.maximum(field.mass + np.float32(self.space.question.mass), np.float32(0.5))
            in_table = self.index.row >= 0
            for key, values in ((name, shared), (f"{name}_agreement", agreement)):
                found[key] = np.minimum(values / max(float(values[in_table].max(initial=0.0)), 1e-6), 1.0)
        return found

    @cached_property
    def said(self) -> dict[str, FloatArray]:
        """The share of the question in each observation's sentence and in its label."""
        vector = self.index.vector(list(self.words))
        mass = np.float32(self.space.question.mass)
        return {name: self.index.fields[name].overlap(vector) / mass for name in ("sentence", "label")}

    def spread(self, cells: Sequence[int]) -> float:
        """The orders of magnitude between figures."""
        sizes = self.index.amounts[list(cells)]
        sizes = sizes[sizes > 0]
        return float(np.log10(sizes.max() / sizes.min())) if len(sizes) else 0.0
