r"""The prompt in which a model that was fine-tuned on news reads several documents at once and quotes the answer.

>>> document = ShownDocument("Orvane buys Brightlane", date(2026, 1, 14), ("Orvane paid $340 million.",))
>>> print(quote_messages([document], "What did Brightlane cost?")[1]["content"])
2026-01-14 Orvane buys Brightlane
Orvane paid $340 million.
<BLANKLINE>
question: What did Brightlane cost?

``benchmarks/fit_quotes.py`` trains on the same messages. The documents come before the question, so that several
questions about them share their beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

ADAPTER = "news"
"""The name of the adapters that were trained on this prompt."""

NONE = "none"
"""The reply where the documents do not tell."""

POLAR = ("yes", "no")
BETWEEN = "; "
"""What is between several quotes of a reply."""

INSTRUCTIONS = (
    "Answer the question from the news. Quote the answer alone, as short as it can be, with ';' between several. "
    f"Reply yes or no where that is asked, and {NONE} where the news does not tell."
)


@dataclass(frozen=True)
class ShownDocument:
    """A document as it is shown.

    Attributes:
        headline: Its headline.
        day: Its day.
        sentences: The sentences that are shown.
    """

    headline: str
    day: date
    sentences: tuple[str, ...]


def quote_messages(documents: Sequence[ShownDocument], question: str) -> list[dict[str, str]]:
    """Returns the messages of a question about documents, the oldest first.

    Args:
        documents: The documents.
        question: The question.
    """
    ordered = sorted(documents, key=lambda one: (one.day, one.headline))
    shown = "\n\n".join(f"{one.day} {one.headline}\n{' '.join(one.sentences)}" for one in ordered)
    return [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": f"{shown}\n\nquestion: {question}"},
    ]


def quote_reply(answers: Sequence[str]) -> str:
    """Returns the reply that gives some answers; none where there is no answer."""
    return BETWEEN.join(answers) or NONE
