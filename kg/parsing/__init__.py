"""Semantic parsing: questions in anyone's words as typed queries over any graph, in a conversation."""

from kg.parsing.dialogue import QuestionReader, Reading
from kg.parsing.evidence import FEATURES
from kg.parsing.measures import read_bound
from kg.parsing.parser import Parse
from kg.parsing.ranking import (
    MORE_FEATURES,
    READ_FEATURES,
    FeatureNetwork,
    ParseReader,
    Ranker,
    chosen,
    features,
    telling,
)
from kg.parsing.references import DialogueTurn
