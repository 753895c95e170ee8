"""The prompts of the adviser, which read news, for the page of prompts."""

from __future__ import annotations

from collections.abc import Iterator

import dspy

from kg.investments import parse_document
from kg.news import sentences_of
from programs.advisor import DocumentExtraction
from programs.advisor.document_facts import shown_parts
from programs.worlds.news.quoting import ShownDocument, quote_messages
from signatures.news import AnswerWithSources
from tools.listening import listening
from tools.prompts_of_graphs import Section

TEXT = """Orvane buys Brightlane
2026-01-14

BOISE - Orvane Semiconductor paid $340 million in cash. It had offered $300 million in May.
"""
QUESTION = "By how much did Orvane raise its offer for Brightlane?"
ANSWERED = """[[ ## answers ## ]]
[]

[[ ## calculation ## ]]
$340 million - $300 million

[[ ## sentences ## ]]
[2, 3]

[[ ## sureness ## ]]
certain

[[ ## completed ## ]]"""


def news_sections() -> Iterator[Section]:
    """Title, words and messages of each prompt."""
    document = parse_document(TEXT, "orvane.txt")
    with listening(lambda _: ANSWERED, dspy.ChatAdapter()) as engine:
        [shown] = shown_parts(document)
        dspy.Predict(AnswerWithSources)(documents=shown, question=QUESTION)
    text = "`finpath advisor ask --lm`, for a model of an API: once for each question, with the nearest documents."
    yield "The adviser: an answer with its sentences", text, engine.heard[0]
    with listening(lambda _: "[[ ## facts ## ]]\n[]\n\n[[ ## completed ## ]]", dspy.ChatAdapter()) as engine:
        DocumentExtraction()(document=document)
    text = "`finpath advisor ingest --lm`, for a model of an API: once for each document."
    yield "The adviser: the facts of a document", text, engine.heard[0]
    sentences = tuple(sentences_of(document.text))
    messages = quote_messages([ShownDocument(document.headline, document.published, sentences)], QUESTION)
    text = "`finpath advisor ask --lm`, for an embedded model with the adapter for news. A grammar holds it to quotes."
    yield "The adviser: a quote", text, [(one["role"], one["content"]) for one in messages]
