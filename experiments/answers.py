"""Conversations with gold answers of any type, scored with abstention.

>>> task = OpenAnswers(load_conversations("questions.json"), abstains=True)
>>> evaluate(find_program("beam"), task).figures["abstained_right"]
0.86

The table ``answers.json`` of a run has a row for each question.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.console import format_table, write_answer
from experiments.data import ConversationRecord
from experiments.evaluation import ONTOLOGY, ConversationTask
from experiments.saved import SavedProgram
from experiments.task import Judgement, Scored
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

    def table(self, name: str, figures: Mapping[str, Any]) -> str:
        """Returns the figures of an evaluation with its name."""
        return format_table(["", name], [[key, own] for key, own in figures.items() if isinstance(own, int | float)])
