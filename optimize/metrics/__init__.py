"""Metrics of turns, graph questions and labels, with their records, statistics and feedback."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.metrics.abstention import (
        AnswerScore,
        abstention_figures,
        read_gold,
        risk_coverage,
    )
    from optimize.metrics.comparison import ChangedTurn, Comparison, RunDifference, corrected, difference_of
    from optimize.metrics.feedback import is_same_answer, metric
    from optimize.metrics.graphs import KGQAScore, score_question, summarise_kgqa
    from optimize.metrics.turns import (
        ScoredTurn,
        TurnScore,
        exact_match,
        read_score,
        score_record,
        score_turn,
        summarise,
        verdict,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)
