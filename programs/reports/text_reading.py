"""The way out when no candidate seems right: figures are read from the report's text, then the beam runs again.

    None of the candidates?  ─►  vote: insert or retrieve?  ─►  read figures of a few sentences  ─►  beam and aggregator
              ▲                          │ retrieve: the best candidate answers                          │
              └──────────────────────────┴─── still none, and iterations left ◄──────────────────────────┘

This is the loop of :mod:`programs.thoughts.loop` for one turn about a report. Its figures become observations in a
layer of the conversation's own (:mod:`kg.report_graphs.layer`). The report's graph stays frozen, and other
conversations about the report do not see them. The model names figures that occur in the sentences; all others are
rejected. After ``max_iterations`` the best candidate is the answer, and the turn is marked as forced. Without a
language model rules read the sentences, and there is no vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Union

import dspy
from dspy.utils.exceptions import AdapterParseError
from pydantic import Field, create_model

from kg.figures import ReportIndex, relevant_sentences
from kg.report_graphs import (
    AddObservation,
    Observation,
    SentenceSource,
    checked_observations,
    named_periods,
    read_by_rules,
    sentence_figures,
)
from kg.text import SCALES
from programs.evidence import EvidenceConfig
from programs.lm import is_embedded, plain_text
from programs.reports.question import Judgement, QuestionContext
from programs.reports.reader import ReportReader
from programs.turns import FactReading, Usage, Vote, majority
from programs.wording import written_candidates, written_history, written_line_items
from signatures.report_reading import DefineMissingFigure, ReadFigures, StatedFigure

MOST_FIGURES = 4
"""Figures that one reading inserts, if a language model reads."""

_CANDIDATES_SHOWN = 3
_SCALES = {"one": 1, **SCALES}

Judge = Callable[[QuestionContext], Judgement]
"""Runs the beam and the aggregator over what is known."""


@dataclass(frozen=True)
class ReadingOutcome:
    """The outcome of reading.

    Attributes:
        asked: The question, with the enlarged index.
        judgement: Of the last search.
        reading: The figures that were read, and the costs.
    """

    asked: QuestionContext
    judgement: Judgement
    reading: FactReading


class ReportThoughts(dspy.Module):
    """Reads figures from a report's text until the aggregator picks a candidate.

    Args:
        reader: Makes the enlarged indexes.
        config: ``none_above`` and the loop's settings.
    """

    def __init__(self, reader: ReportReader, config: EvidenceConfig) -> None:
        super().__init__()
        self.reader = reader
        self.config = config
        self.define_missing = dspy.Predict(DefineMissingFigure)
        self.read_figures = dspy.Predict(ReadFigures)

    def grow(
        self, asked: QuestionContext, first: Judgement, judge: Judge, spent: Callable[[], Usage]
    ) -> ReadingOutcome:
        """Reads, and judges again.

        Args:
            asked: The question.
            first: The judgement that none of the candidates seems right.
            judge: Judges again.
            spent: The turn's expenses so far.
        """
        loop = _Loop(self, asked, first)
        before = spent()
        loop.go(judge)
        return ReadingOutcome(loop.asked, loop.judgement, replace(loop.reading(), usage=_since(before, spent())))


class _Loop:
    """One turn on its way."""

    def __init__(self, program: ReportThoughts, asked: QuestionContext, first: Judgement) -> None:
        self.program, self.asked, self.judgement = program, asked, first
        self.config = program.config
        self.inserted: list[Observation] = []
        self.read: set[int] = set()
        self.refused: list[str] = []
        self.repairs: Counter[str] = Counter()
        self.iterations = 0
        self.forced = False

    def reading(self) -> FactReading:
        return FactReading(
            tuple(self.inserted), self.iterations, dict(self.repairs), tuple(self.refused), forced=self.forced
        )

    def go(self, judge: Judge) -> None:
        while self.iterations < self.config.max_iterations:
            self.iterations += 1
            next_step, missing = self._decide()
            if next_step == "retrieve" and self.judgement.candidates:
                return
            sentences = self._sentences(missing)
            if not sentences:
                self.refused.append("no further sentence with figures shares a word with the question")
                break
            found = self._facts(sentences, missing)
            if not found:
                continue
            self.inserted += found
            self.asked = replace(self.asked, index=self.program.reader.enlarged(self.asked.index, found))
            self.judgement = judge(self.asked)
            if self.judgement.judged.none < self.config.none_above:
                return
        self.forced = True

    def _decide(self) -> Vote:
        """Returns whether a fact is missing and its kind: a figure, where there is no vote or none can be read."""
        if dspy.settings.lm is None or not self.config.votes:
            return "insert", ""
        found = majority(self._vote, self.config.votes)
        return found if found is not None else ("insert", "")

    def _vote(self, sampled: dict[str, Any]) -> Vote | None:
        shown = self.judgement.candidates[:_CANDIDATES_SHOWN]
        inputs = {
            "known": written_line_items(self.asked.index),
            "candidates": written_candidates(shown) if shown else "none",
            "config": sampled,
        }
        reply = self._asked(self.program.define_missing, inputs)
        return (str(reply.next_step), str(reply.missing)) if reply is not None else None

    def _sentences(self, missing: str) -> list[int]:
        """The sentences that are read next; none is read twice."""
        numbers = relevant_sentences(
            self.asked.index,
            self.asked.questions,
            missing,
            skip=self.read,
            most=self.config.sentences,
            tokens=self.config.sentence_tokens,
        )
        self.read.update(numbers)
        return numbers

    def _facts(self, numbers: Sequence[int], missing: str) -> list[Observation]:
        """Returns the statements of the sentences as valid observations; the best of a bounded number of attempts."""
        index = self.asked.index
        if dspy.settings.lm is None:
            return self._checked([one for place in numbers for one in read_by_rules(place, index.sentences[place])])
        inputs = {
            "sentences": "\n".join(f"{number}: {plain_text(index.sentences[number])}" for number in numbers),
            "missing": plain_text(missing) or "the figure that the question asks for",
            **self._held(numbers),
        }
        problem, best = "none", list[Observation]()
        for attempt in range(self.config.repairs + 1):
            self.repairs["figures"] += attempt > 0
            reply = self._asked(self.program.read_figures, {**inputs, "problem": problem})
            if reply is None:
                problem = "the reply could not be read"
                continue
            refused = len(self.refused)
            found = self._checked(self._operations(reply.figures, numbers))
            best = max(best, found, key=len)
            if len(self.refused) == refused:
                break
            problem = "; ".join(self.refused[refused:])
        return best

    def _operations(self, figures: Sequence[StatedFigure], numbers: Sequence[int]) -> list[AddObservation]:
        operations = []
        for one in figures[:MOST_FIGURES]:
            if one.sentence not in numbers:
                self.refused.append(f"sentence {one.sentence} is none of those to be read")
                continue
            scale = _SCALES[one.scale]
            operations.append(AddObservation(one.sentence, one.figure, one.label, one.period, one.unit, scale))
        return operations

    def _checked(self, operations: Sequence[AddObservation]) -> list[Observation]:
        reader = self.program.reader
        found, refused = checked_observations(operations, reader.graph_of(self.asked.index), reader.ontology)
        self.refused += refused
        return found

    def _asked(self, predict: dspy.Predict, inputs: dict[str, Any]) -> Any:
        """A reply, or ``None`` if it cannot be read."""
        given = {"history": written_history(self.asked.past), "question": plain_text(self.asked.question)}
        try:
            return predict(**given, **inputs)
        except AdapterParseError as error:
            self.refused.append(f"a reply could not be read: {' '.join(str(error).split())[:200]}")
            return None

    def _held(self, numbers: Sequence[int]) -> dict[str, Any]:
        """Returns the signature narrowed to the figures of the sentences, for a model that can be held to it."""
        if not is_embedded(dspy.settings.lm):
            return {}
        index: ReportIndex = self.asked.index
        standing = {number: _written_figures(number, index) for number in numbers}
        periods = named_periods(self.program.reader.graph_of(index).report, index.reported())
        signature = self.program.read_figures.signature
        return {"signature": signature.with_updated_fields("figures", figures_type(standing, periods, MOST_FIGURES))}


def _written_figures(number: int, index: ReportIndex) -> list[str]:
    """The figures of a sentence as it writes them, without parts of dates unless there is nothing else."""
    sentence = index.sentences[number]
    dates = {one.source for one in index.observations if one.in_header}
    every = sentence_figures(sentence)
    counted = [one for one in every if SentenceSource(number, one.start, one.end) not in dates]
    return [" ".join(sentence[one.start : one.end].split()) for one in counted or every]


def _since(before: Usage, now: Usage) -> Usage:
    return Usage(
        now.lm_calls - before.lm_calls,
        now.prompt_tokens - before.prompt_tokens,
        now.completion_tokens - before.completion_tokens,
        now.seconds - before.seconds,
        now.cached_prompt_tokens - before.cached_prompt_tokens,
        now.cached_is_estimate,
    )


def figures_type(standing: Mapping[int, Sequence[str]], periods: Sequence[str], most: int) -> Any:
    """Returns the type of a list of figures that can name exactly those of some sentences.

    Args:
        standing: For each sentence's number its figures as written; at least one sentence, with one figure.
        periods: The years that may be named.
        most: The most figures; at least one is named.
    """
    years: Any = Literal[("none", *periods)]
    label: Any = Annotated[str, Field(max_length=60, min_length=1)]
    kinds: list[Any] = []
    for number, texts in standing.items():
        here: Any = Literal[number]
        figures: Any = Literal[tuple(dict.fromkeys(texts))]
        fields: dict[str, Any] = {"sentence": here, "figure": figures, "label": label, "period": years}
        wanted: Any = {name: (kind, ...) for name, kind in fields.items()}
        kinds.append(create_model(f"FigureOf{number}", __base__=StatedFigure, **wanted))
    union: Any = Union[tuple(kinds)]  # noqa: UP007 - made at run time
    return Annotated[list[union], Field(min_length=1, max_length=most)]
