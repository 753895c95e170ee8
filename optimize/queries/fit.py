"""The fit of demonstrations for the parse of questions by a language model, and its figures.

>>> fit = fit_queries(QueryQA(), "labeled-few-shot", demonstrations(turns), count=4)
>>> len(fit.program.parser.predict.demos)
4
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import dspy
from dspy.teleprompt import LabeledFewShot

from kg.errors import ConfigError
from kg.parsing import Parse
from optimize.queries.examples import AskedTurn, chosen, is_right
from programs.graphs import QueryQA, joined

QUERY_OPTIMIZERS = ("none", "labeled-few-shot")


@dataclass(frozen=True)
class QueryFit:
    """A compiled program.

    Attributes:
        program: The program.
        pool: Turns that could become demonstrations.
        demonstrations: Those that the program shows.
    """

    program: QueryQA
    pool: int
    demonstrations: int


def fit_queries(student: QueryQA, optimizer: str, examples: Sequence[dspy.Example], *, count: int = 4) -> QueryFit:
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
    compiled: QueryQA = student.deepcopy()
    if optimizer == "none":
        return QueryFit(compiled, 0, len(compiled.parser.predict.demos))
    if not examples:
        raise ConfigError("no turn can be a demonstration: the beam has no right query that a reply can write")
    best = chosen(examples, count)
    fitted = LabeledFewShot(k=count).compile(compiled.parser.predict, trainset=best, sample=False)
    compiled.parser.predict.demos = fitted.demos
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


def score_queries(program: QueryQA, turns: Sequence[AskedTurn], done: Callable[[], None] = lambda: None) -> QueryScore:
    """Asks the model that is set in DSPy about each turn.

    Args:
        program: The program.
        turns: The turns.
        done: Called after each turn.
    """
    total = QueryScore()
    for turn in turns:
        parse, _ = program.parser.parse(turn.reading.question, turn.reader, turn.reading, turn.past)
        is_none = parse is not None and not (parse.nodes or parse.holds is not None or parse.number is not None)
        right = parse is not None and _fits(turn, None if is_none else parse)
        both = joined(turn.reading, parse)
        best = both.parses[0] if both.parses and both.confidence >= program.answer_from else None
        answered = _fits(turn, best)
        total += QueryScore(
            1, int(right), int(parse is not None and not right), int(parse is None), int(answered),
            int(best is not None and not answered),
        )  # fmt: skip
        done()
    return total


def _fits(turn: AskedTurn, parse: Parse | None) -> bool:
    """Whether a parse, or none, is what the person answered."""
    if parse is None or turn.gold is None:
        return parse is None and turn.gold is None
    return is_right(turn.reader.graph, parse, turn.gold)
