"""The package ``kg.derivations``."""

from kg.derivations.calculator import Operation, calculate
from kg.derivations.candidate import Candidate
from kg.derivations.conversions import with_conversions
from kg.derivations.derivation import Answer, Constant, Derivation, Number, Operand, Step, StepResult
from kg.derivations.figure_index import Idf, ReportIndex
from kg.derivations.forms import FormModel, PastForm, history_features, question_features, question_words
from kg.derivations.history import COMPOUNDS, Collapsed, PastTurn, Reference, collapse, tree
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
from kg.derivations.proposals import Proposal
from kg.derivations.question_features import FloatArray, QuestionFeatures
from kg.derivations.ranking import as_float, features_of, pool, written_path
from kg.derivations.relevant_sentences import pointed_sentences
from kg.derivations.scorer import DerivationScorer, ParsedForm, feature_groups, role_features
from kg.derivations.search import START, TurnSearch, fixed_history, search_turn
from kg.derivations.space import DerivationSpace, SearchHint, WeightedHistory
from kg.derivations.tools import Action, GraphTools

__all__ = [
    "COMPOUNDS",
    "JOINT_NAMES",
    "PAIR_FEATURES",
    "REFERENCE_WIDTH",
    "START",
    "Action",
    "Answer",
    "Candidate",
    "ChoiceNetwork",
    "Collapsed",
    "Constant",
    "Derivation",
    "DerivationScorer",
    "DerivationSpace",
    "FloatArray",
    "FormModel",
    "GraphTools",
    "HistoryTurn",
    "Idf",
    "Number",
    "Operand",
    "Operation",
    "ParsedForm",
    "PastForm",
    "PastTurn",
    "Proposal",
    "QuestionFeatures",
    "Reference",
    "ReportIndex",
    "SearchHint",
    "Step",
    "StepResult",
    "TurnSearch",
    "WeightedHistory",
    "as_float",
    "calculate",
    "candidate_items",
    "collapse",
    "extend_history",
    "feature_groups",
    "features_of",
    "fixed_history",
    "history_features",
    "pair_features",
    "pointed_sentences",
    "pool",
    "question_features",
    "question_words",
    "read_history",
    "role_features",
    "search_turn",
    "tree",
    "with_conversions",
    "written_path",
]
