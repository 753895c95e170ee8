"""Sentences of news: names, amounts, dates and the words around them."""

from kg.sentences.amounts import Mention, amounts, measures
from kg.sentences.language import Frame, Relation, Role, frames, inflected, language
from kg.sentences.mentions import DocumentNames
from kg.sentences.names import Directory, Entity, name_pattern, plain_name
from kg.sentences.nouns import noun_class
from kg.sentences.sentence import Sentence, Trigger

__all__ = [
    "Directory",
    "DocumentNames",
    "Entity",
    "Frame",
    "Mention",
    "Relation",
    "Role",
    "Sentence",
    "Trigger",
    "amounts",
    "frames",
    "inflected",
    "language",
    "measures",
    "name_pattern",
    "noun_class",
    "plain_name",
]
