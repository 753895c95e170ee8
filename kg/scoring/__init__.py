"""The learned scorer of derivations: features of figures and turns, templates, networks and confidence."""

from kg.scoring.choices import (
    AGGREGATE_FEATURES,
    NAMING_FEATURES,
    AggregateModel,
    LinearChoice,
    NamingModel,
    feature_matrix,
)
from kg.scoring.confidence import CONFIDENCE_FEATURES, Confidence, ConfidenceModel
from kg.scoring.figure_relations import PAIR_FEATURES, FigureRelations, pair_features
from kg.scoring.forms import FormScorer, ParsedForm, PastForm, history_terms, question_terms, question_words
from kg.scoring.network import ChoiceNetwork
from kg.scoring.operand_features import (
    JOINT_NAMES,
    REFERENCE_WIDTH,
    HistoryTurn,
    candidate_items,
    earlier_answers,
    extend_history,
    history_item_features,
    read_history,
)
from kg.scoring.pointers import MORE_JOINT, EncoderBlend, Pointers
from kg.scoring.question_features import QuestionFeatures
from kg.scoring.scorer import DerivationScorer, feature_groups, role_features

__all__ = [
    "AGGREGATE_FEATURES",
    "CONFIDENCE_FEATURES",
    "JOINT_NAMES",
    "MORE_JOINT",
    "NAMING_FEATURES",
    "PAIR_FEATURES",
    "REFERENCE_WIDTH",
    "AggregateModel",
    "ChoiceNetwork",
    "Confidence",
    "ConfidenceModel",
    "DerivationScorer",
    "EncoderBlend",
    "FigureRelations",
    "FormScorer",
    "HistoryTurn",
    "LinearChoice",
    "NamingModel",
    "ParsedForm",
    "PastForm",
    "Pointers",
    "QuestionFeatures",
    "candidate_items",
    "earlier_answers",
    "extend_history",
    "feature_groups",
    "feature_matrix",
    "history_item_features",
    "history_terms",
    "pair_features",
    "question_terms",
    "question_words",
    "read_history",
    "role_features",
]
