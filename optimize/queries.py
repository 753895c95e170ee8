"""The compile of the parse of questions about graphs: turns with right parses, demonstrations, metric and confidence.

>>> turns = list(asked_turns(reader, Talk(("who made Alien?",), (["Ridley Scott"],)), today=date.today()))
>>> program = fit_queries(ConversationQA.for_graphs(), "labeled-few-shot", demonstrations(turns))
>>> score_queries(program, turns)["right"]
0.9
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal, InvalidOperation

import dspy
import numpy as np
from dspy.teleprompt import LabeledFewShot

from kg.algebra import relations_of
from kg.errors import ConfigError
from kg.facts import FactGraph
from kg.graphs import local_name
from kg.parsing import DialogueTurn, Parse, QuestionReader, Reading
from kg.questions import folded
from optimize.logistic import fit_logistic
from programs.conversation import ConversationQA
from programs.graphs import ReplyConfidence, kind_of_reply, labelled_example, log_odds, parse_answer
from programs.lm import concurrently, metered
from programs.worlds.graph import GraphSearch, GraphState, GraphWorld

QUERY_OPTIMIZERS = ("none", "labeled-few-shot")
LONGEST = 4000
"""Characters of a demonstration; each is read with every prompt."""
PRIOR = 0.7
"""The standard deviation of the constants of a confidence before any turn is seen, in log-odds."""


@dataclass(frozen=True)
class Talk:
    """A conversation about a graph: questions, the answers of each (``None`` for none), and its gold SPARQL, if any."""

    questions: tuple[str, ...]
    answers: tuple[Sequence[str] | None, ...]
    queries: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class AskedTurn:
    """A turn of a conversation: reader, the beam's reading, the turns before it, the gold answers, the right parse."""

    reader: QuestionReader
    reading: Reading
    past: tuple[DialogueTurn, ...]
    gold: Sequence[str] | None
    right: Parse | None

    def is_right(self, parse: Parse | None) -> bool:
        """Whether a parse, or none, has the gold answers and no other."""
        if parse is None or self.gold is None:
            return parse is None and self.gold is None
        return _has_answers(self.reader.graph, parse, self.gold)


def asked_turns(reader: QuestionReader, talk: Talk, *, today: date) -> Iterator[AskedTurn]:
    """The turns of a conversation; later ones refer to the right answers of earlier ones.

    The right parse is the beam's least costly one whose answers are gold. A number may be right by chance, so most
    relations of the parse must be in the gold query, where there is one.
    """
    past: list[DialogueTurn] = []
    queries = talk.queries or (None,) * len(talk.questions)
    for question, gold, query in zip(talk.questions, talk.answers, queries, strict=True):
        reading = reader.read(question, past, today=today)
        analysis, parses = reader.derivations(question, past, today=today)
        good = (one for one in parses if gold is not None and _has_answers(reader.graph, one, gold))
        right = min(
            (one for one in good if _is_meant(reader.graph, one, query)), key=lambda one: one.cost, default=None
        )
        yield AskedTurn(reader, reading, tuple(past), gold, right)
        text = reader.canonical(analysis, right.references if right is not None else ())
        past.append(DialogueTurn(text, analysis.asks, right, analysis.named))


def demonstrations(turns: Iterable[AskedTurn]) -> list[dspy.Example]:
    """The turns whose right parse a reply can write, with that reply."""
    examples = []
    for turn in turns:
        written = labelled_example(turn.reading, turn.reader, turn.right, turn.past) if turn.right is not None else None
        if written is not None and sum(len(str(value)) for value in written.values()) <= LONGEST:
            examples.append(dspy.Example(**written).with_inputs(*(name for name in written if name != "query")))
    return examples


def kinds_of(example: dspy.Example) -> set[str]:
    """The operations and the form of answer that a demonstration shows."""
    return {step.operation for step in example.query.steps} | {f"answer: {example.query.answer}"}


def fit_queries(
    student: ConversationQA, optimizer: str, examples: Sequence[dspy.Example], *, count: int = 4
) -> ConversationQA:
    """Returns a copy of a program whose parser shows demonstrations with as many kinds of operations as possible.

    Raises:
        ConfigError: The optimizer is none of :data:`QUERY_OPTIMIZERS`, or no turn can be a demonstration.
    """
    if optimizer not in QUERY_OPTIMIZERS:
        raise ConfigError(f"the optimizer of queries must be one of {', '.join(QUERY_OPTIMIZERS)}, got {optimizer!r}")
    compiled: ConversationQA = student.deepcopy()
    if optimizer == "none":
        return compiled
    if not examples:
        raise ConfigError("no turn can be a demonstration: the beam has no right query that a reply can write")
    known, best, left = set[str](), list[dspy.Example](), sorted(examples, key=lambda one: len(one.relations))
    while left and len(best) < count:
        best.append(max(left, key=lambda one: (len(kinds_of(one) - known), -len(one.relations))))
        left.remove(best[-1])
        known |= kinds_of(best[-1])
    understand = compiled.beam.understand
    understand.predict = LabeledFewShot(k=count).compile(understand.predict, trainset=best, sample=False)
    return compiled


def asked_replies(program: ConversationQA, turns: Sequence[AskedTurn], threads: int = 1) -> list[Parse | None]:
    """The parses of the model that is set in DSPy, one a turn; ``None`` for a reply that is refused."""
    today = program.config.today if program.config.today is not None else date.today()

    def parse(turn: AskedTurn) -> Parse | None:
        search = GraphSearch(GraphState(GraphWorld(turn.reader), past=turn.past), turn.reading, today)
        found: Parse | None = None
        with metered():
            try:
                if search.has_names:
                    found = program.beam.understand(search, program.beam.evidence).candidate
            except search.tolerated:
                pass
        return found

    return list(concurrently(parse, turns, threads))


def score_queries(program: ConversationQA, turns: Sequence[AskedTurn], threads: int = 1) -> dict[str, float]:
    """Asks the model that is set in DSPy about each turn; returns shares of all turns in [0, 1].

    ``right`` counts the parses of the model that have the gold answers, or rightly none; ``wrong`` the other ones, and
    ``refused`` the replies without a query. ``answered_right`` and ``answered_wrong`` count the program's answers.
    """
    rows = []
    for turn, parse in zip(turns, asked_replies(program, turns, threads), strict=True):
        right = parse is not None and turn.is_right(None if parse.is_empty else parse)
        answered = answered_score(turn, parse, program.config.confidence_in_replies(), program.config.answer_from)
        rows.append([right, parse is not None and not right, parse is None, answered == "right", answered == "wrong"])
    names = ("right", "wrong", "refused", "answered_right", "answered_wrong")
    return dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True)) if rows else dict.fromkeys(names, 0.0)


def answered_score(turn: AskedTurn, parse: Parse | None, confidence: ReplyConfidence, answer_from: float) -> str:
    """Whether a turn is ``right``, ``abstained`` or ``wrong`` with a model's parse; to abstain may be right."""
    both = confidence.joined(turn.reading, parse)
    best = both.parses[0] if both.parses and both.confidence >= answer_from else None
    return "right" if turn.is_right(best) else "abstained" if best is None else "wrong"


def fitted_confidence(
    turns: Sequence[AskedTurn], replies: Sequence[Parse | None], *, begin: ReplyConfidence | None = None
) -> ReplyConfidence:
    """The confidence in a model's parses, by logistic regression; without turns, what it begins with."""
    begin = begin if begin is not None else ReplyConfidence()
    names = [one.name for one in fields(begin)]
    rows, right = [], []
    for turn, parse in zip(turns, replies, strict=True):
        if parse is None or not turn.reading.parses:
            continue
        kind, _ = kind_of_reply(turn.reading, parse)
        odds = log_odds(turn.reading.confidence)
        beam = {"with_beam": odds} if kind in ("agreed", "none") else {"against_beam": -odds}
        rows.append([{kind: 1.0, **beam}.get(name, 0.0) for name in names])
        right.append(turn.gold is not None and turn.is_right(turn.reading.parses[0] if kind == "none" else parse))
    if not rows:
        return begin
    bounds = [(0.0, None) if name.endswith("_beam") else (None, None) for name in names]
    start = [getattr(begin, name) for name in names]
    return ReplyConfidence(*fit_logistic(np.array(rows), right, penalty=0.5 / PRIOR**2, start=start, bounds=bounds))


def _has_answers(graph: FactGraph, parse: Parse, gold: Sequence[str]) -> bool:
    answer = parse_answer(graph, parse)
    found = map(str, answer) if isinstance(answer, tuple) else [str(answer)]
    return sorted(map(_plain, found), key=str) == sorted(map(_plain, gold), key=str)


def _is_meant(graph: FactGraph, parse: Parse, query: str | None) -> bool:
    """Whether most relations of a parse are in the gold query."""
    inside = re.sub(r"[\W_]", "", query).lower() if query else ""
    names = [re.sub(r"[\W_]", "", local_name(graph.relations[one].iri)).lower() for one in relations_of(parse.query)]
    return not query or 2 * sum(name in inside for name in names) >= len(names)


def _plain(answer: str) -> Decimal | str:
    """An answer without case, accents and signs, or as a number."""
    try:
        return Decimal(answer.replace(",", "")).normalize()
    except InvalidOperation:
        return folded(answer.replace("_", " "))
