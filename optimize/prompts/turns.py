"""Training data of prompt optimizers: single turns, and the program for one turn.

DSPy's optimizers need examples with the fields of the predictors, and short text: a report has thousands of tokens. A
turn example therefore holds the report and the history as objects whose text is a line. Its labels for the Understand
predictor come from the gold program (:mod:`optimize.metrics.labels`)::

    >>> example = turn_examples([conversation], student.turn.reader)[2]
    >>> example.question, str(example.history), example.understanding.operation
    ('and the change?', 'Q1: what was it in 2009? -> 206588', 'subtract')

The history of a turn example is the gold one, so each turn can be answered alone.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.adapters.utils import serialize_for_json

from kg.derivations import Derivation, PastTurn
from kg.errors import FinpathError
from kg.reports import Report
from optimize.metrics import GoldMeaning, gold_meaning
from optimize.prompts.pages import page_label
from programs.worlds.page import shortened, written_turns
from programs.worlds.reader import ReportReader

INPUTS = ("report", "question", "history")
"""The inputs of a turn example."""


class ReportHandle:
    """A report whose text is its name: optimizers put examples into prompts."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __repr__(self) -> str:
        return f"<report {self.report.id}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReportHandle) and other.report.id == self.report.id

    def __hash__(self) -> int:
        return hash(self.report.id)


class HistoryHandle:
    """Earlier turns whose text is that of the Understand predictor's prompt."""

    def __init__(self, turns: Sequence[PastTurn]) -> None:
        self.turns = tuple(turns)

    def __str__(self) -> str:
        return written_turns(self.turns)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HistoryHandle) and other.turns == self.turns

    def __hash__(self) -> int:
        return hash(self.turns)


class TurnStudent(dspy.Module):
    """Answers a question about a financial report, given the questions and answers before it.

    Args:
        turn: The program for one question; optimizers change its predictors.
        active: The predictors that optimizers may see, those that the program asks as it is set; ``None`` for all.
            Optimizers that work on each predictor in turn would spend their budget on those that are never asked.
    """

    def __init__(self, turn: Any, active: Collection[str] | None = None) -> None:
        super().__init__()
        self.turn = turn
        self.active = None if active is None else frozenset(active)

    def named_predictors(self) -> list[tuple[str, Any]]:
        """The predictors that optimizers may see, by name."""
        found: list[tuple[str, Any]] = super().named_predictors()
        return [(name, one) for name, one in found if self.active is None or name in self.active]

    def forward(self, report: ReportHandle, question: str, history: HistoryHandle) -> dspy.Prediction:
        """Answers the question."""
        # The program chooses its adapter by the model; what an optimizer's own calls go through is not for it.
        with dspy.context(adapter=None):
            prediction: dspy.Prediction = self.turn(report=report, question=question, history=history)
        return prediction


def turn_examples(conversations: Sequence[dspy.Example], reader: ReportReader) -> list[dspy.Example]:
    """Returns one example a turn of conversation examples, with gold history and, if the gold gives them, labels.

    A conversation whose report cannot be read, or whose programs cannot be executed, gives no examples.

    Args:
        conversations: With ``id``, ``report``, ``questions``, ``programs`` and ``answers``.
        reader: Reads their reports.
    """
    examples: list[dspy.Example] = []
    for conversation in conversations:
        try:
            examples += _turns(conversation, reader)
        except FinpathError:
            continue
    return examples


def _turns(conversation: dspy.Example, reader: ReportReader) -> list[dspy.Example]:
    report: Report = conversation.report
    _, index = reader.read(report)
    examples: list[dspy.Example] = []
    past: tuple[PastTurn, ...] = ()
    gold_turns = zip(conversation.questions, conversation.programs, conversation.answers, strict=True)
    for question, program, answer in gold_turns:
        gold = gold_meaning(index, question, program, past)
        example = dspy.Example(
            report=ReportHandle(report),
            question=question,
            history=HistoryHandle(past),
            program=program,
            answer=answer,
            gold=gold,
        )
        meaning = question if not past else gold.description if gold is not None else None
        if meaning is not None and (read := page_label(index, report, question, program, past, meaning)) is not None:
            example = example.copy(**read)
        examples.append(example.with_inputs(*INPUTS))
        derivation = Derivation.parse(program)
        past = (*past, PastTurn(question, derivation, derivation.execute(report.table)))
    return examples


@dataclass(frozen=True)
class TurnSplit:
    """Turns to learn from and turns to choose on, of different reports.

    Attributes:
        train: Turns for demonstrations and reflections.
        val: Turns on which candidates are scored.
    """

    train: list[dspy.Example]
    val: list[dspy.Example]


def split_turns(
    conversations: Sequence[dspy.Example], reader: ReportReader, *, train: int, val: int, seed: int
) -> TurnSplit:
    """Splits turns by shuffled reports: the first for validation, those of other reports for training.

    Args:
        conversations: Conversation examples with gold.
        reader: Reads their reports.
        train: At most this many turns to learn from.
        val: At most this many turns to choose on, and at most a third of all.
        seed: Of the shuffling.
    """
    groups: dict[str, list[dspy.Example]] = {}
    for conversation in conversations:
        groups.setdefault(conversation.report.id, []).append(conversation)
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    total = sum(len(one.questions) for one in conversations)
    wanted = min(val, total // 3)
    held: list[dspy.Example] = []
    while names and len(held) < wanted:
        held += turn_examples(groups[names.pop()], reader)
    shown = [example for name in names for example in turn_examples(groups[name], reader)]
    random.Random(seed).shuffle(shown)
    return TurnSplit(shown[:train], held[:wanted])


def demonstrations(examples: Sequence[dspy.Example], signature: Any, longest: int, seed: int) -> list[dspy.Example]:
    """Returns labelled demonstrations of one predictor: short ones, alternating between operations.

    Args:
        examples: Turn examples.
        signature: The predictor's signature; an example that lacks one of its fields gives no demonstration.
        longest: Characters of a demonstration at most.
        seed: Of the order.
    """
    kinds: dict[str, list[dspy.Example]] = {}
    shuffled = list(examples)
    random.Random(seed).shuffle(shuffled)
    for example in shuffled:
        if all(name in example for name in signature.fields):
            demo = dspy.Example(_fields(example, signature.fields))
            if sum(len(str(value)) for value in demo.values()) <= longest:
                gold: GoldMeaning | None = example.get("gold")
                kinds.setdefault(gold.operation if gold is not None else "", []).append(demo)
    found: list[dspy.Example] = []
    queues = [kinds[kind] for kind in sorted(kinds, key=lambda kind: (-len(kinds[kind]), kind))]
    while any(queues):
        found += [queue.pop(0) for queue in queues if queue]
    return found


def _fields(example: Any, names: Collection[str]) -> dict[str, Any]:
    """Returns the fields of a demonstration; a page and candidates come with the calculations of the conversation."""
    values = {name: plain_value(example[name]) for name in names if name in example}
    if values.keys() & {"page", "candidates"} and "conversation" in example:
        values["history"] = example["conversation"]
    return values


def plain_value(value: Any) -> Any:
    """Returns a demonstration's field as it is saved and shown: handles as text, other values unchanged."""
    return str(value) if isinstance(value, HistoryHandle | ReportHandle) else value


def tidy_demonstrations(program: dspy.Module) -> None:
    """Leaves each predictor's demonstrations with its own fields only, and drops those that lack an output.

    Optimizers put whole training examples among them, with reports and gold answers. Some also leave a language model
    in a predictor, which must be selected when the program runs.
    """
    for _, predictor in program.named_predictors():
        predictor.lm = None
        fields, outputs = predictor.signature.fields, predictor.signature.output_fields
        tidy = []
        for demo in predictor.demos:
            if all(name in demo for name in outputs):
                kept = dspy.Example(_fields(demo, fields), **({"augmented": True} if demo.get("augmented") else {}))
                tidy.append(shortened(kept) if "page" in fields else kept)
        predictor.demos = tidy


PromptState = Mapping[str, Mapping[str, Any]]
"""Of each predictor, by name: its ``instructions`` and its ``demos`` as plain values."""


def prompt_state(program: dspy.Module) -> dict[str, dict[str, Any]]:
    """Returns the prompts of a program, as far as optimizers change them, as plain values."""
    state: dict[str, dict[str, Any]] = {}
    for name, predictor in program.named_predictors():
        fields = predictor.signature.fields
        state[name.removeprefix("turn.")] = {
            "instructions": predictor.signature.instructions,
            "demos": [
                {key: serialize_for_json(plain_value(value)) for key, value in demo.items() if key in fields}
                for demo in predictor.demos
            ],
        }
    return state


def state_hash(state: PromptState) -> str:
    """Returns a short hash that identifies a candidate."""
    return hashlib.sha256(json.dumps(state, sort_keys=True, default=str).encode()).hexdigest()[:12]


def apply_prompt_state(program: dspy.Module, state: PromptState) -> None:
    """Gives a program's predictors the instructions and demonstrations of ``state``."""
    for name, predictor in program.named_predictors():
        known = state.get(name.removeprefix("turn."))
        if known is not None:
            predictor.signature = predictor.signature.with_instructions(known["instructions"])
            predictor.demos = [dspy.Example(demo) for demo in known["demos"]]
