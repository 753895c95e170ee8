"""Sentences of news: names, amounts, dates and the words around them."""

from kg.sentences.amounts import Mention, amounts, measures
from kg.sentences.endings import End, end_of, is_ending, is_nominal
from kg.sentences.headlines import DATELINE, is_title_case, without_dateline
from kg.sentences.language import Frame, RelationWords, Role, event_frames, frames, inflected, language
from kg.sentences.mentions import DocumentNames
from kg.sentences.modality import Status, asks_of_plans, is_proposal, status_of
from kg.sentences.names import Directory, Entity, name_pattern, plain_name
from kg.sentences.nouns import noun_class
from kg.sentences.sentence import Sentence, Trigger

__all__ = [
    "DATELINE",
    "Directory",
    "DocumentNames",
    "End",
    "Entity",
    "Frame",
    "Mention",
    "RelationWords",
    "Role",
    "Sentence",
    "Status",
    "Trigger",
    "amounts",
    "asks_of_plans",
    "end_of",
    "event_frames",
    "frames",
    "inflected",
    "is_ending",
    "is_nominal",
    "is_proposal",
    "is_title_case",
    "language",
    "measures",
    "name_pattern",
    "noun_class",
    "plain_name",
    "status_of",
    "without_dateline",
]
