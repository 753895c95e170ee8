"""Aggregates over groups of figures: totals, averages and extremes, and calculations with one of them.

The search points at the ends of a run. Here each group of figures that a question may mean
(:mod:`kg.calculations.figure_groups`) has a sum, an average, a maximum and a minimum, and a question may go on::

    average sales from 2005 to 2007                 add(17, 15), add(#0, 18), divide(#1, const_3)
    rent, wages and fuel as a share of all costs    add(3, 4), add(#0, 2), divide(#1, 12)
    by how much did the three grow together?        the difference of two such sums

A linear model selects among these readings and the candidates of the search
(:class:`kg.calculations.choices.AggregateModel`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kg.arrays import FloatArray
from kg.calculations.asked_aggregates import FUNCTIONS, read_aggregates
from kg.calculations.choices import AGGREGATE_FEATURES, feature_matrix
from kg.calculations.conversions import asked_power
from kg.calculations.figure_groups import AXES, EXTENTS, FigureGroup, figure_groups
from kg.calculations.line_pointers import LinePointers
from kg.calculations.lines import is_total
from kg.calculations.space import DerivationSpace
from kg.search import Constant, Derivation, Operand, Step, StepResult
from kg.text import tokens

MOST_GROUPS = 32
"""Groups of a function that are read in full, those at which its template points most."""

MOST = 260
"""Readings of a question at the most."""

OUTER = ("per", "member", "into", "less", "convert", "difference", "change")
"""The calculations with an aggregate: divided by a figure, a member or another figure divided by it, a figure less it,
its scale changed, and its difference or change from the same aggregate of an earlier column."""

_TEMPLATES = {
    "sum": "sum_of(A, A)",
    "average": "average_of(A, A)",
    "max": "argmax(A, A)",
    "min": "argmin(A, A)",
    "range": "argmax(A, A)",
}
_LEAST = -12.0
_BONUS = 2.0
_OTHERS = 2
"""Figures that are tried as the other operand of a calculation with an aggregate."""

_POWER = {3: "const_1000", 6: "const_1000000"}


@dataclass(frozen=True)
class FigureAggregate:
    """One reading of a question over a group.

    Attributes:
        function: One of :data:`kg.calculations.FUNCTIONS`.
        group: The figures.
        outer: One of :data:`OUTER`, or empty.
        other: The observation that is the other operand, or -1.
        earlier: The figures of the earlier column, of a difference or a change.
        power: The power of ten by which the scale is changed.
        variant: The variant of the figures: 0 as written, 1 percentages as fractions, 2 without their sign.
    """

    function: str
    group: FigureGroup
    outer: str = ""
    other: int = -1
    earlier: tuple[int, ...] = ()
    power: int = 0
    variant: int = 0

    @property
    def ends(self) -> tuple[int, int]:
        """The observations at both ends."""
        return self.group.line.cells[0], self.group.line.cells[-1]


class Aggregates(LinePointers):
    """The aggregates of a question.

    Args:
        space: The search of the question.
    """

    def __init__(self, space: DerivationSpace) -> None:
        super().__init__(space)
        self.asked = read_aggregates(space.question.questions[-1])
        self._forms = {form.name: form for form in space.scorer.parsed}
        self._form_logs = dict(
            zip(space.scorer.forms.forms, space.form_log_probabilities[self.history].tolist(), strict=True)
        )
        self._of_groups: dict[FigureGroup, dict[str, float]] = {}

    # Readings

    @cached_property
    def all(self) -> tuple[FigureAggregate, ...]:
        """The readings over the groups at which the templates point most."""
        found: list[tuple[float, FigureAggregate]] = []
        groups = figure_groups(self, self.asked)
        for function in FUNCTIONS:
            if _TEMPLATES[function] not in self._forms:
                continue
            if function not in self.asked.functions and function in ("max", "min", "range"):
                continue
            scored = [(self._pointed_at(function, group)[0] + self._spoken_of(group), group) for group in groups]
            scored.sort(key=lambda one: -one[0])
            for score, group in scored[:MOST_GROUPS]:
                found += [(score, one) for one in self._readings(function, group)]
        found.sort(key=lambda one: -one[0])
        return tuple(one for _, one in found[:MOST])

    def _spoken_of(self, group: FigureGroup) -> float:
        """A bonus for groups whose labels the question names, so that they are read in full."""
        cells = list(group.line.cells)
        fixed = "label" if group.axis in ("row", "block") else "column"
        words = float(self.overlaps[fixed][cells].mean()) if group.axis in ("row", "column", "block") else 0.0
        return _BONUS * (words + float(group.extent in ("years", "listed", "named", "count")))

    def _readings(self, function: str, group: FigureGroup) -> Iterator[FigureAggregate]:
        for one in self._written_readings(function, group):
            yield one
            if one.outer in ("", "convert", "difference", "less"):
                for variant in (1, 2):
                    if all((cell, variant) in self.items for cell in (*group.line.cells, *one.earlier)):
                        yield replace(one, variant=variant)

    def _written_readings(self, function: str, group: FigureGroup) -> Iterator[FigureAggregate]:
        size = len(group.line.cells)
        if size >= 3 or function in ("max", "min"):
            yield FigureAggregate(function, group)
            if power := self._power(group):
                yield FigureAggregate(function, group, "convert", power=power)
        if function not in ("sum", "average"):
            return
        if function == "sum" and self.asked.ratio:
            yield from (
                FigureAggregate(function, group, "per", other) for other in self._others("divide(A, A)", group, 1)
            )
            if size >= 3:
                members = self._best("divide(A, A)", 0, -1, group.line.cells)
                yield from (FigureAggregate(function, group, "member", other) for other in members)
            yield from (
                FigureAggregate(function, group, "into", other) for other in self._others("divide(A, A)", group, 0)
            )
        if function == "sum" and self.asked.rest:
            yield from (
                FigureAggregate(function, group, "less", other) for other in self._others("subtract(A, A)", group, 0)
            )
        if self.asked.change and group.axis == "column":
            for column in self.earlier_columns(self.period_of(group.line.cells)):
                rows = [int(self.index.row[cell]) for cell in group.line.cells]
                cells = [self.table.cell_at.get((row, column)) for row in rows]
                earlier = tuple(cell for cell in cells if cell is not None)
                if len(earlier) == size:
                    yield FigureAggregate(function, group, "difference", earlier=earlier)
                    yield FigureAggregate(function, group, "change", earlier=earlier)

    def form_of(self, one: FigureAggregate) -> str:
        """The name of the form by which later turns know a reading."""
        return _TEMPLATES[one.function]

    def _power(self, group: FigureGroup) -> int:
        """The power of ten from a group's scale to the one that is asked for; 0 for none."""
        asked = asked_power(self.space.question.questions[-1])
        own = {round(float(np.log10(float(self.index.scale[cell])))) for cell in group.line.cells}
        if asked is None or len(own) != 1:
            return 0
        change = own.pop() - int(asked)
        return change if abs(change) in _POWER else 0

    def _others(self, form: str, group: FigureGroup, position: int) -> list[int]:
        """The figures outside a group at which a template points most, and the total of its column or row."""
        if form not in self._forms:
            return []
        cells = set(group.line.cells)
        first = self._best(form, 0, -1, group.line.cells)[0] if position else -1
        outside = [place for place in range(len(self.index.observations)) if place not in cells]
        outside = [place for place in outside if not self.index.observations[place].in_header]
        found = self._best(form, position, first, outside)
        totals = [place for place in self._totals_of(group) if place not in cells]
        return list(dict.fromkeys([*found, *totals[:1]]))

    def _totals_of(self, group: FigureGroup) -> list[int]:
        table, last = self.table, group.line.cells[-1]
        row, column = int(self.index.row[last]), int(self.index.column[last])
        if group.axis == "column":
            return [table.cell_at[own, column] for own in table.rows if own > row and own in table.total_rows
                    and (own, column) in table.cell_at]  # fmt: skip
        return [table.cell_at[row, own] for own in table.columns if own in table.total_columns
                and (row, own) in table.cell_at]  # fmt: skip

    def _best(self, form: str, position: int, first: int, places: Sequence[int]) -> list[int]:
        if not len(places) or form not in self._forms:
            return list(places[:1])
        logs = self.logs(self._forms[form], position, first)[list(places)]
        return [places[place] for place in np.argsort(-logs, kind="stable")[:_OTHERS].tolist()]

    # Features

    def _pointed_at(self, function: str, group: FigureGroup) -> tuple[float, float, float, float]:
        """Log-probabilities that the template points at the group first and second, and of its figures first."""
        form = self._forms[_TEMPLATES[function]]
        cells = list(group.line.cells)
        logs = self.logs(form, 0, -1)[cells]
        first = float(np.logaddexp.reduce(logs))
        second = float(np.logaddexp.reduce(self.logs(form, 1, cells[int(np.argmax(logs))])[cells]))
        return max(first, _LEAST), max(second, _LEAST), float(np.maximum(logs, _LEAST).mean()), float(logs.min())

    def _form_log(self, name: str) -> float:
        return max(float(self._form_logs.get(name, _LEAST)), _LEAST)

    @cached_property
    def features(self) -> FloatArray:
        """The features of all readings, shape ``(readings, len(AGGREGATE_FEATURES))``; those of the answer are 0."""
        return feature_matrix([self._features(one) for one in self.all], AGGREGATE_FEATURES)

    def _features(self, one: FigureAggregate) -> dict[str, float]:
        if one.group not in self._of_groups:
            self._of_groups[one.group] = self._of_group(one.group)
        first, second, mean, weakest = self._pointed_at(one.function, one.group)
        cued = one.function in self.asked.functions
        form = self._form_log(_TEMPLATES[one.function])
        values = self._of_groups[one.group] | {
            "form": form / 3,
            "first": first / 3,
            "second": second / 3,
            "mean": mean / 3,
            "weakest": max(weakest, _LEAST) / 3,
            one.function: 1.0,
            "cued": float(cued),
            "uncued": float(not cued and bool(self.asked.functions)),
            f"cued_{one.function}": float(cued),
            "ratio_asked": float(self.asked.ratio and one.outer not in ("per", "member", "into", "change")),
            "change_asked": float(self.asked.change and one.outer not in ("difference", "change")),
            "as_percent": float(one.variant == 1),
            "as_positive": float(one.variant == 2),
            "power_asked": float(one.outer != "convert" and bool(self._power(one.group))),
        }
        if one.outer:
            values |= {one.outer: 1.0} | self._of_other(one)
        return values

    def _of_other(self, one: FigureAggregate) -> dict[str, float]:
        """The features of the other operand of a calculation."""
        if one.other < 0:
            return {}
        form = self._forms["subtract(A, A)" if one.outer == "less" else "divide(A, A)"]
        position = int(one.outer == "per")
        first = self._best(form.name, 0, -1, one.group.line.cells)[0] if position else -1
        pointed = float(self.logs(form, position, first)[one.other])
        label = self.index.observations[one.other].label
        cell = one.group.line.cells[0]
        return {
            "outer_form": self._form_log(form.name) / 3,
            "outer_pointed": max(pointed, _LEAST) / 3,
            "outer_total": float(is_total(label) or int(self.index.row[one.other]) in self.table.total_rows),
            "outer_aligned": float(
                int(self.index.row[cell]) >= 0
                and (
                    self.index.row[cell] == self.index.row[one.other]
                    or self.index.column[cell] == self.index.column[one.other]
                )
            ),
            "outer_unit": float(self.index.unit[cell] != self.index.unit[one.other]),
        }

    def _of_group(self, group: FigureGroup) -> dict[str, float]:
        """The features of a group."""
        line, asked = group.line, self.asked
        cells = list(line.cells)
        periods = {int(self.index.period[cell]) for cell in cells}
        years = set(self.years)
        period = -1 if line.dated else self.period_of(cells)
        fixed, other = ("label", "column") if group.axis in ("row", "block") else ("column", "label")
        labels = [self.index.observations[cell] for cell in cells]
        of_line = {word for one in labels for word in tokens(one.label if group.axis == "row" else one.column_label)}
        latest = max(self.periods_of_columns.values(), default=-1)
        in_table = group.axis in ("row", "column")
        size = len(cells)
        between = set(range(min(years, default=0), max(years, default=0) + 1))
        return {
            "structural": 1.0,
            **{name: float(group.axis == name) for name in AXES},
            **{name: float(group.extent == name) for name in EXTENTS},
            "dated": float(line.dated),
            "timed": float(line.timed),
            "size": float(np.log(size)),
            "count_fits": float(asked.count == size and asked.count > 0),
            "count_differs": float(asked.count not in (0, size)),
            "time_differs": float(asked.of_time and not line.timed),
            "years_covered": float(bool(years) and line.dated and years <= periods),
            "years_missing": float(bool(years) and line.dated and not years <= periods),
            "years_beyond": len(periods - between) / size if years and line.dated else 0.0,
            "named_share": float(np.mean(self.named_shares(line))) if not line.dated else 0.0,
            "fixed_words": float(self.overlaps[fixed][cells].mean()) if in_table else 0.0,
            "fixed_agreement": float(self.overlaps[f"{fixed}_agreement"][cells].mean()) if in_table else 0.0,
            "other_words": float(self.overlaps[other][cells].mean()) if in_table else 0.0,
            "year_fits": float(period >= 0 and period in years),
            "year_differs": float(period >= 0 and bool(years) and period not in years),
            "latest": float(period >= 0 and not years and period == latest),
            "spread": min(self.spread(cells), 6.0) / 3,
            "cue_in_label": float(bool(_CUE_WORDS & of_line)),
            "with_total": float(any(is_total(one.label) or is_total(one.column_label) for one in labels)),
            "percent": float(labels[0].quantity.unit == "percent"),
        }  # fmt: skip

    # Calculations

    def derivation(self, one: FigureAggregate) -> Derivation:
        """Returns the calculation of a reading."""
        steps: list[Step] = []
        value = self._aggregated(steps, one, one.group.line.cells)
        if one.outer in ("difference", "change"):
            before = self._aggregated(steps, one, one.earlier)
            value = _then(steps, "subtract", value, before)
            if one.outer == "change":
                value = _then(steps, "divide", value, before)
        elif one.outer == "convert":
            value = _then(steps, "multiply" if one.power > 0 else "divide", value, Constant(_POWER[abs(one.power)]))
        elif one.outer:
            other = self.number(one.other, one.variant)
            first, second = (value, other) if one.outer == "per" else (other, value)
            value = _then(steps, "subtract" if one.outer == "less" else "divide", first, second)
        return Derivation(tuple(steps))

    def _aggregated(self, steps: list[Step], one: FigureAggregate, cells: Sequence[int]) -> Operand:
        function = one.function
        numbers = [self.number(cell, one.variant) for cell in cells]
        if function in ("max", "min"):
            return _added(steps, Step(function, tuple(numbers)))
        if function == "range":
            highest = _added(steps, Step("max", tuple(numbers)))
            return _then(steps, "subtract", highest, _added(steps, Step("min", tuple(numbers))))
        value = _then(steps, "add", numbers[0], numbers[1])
        for number in numbers[2:]:
            value = _then(steps, "add", value, number)
        return _then(steps, "divide", value, Constant(f"const_{len(numbers)}")) if function == "average" else value


_CUE_WORDS = frozenset(tokens("total average mean combined aggregate cumulative maximum minimum highest lowest"))


def _then(steps: list[Step], operation: str, first: Operand, second: Operand) -> StepResult:
    return _added(steps, Step(operation, (first, second)))


def _added(steps: list[Step], step: Step) -> StepResult:
    steps.append(step)
    return StepResult(len(steps) - 1)
