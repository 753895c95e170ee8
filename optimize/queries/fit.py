"""The fit of demonstrations for the parse of questions by a language model, and its figures.

>>> fit = fit_queries(ConversationQA.for_graphs(), "labeled-few-shot", demonstrations(turns), count=4)
>>> len(fit.program.beam.understand.predict.demos)
4
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date

import dspy
import numpy as np
from dspy.teleprompt import LabeledFewShot
from scipy.optimize import minimize

from kg.errors import ConfigError
from kg.parsing import Parse
from optimize.queries.examples import AskedTurn, chosen, is_right
from programs.conversation import ConversationQA
from programs.graphs import ReplyConfidence, kind_of_reply, log_odds
from programs.lm import concurrently, metered
from programs.worlds.graph import GraphSearch, GraphState, GraphWorld

QUERY_OPTIMIZERS = ("none", "labeled-few-shot")

PRIOR = 0.7
"""The standard deviation of the constants of a confidence before any turn is seen, in log-odds."""


@dataclass(frozen=True)
class QueryFit:
    """A compiled program.

    Attributes:
        program: The program.
        pool: Turns that could become demonstrations.
        demonstrations: Those that the program shows.
    """

    program: ConversationQA
    pool: int
    demonstrations: int


def fit_queries(
    student: ConversationQA, optimizer: str, examples: Sequence[dspy.Example], *, count: int = 4
) -> QueryFit:
    """Returns a copy of a program whose parser shows demonstrations.

    Args:
        student: The program; it is not changed.
        optimizer: One of :data:`QUERY_OPTIMIZERS`. ``labeled-few-shot`` shows turns with their right queries, which
            together have as many kinds of operations as possible.
        examples: Turns with their right replies.
        count: Demonstrations.

    Raises:
        ConfigError: There is no such optimizer, or no turn can be a demonstration.
    """
    if optimizer not in QUERY_OPTIMIZERS:
        raise ConfigError(f"the optimizer of queries must be one of {', '.join(QUERY_OPTIMIZERS)}, got {optimizer!r}")
    compiled: ConversationQA = student.deepcopy()
    if optimizer == "none":
        return QueryFit(compiled, 0, len(compiled.beam.understand.predict.demos))
    if not examples:
        raise ConfigError("no turn can be a demonstration: the beam has no right query that a reply can write")
    best = chosen(examples, count)
    fitted = LabeledFewShot(k=count).compile(compiled.beam.understand.predict, trainset=best, sample=False)
    compiled.beam.understand.predict.demos = fitted.demos
    return QueryFit(compiled, len(examples), len(best))


@dataclass(frozen=True)
class QueryScore:
    """Counts of turns.

    Attributes:
        turns: The turns.
        right: Those that the model parses rightly, or whose answer it rightly does not find in the graph.
        wrong: Those with another reply.
        refused: Those without a query over the graph.
        answered_right: Those that are right together with the beam, at the program's limit of confidence.
        answered_wrong: Those that are answered wrongly so.
    """

    turns: int = 0
    right: int = 0
    wrong: int = 0
    refused: int = 0
    answered_right: int = 0
    answered_wrong: int = 0

    def __add__(self, other: QueryScore) -> QueryScore:
        first, second = asdict(self), asdict(other)
        return QueryScore(**{name: first[name] + second[name] for name in first})


def asked_replies(
    program: ConversationQA, turns: Sequence[AskedTurn], done: Callable[[], None] = lambda: None, threads: int = 1
) -> list[Parse | None]:
    """The parses of the model that is set in DSPy, one a turn; ``None`` for a reply that is refused.

    Args:
        program: The program.
        turns: The turns.
        done: Called after each turn.
        threads: Turns that are asked at a time.
    """
    today = program.config.today if program.config.today is not None else date.today()

    def asked(turn: AskedTurn) -> Parse | None:
        search = GraphSearch(GraphState(GraphWorld(turn.reader), past=turn.past), turn.reading, today)
        if not search.has_names:
            return None
        with metered():
            try:
                parse: Parse | None = program.beam.understand(search, program.beam.evidence).candidate
            except search.tolerated:
                parse = None
        return parse

    found = []
    for parse in concurrently(asked, turns, threads):
        found.append(parse)
        done()
    return found


def score_queries(
    program: ConversationQA, turns: Sequence[AskedTurn], done: Callable[[], None] = lambda: None, threads: int = 1
) -> QueryScore:
    """Asks the model that is set in DSPy about each turn; see :func:`asked_replies`."""
    total = QueryScore()
    for turn, parse in zip(turns, asked_replies(program, turns, done, threads), strict=True):
        right = parse is not None and _fits(turn, None if parse.is_empty else parse)
        answered = answered_score(turn, parse, program.config.confidence_in_replies(), program.config.answer_from)
        total += QueryScore(
            1, int(right), int(parse is not None and not right), int(parse is None), int(answered == "right"),
            int(answered == "wrong"),
        )  # fmt: skip
    return total


def answered_score(turn: AskedTurn, parse: Parse | None, confidence: ReplyConfidence, answer_from: float) -> str:
    """Whether a turn is ``right``, ``abstained`` or ``wrong`` with the parse of a model; to abstain may be right.

    Args:
        turn: The turn.
        parse: The parse; ``None`` without a reply.
        confidence: The confidence in such parses.
        answer_from: The confidence from which a question is answered.
    """
    both = confidence.joined(turn.reading, parse)
    best = both.parses[0] if both.parses and both.confidence >= answer_from else None
    return "right" if _fits(turn, best) else "abstained" if best is None else "wrong"


def fitted_confidence(
    turns: Sequence[AskedTurn], replies: Sequence[Parse | None], *, begin: ReplyConfidence | None = None
) -> ReplyConfidence:
    """The confidence in the parses of a model, by logistic regression from turns whose answers are known.

    A Gaussian prior of :data:`PRIOR` around the constants that it begins with keeps it there without turns.

    Args:
        turns: The turns.
        replies: The parse of each, as :func:`asked_replies` returns them.
        begin: What it begins with.
    """
    begin = begin if begin is not None else ReplyConfidence()
    names = [one.name for one in fields(begin)]
    start = np.array([getattr(begin, name) for name in names])
    rows: list[np.ndarray] = []
    right: list[bool] = []
    for turn, parse in zip(turns, replies, strict=True):
        if parse is None or not turn.reading.parses:
            continue
        kind, _ = kind_of_reply(turn.reading, parse)
        row = np.zeros(len(names))
        row[names.index(kind)] = 1.0
        is_with = kind in ("agreed", "none")
        odds = log_odds(turn.reading.confidence)
        row[names.index("with_beam" if is_with else "against_beam")] = odds if is_with else -odds
        rows.append(row)
        right.append(turn.gold is not None and _fits(turn, turn.reading.parses[0] if kind == "none" else parse))
    if not rows:
        return begin
    table, labels = np.array(rows), np.array(right, dtype=float)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score, away = table @ weights, (weights - start) / PRIOR**2
        total = float((np.logaddexp(0, score) - labels * score).sum()) + 0.5 * float(away @ (weights - start))
        return total, table.T @ (1 / (1 + np.exp(-score)) - labels) + away

    bounds = [(0.0, None) if name.endswith("_beam") else (None, None) for name in names]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return ReplyConfidence(*found.tolist())


def _fits(turn: AskedTurn, parse: Parse | None) -> bool:
    """Whether a parse, or none, is what the person answered."""
    if parse is None or turn.gold is None:
        return parse is None and turn.gold is None
    return is_right(turn.reader.graph, parse, turn.gold)
