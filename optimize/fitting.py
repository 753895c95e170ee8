"""The interface of the fits of finpath's own models, and the types that they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import dspy
import numpy as np
from dspy.teleprompt import Teleprompter

from kg.errors import ConfigError, DataError
from programs.beam import BeamQA
from programs.conversation import ConversationQA

Dialogues = Sequence[tuple[str, Sequence[str], Sequence[str]]]
"""Conversations without their reports: id, questions and gold programs."""

Progress = Callable[[str], None]
"""Receives a line for each stage of a fit as it begins."""


def folds_of(groups: Sequence[str], folds: int, seed: int) -> dict[str, int]:
    """Returns the fold of each group, drawn at random.

    Raises:
        DataError: There are fewer than two groups.
    """
    names = sorted(set(groups))
    if len(names) < 2:
        raise DataError("weights must be fitted on turns of at least two reports")
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[place]: number % folds for number, place in enumerate(order)}


def silent(line: str) -> None:
    """Drops the line: the progress of a fit whose caller asks for none."""


class ConversationFit(Teleprompter):
    """A fit on conversations, as a DSPy optimizer: a subclass fits a copy of the program in place."""

    def compile(
        self,
        student: ConversationQA,
        *,
        trainset: list[dspy.Example],
        teacher: object = None,  # noqa: ARG002 - the signature of every optimizer
        valset: list[dspy.Example] | None = None,  # noqa: ARG002
    ) -> ConversationQA:
        """Returns a copy of ``student`` that is fitted on ``trainset``.

        Args:
            student: The program; it is not changed.
            trainset: Conversation examples: ``report``, ``questions``, ``programs`` and ``answers``.
            teacher: Not used.
            valset: Not used: a fit holds a part of ``trainset`` out itself.

        Raises:
            ConfigError: The program does not search by a scorer, or something is missing that the fit needs.
            DataError: Nothing can be fitted.
        """
        if not isinstance(student.turn, BeamQA):
            raise ConfigError(f"the {student.kind} has no scorer to fit: choose another optimizer")
        compiled: ConversationQA = student.deepcopy()
        assert isinstance(compiled.turn, BeamQA)
        self.fit(compiled, compiled.turn, trainset)
        compiled._compiled = True
        return compiled

    @abstractmethod
    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Fits a program, whose turns ``turn`` answers."""
