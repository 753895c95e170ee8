"""Metrics of turns, graph questions and labels, with their records, statistics and feedback."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.metrics.abstention import (
        AnswerScore,
        OpenAnswer,
        RiskPoint,
        abstention_figures,
        answers_match,
        read_gold,
        risk_coverage,
    )
    from optimize.metrics.examples import metric
    from optimize.metrics.graphs import KGQAScore, score_question, summarise_kgqa
    from optimize.metrics.labels import GoldMeaning, gold_meaning
    from optimize.metrics.scored import (
        ChangedTurn,
        Comparison,
        RunDifference,
        ScoredTurn,
        read_score,
        score_record,
        verdict,
    )
    from optimize.metrics.statistics import bootstrap_ratio, holm, mcnemar, paired_difference
    from optimize.metrics.turns import TurnScore, score_conversation, summarise
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "AnswerScore",
    "ChangedTurn",
    "Comparison",
    "GoldMeaning",
    "KGQAScore",
    "OpenAnswer",
    "RiskPoint",
    "RunDifference",
    "ScoredTurn",
    "TurnScore",
    "abstention_figures",
    "answers_match",
    "bootstrap_ratio",
    "gold_meaning",
    "holm",
    "mcnemar",
    "metric",
    "paired_difference",
    "read_gold",
    "read_score",
    "risk_coverage",
    "score_conversation",
    "score_question",
    "score_record",
    "summarise",
    "summarise_kgqa",
    "verdict",
]
