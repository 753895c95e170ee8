r"""Answers by a model that was fine-tuned on news: it reads the nearest documents together and quotes the answer.

>>> reader = QuoteReader(clauses, lm)
>>> reader(question="How much did Orvane pay for Brightlane?").found
PassageAnswer(values=("$340 million",), confidence=0.93, passages=(Passage(...),))

The reply is held to spans of the documents, ``yes``, ``no`` or ``none``. A fitted model says how likely it is right,
from its probabilities, the ranking of :mod:`kg.comprehension` and what the rules answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import dspy
from dspy import lm15

from kg.comprehension import Asked, ClauseAnswers, Ranked
from kg.errors import LMError
from kg.sentences import plain_name
from programs.advisor.documents import Located, NearDocument, near_documents
from programs.advisor.quotes import ADAPTER, BETWEEN, INSTRUCTIONS, NONE, POLAR, ShownDocument, quote_messages
from programs.advisor.readings import PassageAnswer, ReadAnswer, ReadingModel, value_features
from programs.advisor.spans import LEAST, HeldReply, held_reply, reply_grammar

LONGEST = 64
"""Tokens of a reply at the most."""

MOST_QUOTES = 8
"""Quotes of a reply at the most."""

_LEAST_LIKELIHOOD = -8.0

QUOTE_FEATURES = (
    "likelihood", "weakest", "none", "similarity", "words", "sentence", "ranked", "ranked other", "agreed", "against",
    "several", "polar", "kind", "unknown", "read", "read other", "read none",
)  # fmt: skip
"""What the confidence of a reply depends on."""


@cache
def quote_models() -> dict[str, ReadingModel]:
    """Returns the fitted confidence of each model that has an adapter; ``benchmarks/fit_passages.py`` fits them."""
    path = Path(__file__).with_name("quotes.json")
    given = json.loads(path.read_text(encoding="utf-8"))
    return {name: ReadingModel.model_validate(one) for name, one in given.items()}


def quoting_model(lm: dspy.LM) -> dspy.LM | None:
    """Returns a language model with its adapter for news; ``None`` if there is none.

    Args:
        lm: The language model, with or without its adapter.
    """
    name = str(lm.model)
    if name in quote_models():
        return lm
    wanted = f"{name}+{ADAPTER}"
    if wanted not in quote_models():
        return None
    try:
        return lm.copy(model=wanted)
    except LMError:
        return None


class QuoteReader(dspy.Module):
    """A fine-tuned language model over the documents of a graph.

    Args:
        clauses: The sentences and their ranking.
        lm: The language model with its adapter, of :func:`quoting_model`.
        model: The fitted numbers; by default those that ship for the language model.
    """

    needs_lm = True

    def __init__(self, clauses: ClauseAnswers, lm: dspy.LM, model: ReadingModel | None = None) -> None:
        super().__init__()
        self.clauses, self.lm = clauses, lm
        self.model = model if model is not None else quote_models()[str(lm.model)]

    def forward(self, question: str, known: Sequence[str] = (), confidence: float = 0.0) -> dspy.Prediction:
        """Returns ``found``, a :class:`PassageAnswer`.

        Args:
            question: The question.
            known: What the rules answer.
            confidence: Their confidence.

        Raises:
            LMError: The model cannot be asked.
        """
        asked = self.clauses.parse(question)
        documents = near_documents(asked, self.clauses.library)
        if not documents:
            return dspy.Prediction(found=PassageAnswer(why="no document has what is asked for"))
        reading = self.reading(asked, documents, known, confidence)
        if reading is None:
            return dspy.Prediction(found=PassageAnswer(why="the documents do not say so"))
        return dspy.Prediction(found=self.model.decided(reading.answer, self.model.confidence(reading.features)))

    def reading(
        self, asked: Asked, documents: Sequence[NearDocument], known: Sequence[str], confidence: float
    ) -> ReadAnswer | None:
        """Returns what the model quotes; ``None`` if the documents do not tell.

        Args:
            asked: The question.
            documents: The documents, the nearest first.
            known: What the rules answer.
            confidence: Their confidence.
        """
        reply = self.reply(asked, documents)
        places = _places(documents, reply.text)
        if not places:
            return None
        values = tuple(dict.fromkeys(one.value for one in places))
        own, rules = set(map(plain_name, values)), set(map(plain_name, known))
        holding = [one for one in documents if any(at.passage.document == one.text.name for at in places)]
        ranked = self.clauses.ranked(asked)
        features = {
            **value_features(asked, values, places, ranked),
            **self._read(asked, values, ranked),
            "likelihood": max(reply.likelihood, _LEAST_LIKELIHOOD),
            "weakest": max(reply.weakest, _LEAST_LIKELIHOOD),
            "none": max(reply.none, LEAST) / 5,
            "similarity": max(one.similarity for one in holding) - max(one.similarity for one in documents),
            "words": max(one.words for one in holding),
            "sentence": min(place.similarity for place in places),
            "agreed": confidence if own == rules else 0.0,
            "against": confidence if rules and own != rules else 0.0,
            "polar": float(values[0] in POLAR),
        }
        return ReadAnswer(PassageAnswer(values, 0.0, tuple(place.passage for place in places)), features)

    def _read(self, asked: Asked, values: Sequence[str], ranked: Sequence[Ranked]) -> dict[str, float]:
        """Returns the shares that the reader of :mod:`kg.comprehension` gives the values, another one, and no answer.

        A value that has the words of another is not another one: "at least $85 million".
        """
        if values[0] in POLAR:
            proposal = self.clauses.proposed(asked, ranked)
            share, none = (proposal.features.get(name, 0.0) for name in ("polar read", "polar none"))
            agrees = proposal.values == tuple(values)
            return {"read": share * agrees, "read other": share * (not agrees), "read none": none}
        shares: dict[str, float] = {}
        for one in ranked:
            total = sum(candidate.features.get("reader mass", 0.0) for candidate in one.candidates)
            shares[plain_name(one.value)] = min(shares.get(plain_name(one.value), 0.0) + total, 1.0)
        own = {plain_name(value) for value in values}
        others = [value for value in shares if not any(one in value or value in one for one in own)]
        none = ranked[0].candidates[0].features.get("reader none", 0.0) if ranked else 0.0
        return {
            "read": min(shares.get(value, 0.0) for value in own),
            "read other": max((shares[value] for value in others), default=0.0),
            "read none": none,
        }

    def reply(self, asked: Asked, documents: Sequence[NearDocument]) -> HeldReply:
        """Returns what the model replies."""
        [_, user] = asked_messages(asked, documents)
        sentences = [sentence for one in documents for sentence in one.sentences]
        grammar = reply_grammar(sentences, NONE, *POLAR, between=BETWEEN, most=MOST_QUOTES)
        return held_reply(self.lm, INSTRUCTIONS, [lm15.Message.user(user["content"])], grammar, NONE, LONGEST)


def asked_messages(asked: Asked, documents: Sequence[NearDocument]) -> list[dict[str, str]]:
    """Returns the messages of a question about the documents nearest to it."""
    shown = [ShownDocument(one.sentences[0], one.text.published, one.sentences[1:]) for one in documents]
    return quote_messages(shown, asked.text)


def _places(documents: Sequence[NearDocument], reply: str) -> list[Located]:
    """Returns where the documents have each quote of a reply; none where they lack one, or where it is "none"."""
    if reply in POLAR:
        nearest = max(documents, key=lambda one: one.similarity)
        place = nearest.similarities.index(nearest.similarity)
        return [Located(reply, "", nearest.text.statements[place].passage, nearest.similarity)]
    quotes = [part.strip() for part in reply.split(BETWEEN.strip()) if part.strip()]
    found = [_nearest(documents, quote) for quote in dict.fromkeys(quotes)] if reply != NONE else []
    return [one for one in found if one is not None] if all(found) else []


def _nearest(documents: Sequence[NearDocument], quote: str) -> Located | None:
    """Returns the nearest place of a quote in any of the documents."""
    places = [place for document in documents if (place := document.located(quote)) is not None]
    return max(places, key=lambda one: one.similarity, default=None)
