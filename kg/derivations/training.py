"""The features and networks from which scorers are trained, for :mod:`optimize.scorers` and :mod:`kg.coreference`.

Everything else imports from :mod:`kg.derivations`.
"""

from kg.derivations.confidence import FEATURES as CONFIDENCE_FEATURES
from kg.derivations.confidence import ConfidenceModel
from kg.derivations.confidence_features import confidence_features
from kg.derivations.conversions import with_conversions
from kg.derivations.figure_index import Idf
from kg.derivations.forms import FormScorer, ParsedForm, PastForm, history_terms, question_terms, question_words
from kg.derivations.history import COMPOUNDS
from kg.derivations.network import ChoiceNetwork
from kg.derivations.operand_features import (
    JOINT_NAMES,
    PAIR_FEATURES,
    REFERENCE_WIDTH,
    HistoryTurn,
    candidate_items,
    extend_history,
    pair_features,
    read_history,
)
from kg.derivations.pointers import MORE_JOINT, EncoderBlend
from kg.derivations.question_features import QuestionFeatures
from kg.derivations.ranking import as_float, features_of, pool
from kg.derivations.scorer import feature_groups, role_features
from kg.derivations.space import DerivationSpace

__all__ = [
    "COMPOUNDS",
    "CONFIDENCE_FEATURES",
    "JOINT_NAMES",
    "MORE_JOINT",
    "PAIR_FEATURES",
    "REFERENCE_WIDTH",
    "ChoiceNetwork",
    "ConfidenceModel",
    "DerivationSpace",
    "EncoderBlend",
    "FormScorer",
    "HistoryTurn",
    "Idf",
    "ParsedForm",
    "PastForm",
    "QuestionFeatures",
    "as_float",
    "candidate_items",
    "confidence_features",
    "extend_history",
    "feature_groups",
    "features_of",
    "history_terms",
    "pair_features",
    "pool",
    "question_terms",
    "question_words",
    "read_history",
    "role_features",
    "with_conversions",
]
