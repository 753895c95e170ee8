"""News in a growing graph: documents, sentences, facts and names, and answers from what sentences state."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.news.answers import POLAR, AnswerConfidence, SpanAnswers, TextAnswer, span_confidence
    from kg.news.documents import NewsDocument, Passage, parse_document, passage_updates, passages_of, stored_passages
    from kg.news.facts import (
        NAME_KINDS,
        Fact,
        add_news_types,
        applicable,
        fact_updates,
        known_aliases,
        known_companies,
        known_names,
        relations,
        stored_facts,
    )
    from kg.news.library import ENCODER_PACKAGE, LONGEST, Library, NearDocument
    from kg.news.spans import SpanReader
    from kg.news.values import compared, days_in, number_of, plain_name, value_of
else:
    __getattr__ = lazy_exports(__name__, __file__)
