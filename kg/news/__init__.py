"""Facts from news by frames: reading, memory with newer over older, and answers, without a language model."""

from kg.news.answers import NewsAnswer, NewsAnswers
from kg.news.facts import Fact
from kg.news.frame_reader import FrameReader
from kg.news.memory import add_news_types, applicable, directory_of, has_statements, stored_facts
from kg.news.names import Directory, plain_name
from kg.news.reader import NewsReading, read_news

__all__ = [
    "Directory",
    "Fact",
    "FrameReader",
    "NewsAnswer",
    "NewsAnswers",
    "NewsReading",
    "add_news_types",
    "applicable",
    "directory_of",
    "has_statements",
    "plain_name",
    "read_news",
    "stored_facts",
]
