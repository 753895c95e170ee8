"""The interface of the fits of finpath's own models, and the types that they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import dspy
from dspy.teleprompt import Teleprompter

from kg.errors import ConfigError
from programs.beam import BeamQA
from programs.conversation import ConversationQA

Dialogues = Sequence[tuple[str, Sequence[str], Sequence[str]]]
"""Conversations without their reports: id, questions and gold programs."""

Progress = Callable[[str], None]
"""Receives a line for each stage of a fit as it begins."""


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
