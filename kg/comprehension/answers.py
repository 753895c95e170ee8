"""Answers to questions from the sentences of documents, with a fitted confidence.

>>> answer = ClauseAnswers(passages, parser).answer("Who bought Talbridge Mining?")
>>> answer.values, answer.confidence
(('Corvex Resources',), 0.94)

A question is a clause with a gap. Each sentence that shares its words and names offers what may fill the gap. A linear
model ranks these, and a second one says how likely the first is right. Below a confidence there is no answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kg.clauses import NAMES, Library, SentenceParser
from kg.comprehension.candidates import SpanCandidate
from kg.comprehension.matching import CLOSE
from kg.comprehension.polar import polar_answer, read_polar
from kg.comprehension.questions import ELSEWHERE, Asked, parse_question
from kg.comprehension.ranking import Ranked, candidates_of, rank
from kg.comprehension.sets import difference_of, extreme_answer, listed_values, read_score
from kg.comprehension.status import status_in
from kg.news import Passage, parts_of
from kg.sentences import asks_of_plans, plain_name
from kg.text import is_or_are, singular

Typed = Callable[[str], Sequence[str]]
"""The answers to a question by typed facts; none where there are none."""


class ClauseModel(BaseModel):
    """The fitted numbers.

    Attributes:
        weights: The weight of each feature of a candidate.
        confidence: The weight of each feature of the best value, and ``intercept``.
        threshold: The least confidence of an answer.
        polar_threshold: The same of yes or no.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    weights: dict[str, float]
    confidence: dict[str, float]
    threshold: float
    polar_threshold: float


@cache
def clause_model() -> ClauseModel:
    """Returns the model that ships; ``benchmarks/fit_clauses.py`` fits it."""
    path = Path(__file__).with_name("model.json")
    return ClauseModel.model_validate_json(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class ClauseAnswer:
    """An answer.

    Attributes:
        values: The answers.
        passages: The sentences that they are from.
        confidence: In [0, 1].
        why: The reason, where there is no answer.
        otherwise: Sentences of other documents of the same day with another value.
    """

    values: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    confidence: float = 0.0
    why: str = ""
    otherwise: tuple[Passage, ...] = ()


COPIED_FEATURES = (
    "reader", "reader lead", "reader share", "reader first", "reader none", "reader mass", "kind",
    "kind conflict", "names", "names missing",
    "out of period", "document lead", "meaning",
)  # fmt: skip
"""Features of the best candidate that are features of its confidence."""

CONFIDENCE_FEATURES = (
    *COPIED_FEATURES, "reader all", "share", "margin", "score", "terms", "names asked", "others", "supports", "unknown",
    "problem", "contest", "listed", "joined", "several asked", "extreme", "extreme agrees", "polar", "polar strength",
    "polar named", "polar verb", "polar office", "polar said", "polar read", "polar lead", "polar none", "polar agrees",
    "polar against", "difference", "difference share",
    "least read", "next read",
)  # fmt: skip


@dataclass(frozen=True)
class AnswerProposal:
    """A proposed answer: a value, several, a difference, or yes or no.

    Attributes:
        values: The answers.
        passages: The sentences that they are from.
        features: Those of the confidence.
        problem: What speaks against it, or the reason why there are no values.
        otherwise: Sentences with another value.
    """

    values: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    features: dict[str, float] = field(default_factory=dict)
    problem: str = ""
    otherwise: tuple[Passage, ...] = ()


def ranked_features(asked: Asked, ranked: Sequence[Ranked]) -> dict[str, float]:
    """Returns the features of the best value's confidence."""
    best = ranked[0]
    second = ranked[1].probability if len(ranked) > 1 else 0.0
    found = {name: best.candidates[0].features.get(name, 0.0) for name in COPIED_FEATURES}
    return {
        **found,
        "reader all": min(sum(one.features.get("reader mass", 0.0) for one in best.candidates), 1.0),
        "share": best.probability,
        "margin": best.probability - second,
        "score": best.score / 5,
        "terms": min(len(asked.terms), 5) / 5,
        "names asked": min(len(asked.entities), 2) / 2,
        "others": min(len(ranked), 6) / 6,
        "supports": min(len(best.candidates), 3) / 3,
        "unknown": float(bool(asked.unknown)),
        "problem": float(bool(problem_of(asked, best.candidates[0]))),
        "contest": float(bool(contest_of(asked, ranked))),
    }


def proposal_of(asked: Asked, ranked: Sequence[Ranked], extreme: str = "") -> AnswerProposal:
    """Returns the proposal of ranked values.

    Args:
        asked: The question, not for yes or no.
        ranked: Its values, the likeliest first; at least one.
        extreme: The company with the largest or smallest amount, where the question asks for it and it is known.
    """
    first = [one for one in ranked if extreme and plain_name(one.value) == plain_name(extreme)]
    agrees = bool(first) and first[0] is ranked[0]
    ranked = [*first, *(one for one in ranked if one not in first)]
    apart = difference_of(asked, ranked)
    kept = list(apart[1]) if apart is not None else listed_values(asked, ranked)
    together = len(kept) > 1 and len({id(one.candidates[0].statement) for one in kept}) == 1
    features = {
        **ranked_features(asked, ranked),
        "listed": float(len(kept) > 1),
        "joined": float(together),
        "several asked": float(asked.plural),
        "least read": min(read_score(one) or 0.0 for one in kept) / 5,
        "next read": max((read_score(one) or 0.0 for one in ranked if one not in kept), default=0.0) / 5,
        "extreme": float(bool(extreme)),
        "extreme agrees": float(agrees),
        "difference": float(apart is not None),
        "difference share": sum(one.probability for one in kept) if apart is not None else 0.0,
    }
    problem = problem_of(asked, ranked[0].candidates[0]) or contest_of(asked, ranked)
    if asked.plural and len(kept) < 2:
        problem = problem or f"only {kept[0].value!r} is known, and several are asked for"
    passages = tuple(dict.fromkeys(one.candidates[0].statement.passage for one in kept))
    against = () if asked.plural else _contradictions(ranked)
    values = (apart[0],) if apart is not None else tuple(one.value for one in kept)
    return AnswerProposal(values, passages, features, problem, against)


class ClauseAnswers:
    """The sentences of documents as a source of answers.

    Args:
        passages: The sentences.
        parser: The parser.
        typed: Answers by typed facts, which support a candidate that agrees.
        model: The fitted numbers; by default those that ship.
    """

    def __init__(
        self,
        passages: Iterable[Passage],
        parser: SentenceParser,
        typed: Typed | None = None,
        model: ClauseModel | None = None,
    ) -> None:
        self.library = Library.read(passages, parser)
        self.parser = parser
        self._typed = typed if typed is not None else _no_answers
        self._model = model if model is not None else clause_model()

    def answer(self, question: str) -> ClauseAnswer:
        """Answers a question, or each part of it."""
        found: list[ClauseAnswer] = []
        before: Asked | None = None
        for part in parts_of(question):
            asked = self.parse(part)
            if before is not None:
                asked = self._continued(asked, before, found)
            answer = self._answered(asked)
            if not answer.values:
                return answer
            found.append(answer)
            before = asked
        values = tuple(value for one in found for value in one.values)
        if len(set(map(plain_name, values))) < len(values):
            return ClauseAnswer(why="two parts of the question have one answer")
        passages = tuple(dict.fromkeys(passage for one in found for passage in one.passages))
        against = tuple(passage for one in found for passage in one.otherwise)
        confidence = min((one.confidence for one in found), default=0.0)
        return ClauseAnswer(values, passages, confidence, otherwise=against)

    def parse(self, question: str) -> Asked:
        """Returns a question as a clause with a gap."""
        return parse_question(question, self.library, self.parser)

    def leaves_to_facts(self, question: str) -> bool:
        """Whether typed facts answer where sentences do not: yes or no, comparisons, several parts, offices."""
        asked = self.parse(question)
        parts = len(parts_of(question)) > 1
        listed = asked.plural or asked.words.polar or bool(asked.words.extreme)
        return parts or listed or any(term.title for term in asked.terms)

    def share_of(self, question: str, values: Sequence[str]) -> float:
        """Returns the share of the probability that some values of typed facts have among those of sentences."""
        ranked = self.ranked(self.parse(question))
        named = {plain_name(value) for value in values}
        return sum(one.probability for one in ranked if plain_name(one.value) in named)

    def candidates(self, asked: Asked, typed: Sequence[str]) -> list[SpanCandidate]:
        """Returns the possible answers, with what the typed facts say of them."""
        agreed = {plain_name(value) for value in typed}
        found = []
        for one in candidates_of(asked, self.library):
            agrees = plain_name(one.value) in agreed
            features = {"typed": float(agrees), "typed other": float(bool(agreed) and not agrees)}
            found.append(replace(one, features={**one.features, **features}))
        return found

    def confidence(self, proposal: AnswerProposal) -> float:
        """Returns the probability that a proposal is right."""
        weights = self._model.confidence
        total = weights.get("intercept", 0.0)
        total += sum(weights.get(name, 0.0) * value for name, value in proposal.features.items())
        return 1 / (1 + math.exp(-total))

    def ranked(self, asked: Asked) -> list[Ranked]:
        """Returns the values that may answer a question, the likeliest first."""
        return rank(self.candidates(asked, self._typed(asked.text)), self._model.weights)

    def proposed(self, asked: Asked, ranked: Sequence[Ranked]) -> AnswerProposal:
        """Returns what a question would be answered with.

        Args:
            asked: The question.
            ranked: Its values, the likeliest first.
        """
        if asked.words.polar:
            return self._polar(asked)
        if not ranked:
            return AnswerProposal(problem="no sentence has what is asked for")
        return proposal_of(asked, ranked, self.extreme(asked))

    def extreme(self, asked: Asked) -> str:
        """Returns the company with the largest or smallest amount, or ``""`` where a question asks for no such one."""
        is_asked = asked.words.extreme and asked.kinds[:1] == ("company",)
        return extreme_answer(asked, self.library) if is_asked else ""

    def _polar(self, asked: Asked) -> AnswerProposal:
        found, read = polar_answer(asked, self.library, self.ranked), read_polar(asked, self.library)
        if found is not None:
            said = found.value == "no" or found.features.get("polar strength", 1.0) >= _WHOLE
            found = replace(found, features={**found.features, "polar said": float(said)})
        if read is not None:
            agrees = found is not None and found.value == read.value
            rules = found.features if found is not None and agrees else {}
            against = {"polar agrees": float(agrees), "polar against": float(found is not None and not agrees)}
            found = replace(read, features={**rules, **read.features, **against})
        if found is None:
            return AnswerProposal(problem="no sentence says so, and none says otherwise")
        return AnswerProposal((found.value,), (found.passage,), {"polar": 1.0, **found.features})

    def _answered(self, asked: Asked) -> ClauseAnswer:
        proposal = self.proposed(asked, () if asked.words.polar else self.ranked(asked))
        if not proposal.values:
            return ClauseAnswer(why=proposal.problem)
        confidence = self.confidence(proposal)
        least = self._model.polar_threshold if asked.words.polar else self._model.threshold
        if confidence < least:
            why = proposal.problem or too_doubtful(proposal.values[:1], confidence, least)
            return ClauseAnswer(why=why, confidence=confidence)
        return ClauseAnswer(proposal.values, proposal.passages, confidence, otherwise=proposal.otherwise)

    def _continued(self, asked: Asked, before: Asked, found: Sequence[ClauseAnswer]) -> Asked:
        """Returns the second part of a question with what it leaves out."""
        text = asked.text
        pronoun = re.search(r"\b(?:he|she|they|him|her|it)\b", text)
        if pronoun is not None and pronoun[0] != "it" and found[-1].values:
            asked = self.parse(f"{text[: pronoun.start()]}{found[-1].values[0]}{text[pronoun.end() :]}")
        terms = asked.terms or before.terms
        same = not asked.terms
        entities = asked.entities or before.entities
        if (entities is before.entities) != same:  # their words are in the other part
            entities = tuple((entity, ELSEWHERE) for entity, _ in entities)
        return replace(
            asked,
            entities=entities,
            terms=terms,
            parse=before.parse if same else asked.parse,
            predicate=before.predicate if same else asked.predicate,
            period=asked.period or before.period,
        )


def too_doubtful(values: Sequence[str], confidence: float, least: float) -> str:
    """Returns why an answer is not given; its confidence is shown with the digits below it, never as the least one."""
    shown = math.floor(100 * confidence) / 100
    return f"the best answer, {'; '.join(values)!r}, has a confidence of {shown:.2f}; the least is {least:.2f}"


_WHOLE = 0.9
"""The share of a question's words that a sentence which says "yes" has."""

_CONTRADICTS, _LEAST_MARGIN, _OVER_FACTS = 0.05, 0.15, 0.9
"""Probabilities: of a value that contradicts the best one, the least of the best one less the next, and of one that is
taken although the typed facts have another."""

_LEAST_WORDS = 0.6
"""The least share of a question's words that a statement and its neighbours have."""


def problem_of(asked: Asked, best: SpanCandidate) -> str:
    """Returns what the question names and the best statement lacks, or ``""``; an answer without it is a guess."""
    found = best.features
    if asked.unknown:
        return f"{asked.unknown[0]!r} is in no document"
    verb = asked.parse.tokens[asked.predicate] if asked.predicate is not None else None
    is_act = verb is not None and verb.part == "VERB" and not asks_of_plans(asked.text)
    if verb is not None and is_act and status_in(best.statement.parse, verb.lemma) == "failed":
        return "the nearest sentence says that it did not happen"
    if found["names missing"]:
        return "the nearest sentence is about another name"
    if found["context words"] < _LEAST_WORDS and found["typed"] < 1 and asked.terms:
        missing = [term.lemma for term in asked.terms if term.weight > 0.5]
        return f"no sentence is about all of {', '.join(missing)}" if missing else "no sentence is about the question"
    specific = best.kind in NAMES | {"phrase"} and singular(asked.noun) not in _GENERAL and asked.noun != ""
    if specific and found.get("no noun") and (asked.kinds[:1] != ("company",) or not found["role"]):
        be = is_or_are(asked.noun)
        return f"no {asked.noun} {be} known that fit{'s' if be == 'is' else ''}"
    counted = best.kind == "count" and best.mention.noun != "" and asked.kinds[:1] == ("count",)
    if counted and found.get("no noun") and asked.noun and found["typed"] < 1:
        return f"{best.value} {best.mention.noun} {is_or_are(best.mention.noun)} known, and no {asked.noun}"
    if found["name within"] and found["typed"] < 1:
        return "the nearest sentence is about another thing"
    if re.search(r"\b(?:more|less|over|under|above|below|at least|at most)(?: than)? \d", asked.text):
        return "amounts are not compared with a limit"
    if found.get("leaving") and not asked.earlier and any(term.title for term in asked.terms):
        return f"{best.value} leaves that office"
    if found["weakest name"] < CLOSE and found["typed"] < 1:
        return "the nearest sentence is about another name"
    if found.get("gone") and any(term.title for term in asked.terms):
        return f"{best.value} has left"
    if found.get("out of period") and asked.period is not None and asked.period.last.year < best.day.year:
        return "nothing is known of that time"
    return ""


def _contradictions(ranked: Sequence[Ranked]) -> tuple[Passage, ...]:
    """Returns sentences of the best one's day in other documents that fit nearly as well and have another value."""
    best = ranked[0].candidates[0].statement.passage
    others = [one.candidates[0].statement.passage for one in ranked[1:] if one.probability >= _CONTRADICTS]
    return tuple(one for one in others if one.published == best.published and one.document != best.document)


def contest_of(asked: Asked, ranked: Sequence[Ranked]) -> str:
    """Returns why the best value is too near another one, or ``""``."""
    if asked.plural or len(ranked) < 2:
        return ""
    if ranked[0].probability - ranked[1].probability < _LEAST_MARGIN:
        return f"{ranked[0].value!r} and {ranked[1].value!r} fit alike"
    if ranked[0].candidates[0].features.get("typed other") and ranked[0].probability < _OVER_FACTS:
        return f"the facts do not say {ranked[0].value!r}"
    return ""


_GENERAL = frozenset(("company", "firm", "business", "group", "share", "stock", "name", "city", "town", "place"))


def _no_answers(_: str) -> Sequence[str]:
    return ()
