"""Semantic parsing: questions in anyone's words as typed queries over any graph, in a conversation."""

from kg.parsing.algebra import Named, Query, facts_of, write
from kg.parsing.derivation import Weights
from kg.parsing.dialogue import QuestionReader, Reading
from kg.parsing.evaluation import Evaluator
from kg.parsing.evidence import FEATURES
from kg.parsing.measures import read_bound
from kg.parsing.parser import Parse
from kg.parsing.ranking import Ranker
from kg.parsing.references import PastTurn
from kg.vocabulary import Thesaurus

__all__ = [
    "FEATURES",
    "Evaluator",
    "Named",
    "Parse",
    "PastTurn",
    "Query",
    "QuestionReader",
    "Ranker",
    "Reading",
    "Thesaurus",
    "Weights",
    "facts_of",
    "read_bound",
    "write",
]
