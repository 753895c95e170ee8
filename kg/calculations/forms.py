"""Templates of calculations: a multinomial model over forms such as ``subtract(A, A)``.

It reads the question's words and what the turns before it were, not the report, so that it also learns from
conversations whose documents are not at hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kg.arrays import FloatArray, log_softmax
from kg.encoders import TurnOperands
from kg.errors import DataError
from kg.search import OPERATIONS, Reference, TurnOperation
from kg.text import YEAR, tokens

_FORM = re.compile(r"(\w+)\((\w+)(?:, (\w+))?\)")
_OPERAND = re.compile(r"A|R|Cm?\d+")

CONSTANTS = frozenset({"1", "2", "3", "4", "5", "10", "12", "100", "1000", "1000000"})
"""Numbers that a question may name as an operand: "divided by 1000"."""


@dataclass(frozen=True)
class ParsedForm:
    """A form taken apart.

    Attributes:
        name: As written: ``subtract(A, C100)``.
        operation: ``subtract``.
        kinds: ``A``, ``R`` or ``C`` for each operand.
        constants: The constant of each operand of kind ``C``, such as ``const_100``; empty strings elsewhere.
    """

    name: str
    operation: str
    kinds: tuple[str, ...]
    constants: tuple[str, ...]

    @property
    def operands(self) -> int:
        """The number of operands: 1 or 2."""
        return len(self.kinds)

    @classmethod
    def parse(cls, name: str) -> ParsedForm:
        """Reads a form's name.

        Raises:
            DataError: It is none.
        """
        match = _FORM.fullmatch(name)
        if match is None or any(_OPERAND.fullmatch(part) is None for part in match.groups()[1:] if part is not None):
            raise DataError(f"{name!r} is not a form such as 'subtract(A, C100)'")
        if match[1] not in OPERATIONS:
            raise DataError(f"{name!r}: unknown operation {match[1]!r}; the operations are {', '.join(OPERATIONS)}")
        if (match[1] == "select") != (match[3] is None):
            raise DataError(f"{name!r}: select takes 1 operand, every other operation 2")
        arguments = [argument for argument in match.groups()[1:] if argument is not None]
        kinds = tuple("C" if argument not in ("A", "R") else argument for argument in arguments)
        constants = tuple(
            argument.replace("C", "const_") if kind == "C" else ""
            for argument, kind in zip(arguments, kinds, strict=True)
        )
        return cls(name, match[1], kinds, constants)


def past_turn(collapsed: TurnOperation | None) -> TurnOperands:
    """An earlier turn as the form model knows it, without its figures: ``?`` unless it is one operation."""
    if collapsed is None:
        return TurnOperands("?", (), ())
    return TurnOperands(collapsed.form, tuple(o.turn for o in collapsed.operands if isinstance(o, Reference)), ())


def question_words(question: str) -> list[str]:
    """A question's tokens with every year as ``YYYY`` and every other number as ``0``."""
    return ["YYYY" if re.fullmatch(YEAR, word) else "0" if word[0].isdigit() else word for word in tokens(question)]


def question_terms(questions: Sequence[str]) -> list[str]:
    """The features that do not depend on earlier answers; the last of ``questions`` is the one asked."""
    words = question_words(questions[-1])
    padded = ["<", *words, ">"]
    features = [f"u:{word}" for word in dict.fromkeys(words)]
    features += [f"b:{a}_{b}" for a, b in dict.fromkeys(pairwise(padded))]
    features += [f"t:{a}_{b}_{c}" for a, b, c in dict.fromkeys(zip(padded, padded[1:], padded[2:], strict=False))]
    features.append(f"years:{min(sum(word == 'YYYY' for word in words), 3)}")
    features += [f"n:{word}" for word in dict.fromkeys(tokens(questions[-1])) if word in CONSTANTS]
    features.append(f"length:{min(len(words) // 4, 6)}")
    if len(questions) > 1:
        features += [f"p:{word}" for word in dict.fromkeys(question_words(questions[-2]))]
    return features


def history_terms(past: Sequence[TurnOperands], words: Sequence[str]) -> list[str]:
    """The features of the forms of earlier turns, alone and joined with the question's words."""
    forms = [turn.template for turn in past]
    last = forms[-1] if forms else "-"
    before = forms[-2] if len(forms) > 1 else "-"
    used = {turn for record in past for turn in record.used}
    unused = len([turn for turn in range(len(past)) if turn not in used])
    operation = last.partition("(")[0]
    shape = f"{operation}|{before.partition('(')[0]}"
    return [
        f"f1:{last}",
        f"f2:{before}",
        f"f12:{shape}",
        f"f123:{shape}|{forms[-3].partition('(')[0] if len(forms) > 2 else '-'}",
        f"turn:{min(len(past), 6)}",
        f"unused:{min(unused, 4)}",
        f"unused:{min(unused, 4)}|{operation}",
        *(f"x:{operation}|{word}" for word in dict.fromkeys(words)),
        *(f"xx:{shape}|{word}" for word in dict.fromkeys(words)),
    ]


class FormScorer:
    """Log-probabilities of forms, linear in binary features.

    Attributes:
        forms: The forms, in the order of the columns of ``weights``.
        features: From a feature to its row in ``weights``.
        weights: Features by forms.
    """

    def __init__(self, forms: Sequence[str], features: Mapping[str, int], weights: FloatArray) -> None:
        self.forms = tuple(forms)
        self.features = dict(features)
        self.weights = weights

    def rows(self, names: Sequence[str]) -> list[int]:
        """The rows of those features that the model knows."""
        return [self.features[name] for name in names if name in self.features]

    def log_probabilities(self, questions: Sequence[str], histories: Sequence[Sequence[TurnOperands]]) -> FloatArray:
        """Of each form under each history of earlier turns; shape ``(len(histories), len(forms))``."""
        words = question_words(questions[-1])
        shared = self.weights[[0, *self.rows(question_terms(questions))]].sum(axis=0)
        logits = np.stack(
            [shared + self.weights[self.rows(history_terms(past, words))].sum(axis=0) for past in histories]
        )
        result: FloatArray = log_softmax(logits, axis=1)
        return result
