"""Prediction of the earlier turns that a question about a report uses: their results, or figures selected there.

    >>> past = [PastTurn("net cash in 2009?", parse("206588"), …), PastTurn("and in 2008?", parse("181001"), …)]
    >>> used_turns(model, "what is the difference?", past, index)
    (0, 1)

A log-linear model over the words of the question and of the earlier ones and how far back they are; what those turns
calculated and used in turn; and, with the report's graph, the line items, periods and instances of their figures: that
"and in 2006?" was about the exercise price stands in no text, but in the graph. Weights are fitted on training
conversations alone (:mod:`optimize.scorers.coreference`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from kg.derivations import Derivation, Number, PastTurn, StepResult, collapse
from kg.errors import DataError
from kg.figures import ReportIndex
from kg.scoring import HistoryTurn, PastForm, question_words, read_history
from kg.text import content_tokens, tokens, years

Sight = Literal["questions", "conversation", "graph"]
"""What a model sees: the questions alone, also how they were answered, or also the figures of the report's graph."""

MOST_BACK = 4
_CUES = {
    "this": {"this", "that", "it", "these", "those", "them", "they", "its"},
    "change": {"change", "differ", "increas", "decreas", "growth", "declin", "variat", "fluctuat"},
    "total": {"total", "sum", "combin", "aggregat", "togeth", "both"},
    "portion": {"percent", "percentag", "portion", "ratio", "rate", "represent", "relat", "share", "proport"},
    "and": {"and"},
    "then": {"then", "times", "multipl", "divid", "averag", "now", "also"},
    "years": {"years", "year", "period", "two"},
}


@dataclass(frozen=True)
class References:
    """References of a derivation to earlier turns; each is the set of turns that would serve equally.

    Attributes:
        embedded: Calculations of earlier turns that are repeated in it.
        reused: Figures that earlier turns selected.
    """

    embedded: tuple[frozenset[int], ...] = ()
    reused: tuple[frozenset[int], ...] = ()

    @property
    def turns(self) -> frozenset[int]:
        """All turns that it refers to, the latest of those that would do as well."""
        return frozenset(max(group) for group in (*self.embedded, *self.reused))


def references_of(derivation: Derivation, past: Sequence[Derivation | None]) -> References:
    """The earlier turns that a derivation uses, found by equality of calculations and figures.

    What stands inside a repeated calculation is not counted again. A look-up alone refers to nothing.
    """
    trees = [None if earlier is None else earlier.tree() for earlier in past]
    embedded: dict[frozenset[int], None] = {}
    reused: dict[frozenset[int], None] = {}

    def visit(place: int) -> None:
        step = derivation.steps[place]
        group = _equal(derivation.tree(place), trees)
        if group and step.operation != "select":
            embedded.setdefault(group)
            return
        for operand in step.operands:
            if isinstance(operand, StepResult):
                visit(operand.index)
            elif isinstance(operand, Number) and step.operation != "select":
                same = _equal(("select", str(operand)), trees)
                if same:
                    reused.setdefault(same)

    visit(len(derivation.steps) - 1)
    return References(tuple(embedded), tuple(reused))


def _equal(sought: object, trees: Sequence[object]) -> frozenset[int]:
    return frozenset(turn for turn, known in enumerate(trees) if known == sought)


@dataclass(frozen=True)
class ReferenceModel:
    """Weights of features; the probability that a turn is used is the logistic function of their sum.

    Attributes:
        weights: From a feature to its weight.
        sees: What the features are made of.
        threshold: The probability from which a turn counts as used.
    """

    weights: Mapping[str, float]
    sees: Sight = "graph"
    threshold: float = 0.5

    def probability(self, features: Sequence[str]) -> float:
        """The probability in [0, 1] that the turn with these features is used."""
        score = sum(self.weights.get(name, 0.0) for name in features)
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, score))))

    def to_json(self) -> str:
        """The model as JSON, features sorted."""
        weights = {name: self.weights[name] for name in sorted(self.weights)}
        return json.dumps({"sees": self.sees, "threshold": self.threshold, "weights": weights}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ReferenceModel:
        """Reads what :meth:`to_json` wrote.

        Raises:
            DataError: The text is something else.
        """
        try:
            record = json.loads(text)
            weights = {str(name): float(weight) for name, weight in record["weights"].items()}
            threshold, sees = float(record["threshold"]), record["sees"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(f"the weights of references cannot be read: {type(error).__name__}: {error}") from error
        if sees not in get_args(Sight) or not all(map(math.isfinite, (threshold, *weights.values()))):
            raise DataError(f"the weights of references must be finite, and sees one of {', '.join(get_args(Sight))}")
        return cls(weights, sees, threshold)


def turn_probabilities(
    model: ReferenceModel, question: str, past: Sequence[PastTurn], index: ReportIndex | None
) -> list[float]:
    """For each earlier turn the probability in [0, 1] that the question uses it.

    Args:
        model: The weights.
        question: The question as asked.
        past: The earlier turns with the answers that were given.
        index: The report's index; ``None`` to go by the conversation alone.
    """
    return [model.probability(features) for features in turn_features(question, past, index, model.sees)]


def used_turns(
    model: ReferenceModel, question: str, past: Sequence[PastTurn], index: ReportIndex | None
) -> tuple[int, ...]:
    """The earlier turns that a question uses, counted from 0."""
    found = turn_probabilities(model, question, past, index)
    return tuple(turn for turn, probability in enumerate(found) if probability >= model.threshold)


def turn_features(
    question: str, past: Sequence[PastTurn], index: ReportIndex | None, sees: Sight = "graph"
) -> list[list[str]]:
    """The features of each earlier turn, as the last question may use it.

    Args:
        question: The question as asked.
        past: The earlier turns.
        index: The report's index; without it there are none of the graph.
        sees: What the features are made of.
    """
    said = _Said.of(question, past if sees != "questions" else [PastTurn(one.question, None, None) for one in past])
    index = index if sees == "graph" else None
    known = read_history(index, past) if index is not None else ()
    result = []
    for turn in range(len(past)):
        features = list(_of_words(said, past, turn))
        if index is not None:
            features += _of_graph(said, index, known, turn)
        result.append(features)
    return result


@dataclass(frozen=True)
class _Said:
    """The features of the question alone."""

    words: list[str]
    content: frozenset[str]
    years: tuple[int, ...]
    cues: list[str]
    forms: list[PastForm]

    @classmethod
    def of(cls, question: str, past: Sequence[PastTurn]) -> _Said:
        found = set(tokens(question))
        forms: list[PastForm] = []
        derivations = [turn.derivation for turn in past]
        for place, derivation in enumerate(derivations):
            collapsed = collapse(derivation, derivations[:place]) if derivation is not None else None
            forms.append(PastForm.of(collapsed))
        cues = [name for name, members in _CUES.items() if any(word.startswith(tuple(members)) for word in found)]
        return cls(question_words(question), frozenset(content_tokens(question)), years(question), cues, forms)


def _of_words(said: _Said, past: Sequence[PastTurn], turn: int) -> Iterator[str]:
    back = min(len(past) - turn, MOST_BACK)
    used = {one for form in said.forms for one in form.used}
    operation = said.forms[turn].form.partition("(")[0]
    unused = [place for place in range(len(past)) if place not in used]
    rank = min(unused[::-1].index(turn), 3) if turn in unused else "u"
    last = said.forms[-1].form
    yield from ("1", f"d{back}", f"n{min(len(past), 5)}.d{back}", f"op:{operation}.d{back}", f"rank:{rank}.d{back}")
    yield f"shape:{last}.{operation}.d{back}.r{rank}"
    yield f"length:{min(len(said.words) // 4, 5)}.d{back}"
    yield f"content:{min(len(said.content), 4)}.r{rank}"
    for word in dict.fromkeys(said.words):
        yield f"w:{word}.d{back}"
        yield f"w:{word}.{operation}"
        yield f"w:{word}.r{rank}"
    for first, second in dict.fromkeys(pairwise(["<", *said.words[:6]])):
        yield f"b:{first}_{second}.d{back}"
        yield f"b:{first}_{second}.r{rank}"
    for cue in said.cues or ["none"]:
        yield f"c:{cue}.d{back}.{operation}"
        yield f"c:{cue}.r{rank}.{operation}.n{min(len(unused), 3)}"
    own = frozenset(content_tokens(past[turn].question))
    shared = len(own & said.content) / max(len(said.content), 1)
    yield f"shared:{round(4 * shared)}.d{back}"
    named = set(years(past[turn].question))
    yield f"years:{bool(said.years)}.{bool(named)}.{bool(named & set(said.years))}.d{back}"
    yield f"same question words:{own == said.content}.{len(said.content) > 0}"


def _of_graph(said: _Said, index: ReportIndex, known: Sequence[HistoryTurn], turn: int) -> Iterator[str]:
    """The features of the graph: line items, periods and instances of the turn's figures."""
    figures = known[turn].all_figures
    back = min(len(known) - turn, MOST_BACK)
    operation = known[turn].form.form.partition("(")[0]
    yield "g:1"
    if not figures:
        yield f"g:none.d{back}"
        return
    observations = [index.observations[place] for place in figures]
    label = frozenset(token for one in observations for token in content_tokens(f"{one.label} {one.section}"))
    mass = sum(index.idf(word) for word in said.content) or 1.0
    named = sum(index.idf(word) for word in said.content & label) / mass
    best = _best_elsewhere(said, index, known) / mass
    yield f"g:label:{round(4 * named)}.{operation}"
    yield f"g:elsewhere:{round(4 * max(best - named, 0.0))}.{operation}"
    yield f"g:elsewhere:{round(4 * best)}.{round(4 * named)}.d{back}"
    periods = {int(index.period[place]) for place in figures} - {-1}
    fit = "none" if not periods else "in" if periods & set(said.years) else "out" if said.years else "unasked"
    yield f"g:period:{fit}.{operation}.d{back}"
    yield f"g:period:{fit}.{len(said.years)}.{operation}"
    lasts = known[-1].all_figures
    if turn < len(known) - 1 and lasts:
        one, other = observations[0], index.observations[lasts[0]]
        alike = "row" if one.property == other.property else "kind" if one.entity == other.entity else "other"
        yield f"g:beside last:{alike}.{operation}.d{back}"
        for cue in said.cues or ["none"]:
            yield f"g:beside last:{alike}.{cue}.d{back}"
    covered = "all" if said.content and said.content <= label else "some" if said.content & label else "none"
    yield f"g:covered:{covered}.{'years' if said.years else 'plain'}.d{back}"
    for cue in said.cues or ["none"]:
        yield f"g:covered:{covered}.{cue}.{operation}"
        yield f"g:period:{fit}.{cue}.{operation}"
    yield f"g:unit:{observations[0].quantity.unit}.{operation}.{'portion' in said.cues}"


def _best_elsewhere(said: _Said, index: ReportIndex, known: Sequence[HistoryTurn]) -> float:
    """The idf of the question's words in the best label that no earlier turn has used."""
    used = {index.observations[place].label for turn in known for place in turn.all_figures}
    best = 0.0
    for label in {one.label for one in index.observations if not one.in_header} - used:
        shared = said.content & frozenset(content_tokens(label))
        best = max(best, sum(index.idf(word) for word in shared))
    return best
