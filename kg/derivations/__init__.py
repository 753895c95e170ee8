"""Calculations over a report's figures: their language, their search and the scorer that ranks them."""

from kg.derivations.calculator import CalculatorOperation, calculate
from kg.derivations.candidate import Candidate
from kg.derivations.confidence_features import confidence_features
from kg.derivations.derivation import Answer, Constant, Derivation, Labelled, Number, Operand, Step, StepResult
from kg.derivations.figure_index import ReportIndex
from kg.derivations.history import PastTurn, Reference, TurnOperation, collapse
from kg.derivations.proposals import Proposal
from kg.derivations.question_features import SearchHint
from kg.derivations.relevance import relevant_sentences
from kg.derivations.scorer import DerivationScorer
from kg.derivations.search import START, DerivationConfig, TurnSearch, fixed_history, search_turn
from kg.derivations.series import SeriesReader
from kg.derivations.space import WeightedHistory
from kg.derivations.tools import GraphTools, OntologyAction

__all__ = [
    "START",
    "Answer",
    "CalculatorOperation",
    "Candidate",
    "Constant",
    "Derivation",
    "DerivationConfig",
    "DerivationScorer",
    "GraphTools",
    "Labelled",
    "Number",
    "OntologyAction",
    "Operand",
    "PastTurn",
    "Proposal",
    "Reference",
    "ReportIndex",
    "SearchHint",
    "SeriesReader",
    "Step",
    "StepResult",
    "TurnOperation",
    "TurnSearch",
    "WeightedHistory",
    "calculate",
    "collapse",
    "confidence_features",
    "fixed_history",
    "relevant_sentences",
    "search_turn",
]
