"""A question about a report in a few lines: its likeliest figures by name, and calculations over these names.

    [net sales, 2009] 206588
    [net sales, 2008] 181001
    Q1: what were net sales in 2009? = [net sales, 2009]
    Q2: and the change from 2008?

A small language model replies ``Q1 - [net sales, 2008]``, and a grammar holds it to these names. Its demonstrations are
conversations with calculations and no figures, those that are nearest to its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from textwrap import shorten
from typing import Any

import dspy
import numpy as np

from kg.arrays import DoubleArray, FloatArray
from kg.encoders import TextEncoder
from kg.reports import Observation
from kg.search import Derivation, PastTurn
from programs.lm import GBNF, plain_text, quoted
from programs.turns import is_embedded
from programs.wording import written_number
from programs.worlds.page.language import written_calculation

FIGURES, TURNS, DEMONSTRATIONS, LONGEST_REPLY = 5, 3, 5, 80
"""Figures, earlier turns and demonstrations of a prompt; tokens of a reply."""

_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "greater": ">"}
_CONSTANTS = ("100", "1000", "1000000", "1", "2", "3", "4", "5")
_LABEL, _COLUMN, _QUESTION = 48, 24, 300
_SEPARATORS = str.maketrans({",": " ", "[": "(", "]": ")"})
_STEP = re.compile(r"(\w+)\(([^()]+)\)(?:, |$)")
_MARK = re.compile(r"\[([ars]\w+)\]")


class LinePrompt:
    """The prompt of a question, in which figures have names that a person would give them.

    Args:
        figures: The figures; of equal names the later ones get a number.
        past: The turns before the question.
        question: The question.

    Attributes:
        inputs: The inputs of :class:`signatures.understand.UnderstandLines`.
    """

    def __init__(self, figures: Sequence[Observation], past: Sequence[PastTurn], question: str) -> None:
        self.names: dict[str, str] = {}
        counts: Counter[str] = Counter()
        lines, messages = [], []
        for one in figures:
            name, text = _name(one), one.quantity.text
            counts[name] += 1
            self.names[one.id] = f"[{name}, {counts[name]}]" if counts[name] > 1 else f"[{name}]"
            lines.append(f"{self.names[one.id]} {text}{'%' * (one.quantity.unit == 'percent' and '%' not in text)}")
        for number, turn in list(enumerate(past, 1))[-TURNS:]:
            written = self.write(turn.derivation, past[: number - 1]) if turn.derivation is not None else None
            answer = written_number(turn.answer) if turn.answer is not None else "not answered"
            text = f"Q{number}: {plain_text(turn.question)[:_QUESTION]}"
            messages.append({"question": text, "calculation": written if written is not None else answer})
        self.answers = [f"Q{number}" for number, turn in enumerate(past, 1) if isinstance(turn.answer, Decimal)]
        self.inputs: dict[str, Any] = {
            "figures": "\n".join(lines),
            "history": dspy.History(messages=messages),
            "question": f"Q{len(past) + 1}: {plain_text(question)[:_QUESTION]}",
        }

    def write(self, derivation: Derivation, past: Sequence[PastTurn]) -> str | None:
        """A derivation over the names and earlier answers; ``None`` where it is over anything else."""
        text = written_calculation(derivation, past)
        results: list[str] = []
        for function, operands in _STEP.findall(text):
            if function not in _SIGNS:
                return None
            values = [results[int(one[1:])] if one.startswith("#") else one for one in operands.split(", ")]
            results.append(f"({f' {_SIGNS[function]} '.join(values)})")
        whole = results[-1][1:-1] if results else text
        is_read = _STEP.sub("", text) == ("" if results else text)
        if not is_read or not all(mark in self.names or mark.startswith("a") for mark in _MARK.findall(whole)):
            return None
        return _MARK.sub(lambda mark: self.names.get(mark[1], f"Q{mark[1][1:]}"), whole)

    def read(self, text: str) -> str:
        """A calculation over identifiers, from one over the names."""
        identifiers = {name: identifier for identifier, name in self.names.items()}
        pattern = "|".join([*map(re.escape, identifiers), r"\bQ(\d+)\b"])
        return re.sub(pattern, lambda match: f"[a{match[1]}]" if match[1] else f"[{identifiers[match[0]]}]", text)

    def grammar(self) -> str:
        """The grammar of calculations over the names, the answers of earlier turns and a few constants."""
        atoms = " | ".join(map(quoted, (*self.names.values(), *self.answers, *_CONSTANTS)))
        signs = " | ".join(quoted(f" {sign} ") for sign in _SIGNS.values())
        return (
            'root ::= term (sign term){0,3}\nterm ::= atom | "(" part (sign part){1,3} ")"\n'
            f'part ::= atom | "(" atom sign atom ")"\nsign ::= {signs}\natom ::= {atoms}'
        )

    def ask(self, predict: Any, encoder: TextEncoder | None, config: Mapping[str, Any], **inputs: Any) -> Any:
        """Asks with the nearest demonstrations; the grammar holds the reply of an embedded model."""
        config = {**config, "max_tokens": LONGEST_REPLY, "stop": ["\n"]}
        if is_embedded(dspy.settings.lm):
            form = {"name": GBNF, "schema": {"grammar": self.grammar()}}
            config["response_format"] = {"type": "json_schema", "json_schema": form}
        demonstrations = nearest_demonstrations(predict.demos, inputs, encoder)
        with dspy.context(adapter=LineAdapter()):
            return predict(**inputs, demos=demonstrations, config=config)


def _name(one: Observation) -> str:
    """The line item, the column and the period of a figure, as far as they differ."""
    label, column = (
        shorten(plain_text(text).translate(_SEPARATORS), most, placeholder="")
        for text, most in ((one.label, _LABEL), (one.column_label, _COLUMN))
    )
    period = one.period if one.period and one.period not in label + column else ""
    return ", ".join(part for part in (label, column, period) if part) or "figure"


def used_figures(past: Sequence[PastTurn]) -> list[str]:
    """The identifiers of the figures in the calculations of the last turns."""
    written = [
        written_calculation(turn.derivation, past[:place]) if turn.derivation is not None else ""
        for place, turn in enumerate(past)
    ]
    return [mark for text in written[-TURNS:] for mark in _MARK.findall(text) if not mark.startswith("a")]


def likeliest_figures(
    weights: DoubleArray, observations: Sequence[Observation], past: Sequence[PastTurn]
) -> list[Observation]:
    """The figures of the last turns' own calculations and those of the highest weights, the likeliest first."""
    places = {one.id: place for place, one in enumerate(observations)}
    ranked = [place for place in np.argsort(-weights, kind="stable").tolist() if not observations[place].in_header]
    used = [places[source] for source in used_figures(past) if source in places]
    shown = set(list(dict.fromkeys([*used, *ranked]))[:FIGURES])
    return [observations[place] for place in ranked if place in shown]


def nearest_demonstrations(pool: Sequence[Any], inputs: Mapping[str, Any], encoder: TextEncoder | None) -> list[Any]:
    """The demonstrations whose conversations have the nearest states of the encoder, the nearest last.

    ``dspy.KNN`` compares one text of all inputs; this encoder reads the questions of a conversation one by one, and was
    fitted to predict the form of their calculation. Without an encoder they are the first of the pool. Whole examples
    that an optimizer puts into the pool are left out.
    """
    pool = [demo for demo in pool if isinstance(demo["history"], dspy.History | dict)]
    if encoder is None or not pool:
        return list(pool[:DEMONSTRATIONS])
    known = _states(encoder, tuple(map(_questions, pool)))
    nearness = known @ _states(encoder, (_questions(inputs),))[0]
    return [pool[place] for place in np.argsort(nearness, kind="stable")[-DEMONSTRATIONS:].tolist()]


def _questions(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The questions of a conversation without their numbers."""
    return tuple(turn["question"].partition(": ")[2] for turn in [*_turns(values), values])


def _turns(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = dspy.History.model_validate(values["history"]).messages  # of a dictionary if saved
    return turns


@lru_cache(maxsize=4)
def _states(encoder: TextEncoder, conversations: tuple[tuple[str, ...], ...]) -> FloatArray:
    """The encoder's state of each conversation, of length 1; shape ``(conversations, WIDTH)``."""
    states = np.stack([encoder.question(questions).slots[0] for questions in conversations])
    unit: FloatArray = states / np.linalg.norm(states, axis=1, keepdims=True)
    return unit


class LineAdapter(dspy.Adapter):
    """Prompts of values alone: instructions, then a message for each demonstration's inputs and one for its output.

    The names and marks of fields that DSPy's adapters write are longer than the lines of these prompts.
    """

    def format(self, signature: Any, demos: list[Any], inputs: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages of a prompt; a demonstration has a turn less of its conversation."""

        def content(values: Mapping[str, Any], turns: int) -> str:
            history = [f"{turn['question']} = {turn['calculation']}" for turn in _turns(values)[-turns:]]
            return "\n".join(filter(None, [values.get("figures"), *history, values["question"]]))

        pairs = [(("user", content(demo, TURNS - 1)), ("assistant", demo["calculation"])) for demo in demos]
        texts = [("system", signature.instructions), *chain.from_iterable(pairs), ("user", content(inputs, TURNS))]
        return [{"role": role, "content": text} for role, text in texts]

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """The whole reply as the one output."""
        return dict.fromkeys(signature.output_fields, completion.strip())
