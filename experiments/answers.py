"""Conversations with gold answers of any type, scored with abstention.

>>> task = conversation_task(load_conversations("questions.json"))      # an OpenAnswers, as the file has answers
>>> evaluate(find_program("beam"), task).figures["abstained_right"]
0.86

The table ``answers.json`` of a run has a row for each question.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from experiments.console import format_table, write_answer
from experiments.data import ConversationRecord, LoadedData
from experiments.evaluation import ONTOLOGY, ConversationTask, ConvFinQA, Judgement, Scored
from experiments.saved import SavedProgram
from experiments.tracking import Run, sectioned
from optimize.metrics.abstention import AnswerScore, abstention_figures, risk_coverage
from optimize.metrics.turns import with_intervals
from programs.turns import Turn, plain


class OpenAnswers(ConversationTask):
    """Conversations with gold answers of any type: numbers, yes and no, names, or none if the report gives none."""

    run_kind = "answers"

    def score(self, item: ConversationRecord, index: int, turn: Turn) -> tuple[AnswerScore, bool]:
        """Returns the answer with its gold; it is right, or rightly missing."""
        gold = item.gold if item.gold is not None else item.answers
        assert gold is not None
        score = AnswerScore(turn.answer, turn.confidence if turn.confidence is not None else 0.0, gold[index])
        return score, score.is_right or (score.answer is None and score.gold is None)

    def figures(self, scored: Sequence[Scored], *, seed: int) -> dict[str, Any]:
        """Returns the metrics of abstention, and ``accuracy`` with its interval over conversations."""
        scores, items, right = ([getattr(own, name) for own in scored] for name in ("score", "item", "right"))
        return {
            "turns": len(scored),
            "conversations": len(set(items)),
            "right": sum(right),
            **with_intervals(items, {"accuracy": (right, None)}, seed=seed),
            "failed_turns": sum(own.turn.failure is not None for own in scored),
            **abstention_figures(scores),
            "risk_coverage": risk_coverage(scores),
        }

    def log(self, run: Run, saved: SavedProgram, figures: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Logs the figures, the ontology and a row for each question."""
        if run.id is None:
            return
        run.log_metrics(sectioned(figures))
        run.log_text(ONTOLOGY, saved.program.ontology.to_turtle())
        rows = [
            {
                "conversation_id": own.item,
                "turn_index": own.index,
                "question": own.turn.question,
                **{name: plain(value) for name, value in dataclasses.asdict(own.score).items()},
                "right": own.right,
            }
            for own in scored
        ]
        run.log_table("answers", rows)

    def judgement(self, scored: Scored) -> Judgement:
        """Returns whether the answer is right, and the gold one."""
        return {}, {"right": (scored.right, "")}, {"answer": write_answer(scored.score.gold)}


def conversation_task(data: LoadedData, answer: Literal["confident", "always"] | None = None) -> ConversationTask:
    """Returns the task of a file: ConvFinQA's metric, or that of answers if the file has answers.

    Args:
        data: The conversations.
        answer: Whether a program may abstain; by default it may where the file has answers.
    """
    if any(one.gold is not None for one in data.conversations):
        return OpenAnswers(data, answer if answer is not None else "confident")
    return ConvFinQA(data, answer if answer is not None else "always")


def answers_table(names: Sequence[str], figures: Sequence[Mapping[str, Any]]) -> str:
    """Returns the figures of evaluations on answers, one column a run."""
    keys = [key for key, value in figures[0].items() if isinstance(value, int | float)]
    return format_table(["", *names], [[key, *(one[key] for one in figures)] for key in keys])
