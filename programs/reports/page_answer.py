"""The calculation that a language model names after it has read the page, as a further candidate of the search.

    >>> named = named_answer(predict, asked, found, report, tokens=3000, first=first_search)
    >>> named.reading.calculation, named.candidate.answer
    ('subtract([r3c2], [r3c1])', Decimal('25587'))

It is executed over figures of the graph, with the provenance of any other candidate. A calculation over anything else
is refused, and the model gets the reason once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import dspy
import numpy as np
from pydantic import WithJsonSchema

from kg.candidates import Candidate, TurnSearch
from kg.figures import ReportIndex
from kg.reports import Report
from kg.search import merge_key
from programs.evidence import Evidence
from programs.evidence.index import probability_of, sampling, stated, tokens_of
from programs.lm import HELD, plain_text
from programs.page import (
    START,
    CalculationError,
    NamedCalculation,
    PageFigures,
    PageText,
    Relevance,
    answered,
    comparable,
    function_rules,
    read_calculation,
    relevance_of,
    stated_numbers,
    written_page,
    written_turns,
)
from programs.reports.question import QuestionContext
from signatures.page import PageReading, ReadPage

ATTEMPTS = 2
"""Calculations that a turn may name: the second after the reason why the first was refused."""

_LEAST_REST = 1e-3
_LONGEST_SHOWN, _LONGEST_MEANING = 200, 600


@dataclass(frozen=True)
class NamedAnswer:
    """The reply of a language model that has read the page.

    Attributes:
        reading: The reply, as the turn keeps it.
        candidate: The calculation; ``None`` where it names none or every one was refused.
    """

    reading: PageReading
    candidate: Candidate | None = None


def named_answer(
    predict: Callable[..., Any],
    asked: QuestionContext,
    found: TurnSearch,
    report: Report,
    *,
    tokens: int,
    first: Callable[[], TurnSearch],
) -> NamedAnswer:
    """Asks a model for the calculation that answers the question.

    Args:
        predict: The predictor of :class:`signatures.page.ReadPage`.
        asked: The question.
        found: The result of its search.
        report: The report.
        tokens: The budget of the page.
        first: Searches the conversation's first question; called only for a page that has to be cut.
    """

    def relevance() -> tuple[Relevance, Relevance]:
        last = relevance_of(found)
        return (relevance_of(first()), last) if len(asked.questions) > 1 else (last, last)

    page = written_page(report, asked.index, tokens, relevance)
    figures = PageFigures(asked.index)
    held = _held(predict, page, figures, asked)
    refused: list[str] = []
    note = page.more
    for _ in range(ATTEMPTS):
        reply = predict(
            page=page.text,
            history=written_turns(asked.past),
            question=plain_text(asked.question),
            note=note if note else "none",
            config=sampling(dspy.settings.lm, 0),
            **held,
        )
        reading = _reading(reply, page, refused)
        try:
            named = read_calculation(str(reply.calculation), figures, asked.past, asked.questions)
        except CalculationError as error:
            refused.append(plain_text(str(error)))
            wrong = plain_text(str(reply.calculation))[:_LONGEST_SHOWN]
            complaint = f"Your calculation {wrong} is refused: {refused[-1]}. Write another one, or none."
            note = f"{page.more}\n{complaint}" if page.more else complaint
            continue
        if named is None:
            return NamedAnswer(reading.model_copy(update={"says_none": True}))
        return NamedAnswer(reading, candidate_of(named, found, asked.index))
    return NamedAnswer(_reading(reply, page, refused))


def _held(predict: Callable[..., Any], page: PageText, figures: PageFigures, asked: QuestionContext) -> dict[str, Any]:
    """The signature that holds the calculation to the page's figures, for a model that can be held to a grammar."""
    engine = getattr(dspy.settings.lm, "engine", None)
    identifiers = [one for one in page.identifiers if figures.has(one)]
    if not getattr(engine, "reads_lines", False) or not identifiers:
        return {}
    compared = comparable(figures, identifiers)
    rules = function_rules(identifiers, answered(asked.past), stated_numbers(asked.questions), compared)
    schema = {"type": "string", HELD: {"start": START, "rules": rules}}
    signature = getattr(predict, "signature", ReadPage)
    return {"signature": signature.with_updated_fields("calculation", type_=Annotated[str, WithJsonSchema(schema)])}


def _reading(reply: Any, page: PageText, refused: Sequence[str]) -> PageReading:
    return PageReading(
        description=plain_text(str(reply.meaning))[:_LONGEST_MEANING],
        calculation=str(reply.calculation),
        confidence=_confidence(reply),
        refused=list(refused),
        rows_cut=page.rows_cut,
        sentences_cut=page.sentences_cut,
    )


def _confidence(reply: Any) -> float:
    """The probability of the calculation by the model's tokens, or its stated confidence where it returns none."""
    found = probability_of(tokens_of(getattr(reply, "logprobs", None)), str(reply.calculation))
    return found if found is not None else stated(reply.confidence)


def candidate_of(named: NamedCalculation, found: TurnSearch, index: ReportIndex) -> Candidate:
    """The calculation with the search's probability of its answer.

    Percentages of the page are read as 12 or as 0.12; the search knows which of the two a question expects.
    """
    scores = {merge_key(one.answer): one.score for one in reversed(found.candidates)}
    options = [named.derivation, *named.readings]
    known = [(scores[key], one) for one in options if (key := merge_key(one.execute())) in scores]
    rest = max(1.0 - sum(math.exp(one.score) for one in found.candidates), _LEAST_REST)
    score, derivation = max(known, key=lambda one: one[0]) if known else (math.log(rest), named.derivation)
    sources = {one.id: one.source for one in index.observations}
    of_figures = tuple(sources[n.source] for n in derivation.numbers if n.source is not None and n.source in sources)
    return Candidate(derivation, derivation.execute(), score, derivation.path, of_figures)


def with_named(candidates: Sequence[Candidate], named: Candidate, most: int) -> tuple[tuple[Candidate, ...], int]:
    """Candidates with the named one among the first ``most``, and its place; an equal answer takes its derivation."""
    key = merge_key(named.answer)
    equal = [place for place, one in enumerate(candidates) if merge_key(one.answer) == key]
    others = [one for place, one in enumerate(candidates) if place not in equal]
    place = min([*equal, max(most - 1, 0), len(others)])
    return (*others[:place], named, *others[place:]), place


def stated_evidence(reading: PageReading, place: int | None, count: int) -> Evidence:
    """The evidence of a stated confidence in one of ``count`` candidates, or in none, which is not asked for again."""
    confidence = min(max(reading.confidence, 1e-4), 1 - 1e-4)
    rest = math.log((1 - confidence) / count)
    shares = tuple(math.log(confidence) if number == place else rest for number in range(count))
    return Evidence("index", shares, none=math.log(confidence) if place is None else rest, named=place)


def weights_of(found: TurnSearch, candidates: Sequence[Candidate], probabilities: Sequence[float]) -> list[float]:
    """The probabilities of the search's own candidates, from those of ``candidates``."""
    by_answer = {merge_key(one.answer): value for one, value in zip(candidates, probabilities, strict=False)}
    last = max((place for place, one in enumerate(found.candidates) if merge_key(one.answer) in by_answer), default=-1)
    own = [by_answer.get(merge_key(one.answer)) for one in found.candidates[: last + 1]]
    return [
        value if value is not None else float(np.exp(one.score)) * max(0.0, 1.0 - sum(probabilities))
        for value, one in zip(own, found.candidates, strict=False)
    ]
