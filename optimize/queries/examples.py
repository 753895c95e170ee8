"""Turns about graphs with the answers that a person gave, and those that a model's reply can write as demonstrations.

>>> turns = list(asked_turns(reader, Talk(("who made Alien?",), (["Ridley Scott"],)), today=date.today()))
>>> demonstrations(turns)[0].query.steps
[QueryStep(operation='follow', relation='directed by', value='')]

The right parse of a turn is the beam's least costly one whose answers are the person's. A number may be right by
chance, so most relations of the parse must be in the gold query, where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

import dspy

from kg.algebra import relations_of
from kg.facts import FactGraph
from kg.graphs import local_name
from kg.parsing import DialogueTurn, Parse, QuestionReader, Reading
from kg.questions import folded
from programs.graphs import labelled_example, parse_answer

LONGEST = 4000
"""Characters of a demonstration; each is read with every prompt."""


@dataclass(frozen=True)
class Talk:
    """A conversation about a graph.

    Attributes:
        questions: The questions.
        answers: The answers of each; ``None`` if the graph has none.
        queries: The gold query of each in SPARQL, or ``None``; empty without any.
    """

    questions: tuple[str, ...]
    answers: tuple[Sequence[str] | None, ...]
    queries: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class AskedTurn:
    """A turn of a conversation as a model is asked about it.

    Attributes:
        reader: The reader of the graph.
        reading: The question as the beam reads it.
        past: The turns before it, with their right answers where the beam has them.
        gold: The answers; ``None`` if the graph has none.
        right: The right parse; ``None`` if the beam has none.
    """

    reader: QuestionReader
    reading: Reading
    past: tuple[DialogueTurn, ...]
    gold: Sequence[str] | None
    right: Parse | None


def asked_turns(reader: QuestionReader, talk: Talk, *, today: date) -> Iterator[AskedTurn]:
    """The turns of a conversation; later ones refer to the right answers of earlier ones."""
    past: list[DialogueTurn] = []
    queries = talk.queries or (None,) * len(talk.questions)
    for question, gold, query in zip(talk.questions, talk.answers, queries, strict=True):
        reading = reader.read(question, past, today=today)
        analysis, every = reader.derivations(question, past, today=today)
        right = None if gold is None else _right(reader.graph, every, gold, query)
        yield AskedTurn(reader, reading, tuple(past), gold, right)
        text = reader.canonical(analysis, right.references if right is not None else ())
        past.append(DialogueTurn(text, analysis.asks, right, analysis.named))


def is_right(graph: FactGraph, parse: Parse, gold: Sequence[str]) -> bool:
    """Whether a parse has the gold answers and no other."""
    answer = parse_answer(graph, parse)
    found = [str(one) for one in answer] if isinstance(answer, tuple) else [str(answer)]
    return sorted(map(_plain, found), key=str) == sorted(map(_plain, gold), key=str)


def demonstrations(turns: Iterable[AskedTurn]) -> list[dspy.Example]:
    """The turns whose right parse a reply can write, with that reply."""
    found = []
    for turn in turns:
        written = labelled_example(turn.reading, turn.reader, turn.right, turn.past) if turn.right is not None else None
        if written is not None and sum(len(str(value)) for value in written.values()) <= LONGEST:
            inputs = [name for name in written if name != "query"]
            found.append(dspy.Example(**written).with_inputs(*inputs))
    return found


def chosen(examples: Sequence[dspy.Example], count: int) -> list[dspy.Example]:
    """The examples with the most kinds of operations that are not yet shown, the shortest schema first."""
    known: set[str] = set()
    left, found = sorted(examples, key=lambda one: len(one.relations)), list[dspy.Example]()
    while left and len(found) < count:
        best = max(left, key=lambda one: (len(kinds_of(one) - known), -len(one.relations)))
        known |= kinds_of(best)
        left.remove(best)
        found.append(best)
    return found


def kinds_of(example: dspy.Example) -> set[str]:
    """The operations and the form of answer that a demonstration shows."""
    return {step.operation for step in example.query.steps} | {f"answer: {example.query.answer}"}


def _right(graph: FactGraph, parses: Sequence[Parse], gold: Sequence[str], query: str | None) -> Parse | None:
    good = [one for one in parses if is_right(graph, one, gold)]
    return min((one for one in good if _is_meant(graph, one, query)), key=lambda one: one.cost, default=None)


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
