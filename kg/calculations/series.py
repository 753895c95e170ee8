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

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import pairwise, permutations

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
    TurnOperation,
    spelled_out,
)

SUMS = ("sum_of", "average_of")
EXTREMES = ("max_of", "min_of")
PAIRS = ("argmax_pair", "argmin_pair")

COMPOUND_GROWTH = "compound_growth"
_GROWTH = "divide(0, 1), divide(const_1, const_{years}), exp(#0, #1), subtract(#2, const_1)"

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
        self._usable = ((index.row >= 0) & (index.ordinal == 0) | (index.sentence >= 0)) & index.is_figure

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
        index = self.index
        ends = (int(index.base[first]), int(index.base[second]))
        variant = int(index.variant[first])
        if ends[0] == ends[1] or not self._usable[list(ends)].all() or variant != index.variant[second]:
            return None
        number = partial(index.number, variant=variant)
        if operation in PAIRS:
            labels = self._labels(ends) if self._aligned(ends) else None
            return None if labels is None else compared(operation.removesuffix("_pair"), labels, ends, number)
        if operation == COMPOUND_GROWTH:
            years = int(index.period[ends[0]] - index.period[ends[1]])
            if min(index.period[list(ends)]) < 0 or years < 2 or index.unit[ends[0]] != index.unit[ends[1]]:
                return None
            template = Derivation.parse(_GROWTH.format(years=years))
            return spelled_out(template, [Derivation.look_up(number(end)) for end in ends])
        constants = (Constant(f"const_{count}"),) if count > 1 else ()
        if NAMED_OPERATIONS.get(operation, (1,))[0] == 2:
            changes = self._changes(ends)
            return None if changes is None else compared(operation, *changes, number, constants)
        cells = self._run(ends) or []
        if len(cells) < (3 if operation in SUMS else 2):
            return None
        if operation in SUMS:
            return _added(operation, [number(cell) for cell in cells])
        if operation in EXTREMES:
            return Derivation((Step(operation[:3], tuple(number(cell) for cell in cells)),))
        labels = self._labels(cells)
        return None if labels is None else compared(operation, labels, cells, number, constants)

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
        match derivation.tree():
            case ("subtract", ("exp", ("divide", str(), str()), _), "const_1") if len(derivation.numbers) == 2:
                return TurnOperation(COMPOUND_GROWTH, derivation.numbers)
        operation, numbers = _read(derivation) or ("", ())
        if not operation:
            return None
        ends = [TurnOperation(operation, (numbers[0], numbers[-1]))]
        if NAMED_OPERATIONS.get(operation, (1,))[0] == 2:
            ends = [TurnOperation(operation, (numbers[1], numbers[-2]))]
        else:  # A calculation may name its figures in another order than the table.
            ends += [
                TurnOperation(operation, pair) for pair in permutations(numbers, 2) if pair[0].text != pair[1].text
            ]
        if operation in ("argmax", "argmin") and len(numbers) == 2:
            ends.append(TurnOperation(f"{operation}_pair", numbers))
        texts = sorted(number.text for number in numbers)
        return next((one for one in ends if self._gives(one, texts)), None)

    def _gives(self, operation: TurnOperation, texts: Sequence[str]) -> bool:
        """Whether an operation over two figures of the report calculates with the figures of some texts."""
        firsts, seconds = (
            [item for item, text in enumerate(self.index.texts) if text == str(end)] for end in operation.operands
        )
        derivations = (self.derivation(operation.operation, one, other) for one in firsts for other in seconds)
        return any(one is not None and sorted(n.text for n in one.numbers) == texts for one in derivations)

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

    def _changes(self, ends: tuple[int, int]) -> tuple[list[str], list[tuple[int, int]]] | None:
        """From each cell of a run to the next, or in each row of a block from the earlier to the later column."""
        index, (first, second) = self.index, ends
        cells = self._run(ends)
        if cells is not None:
            labels = self._labels(cells)
            if labels is None or len(cells) < 3:
                return None
            order = sorted(range(len(cells)), key=lambda place: (int(index.period[cells[place]]), place))
            return [labels[place] for place in order[1:]], [(cells[new], cells[old]) for old, new in pairwise(order)]
        if min(index.row[first], index.row[second]) < 0 or self._aligned(ends):
            return None
        low, high = sorted((int(index.row[first]), int(index.row[second])))
        if index.has_gap(low, high):
            return None
        old, new = (self._cells_of(column, low, high) for column in index.column[list(ends)])
        pairs = [(new[row], old[row]) for row in sorted(old.keys() & new.keys())]
        labels = [index.observations[later].label for later, _ in pairs]
        if not 2 <= len(pairs) <= LONGEST or not all(labels) or len(set(labels)) != len(labels):
            return None
        return labels, pairs

    def _cells_of(self, column: int, low: int, high: int) -> dict[int, int]:
        """The cells of a column by their rows, between two rows."""
        index = self.index
        chosen = self._usable & (index.column == column) & (index.row >= low) & (index.row <= high)
        return {int(index.row[cell]): int(cell) for cell in np.flatnonzero(chosen)}


def compared(
    operation: str,
    labels: Sequence[str],
    cells: Sequence[int | tuple[int, int]],
    number: Callable[[int], Number],
    constants: Sequence[Constant] = (),
) -> Derivation:
    """The comparison of labelled cells, or of labelled pairs of a later and an earlier cell."""
    operands: list[Operand] = list(constants)
    for label, cell in zip(labels, cells, strict=True):
        operands.append(Labelled(label, tuple(map(number, cell if isinstance(cell, tuple) else (cell,)))))
    return Derivation((Step(operation, tuple(operands)),))


def _added(operation: str, numbers: Sequence[Number]) -> Derivation:
    total = reduce(partial(Derivation.combine, "add"), map(Derivation.look_up, numbers))
    if operation == "sum_of":
        return total
    return Derivation.combine("divide", total, Derivation.look_up(Constant(f"const_{len(numbers)}")))


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
