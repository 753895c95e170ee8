"""Training examples for DSPy's optimizers: single turns, with labels of the predictors from gold programs.

    >>> train = turn_examples(load_conversations("sample:train").conversations, program)
    >>> compiled = dspy.MIPROv2(metric=metric).compile(program, trainset=train)
    >>> train[2].question, str(train[2].history), train[2].calculation
    ('and the change?', 'Q1: what was it in 2009? -> 206588', 'subtract([a1], [r1c2])')

An optimizer must know which prompt led to which answer, so an example is one turn, with the gold turns before it as its
history. Optimizers put examples into prompts, so the report and the history are objects whose text is short. A gold
program names figures by their value; the label names the figure that each value most likely means. A label whose
calculation does not give the gold answer is dropped.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any

import dspy

from kg.calculations import ReportIndex
from kg.errors import DataError, FinpathError, ProgramError
from kg.reports import Report
from kg.search import Constant, Derivation, Number, Operand, PastTurn, Reference, collapse, merge_key
from kg.text import content_tokens
from optimize.metrics import exact_match
from programs.turns import plain
from programs.worlds.page import (
    LinePrompt,
    PageFigures,
    excerpt,
    read_calculation,
    shortened,
    used_figures,
    written_calculation,
    written_page,
    written_turns,
)

INPUTS = ("report", "question", "history")
"""The inputs of a turn example."""

CONFIDENCE = 95
"""The confidence of a demonstration: gold is right in all but few turns."""

_IDENTIFIER = re.compile(r"\[((?:r\d+c\d+|s\d+)(?:n\d+)?)\]")
_WHOLE_PAGE = 10**9
_WRITTEN = {
    "add": "{0} plus {1}",
    "subtract": "{0} minus {1}",
    "multiply": "{0} times {1}",
    "divide": "{0} divided by {1}",
    "greater": "whether {0} is greater than {1}",
    "change_ratio": "the change of {0} from {1}, relative to it",
    "average": "the average of {0} and {1}",
    "drop_ratio": "the excess of {0} over {1}, relative to {0}",
    "share": "{0} divided by {0} plus {1}",
    "divide_thousands": "{0} times 1000 divided by {1}",
    "divide_millions": "{0} times 1000000 divided by {1}",
    "multiply_to_millions": "{0} times {1} divided by 1000000",
}
_LONGEST = 60


@dataclass(frozen=True, repr=False)
class ReportHandle:
    """A report whose text is its name."""

    report: Report

    def __repr__(self) -> str:
        return f"<report {self.report.id}>"


@dataclass(frozen=True, repr=False)
class HistoryHandle:
    """Earlier turns whose text is a line for each."""

    turns: tuple[PastTurn, ...]

    def __repr__(self) -> str:
        return written_turns(self.turns)


def turn_examples(conversations: Sequence[Any], program: Any) -> list[dspy.Example]:
    """Returns one example for each turn, with the gold turns before it as its history and labels of the predictors.

    A conversation whose report cannot be read, or whose programs cannot be executed, gives no examples.

    Args:
        conversations: Objects with ``report``, ``questions``, ``programs`` and ``answers``.
        program: The program that will be compiled; it reads the reports.

    Returns:
        Examples with the inputs ``report``, ``question`` and ``history``, and with ``program`` and ``answer``.

    Raises:
        DataError: A conversation has no gold programs.
    """
    examples: list[dspy.Example] = []
    for conversation in conversations:
        if conversation.programs is None or conversation.answers is None:
            raise DataError("has no gold programs to train on", place=f"conversation {conversation.id!r}")
        try:
            examples += list(_turns(conversation, program))
        except FinpathError:
            continue
    return examples


def _turns(conversation: Any, program: Any) -> Iterator[dspy.Example]:
    report: Report = conversation.report
    _, index = getattr(program, "turn", program).reader.read(report)
    past: tuple[PastTurn, ...] = ()
    gold_turns = zip(conversation.questions, conversation.programs, conversation.answers, strict=True)
    for question, gold_program, answer in gold_turns:
        gold = gold_meaning(index, question, gold_program, past)
        meaning = question if not past else gold.description if gold is not None else None
        label = page_label(index, report, question, gold_program, past, meaning) if meaning is not None else None
        yield dspy.Example(
            report=ReportHandle(report),
            question=question,
            history=HistoryHandle(past),
            program=gold_program,
            answer=answer,
            operation=gold.operation if gold is not None else "",
            **(label or {}),
        ).with_inputs(*INPUTS)
        derivation = Derivation.parse(gold_program)
        past = (*past, PastTurn(question, derivation, derivation.execute(report.table)))


@dataclass(frozen=True)
class GoldMeaning:
    """The label of a question.

    Attributes:
        description: The question, with its references spelled out.
        operation: The operation on the operands, as :mod:`kg.search.history` names it.
    """

    description: str
    operation: str


def gold_meaning(index: ReportIndex, question: str, program: str, past: Sequence[PastTurn]) -> GoldMeaning | None:
    """Returns the label of a question.

    Returns:
        ``None`` if the program takes more than one operation over figures and earlier answers, or if a figure is not
        in the report's graph: such a question has no short label.
    """
    try:
        collapsed = collapse(Derivation.parse(program), [turn.derivation for turn in past])
    except ProgramError:
        return None
    if collapsed is None:
        return None
    words = [_words(index, question, operand, past) for operand in collapsed.operands]
    if None in words:
        return None
    return GoldMeaning(_WRITTEN.get(collapsed.operation, "{0}").format(*words, *words), collapsed.operation)


def _words(index: ReportIndex, question: str, operand: Operand | Reference, past: Sequence[PastTurn]) -> str | None:
    """Returns an operand in words: a number, a figure by its line item and period, or an earlier answer."""
    if isinstance(operand, Constant):
        return f"{operand.value:f}"
    if isinstance(operand, Number):
        return _figure(index, operand, question)
    assert isinstance(operand, Reference)
    turn = past[operand.turn]
    numbers = turn.derivation.numbers if turn.derivation is not None else ()
    figures = [figure for one in numbers if (figure := _figure(index, one, turn.question)) is not None]
    return figures[0] if len(figures) == 1 else f"the answer to Q{operand.turn + 1}"


def _figure(index: ReportIndex, number: Number, question: str) -> str | None:
    """Returns the place of a figure in words; of several the one that shares most words with the question."""
    words = set(content_tokens(question))
    best: tuple[tuple[int, int], str] | None = None
    for item, text in enumerate(index.texts):
        if text != number.text:
            continue
        observation = index.observations[index.base[item]]
        label = observation.label if len(observation.label) <= _LONGEST else f"{observation.label[: _LONGEST - 1]}…"
        shared = len(words & set(content_tokens(observation.label)))
        shared += observation.period is not None and observation.period in question
        # Cells before sentences, then the first in the report.
        rank = (int(index.row[index.base[item]] >= 0), shared)
        if best is None or rank > best[0]:
            best = (rank, f"{label} in {observation.period}" if observation.period is not None else label)
    return best[1] if best is not None else None


def page_label(
    index: ReportIndex, report: Report, question: str, program: str, past: Sequence[PastTurn], meaning: str
) -> dict[str, Any] | None:
    """Returns the fields of a demonstration of the predictor that reads a page, with the lines of the page it uses.

    Args:
        index: The report's index.
        report: The report.
        question: The question.
        program: Its gold program.
        past: The turns before it, with gold derivations.
        meaning: The question spelled out.

    Returns:
        ``None`` if the program cannot be written over figures of the page.
    """
    figures = PageFigures(index)
    earlier = [_identified(turn, figures) for turn in past]
    derivation = Derivation.parse(program)
    over_figures = figures.identified(derivation, question)
    if over_figures is None:
        return None
    calculation, conversation = written_calculation(over_figures, earlier), written_turns(earlier)
    try:
        named = read_calculation(calculation, figures, earlier, [*(turn.question for turn in past), question])
        is_gold = named is not None and merge_key(named.answer) == merge_key(derivation.execute(report.table))
    except FinpathError:
        return None
    if not is_gold:  # also where the gold program counts a percentage as 12
        return None
    page = written_page(report, index, _WHOLE_PAGE, _uncut).text
    return {
        "page": excerpt(page, _IDENTIFIER.findall(f"{calculation} {conversation}")),
        "conversation": conversation,
        "note": "none",
        "meaning": meaning,
        "calculation": calculation,
        "confidence": CONFIDENCE,
    }


def _uncut() -> Any:
    raise AssertionError("a page without a budget is not cut")


def _identified(turn: PastTurn, figures: PageFigures) -> PastTurn:
    """Returns a turn whose derivation names the figures of the page, or none if some are not there."""
    derivation = figures.identified(turn.derivation, turn.question) if turn.derivation is not None else None
    return replace(turn, derivation=derivation)


def with_lines(examples: Sequence[dspy.Example], turn: Any) -> list[dspy.Example]:
    """Returns the turn examples whose gold program can be written over names of figures, as demonstrations of that."""
    labels = ((example, _line_label(example, turn)) for example in examples)
    return [example.copy(**label) for example, label in labels if label is not None]


def _line_label(example: dspy.Example, turn: Any) -> dict[str, object] | None:
    report: Report = example.report.report
    _, index = turn.reader.read(report)
    figures = PageFigures(index)
    past = [_identified(earlier, figures) for earlier in example.history.turns]
    derivation = figures.identified(Derivation.parse(example.program), example.question)
    if derivation is None:
        return None
    last = PastTurn(example.question, derivation, example.answer)
    used = [figures.observation(one) for one in dict.fromkeys(used_figures([*past, last]))]
    lines = LinePrompt(used, past, example.question)
    calculation = lines.write(derivation, past)
    try:
        questions = [*(earlier.question for earlier in past), example.question]
        named = read_calculation(lines.read(calculation or ""), figures, past, questions)
    except FinpathError:
        return None
    if named is None or merge_key(named.answer) != merge_key(example.answer):
        return None
    return {**lines.inputs, "figures": "", "calculation": calculation}  # the figures would be most of its tokens


def infer_programs(program: Any, conversations: Iterable[Any]) -> list[Any]:
    """Returns conversations with gold answers alone, with the most probable programs that give these.

    A conversation ends before the first turn for which the search finds none; one without turns is left out.
    """
    inferred = []
    for one in conversations:
        past: list[PastTurn] = []
        for question, gold in zip(one.questions, one.gold or (), strict=True):
            candidates = program.turn(report=one.report, question=question, history=tuple(past)).turn.candidates
            right = next((own for own in candidates if own.derivation and exact_match(own.answer, gold)), None)
            if right is None:
                break
            past.append(PastTurn(question, right.derivation, right.answer))
        if past:
            programs, answers = zip(*((str(turn.derivation), turn.answer) for turn in past), strict=True)
            inferred.append(replace(one, questions=one.questions[: len(past)], programs=programs, answers=answers))
    return inferred


def split_turns(
    conversations: Sequence[Any], program: Any, *, train: int, val: int, seed: int
) -> tuple[list[dspy.Example], list[dspy.Example]]:
    """Returns turns to learn from and turns to choose on, of different reports in a shuffled order.

    Args:
        conversations: As for :func:`turn_examples`.
        program: The program that will be compiled.
        train: At most this many turns to learn from.
        val: At most this many turns to choose on, and at most a third of all.
        seed: Of the shuffling.
    """
    groups: dict[str, list[Any]] = {}
    for conversation in conversations:
        groups.setdefault(conversation.report.id, []).append(conversation)
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    wanted = min(val, sum(len(conversation.questions) for conversation in conversations) // 3)
    held_out: list[dspy.Example] = []
    while names and len(held_out) < wanted:
        held_out += turn_examples(groups[names.pop()], program)
    learned = [example for name in names for example in turn_examples(groups[name], program)]
    random.Random(seed).shuffle(learned)
    return learned[:train], held_out[:wanted]


def file_examples(rows: Sequence[Any], name: str, folder: Path) -> list[dspy.Example]:
    """Returns examples of questions with files, from rows with ``files``, ``question`` and ``answer``.

    Args:
        rows: The rows.
        name: The name of their file in messages.
        folder: The folder to which names of files are relative.

    Raises:
        DataError: A row lacks a field.
    """
    examples = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not {"files", "question", "answer"} <= row.keys():
            raise DataError("must have files, question and answer", file=name, place=f"row {number}")
        files = tuple(str(folder / file) for file in row["files"])
        examples.append(dspy.Example({**row, "files": files}).with_inputs("question", "files"))
    return examples


def split_examples(
    examples: Sequence[dspy.Example], key: str, *, train_turns: int = 60, val_turns: int = 24, seed: int = 0
) -> tuple[list[dspy.Example], list[dspy.Example]]:
    """Returns examples to learn from, and others to choose on, which have other values of a field."""
    values = sorted({example[key] for example in examples})
    random.Random(seed).shuffle(values)
    chosen = set(values[: max(1, len(values) // 3)])
    sides: tuple[list[dspy.Example], list[dspy.Example]] = ([], [])
    for example in random.Random(seed).sample(list(examples), len(examples)):
        sides[example[key] in chosen].append(example)
    return sides[0][:train_turns], sides[1][:val_turns]


def demonstrations(examples: Sequence[dspy.Example], signature: Any, longest: int, seed: int) -> list[dspy.Example]:
    """Returns labelled demonstrations of one predictor: short ones, alternating between operations.

    Args:
        examples: Turn examples; one that lacks a field of the signature gives no demonstration.
        signature: The predictor's signature.
        longest: Characters of a demonstration at most.
        seed: Of the order.
    """
    kinds: dict[str, list[dspy.Example]] = {}
    shuffled = list(examples)
    random.Random(seed).shuffle(shuffled)
    for example in shuffled:
        if all(name in example for name in signature.fields):
            demo = dspy.Example(_own_fields(example, signature.fields))
            if sum(len(str(value)) for value in demo.values()) <= longest:
                kinds.setdefault(example.get("operation", ""), []).append(demo)
    queues = [kinds[kind] for kind in sorted(kinds, key=lambda kind: (-len(kinds[kind]), kind))]
    alternating: list[dspy.Example] = []
    while any(queues):
        alternating += [queue.pop(0) for queue in queues if queue]
    return alternating


def tidy_demonstrations(program: dspy.Module) -> None:
    """Leaves each predictor's demonstrations with its own fields only, and drops those that lack an output.

    Optimizers put whole training examples among them, with reports and gold answers. Some also leave a language model
    in a predictor, which must be selected when the program runs.
    """
    for _, predictor in program.named_predictors():
        predictor.lm = None
        fields, outputs = predictor.signature.fields, predictor.signature.output_fields
        predictor.demos = [
            dspy.Example(_own_fields(demo, fields), **({"augmented": True} if demo.get("augmented") else {}))
            for demo in predictor.demos
            if all(name in demo for name in outputs)
        ]


def prompt_changes(before: dspy.Module, after: dspy.Module) -> str:
    """Returns the difference of two programs' instructions and demonstrations, a line each, as a unified diff."""

    def lines(program: dspy.Module) -> Iterator[str]:
        for name, predict in program.named_predictors():
            yield from (f"{name}: {line}" for line in predict.signature.instructions.splitlines())
            yield from (f"{name}: {plain(dict(demo))}" for demo in predict.demos)

    return "\n".join(unified_diff([*lines(before)], [*lines(after)], "before", "after", lineterm="", n=0))


def _own_fields(example: Any, names: Collection[str]) -> dict[str, Any]:
    """Returns the fields of a demonstration: of a page the lines that it uses, and handles as texts."""
    values = {name: example[name] for name in names if name in example}
    if values.keys() & {"page", "candidates"} and "conversation" in example:
        values["history"] = example["conversation"]  # with the calculations of the turns before
    values = {name: str(v) if isinstance(v, HistoryHandle | ReportHandle) else v for name, v in values.items()}
    return dict(shortened(values)) if "page" in values else values
