"""Answers of questions over a report by calculation: its figures as arrays, features, candidates and one ranking."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.calculations.forms import FormScorer, ParsedForm, history_terms, past_turn, question_terms, question_words
    from kg.calculations.linear_models import (
        CONFIDENCE_FEATURES,
        FINAL_FEATURES,
        ConfidenceModel,
        FinalRanker,
        feature_matrix,
    )
    from kg.calculations.names import as_float, same_name
    from kg.calculations.network import ChoiceNetwork
    from kg.calculations.operand_features import (
        JOINT_NAMES,
        HistoryTurn,
        extend_history,
        operand_rows,
    )
    from kg.calculations.pointers import EncoderBlend
    from kg.calculations.question_features import PAIR_FEATURES, QuestionFeatures, pair_features
    from kg.calculations.ranking import Candidate, features_of, pool, scores_of_pool
    from kg.calculations.report_index import Idf, ReportIndex
    from kg.calculations.scorer import DerivationScorer, role_features
    from kg.calculations.series import SeriesReader
    from kg.calculations.space import DerivationSpace, WeightedHistory
    from kg.calculations.standalone import standalone_features
    from kg.calculations.turn_search import (
        MEMORY,
        START,
        DerivationConfig,
        TurnSearch,
        completed,
        fixed_history,
        search_turn,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)
