"""Facts from news by frames: reading, memory with newer over older, and answers, without a language model."""

from kg.news.aliases import (
    BY_HAND,
    alias_updates,
    join_alias,
    known_aliases,
    names_by_hand,
    separation_updates,
    shared_aliases,
    with_full_names,
)
from kg.news.answered import (
    ANSWER_TO,
    AnsweredFact,
    Insertion,
    RetrievedAnswer,
    answer_insertion,
    insert_answers,
    retrieved_answers,
    state_of,
)
from kg.news.answers import NewsAnswer, NewsAnswers
from kg.news.companies import KnownCompany, known_companies
from kg.news.event_sources import EventSource, EventSources, differing_figures
from kg.news.facts import Fact, number_of
from kg.news.frame_reader import FrameReader
from kg.news.memory import (
    add_news_types,
    applicable,
    directory_of,
    has_statements,
    statement_updates,
    stored_facts,
)
from kg.news.offices import same_office
from kg.news.passages import EarlierText, Passage, earlier_text, passage_updates, stored_passages
from kg.news.question import NewsQuestion, parse_question, parts_of
from kg.news.reader import NewsReading, read_news, sentences_of

__all__ = [
    "ANSWER_TO",
    "BY_HAND",
    "AnsweredFact",
    "EarlierText",
    "EventSource",
    "EventSources",
    "Fact",
    "FrameReader",
    "Insertion",
    "KnownCompany",
    "NewsAnswer",
    "NewsAnswers",
    "NewsQuestion",
    "NewsReading",
    "Passage",
    "RetrievedAnswer",
    "add_news_types",
    "alias_updates",
    "answer_insertion",
    "applicable",
    "differing_figures",
    "directory_of",
    "earlier_text",
    "has_statements",
    "insert_answers",
    "join_alias",
    "known_aliases",
    "known_companies",
    "names_by_hand",
    "number_of",
    "parse_question",
    "parts_of",
    "passage_updates",
    "read_news",
    "retrieved_answers",
    "same_office",
    "sentences_of",
    "separation_updates",
    "shared_aliases",
    "state_of",
    "statement_updates",
    "stored_facts",
    "stored_passages",
    "with_full_names",
]
