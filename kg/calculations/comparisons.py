"""Comparisons over whole lines of a table: candidates for questions whose answer is a name.

The search points at two ends of a run. Here each row and each column of comparable figures is a line
(:mod:`kg.calculations.lines`), and each reading of the question over a line is a comparison::

    which region grew most in 2019?     argmax_change("north america"=(120, 110), "europe"=(80, 85))

They join the candidates of the search (:mod:`kg.calculations.naming`), and the final ranking selects among all
(:class:`kg.calculations.linear_models.FinalRanker`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product

import numpy as np

from kg.arrays import FloatArray, IntArray
from kg.calculations.forms import ParsedForm
from kg.calculations.lines import FigureLine, TableLines, written_labels
from kg.calculations.names import month_of, spoken_names
from kg.calculations.series import compared
from kg.calculations.space import DerivationSpace
from kg.reports import SentenceSource
from kg.search import Constant, Derivation
from kg.text import content_tokens, find_dates, years

MOST = 160
"""Comparisons that are scored in full, those with the best template and first figure."""

MOST_DATES = 8
"""Dates of the text that are scored."""

FIGURES_OF_OPTION = 3
"""Figures that are compared for each thing of a choice at the most."""

NAMED = 0.6
"""The least share of a label's words that a question which names it has."""

_LEAST = -12.0

_EXTREMES = ("argmax", "argmin")
_TEMPLATES = tuple(f"{name}{suffix}" for name in _EXTREMES for suffix in ("", "_difference", "_change"))


@dataclass(frozen=True)
class LineComparison:
    """One reading of a question over a line.

    Attributes:
        operation: One of :data:`kg.search.NAMED_OPERATIONS`, whose template and pointers score it.
        line: The line; of two columns the later one.
        earlier: The figures from which those of the line changed; empty if their values are compared.
        constants: How many names are asked for, if more than one.
    """

    operation: str
    line: FigureLine
    earlier: tuple[int, ...] = ()
    constants: tuple[Constant, ...] = ()

    @property
    def ends(self) -> tuple[int, int]:
        """The observations at both ends, in the order in which a template points at them."""
        return (self.earlier[0] if self.earlier else self.line.cells[0], self.line.cells[-1])


class LineComparisons:
    """The comparisons of a question.

    Args:
        space: The search of the question.
    """

    def __init__(self, space: DerivationSpace) -> None:
        self.space = space
        self.index = space.index
        self.asked = space.asked
        self.history = int(np.argmax(space.priors))
        self.years = space.question.years
        self.table = TableLines(space.index)
        self.words = set(content_tokens(space.question.questions[-1]))
        self.item = np.flatnonzero(self.index.variant == 0)
        self._pointed: dict[tuple[str, int, int], FloatArray] = {}
        self._masses: dict[tuple[str, tuple[int, ...], tuple[int, ...], int], float] = {}
        self._of_lines: dict[FigureLine, dict[str, float]] = {}

    # Readings

    @cached_property
    def all(self) -> tuple[LineComparison, ...]:
        """The readings with the best template and first figure."""
        found = [one for line in self._lines() for one in self._readings(line) if one.operation in self._templates]
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
            yield from self._optional(self.asked.options)

    def _parts(self, line: FigureLine) -> Iterator[list[int]]:
        """The places of the figures that the question names, and of those within its years."""
        yield [place for place, share in enumerate(self._named_shares(line)) if share >= NAMED]
        if line.dated and len(self.years) >= 2:
            least, most = min(self.years), max(self.years)
            yield [place for place, label in enumerate(line.labels) if least <= int(label) <= most]

    def _named_shares(self, line: FigureLine) -> list[float]:
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

    def _optional(self, options: Sequence[str]) -> Iterator[FigureLine]:
        """Figures of the table or the text, one for each thing between which the question asks to choose."""
        own = [set(content_tokens(option)) for option in options]
        shared = set.intersection(*own) if own else set()
        own = [words - shared for words in own]
        if not all(own) or all(map(years, options)):
            return
        found = [self._figures_of(words, set.union(*own) - words) for words in own]
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

    def _figures_of(self, words: set[str], others: set[str]) -> list[int]:
        """The most probable figures near which most of the words of one thing are, and fewer of the other things."""
        held = self._holding(words)
        less = self._holding(others)
        places = np.flatnonzero((held >= NAMED) & (held > less) & self.index.is_figure)
        score = self._looked_up[places] + 4 * (held[places] - less[places])
        return [int(place) for place in places[np.argsort(-score, kind="stable")[:FIGURES_OF_OPTION]]]

    def _holding(self, words: set[str]) -> FloatArray:
        """The share of some words that each observation's labels or clause have, in [0, 1]."""
        vector, fields = self.index.vector(list(words)), self.index.fields
        said = np.where(self.index.row >= 0, fields["sentence"].overlap(vector), fields["clause"].overlap(vector))
        return (said / (self._weight(words) or 1.0)).astype(np.float32)

    def _readings(self, line: FigureLine) -> Iterator[LineComparison]:
        yield from self._compared(line, "", ())
        for earlier, later in self._changes(line):
            for suffix in ("_difference", "_change"):
                yield from self._compared(later, suffix, earlier)

    def _dates(self) -> list[LineComparison]:
        """The dates of the text whose sentences share most with a question that asks for a time."""
        time = self.asked.time
        if not time or "argmax" not in self._templates:
            return []
        is_year = (self.index.period >= 0) & (self.index.amounts == self.index.period) & ~self.index.is_figure
        places = np.array([place for place in np.flatnonzero(is_year) if self._is_written(int(place))], dtype=np.int64)
        score = self._said["sentence"][places] + self._said["label"][places]
        named: dict[str, int] = {}
        for place in places[np.argsort(-score, kind="stable")].tolist():
            named.setdefault(self._date(place), place)
        finer = time in ("month", "date", "day")
        kept = [(name, place) for name, place in named.items() if not finer or month_of(name) is not None]
        lines = [FigureLine((place,), (name,), False, True, False, "date") for name, place in kept[:MOST_DATES]]
        return [LineComparison("argmax", line) for line in lines]

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
        count = min(self.asked.count, len(line.cells))
        constants = (Constant(f"const_{count}"),) if count > 1 else ()
        yield from (LineComparison(name + suffix, line, earlier, constants) for name in _EXTREMES)

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
        for old in self._earlier_columns(self._period_of(line.cells)):
            rows = [int(self.index.row[cell]) for cell in line.cells]
            kept = [place for place, row in enumerate(rows) if (row, old) in self.table.cell_at]
            if len(kept) >= 2:
                yield tuple(self.table.cell_at[rows[place], old] for place in kept), line.part(kept, line.extent)

    def _period_of(self, cells: Sequence[int]) -> int:
        """The one period of some figures; -1 for none or several."""
        found = {int(self.index.period[cell]) for cell in cells}
        return found.pop() if len(found) == 1 else -1

    @cached_property
    def _periods_of_columns(self) -> dict[int, int]:
        """The period of each column that has one."""
        found: dict[int, set[int]] = {}
        for (_, column), cell in self.table.cell_at.items():
            found.setdefault(column, set()).add(int(self.index.period[cell]))
        return {column: min(own) for column, own in found.items() if len(own) == 1 and min(own) >= 0}

    def _earlier_columns(self, period: int) -> list[int]:
        """The column of the period before, and those of earlier years that the question names."""
        earlier = {own: other for other, own in self._periods_of_columns.items() if own < period}
        if period < 0 or not earlier:
            return []
        named = [year for year in self.years if year in earlier]
        return [earlier[year] for year in dict.fromkeys([*named, max(earlier)])]

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
        return self._templates[one.operation][1]

    def _mass(self, one: LineComparison, position: int) -> float:
        """The log-probability that a template points at a figure of the comparison."""
        key = (one.operation, one.line.cells, one.earlier, position)
        if key not in self._masses:
            form = self._templates[one.operation][0]
            cells = list(one.earlier if one.earlier and not position else one.line.cells)
            if one.earlier and one.line.dated:
                cells = sorted({*one.earlier, *one.line.cells})
            first = -1
            if position:
                before = list(one.earlier) or list(one.line.cells)
                first = before[int(np.argmax(self._logs(form, 0, -1)[before]))]
            total = np.logaddexp.reduce(self._logs(form, position, first)[cells])
            self._masses[key] = max(float(total), _LEAST)
        return self._masses[key]

    def _logs(self, form: ParsedForm, position: int, first: int) -> FloatArray:
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

    def log_probability(self, one: LineComparison) -> float:
        """Returns the log-probability of the template and of the figures at which it points first and second."""
        return self._form(one) + self._mass(one, 0) + self._mass(one, 1)

    def features_of(self, one: LineComparison) -> dict[str, float]:
        """Returns the features of a comparison but those of its answer, by the names of ``NAME_FEATURES``."""
        if one.line not in self._of_lines:
            self._of_lines[one.line] = self._of_line(one.line)
        return self._of_lines[one.line] | {
            "form": self._form(one) / 3,
            "first": self._mass(one, 0) / 3,
            "second": self._mass(one, 1) / 3,
            "difference": float(one.operation.endswith("_difference")),
            "change": float(one.operation.endswith("_change")),
        }

    def _of_line(self, line: FigureLine) -> dict[str, float]:
        """The features of a line."""
        asked = self.asked
        time = bool(asked.time)
        period = -1 if line.across or line.dated else self._period_of(line.cells)
        cells = list(line.cells)
        fixed, other = ("label", "column") if line.named_by == "column" else ("column", "label")
        looked_up = self._looked_up[cells]
        return {
            "timed_asked": float(line.timed and time),
            "timed_unasked": float(line.timed and not time),
            "untimed_asked": float(not line.timed and time),
            "named": float(line.extent == "named"),
            "options": float(line.extent == "options"),
            **(self._of_date(line.cells[0]) if line.extent == "date" else {}),
            "fixed_words": float(self._overlaps[fixed][cells].mean()),
            "other_words": float(self._overlaps[other][cells].mean()),
            "year_fits": float(period >= 0 and period in self.years),
            "across": float(line.across),
            "size": float(np.log(len(cells))),
            "spread": min(self._spread(line.cells), 6.0) / 3,
            "looked_up": max(float(np.logaddexp.reduce(looked_up)), _LEAST) / 3,
            "weakest": max(float(looked_up.min()), _LEAST) / 3,
        }

    def _of_date(self, place: int) -> dict[str, float]:
        """The share of the question that is said in a date's sentence and next to it."""
        return {
            "date": 1.0,
            "date_extreme": float(self.asked.extreme),
            "date_sentence": float(self._said["sentence"][place]),
            "date_near": float(self._said["label"][place]),
        }

    @cached_property
    def _looked_up(self) -> FloatArray:
        """The log-probabilities of all observations as the figure that is looked up."""
        form = next((form for form in self.space.scorer.parsed if form.name == "select(A)"), None)
        if form is None:
            return np.full(len(self.index.observations), _LEAST, dtype=np.float32)
        return self._logs(form, 0, -1)

    @cached_property
    def _overlaps(self) -> dict[str, FloatArray]:
        """The share of the question in each observation's labels, relative to the best of the table."""
        vector = self.index.vector(list(self.words))
        shared = {name: self.index.fields[name].overlap(vector) for name in ("label", "column")}
        best = {name: float(own[self.index.row >= 0].max(initial=0.0)) for name, own in shared.items()}
        return {name: np.minimum(own / max(best[name], 1e-6), 1.0) for name, own in shared.items()}

    @cached_property
    def _said(self) -> dict[str, FloatArray]:
        """The share of the question in each observation's sentence and in its label."""
        vector = self.index.vector(list(self.words))
        mass = np.float32(self.space.question.mass)
        return {name: self.index.fields[name].overlap(vector) / mass for name in ("sentence", "label")}

    def _spread(self, cells: Sequence[int]) -> float:
        """The orders of magnitude between figures."""
        sizes = self.index.amounts[list(cells)]
        sizes = sizes[sizes > 0]
        return float(np.log10(sizes.max() / sizes.min())) if len(sizes) else 0.0

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
