"""Series: the runs of table cells that a question adds up, averages or compares.

Two figures say which cells are meant. In one row or one column they are the ends of a run; in neither they are the
corners of a block, whose rows each have an earlier and a later figure::

    sum_of(17 @ 2019, 18 @ 2021)           add(17, 15), add(#0, 18)
    argmax(5.1 @ 2017, 7.2 @ 2019)         argmax("2017"=5.1, "2018"=6.0, "2019"=7.2)
    argmax_change(10 @ east 2017, 11 @ west 2018)   argmax_change("east"=(12, 10), "west"=(11, 10))
    compound_growth(21 @ 2021, 17 @ 2019)  divide(21, 17), divide(const_1, const_2), exp(#0, #1), subtract(#2, const_1)

A sentence that lists figures is a run too. A run leaves out header cells, cells of another unit, and cells without a
period between two that have one. Two figures that are not the ends of such a run make no series.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from kg.calculations.names import as_float, spoken_names
from kg.calculations.report_index import ReportIndex
from kg.errors import ProgramError
from kg.search import (
    NAMED_OPERATIONS,
    Constant,
    Derivation,
    Labelled,
    Number,
    Operand,
    Step,
    StepResult,
    TurnOperation,
)

SUMS = ("sum_of", "average_of")
EXTREMES = ("max_of", "min_of")
PAIRS = ("argmax_pair", "argmin_pair")

COMPOUND_GROWTH = "compound_growth"

LONGEST = 24
"""Cells of a series at the most."""


class SeriesReader:
    """The series of a report.

    Args:
        index: The report.
        time: The unit of time that a question asks for: ``month``, ``date`` and so on.
    """

    def __init__(self, index: ReportIndex, time: str = "") -> None:
        self.index = index
        self.time = time
        usable = ((index.row >= 0) & (index.ordinal == 0)) | (index.sentence >= 0)
        usable &= np.array([not one.in_header for one in index.observations], dtype=bool)
        self._usable = usable
        self._items: dict[tuple[int, int], int] = {}
        for item, (base, variant) in enumerate(zip(index.base.tolist(), index.variant.tolist(), strict=True)):
            self._items.setdefault((base, variant), item)
        self._known: dict[tuple[str, int, int, int], Derivation | None] = {}

    def derivation(self, operation: str, first: int, second: int, count: int = 1) -> Derivation | None:
        """The calculation over the series between two items.

        Args:
            operation: One of :data:`kg.search.history.SERIES_OPERATIONS`.
            first: The item at one end.
            second: The item at the other end.
            count: How many names are asked for, at least 1.

        Returns:
            ``None`` where the two items are not the ends of a series.
        """
        key = (operation, first, second, count)
        if key not in self._known:
            self._known[key] = self._derivation(*key)
        return self._known[key]

    def _derivation(self, operation: str, first: int, second: int, count: int) -> Derivation | None:
        index = self.index
        ends = (int(index.base[first]), int(index.base[second]))
        variant = int(index.variant[first])
        if first == second or ends[0] == ends[1] or not self._usable[list(ends)].all():
            return None
        if variant != index.variant[second]:
            return None
        if operation in PAIRS:
            labels = self._labels(ends) if self._aligned(ends) else None
            return None if labels is None else self._compared(operation.removesuffix("_pair"), labels, ends, variant, 1)
        if operation == COMPOUND_GROWTH:
            return self._compound_growth(ends, variant)
        if operation not in NAMED_OPERATIONS or NAMED_OPERATIONS[operation][0] == 1:
            cells = self._run(ends)
            if cells is None or len(cells) < (3 if operation in SUMS else 2):
                return None
            if operation in SUMS:
                return self._added(operation, [self._number(cell, variant) for cell in cells])
            if operation in EXTREMES:
                return Derivation((Step(operation[:3], tuple(self._number(cell, variant) for cell in cells)),))
            labels = self._labels(cells)
            return None if labels is None else self._compared(operation, labels, cells, variant, count)
        return self._changes(operation, ends, variant, count)

    def value(self, operation: str, first: int, second: int, count: int = 1) -> float:
        """The result by :func:`as_float`; ``nan`` where there is none."""
        derivation = self.derivation(operation, first, second, count)
        try:
            return float("nan") if derivation is None else as_float(derivation.execute())
        except ProgramError:
            return float("nan")

    def collapse(self, derivation: Derivation) -> TurnOperation | None:
        """Reads a sum, an average or a comparison as an operation over the two ends of its series.

        Returns:
            ``None`` where the derivation is over no series of the report.
        """
        found = self._ends(derivation)
        return None if found is None else TurnOperation(found[0], found[1:])

    def _ends(self, derivation: Derivation) -> tuple[str, Number, Number] | None:
        growth = _read_growth(derivation)
        if growth is not None:
            return growth
        read = _read(derivation)
        if read is None:
            return None
        operation, numbers = read
        texts = [number.text for number in numbers]
        first, last = numbers[0], numbers[-1]
        if operation in NAMED_OPERATIONS and NAMED_OPERATIONS[operation][0] == 2:
            earlier, later = numbers[1], numbers[-2]
            return (operation, earlier, later) if self._found(operation, earlier, later, texts) else None
        for one, other in ((first, last), *self._corners(texts)):
            if self._found(operation, one, other, texts):
                return operation, one, other
        if operation in ("argmax", "argmin") and len(numbers) == 2:
            pair = f"{operation}_pair"
            return (pair, first, last) if self._found(pair, first, last, texts) else None
        return None

    def _corners(self, texts: Sequence[str]) -> list[tuple[Number, Number]]:
        """All pairs of figures, for calculations that name them in another order than the table."""
        return [(Number(one), Number(other)) for one in texts for other in texts if one != other]

    def _found(self, operation: str, first: Number, second: Number, texts: Sequence[str]) -> bool:
        by_text: dict[str, list[int]] = {}
        for item, text in enumerate(self.index.texts):
            by_text.setdefault(text, []).append(item)
        for one in by_text.get(first.text, ()):
            for other in by_text.get(second.text, ()):
                derivation = self.derivation(operation, one, other)
                if derivation is not None and sorted(n.text for n in derivation.numbers) == sorted(texts):
                    return True
        return False

    def _aligned(self, ends: tuple[int, int]) -> bool:
        index, (first, second) = self.index, ends
        if index.row[first] < 0 or index.row[second] < 0:
            return bool(index.sentence[first] == index.sentence[second])
        return bool(index.row[first] == index.row[second]) != bool(index.column[first] == index.column[second])

    def _run(self, ends: tuple[int, int]) -> list[int] | None:
        index = self.index
        if not self._aligned(ends):
            return None
        in_text = index.row[ends[0]] < 0
        in_row = index.row[ends[0]] == index.row[ends[1]]
        line, across = (index.row, index.column) if in_row else (index.column, index.row)
        if in_text:
            line, across = index.sentence, index.ordinal
        low, high = sorted((int(across[ends[0]]), int(across[ends[1]])))
        if across is index.row and index.has_gap(low, high):
            return None
        chosen = self._usable & (line == line[ends[0]]) & (across >= low) & (across <= high)
        chosen &= index.unit == index.unit[ends[0]]
        if all(index.period[end] >= 0 for end in ends) and in_row:
            chosen &= index.period >= 0
        cells = np.flatnonzero(chosen)
        cells = cells[np.argsort(across[cells], kind="stable")]
        found: list[int] = cells.tolist()
        return found if set(ends) <= set(found) and len(found) <= LONGEST else None

    def _labels(self, cells: Sequence[int]) -> list[str] | None:
        """The label of each cell on the axis on which the cells differ; ``None`` where labels are empty or equal."""
        index = self.index
        if index.row[cells[0]] < 0:
            return None if min(int(index.period[cell]) for cell in cells) < 0 else self._periods(cells)
        in_row = len({int(index.row[cell]) for cell in cells}) == 1
        observations = [index.observations[cell] for cell in cells]
        written = [one.column_label if in_row else one.label for one in observations]
        labels = self._periods(cells) or written
        if not all(labels) or len(set(labels)) < len(labels):
            return None
        return spoken_names(labels, written, self.time)

    def _periods(self, cells: Sequence[int]) -> list[str] | None:
        """The years of cells, if all have different ones."""
        found = [int(self.index.period[cell]) for cell in cells]
        return [str(period) for period in found] if min(found) >= 0 and len(set(found)) == len(found) else None

    def _changes(self, operation: str, ends: tuple[int, int], variant: int, count: int) -> Derivation | None:
        """From each cell of a run to the next, or in each row of a block from the earlier to the later column."""
        index, (first, second) = self.index, ends
        cells = self._run(ends)
        if cells is not None:
            labels = self._labels(cells)
            if labels is None or len(cells) < 3:
                return None
            order = sorted(range(len(cells)), key=lambda place: (int(index.period[cells[place]]), place))
            pairs = [(cells[later], cells[earlier]) for earlier, later in pairwise(order)]
            return self._compared(operation, [labels[place] for place in order[1:]], pairs, variant, count)
        if min(index.row[first], index.row[second]) < 0 or self._aligned(ends):
            return None
        old, new = int(index.column[first]), int(index.column[second])
        low, high = sorted((int(index.row[first]), int(index.row[second])))
        if index.has_gap(low, high):
            return None
        cell_at = {(int(index.row[c]), int(index.column[c])): int(c) for c in np.flatnonzero(self._usable)}
        rows = [row for row in range(low, high + 1) if (row, old) in cell_at and (row, new) in cell_at]
        pairs = [(cell_at[row, new], cell_at[row, old]) for row in rows]
        labels = [index.observations[later].label for later, _ in pairs]
        if not 2 <= len(pairs) <= LONGEST or not all(labels) or len(set(labels)) != len(labels):
            return None
        return self._compared(operation, labels, pairs, variant, count)

    def _compared(
        self, operation: str, labels: Sequence[str], cells: Sequence[int | tuple[int, int]], variant: int, count: int
    ) -> Derivation:
        operands: list[Operand] = [] if count == 1 else [Constant(f"const_{count}")]
        for label, cell in zip(labels, cells, strict=True):
            figures = cell if isinstance(cell, tuple) else (cell,)
            operands.append(Labelled(label, tuple(self._number(figure, variant) for figure in figures)))
        return Derivation((Step(operation, tuple(operands)),))

    def _compound_growth(self, ends: tuple[int, int], variant: int) -> Derivation | None:
        """The mean growth a year from the second figure to the first, over the years between their periods."""
        index = self.index
        later, earlier = (int(index.period[end]) for end in ends)
        if min(later, earlier) < 0 or later - earlier < 2 or index.unit[ends[0]] != index.unit[ends[1]]:
            return None
        new, old = (self._number(end, variant) for end in ends)
        years_between = Constant(f"const_{later - earlier}")
        one = Constant("const_1")
        steps = (
            Step("divide", (new, old)),
            Step("divide", (one, years_between)),
            Step("exp", (StepResult(0), StepResult(1))),
            Step("subtract", (StepResult(2), one)),
        )
        return Derivation(steps)

    def _added(self, operation: str, numbers: Sequence[Number]) -> Derivation:
        steps = [Step("add", (numbers[0], numbers[1]))]
        for place, number in enumerate(numbers[2:]):
            steps.append(Step("add", (StepResult(place), number)))
        if operation == "average_of":
            steps.append(Step("divide", (StepResult(len(steps) - 1), Constant(f"const_{len(numbers)}"))))
        return Derivation(tuple(steps))

    def _number(self, place: int, variant: int) -> Number:
        observation = self.index.observations[place]
        item = self._items.get((place, variant), self._items[place, 0])
        return Number(self.index.texts[item], observation.path, observation.id)


def _read(derivation: Derivation) -> tuple[str, tuple[Number, ...]] | None:
    """The series operation that a derivation is, with its figures; ``None`` if it is none."""
    steps, numbers = derivation.steps, derivation.numbers
    root = steps[-1]
    if root.operation in NAMED_OPERATIONS and len(steps) == 1:
        return root.operation, numbers
    if len(steps) == 1 and root.operation in ("sum", "average", "max", "min"):
        return f"{root.operation}_of", numbers
    averaged = root.operation == "divide" and str(root.operands[1]) in (f"const_{len(numbers)}", str(len(numbers)))
    body = steps[:-1] if averaged else steps
    if averaged and isinstance(root.operands[1], Number):
        numbers = numbers[:-1]
    added = len(body) == len(numbers) - 1 and all(step.operation == "add" for step in body)
    if not added or len(numbers) < 3:
        return None
    return "average_of" if averaged else "sum_of", numbers


def _read_growth(derivation: Derivation) -> tuple[str, Number, Number] | None:
    """Both figures of a compound growth rate."""
    match derivation.tree():
        case ("subtract", ("exp", ("divide", str(), str()), _), "const_1") if len(derivation.numbers) == 2:
            new, old = derivation.numbers
            return COMPOUND_GROWTH, new, old
    return None
