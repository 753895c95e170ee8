"""Semantic parsing: questions in anyone's words as typed queries over any graph, in a conversation."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.parsing.derivation import Weights
    from kg.parsing.dialogue import QuestionReader, Reading
    from kg.parsing.evidence import FEATURES
    from kg.parsing.parser import Parse
    from kg.parsing.ranking import MORE_FEATURES, FeatureNetwork, Ranker, features
    from kg.parsing.reader import READ_FEATURES, ParseReader, chosen, read_features, telling
    from kg.parsing.references import PastTurn
else:
    __getattr__ = lazy_exports(__name__, __file__)

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
