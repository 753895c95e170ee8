"""Semantic parsing: questions in anyone's words as typed queries over any graph, in a conversation."""

from kg.parsing.derivation import Weights
from kg.parsing.dialogue import QuestionReader, Reading
from kg.parsing.evidence import FEATURES
from kg.parsing.parser import Parse
from kg.parsing.ranking import MORE_FEATURES, FeatureNetwork, Ranker, features
from kg.parsing.reader import READ_FEATURES, ParseReader, chosen, read_features, telling
from kg.parsing.references import PastTurn

__all__ = [
    "FEATURES",
    "MORE_FEATURES",
    "READ_FEATURES",
    "FeatureNetwork",
    "Parse",
    "ParseReader",
    "PastTurn",
    "QuestionReader",
    "Ranker",
    "Reading",
    "Weights",
    "chosen",
    "features",
    "read_features",
    "telling",
]
