"""A program as MLflow serves it: plain JSON in and out, with the language model that it was compiled for.

    $ mlflow models serve -m models:/m-... --env-manager local --port 5001
    $ curl http://127.0.0.1:5001/invocations -H 'Content-Type: application/json' -d '{"dataframe_records":
        [{"report": {"id": "r", "pre_text": [], "table": [["", "2008"], ["revenue", "5"]], "post_text": []},
          "questions": ["what was the revenue in 2008?"]}]}'
    {"predictions": {"answers": [{"question": "...", "answer": "5", "program": "5", ...}]}}

The process that serves it needs finpath, and ``MLFLOW_ALLOW_PICKLE_DESERIALIZATION=true``, since DSPy pickles whole
programs. Keys of language models are in that process's environment; none is in the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from experiments.lms import LMConfig, lm_settings
from kg.reports import Report
from programs.conversation import ConversationQA
from programs.turns import Turn, write_exactly
from programs.wording import written_number


class ServedPrediction(dspy.Prediction):
    """The turns of a conversation; as a mapping, what JSON can hold of them."""

    def toDict(self) -> dict[str, Any]:  # noqa: N802 - DSPy's name
        """``answers``: one mapping a question."""
        return {"answers": [_as_json(turn) for turn in self.turns]}


class ServedProgram(dspy.Module):
    """A program together with the language model that it asks.

    Args:
        program: The program for a conversation.
        lm: Its language model; its keys are read from the environment when it is first asked.
    """

    def __init__(self, program: ConversationQA, lm: LMConfig) -> None:
        super().__init__()
        self.program = program
        self.lm_config = lm

    def forward(self, report: Report | Mapping[str, Any], questions: Sequence[str], **options: Any) -> ServedPrediction:
        """Answers all questions.

        Args:
            report: The document, or a mapping with ``id``, ``pre_text``, ``table`` and ``post_text``.
            questions: The questions, in order.
            options: As :meth:`programs.conversation.ConversationQA.forward` takes them.
        """
        known = report if isinstance(report, Report) else Report.from_dict(report)
        # The model of DSPy's settings comes first, so that a user of the program can choose another.
        settings = {} if dspy.settings.lm is not None else lm_settings(self.lm_config)
        with dspy.context(**settings):
            answered = self.program(report=known, questions=list(questions), **options)
        return ServedPrediction(turns=answered.turns)


def _as_json(turn: Turn) -> dict[str, Any]:
    candidate = turn.candidates[turn.pick] if turn.pick is not None else None
    return {
        "question": turn.question,
        "answer": written_number(turn.answer) if turn.answer is not None else None,
        "words": turn.words or None,
        "exact": write_exactly(turn.answer),
        "program": str(turn.derivation) if turn.derivation is not None else None,
        "path": candidate.path if candidate is not None else None,
        "sources": [str(source) for source in candidate.sources] if candidate is not None else [],
        "confidence": turn.confidence,
        "failure": turn.failure,
        "message": turn.message,
    }
