"""Answers by an embedded language model to questions that rules leave open: it reads the nearest documents.

>>> reader = PassageReader(clauses)
>>> reader(question="How much did Orvane pay for Brightlane?").found
PassageAnswer(values=("$340 million",), confidence=0.81, passages=(Passage(...),))

Each document is shown whole, with its headline and day. An embedded model reads each by itself and is held to spans of
it, or to "not stated" (:mod:`programs.advisor.spans`). A fitted model says how likely each span is right, from its
probabilities, the ranking of :mod:`kg.comprehension` and the similarity of the document.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import dspy
from dspy import lm15
from pydantic import BaseModel, ConfigDict

from kg.comprehension import Asked, ClauseAnswers, Ranked, too_doubtful
from kg.news import Passage
from kg.sentences import plain_name
from programs.advisor.documents import Located, NearDocument, near_documents
from programs.advisor.spans import LEAST, HeldReply, held_reply, reply_grammar
from signatures.extraction import AnswerFromPassages

NOT_STATED = "not stated"
LONGEST = 24
"""Tokens of a reply at the most."""

_LEAST_LIKELIHOOD = -5.0
PASSAGE_FEATURES = (
    "likelihood", "unstated", "similarity", "similarity lead", "words", "words lead", "sentence", "agreed", "rival",
    "ranked", "ranked other", "kind", "several", "unknown",
)  # fmt: skip
"""What the confidence of a span depends on."""


@dataclass(frozen=True)
class PassageAnswer:
    """An answer.

    Attributes:
        values: The answers; none where there is none.
        confidence: In [0, 1].
        passages: For each value the sentence that has it.
        why: The reason, where there is no answer.
        steps: The calculation, where the value is calculated; its passages are then those of its parts.
    """

    values: tuple[str, ...] = ()
    confidence: float = 0.0
    passages: tuple[Passage, ...] = ()
    why: str = ""
    steps: str = ""


@dataclass(frozen=True)
class ReadAnswer:
    """The answer of one document.

    Attributes:
        answer: The values with their sentences.
        features: Those of :data:`PASSAGE_FEATURES`.
    """

    answer: PassageAnswer
    features: Mapping[str, float]


class ReadingModel(BaseModel):
    """The fitted numbers of the confidence.

    Attributes:
        about: How it was fitted.
        weights: The weight of each feature, and ``intercept``, the only one without a value.
        threshold: The least confidence of an answer.
        rules: The least confidence of an answer by rules that a model which read it, too, does not give.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    weights: dict[str, float]
    threshold: float
    rules: float = 0.0

    def confidence(self, features: Mapping[str, float]) -> float:
        """Returns the probability that a reading is right."""
        total = sum(weight * features.get(name, 1.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-total))

    def decided(self, answer: PassageAnswer, confidence: float) -> PassageAnswer:
        """Returns an answer with its confidence, or the reason why it is not given."""
        if confidence >= self.threshold:
            return replace(answer, confidence=confidence)
        return PassageAnswer(confidence=confidence, why=too_doubtful(answer.values, confidence, self.threshold))


@cache
def reading_model() -> ReadingModel:
    """Returns the model that ships; ``benchmarks/fit_passages.py`` fits it."""
    path = Path(__file__).with_name("passages.json")
    return ReadingModel.model_validate_json(path.read_text(encoding="utf-8"))


class PassageReader(dspy.Module):
    """A language model over the documents of a graph.

    Args:
        clauses: The sentences and their ranking.
        model: The fitted numbers; by default those that ship.

    Attributes:
        answer_from_passages: Its predictor, of whose instructions and demonstrations the prompt is made.
    """

    needs_lm = True

    def __init__(self, clauses: ClauseAnswers, model: ReadingModel | None = None) -> None:
        super().__init__()
        self.clauses = clauses
        self.model = model
        self.answer_from_passages = dspy.Predict(AnswerFromPassages)
        self.answer_from_passages.demos = [dspy.Example(**one) for one in _DEMONSTRATIONS]

    def forward(self, question: str) -> dspy.Prediction:
        """Returns ``found``, a :class:`PassageAnswer`.

        Args:
            question: One that asks for a name, an amount or a day, or for several; others get no answer.

        Raises:
            LMError: The model cannot be asked.
        """
        asked = self.clauses.parse(question)
        if asked.words.polar:
            return dspy.Prediction(found=PassageAnswer(why="yes or no is asked for"))
        documents = near_documents(asked, self.clauses.library)
        if not documents:
            return dspy.Prediction(found=PassageAnswer(why="no document has what is asked for"))
        return dspy.Prediction(found=self.best(self.readings(asked, documents)))

    def readings(self, asked: Asked, documents: Sequence[NearDocument]) -> list[ReadAnswer]:
        """Returns what an embedded model reads in each document; nothing of one that does not state it.

        Args:
            asked: The question.
            documents: The documents, the nearest first.
        """
        replies = [(document, self.reply(asked, document)) for document in documents]
        stated = [
            (document, reply, places)
            for document, reply in replies
            if reply.text != NOT_STATED and (places := _places(document, reply.text, asked))
        ]
        ranked = self.clauses.ranked(asked)
        found = []
        for document, reply, places in stated:
            values = tuple(place.value for place in places)
            own = set(map(plain_name, values))
            others = [({plain_name(at.value) for at in there}, said) for _, said, there in stated if said is not reply]
            features = {
                **value_features(asked, values, places, ranked),
                "likelihood": max(reply.likelihood, _LEAST_LIKELIHOOD),
                "unstated": max(reply.none, LEAST) / 5,
                "similarity": document.similarity,
                "similarity lead": document.similarity - max(one.similarity for one in documents),
                "words": document.words,
                "words lead": document.words - max(one.words for one in documents),
                "sentence": max(place.similarity for place in places),
                "agreed": float(any(own == other for other, _ in others)),
                "rival": max((math.exp(said.likelihood) for other, said in others if other != own), default=0.0),
            }
            answer = PassageAnswer(values, 0.0, tuple(place.passage for place in places))
            found.append(ReadAnswer(answer, features))
        return found

    def best(self, readings: Sequence[ReadAnswer]) -> PassageAnswer:
        """Returns the reading with the highest confidence, or the reason why there is no answer."""
        if not readings:
            return PassageAnswer(why="the documents do not say so")
        model = self.model if self.model is not None else reading_model()
        scored = [(model.confidence(one.features), one.answer) for one in readings]
        confidence, answer = max(scored, key=lambda one: one[0])
        return model.decided(answer, confidence)

    def reply(self, asked: Asked, document: NearDocument) -> HeldReply:
        """Returns what an embedded model writes about one document."""
        (_, system), *turns = self._prompt(document.shown, asked.text)
        roles = {"user": lm15.Message.user, "assistant": lm15.Message.assistant}
        grammar = reply_grammar(document.sentences, NOT_STATED, between=", " if asked.plural else None)
        messages = [roles[role](text) for role, text in turns]
        return held_reply(dspy.settings.lm, system, messages, grammar, NOT_STATED, LONGEST)

    def _prompt(self, shown: str, question: str) -> Iterator[tuple[str, str]]:
        """Yields the messages; a document comes before its questions, so that it is read once for all of them."""
        yield "system", f"{self.answer_from_passages.signature.instructions}\nReply with the answer alone."
        before = ""
        for one in self.answer_from_passages.demos:
            document = "" if one["passages"] == before else f"{one['passages']}\n\n"
            before = one["passages"]
            yield "user", f"{document}question: {one['question']}"
            yield "assistant", str(one["answer"])
        yield "user", f"{shown}\n\nquestion: {question}"


def value_features(
    asked: Asked, values: Sequence[str], places: Sequence[Located], ranked: Sequence[Ranked]
) -> dict[str, float]:
    """Returns the features of an answer that each reader of documents has.

    Args:
        asked: The question.
        values: The answer, at least one value.
        places: The quotes that are its values.
        ranked: The values of sentences as rules rank them.
    """
    shares = {plain_name(one.value): one.probability for one in ranked}
    share = max(shares.get(plain_name(value), 0.0) for value in values)
    return {
        "ranked": share,
        "ranked other": max(shares.values(), default=0.0) - share,
        "kind": float(all(place.kind in asked.kinds[:2] for place in places)),
        "several": float(len(values) > 1),
        "unknown": float(bool(asked.unknown)),
    }


def _places(document: NearDocument, reply: str, asked: Asked) -> list[Located]:
    """Returns where a document has each span of a reply; none where it lacks one."""
    parts = re.split(r"[;,]", reply) if asked.plural and document.located(reply) is None else [reply]
    found = [document.located(part.strip()) for part in dict.fromkeys(parts) if part.strip()]
    return [one for one in found if one is not None] if all(found) else []


_DAIRY = """Pellam Dairies to close Norrick plant
2025-03-04

Pellam Dairies will close its plant at Norrick in June, with the loss of 140 jobs, chief executive Ruth Abney said on \
Tuesday. Her predecessor, Karl Doss, had bought it from Lowfield Farms for £12 million in 2019."""

_DEMONSTRATIONS = (
    {"passages": _DAIRY, "question": "Who ran Pellam before Ruth Abney?", "answer": "Karl Doss"},
    {"passages": _DAIRY, "question": "How many people work for Pellam Dairies?", "answer": NOT_STATED},
    {"passages": _DAIRY, "question": "How much did the Norrick factory cost Pellam?", "answer": "£12 million"},
)
