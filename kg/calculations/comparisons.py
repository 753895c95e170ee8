"""Comparisons over whole lines of a table: candidates for questions whose answer is a name.

The search points at two ends of a run. Here each row and each column of comparable figures is a line
(:mod:`kg.calculations.lines`), and each reading of the question over a line is a comparison::

    which region grew most in 2019?     argmax_change("north america"=(120, 110), "europe"=(80, 85))
    in which years was it above 100?    above(const_100, "2019"=120, "2018"=110)

They join the candidates of the search (:mod:`kg.calculations.naming`), and the final ranking selects among all
(:class:`kg.calculations.final_ranker.FinalRanker`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from kg.arrays import FloatArray
from kg.calculations.forms import ParsedForm
from kg.calculations.line_pointers import NAMED, LinePointers
from kg.calculations.lines import FigureLine, written_labels
from kg.calculations.names import month_of, spoken_names
from kg.calculations.question_names import Bounds
from kg.calculations.report_index import ReportIndex
from kg.calculations.series import compared
from kg.calculations.space import DerivationSpace
from kg.reports import SentenceSource
from kg.search import Constant, Derivation
from kg.text import find_dates

MOST = 160
"""Comparisons that are scored in full, those with the best template and first figure."""

MOST_DATES = 8
"""Dates of the text that are scored."""

_LEAST = -12.0
_OPTION = 0.25
"""The least share of a label's words for the two labels that come nearest to a question with "or"."""

_EXTREMES = ("argmax", "argmin")
_TEMPLATES = tuple(f"{name}{suffix}" for name in _EXTREMES for suffix in ("", "_difference", "_change"))


@dataclass(frozen=True)
class LineComparison:
    """One reading of a question over a line.

    Attributes:
        operation: One of :data:`kg.search.LABELLED_OPERATIONS`.
        template: The operation whose template and pointers score it, such as ``argmax_change``.
        line: The line; of two columns the later one.
        earlier: The figures from which those of the line changed; empty if their values are compared.
        constants: Counts, ranks and bounds.
    """

    operation: str
    template: str
    line: FigureLine
    earlier: tuple[int, ...] = ()
    constants: tuple[Constant, ...] = ()

    @property
    def is_filter(self) -> bool:
        """Whether bounds select the names."""
        return "arg" not in self.operation

    @property
    def ends(self) -> tuple[int, int]:
        """The observations at both ends, in the order in which a template points at them."""
        return (self.earlier[0] if self.earlier else self.line.cells[0], self.line.cells[-1])


class LineComparisons(LinePointers):
    """The comparisons of a question.

    Args:
        space: The search of the question.
    """

    def __init__(self, space: DerivationSpace) -> None:
        super().__init__(space)
        self.asked = space.asked
        self._masses: dict[tuple[str, tuple[int, ...], tuple[int, ...], int], float] = {}
        self._of_lines: dict[FigureLine, dict[str, float]] = {}

    # Readings

    @cached_property
    def all(self) -> tuple[LineComparison, ...]:
        """The readings with the best template and first figure."""
        found = [one for line in self._lines() for one in self._readings(line) if one.template in self._templates]
        found += self._dates()
        if len(found) <= MOST:
            return tuple(found)
        scores = [self._form(one) + self._mass(one, 0) for one in found]
        kept = sorted(np.argsort(-np.array(scores), kind="stable")[:MOST].tolist())
        return tuple(found[place] for place in kept)

    def _lines(self) -> Iterator[FigureLine]:
        for line in self.table.lines:
            yield line
            parts = {tuple(places) for places in self._parts(line)}
            for places in sorted(parts):
                if 2 <= len(places) < len(line.cells):
                    yield line.part(places, "named")
        if self.asked.options:
            yield from self.optional(self.asked.options, self._looked_up)

    def _parts(self, line: FigureLine) -> Iterator[list[int]]:
        """The places of the figures that the question names, or that it does not leave out."""
        shares = self.named_shares(line)
        named = [place for place, share in enumerate(shares) if share >= NAMED]
        yield named
        if self.asked.excepts:
            yield [place for place in range(len(line.cells)) if place not in named]
        if self.asked.either:
            best = np.argsort(-np.array(shares), kind="stable")[:2].tolist()
            if min(shares[place] for place in best) >= _OPTION:
                yield sorted(best)
        if line.dated and len(self.years) >= 2:
            least, most = min(self.years), max(self.years)
            yield [place for place, label in enumerate(line.labels) if least <= int(label) <= most]

    def _readings(self, line: FigureLine) -> Iterator[LineComparison]:
        yield from self._compared(line, "", ())
        for earlier, later in self._changes(line):
            for suffix in ("_difference", "_change"):
                yield from self._compared(later, suffix, earlier)

    def _dates(self) -> list[LineComparison]:
        """The dates of the text whose sentences share most with a question that asks for a time."""
        time, template = self.asked.time, "argmax"
        if not time or template not in self._templates:
            return []
        is_year = (self.index.period >= 0) & (self.index.amounts == self.index.period) & ~self.index.is_figure
        places = np.array([place for place in np.flatnonzero(is_year) if self._is_written(int(place))], dtype=np.int64)
        score = self.said["sentence"][places] + self.said["label"][places]
        named: dict[str, int] = {}
        for place in places[np.argsort(-score, kind="stable")].tolist():
            named.setdefault(self._date(place), place)
        finer = time in ("month", "date", "day")
        kept = [(name, place) for name, place in named.items() if not finer or month_of(name) is not None]
        lines = [FigureLine((place,), (name,), False, True, False, "date") for name, place in kept[:MOST_DATES]]
        return [LineComparison(template, template, line) for line in lines]

    def _is_written(self, place: int) -> bool:
        """Whether a year is a word of its own in a sentence: a lost apostrophe reads "the company 2019s shares"."""
        source = self.index.observations[place].source
        if not isinstance(source, SentenceSource):
            return False
        return not self.index.sentences[source.sentence][source.end : source.end + 1].isalpha()

    def _date(self, place: int) -> str:
        """The date in the text of which a year is a part; the year alone if a year is asked for."""
        one = self.index.observations[place]
        if self.asked.time != "year" and isinstance(one.source, SentenceSource):
            for date in find_dates(self.index.sentences[one.source.sentence]):
                if date.start <= one.source.start < date.end:
                    return date.text
        return str(self.index.period[place])

    def _compared(self, line: FigureLine, suffix: str, earlier: tuple[int, ...]) -> Iterator[LineComparison]:
        asked = self.asked
        size = len(line.cells)
        for name in _EXTREMES:
            template = name + suffix
            if asked.rank > 1:
                if asked.rank <= size:
                    rank = (Constant(f"const_{asked.rank}"),)
                    yield LineComparison(f"nth_{template}", template, line, earlier, rank)
                continue
            count = min(asked.count, size) if asked.count > 1 else size if asked.every else 1
            constants = (Constant(f"const_{count}"),) if count > 1 else ()
            yield LineComparison(template, template, line, earlier, constants)
        if asked.bounds is not None:
            bound = _constants(asked.bounds, self.index, line.cells[0])
            above = asked.bounds.operation in ("above", "at_least", "between")
            if bound is not None and suffix != "_change":
                template = _EXTREMES[0 if above else 1] + suffix
                yield LineComparison(asked.bounds.operation + suffix, template, line, earlier, bound)
        elif not asked.extreme and suffix != "_change":
            for name, template in (("above", "argmax"), ("below", "argmin")):
                yield LineComparison(name + suffix, template + suffix, line, earlier, (Constant("const_0"),))

    def _changes(self, line: FigureLine) -> Iterator[tuple[tuple[int, ...], FigureLine]]:
        """The earlier figures of a line's changes, with the line of the later ones."""
        if line.dated:
            order = sorted(range(len(line.cells)), key=lambda place: int(line.labels[place]))
            if len(order) >= 3:
                pairs = list(pairwise(order))
                yield tuple(line.cells[old] for old, _ in pairs), line.part([new for _, new in pairs], line.extent)
            return
        if line.across:
            return
        period = self.period_of(line.cells)
        for old in self.earlier_columns(period):
            rows = [int(self.index.row[cell]) for cell in line.cells]
            kept = [place for place, row in enumerate(rows) if (row, old) in self.table.cell_at]
            if len(kept) >= 2:
                yield tuple(self.table.cell_at[rows[place], old] for place in kept), line.part(kept, line.extent)

    # Features

    @cached_property
    def _templates(self) -> dict[str, tuple[ParsedForm, float]]:
        """The form of each template that the scorer knows, with its log-probability."""
        logs = self.space.form_log_probabilities[self.history]
        forms = {form.name: (form, logs[place]) for place, form in enumerate(self.space.scorer.parsed)}
        found = {}
        for template in _TEMPLATES:
            names = [name for name in _forms(template) if name in forms]
            if names and names[0] == f"{template}(A, A)":
                total = np.logaddexp.reduce([forms[name][1] for name in names])
                found[template] = (forms[names[0]][0], max(float(total), _LEAST))
        return found

    def _form(self, one: LineComparison) -> float:
        """The log-probability of the template."""
        return self._templates[one.template][1]

    def _mass(self, one: LineComparison, position: int) -> float:
        """The log-probability that a template points at a figure of the comparison."""
        key = (one.template, one.line.cells, one.earlier, position)
        if key not in self._masses:
            form = self._templates[one.template][0]
            cells = list(one.earlier if one.earlier and not position else one.line.cells)
            if one.earlier and one.line.dated:
                cells = sorted({*one.earlier, *one.line.cells})
            first = -1
            if position:
                before = list(one.earlier) or list(one.line.cells)
                first = before[int(np.argmax(self.logs(form, 0, -1)[before]))]
            total = np.logaddexp.reduce(self.logs(form, position, first)[cells])
            self._masses[key] = max(float(total), _LEAST)
        return self._masses[key]

    def log_probability(self, one: LineComparison) -> float:
        """Returns the log-probability of the template and of the figures at which it points first and second."""
        return self._form(one) + self._mass(one, 0) + self._mass(one, 1)

    def features_of(self, one: LineComparison) -> dict[str, float]:
        """Returns the features of a comparison but those of its answer, by the names of ``NAME_FEATURES``."""
        if one.line not in self._of_lines:
            self._of_lines[one.line] = self._of_line(one.line)
        bounded = self.asked.bounds is not None
        return self._of_lines[one.line] | {
            "form": self._form(one) / 3,
            "first": self._mass(one, 0) / 3,
            "second": self._mass(one, 1) / 3,
            "difference": float(one.operation.endswith("_difference")),
            "change": float(one.operation.endswith("_change")),
            "bounded": float(one.is_filter and bounded),
            "unbounded": float(not one.is_filter and bounded),
            "signed": float(one.is_filter and not bounded),
            **self._signs(one),
        }

    def _signs(self, one: LineComparison) -> dict[str, float]:
        """Whether the largest or the smallest is asked for among figures below zero, and where a loss is asked for."""
        below = float((self.index.signed[list(one.line.cells)] < 0).mean()) if not one.earlier else 0.0
        largest = one.template.startswith("argmax")
        falls = float(self.asked.falls)
        plain = float(not one.earlier)
        return {
            "largest_below": below * largest,
            "smallest_below": below * (not largest),
            "falls_largest": falls * plain * largest,
            "falls_below": falls * float(below > 0) * (not largest),
        }

    def _of_line(self, line: FigureLine) -> dict[str, float]:
        """The features of a line."""
        asked = self.asked
        time = bool(asked.time)
        period = -1 if line.across or line.dated else self.period_of(line.cells)
        named = line.extent == "named"
        cells = list(line.cells)
        fixed, other = ("label", "column") if line.named_by == "column" else ("column", "label")
        latest = max(self.periods_of_columns.values(), default=-1)
        looked_up = self._looked_up[cells]
        return {
            "timed_asked": float(line.timed and time),
            "timed_unasked": float(line.timed and not time and not asked.names_time),
            "untimed_asked": float(not line.timed and time),
            "named": float(named),
            "named_share": float(np.mean(self.named_shares(line))) if named else 0.0,
            "section": float(line.extent == "section"),
            "options": float(line.extent == "options"),
            **(self._of_date(line.cells[0]) if line.extent == "date" else {}),
            "part": float(line.extent == "part"),
            "fixed_words": float(self.overlaps[fixed][cells].mean()),
            "fixed_agreement": float(self.overlaps[f"{fixed}_agreement"][cells].mean()),
            "other_words": float(self.overlaps[other][cells].mean()),
            "year_fits": float(period >= 0 and period in self.years),
            "latest": float(period >= 0 and not self.years and period == latest),
            "across": float(line.across),
            "size": float(np.log(len(cells))),
            "spread": min(self.spread(line.cells), 6.0) / 3,
            "structural": 1.0,
            "looked_up": max(float(np.logaddexp.reduce(looked_up)), _LEAST) / 3,
            "weakest": max(float(looked_up.min()), _LEAST) / 3,
            "years_unused": float(len(set(self.years)) > 1 and not line.dated),
        }

    def _of_date(self, place: int) -> dict[str, float]:
        """The share of the question that is said in a date's sentence and next to it."""
        return {
            "date": 1.0,
            "date_extreme": float(self.asked.extreme),
            "date_sentence": float(self.said["sentence"][place]),
            "date_near": float(self.said["label"][place]),
        }

    @cached_property
    def _looked_up(self) -> FloatArray:
        """The log-probabilities of all observations as the figure that is looked up."""
        form = next((form for form in self.space.scorer.parsed if form.name == "select(A)"), None)
        if form is None:
            return np.full(len(self.index.observations), _LEAST, dtype=np.float32)
        return self.logs(form, 0, -1)

    def derivation(self, one: LineComparison) -> Derivation:
        """Returns the calculation of a comparison."""
        cells = one.line.cells
        pairs = list(zip(cells, one.earlier, strict=True)) if one.earlier else cells
        labels = written_labels(self.index, cells, one.line.named_by)
        names = spoken_names(one.line.labels, labels, self.asked.time)
        return compared(one.operation, names, pairs, self.index.number, one.constants)


def _forms(template: str) -> tuple[str, ...]:
    """The names of the forms of a template; two figures have one of their own."""
    name = f"{template}(A, A)"
    return (name, f"{template}_pair(A, A)") if template in _EXTREMES else (name,)


def _constants(bounds: Bounds, index: ReportIndex, cell: int) -> tuple[Constant, ...] | None:
    """The bounds in the scale of a cell; ``None`` for another unit."""
    own = index.observations[cell].quantity
    found = []
    for figure in bounds.figures:
        if (figure.unit == "percent") != (own.unit == "percent"):
            return None
        value = figure.value * figure.scale / own.scale if figure.scale > 1 else figure.value
        digits = f"{abs(value).normalize():f}"
        found.append(Constant(f"const_{'m' if value < 0 else ''}{digits}"))
    return tuple(found)
