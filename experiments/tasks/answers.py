"""Conversations with gold answers of any type: numbers, yes and no, names, or none if the report gives none.

task = OpenAnswers(load_conversations("written/questions_dev.json"))
evaluate(find_program("beam"), task).figures["abstained_right"]
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from experiments.console import format_table
from experiments.data import ConversationRecord, LoadedData
from experiments.evaluation import Answered, Scored, Task
from experiments.tasks.convfinqa import ConversationTask, ConvFinQA
from experiments.tracking import Run, sectioned
from optimize.metrics import bootstrap_ratio
from optimize.metrics.abstention import AnswerScore, abstention_figures, read_gold, risk_coverage
from programs.turns import Turn, plain, read_turn, turn_record


class OpenAnswers(ConversationTask[AnswerScore]):
    """Conversations with gold answers in place of gold programs."""

    run_kind = "answers"

    def score(self, item: ConversationRecord, answered: Answered[Turn]) -> AnswerScore:
        """Returns the answer with its gold."""
        gold = item.gold if item.gold is not None else item.answers
        assert gold is not None
        turn = answered.turn
        return AnswerScore(turn.answer, turn.confidence if turn.confidence is not None else 0.0, gold[answered.index])

    def is_right(self, score: AnswerScore) -> bool:
        """Whether the answer is right, or rightly missing."""
        return score.is_right or (score.answer is None and score.gold is None)

    def figures(self, scored: Sequence[Scored[Turn, AnswerScore]], *, seed: int) -> dict[str, Any]:
        """Returns the metrics of abstention, and ``accuracy`` with its interval over conversations."""
        groups: dict[str, list[AnswerScore]] = {}
        for one in scored:
            groups.setdefault(one.answered.item, []).append(one.score)
        right = [sum(map(self.is_right, group)) for group in groups.values()]
        found = bootstrap_ratio(right, [len(group) for group in groups.values()], seed=seed)
        scores = [one.score for one in scored]
        return {
            "turns": len(scores),
            "conversations": len(groups),
            "failed_turns": sum(one.answered.turn.failure is not None for one in scored),
            "accuracy": found.value,
            "accuracy_low": found.low,
            "accuracy_high": found.high,
            **abstention_figures(scores),
            "risk_coverage": [dataclasses.asdict(point) for point in risk_coverage(scores)],
        }

    def record(self, scored: Scored[Turn, AnswerScore]) -> dict[str, Any]:
        """Returns the turn and its score as JSON."""
        gold = scored.score.gold
        score = {"confidence": scored.score.confidence, "gold": plain(gold)}
        return {"turn": turn_record(scored.answered.turn), "score": score}

    def read(self, line: Mapping[str, Any]) -> tuple[Turn, AnswerScore]:
        """Returns the turn and the score of a line."""
        turn, score = read_turn(line["turn"]), line["score"]
        return turn, AnswerScore(turn.answer, score["confidence"], read_gold(score["gold"]))

    def log_results(self, run: Run, figures: Mapping[str, Any], done: Sequence[Scored[Turn, AnswerScore]]) -> None:
        """Logs the figures and a row for each question."""
        run.log_metrics(sectioned({key: value for key, value in figures.items() if key not in ("seed", "limit")}))
        rows = [
            {
                "conversation_id": one.answered.item,
                "turn_index": one.answered.index,
                "question": one.answered.turn.question,
                "answer": plain(one.score.answer),
                "gold": plain(one.score.gold),
                "confidence": one.score.confidence,
                "right": self.is_right(one.score),
            }
            for one in done
        ]
        run.log_table("answers", rows)


def conversation_task(
    data: LoadedData, answer: Literal["confident", "always"] | None = None
) -> Task[ConversationRecord, Turn, Any]:
    """Returns the task of a file: ConvFinQA's metric, or that of answers if the file has answers.

    Args:
        data: The conversations.
        answer: Whether a program may abstain; by default it may where the file has answers.
    """
    if any(one.gold is not None for one in data.conversations):
        return OpenAnswers(data, answer if answer is not None else "confident")
    return ConvFinQA(data, answer if answer is not None else "always")


def answers_table(name: str, figures: Mapping[str, Any], width: int | None = None) -> str:
    """Returns the figures of an evaluation as a table."""
    rows = [[key, value] for key, value in figures.items() if isinstance(value, int | float)]
    return format_table(["", name], rows, width=width)
