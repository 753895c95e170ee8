"""Metrics of turns, graph questions and labels, with their statistics and feedback."""

from optimize.metrics.examples import keep_turn, score_turn
from optimize.metrics.graphs import KGQAScore, score_question, summarise_kgqa
from optimize.metrics.labels import GoldUnderstanding, field_accuracies, gold_understanding, label_fields
from optimize.metrics.statistics import holm, mcnemar, paired_difference
from optimize.metrics.turns import TurnScore, score_conversation, summarise

__all__ = [
    "GoldUnderstanding",
    "KGQAScore",
    "TurnScore",
    "field_accuracies",
    "gold_understanding",
    "holm",
    "keep_turn",
    "label_fields",
    "mcnemar",
    "paired_difference",
    "score_conversation",
    "score_question",
    "score_turn",
    "summarise",
    "summarise_kgqa",
]
