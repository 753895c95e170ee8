"""Fitting the blend, the final ranking and the confidence on reports that neither scorer nor encoder was fitted on.

>>> scorer = fit_blend(replace(scorer, encoder=encoder), held_out_turns)
>>> scorer.blend.forms                                  # the weights of the scorer and of the encoder
(0.31, 0.74)
>>> fit = HeldOutFit(scorer, config, held_out, examples, read)
>>> fit.with_final().with_confidence(least_right=0.35).scorer.confidence.fitted_on
'2410 turns of 551 held-out reports'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import dspy
import numpy as np
from threadpoolctl import threadpool_limits

from kg.arrays import BoolArray, FloatArray
from kg.calculations import (
    FINAL_FEATURES,
    START,
    DerivationConfig,
    DerivationScorer,
    DerivationSpace,
    EncoderBlend,
    FinalRanker,
    ParsedForm,
    ReportIndex,
    TurnSearch,
    WeightedHistory,
    as_float,
    completed,
    scores_of_pool,
    search_turn,
)
from kg.calculations.confidence_features import confidence_features
from kg.errors import DataError
from kg.reports import Report, document_of
from kg.search import Answer, Constant, Number
from optimize.encoders.cut_pages import cut_pages
from optimize.fitting import fit_choices
from optimize.metrics.turns import exact_match
from optimize.optimizers import Progress, silent
from optimize.scorers import (
    TrainingTurn,
    content_sha256,
    fit_confidence,
    page_keys,
    right_items,
    right_turns,
    training_turns,
)

NAME_PENALTY, READ_PENALTY = 0.5, 1e-3
"""L2 penalties of the final ranking's weights of names, and of what the encoder reads, there for each turn."""

Alternatives = tuple[FloatArray, BoolArray]
"""The scorer's and the encoder's log-probabilities of alternatives, a row each, and which of them are right."""

_ALONE = EncoderBlend(forms=(1.0, 0.0), figures=(1.0, 0.0), answers=(1.0, 0.0))
_ABSENT = -2
_LEAST = -50.0
"""The least log-probability; impossible alternatives have it too."""


@dataclass(frozen=True)
class HeldOutConversation:
    """A conversation that neither scorer nor encoder was fitted on.

    Attributes:
        page: Its document.
        turns: Its turns.
        report: What it is about.
    """

    page: str
    turns: Sequence[TrainingTurn]
    report: Report


@dataclass(frozen=True)
class HeldOutFit:
    """The last stages of the fit.

    Attributes:
        scorer: With blend; each stage returns one with more.
        config: The search.
        held_out: Conversations with programs.
        without_programs: Examples with gold answers alone. Those about a page that the encoder has seen fit the final
            ranking, and not the confidence.
        read: Builds a report's index.
        progress: Receives a line for each stage.
    """

    scorer: DerivationScorer
    config: DerivationConfig
    held_out: Sequence[HeldOutConversation]
    without_programs: Sequence[dspy.Example]
    read: Callable[[Report], ReportIndex]
    progress: Progress

    def with_final(self) -> HeldOutFit:
        """Returns the fit with the final ranking of candidates.

        Raises:
            DataError: The search proposes no right candidate for any turn.
        """
        start = [float(name == "ranker") for name in FINAL_FEATURES]
        plain = replace(self, scorer=replace(self.scorer, final=FinalRanker({"ranker": 1.0})))
        self.progress("candidates for the final ranking")
        with threadpool_limits(limits=1):
            known = [one for one in (*plain._ranked(), *plain._names()) if one[1].any()]
            if not known:
                raise DataError("the search proposes no right candidate for any turn: nothing can be fitted")
            self.progress(f"final ranking, on {len(known)} turns")
            read = READ_PENALTY * len(known)
            penalties = {"ranker": 0.0} | {name: read for name in FINAL_FEATURES if name.startswith("read_")}
            penalty = [penalties.get(name, NAME_PENALTY) for name in FINAL_FEATURES]
            weights = fit_choices(*zip(*known, strict=True), penalty=penalty, start=start).tolist()
        final = FinalRanker(dict(zip(FINAL_FEATURES, weights, strict=True)), f"{len(known)} turns")
        return replace(self, scorer=replace(self.scorer, final=final))

    def _ranked(self) -> Iterator[tuple[FloatArray, BoolArray]]:
        """The candidates of each held-out turn after its gold history, and which of them are right."""
        for turn in (turn for one in self.held_out for turn in one.turns if turn.has_report):
            space = DerivationSpace(turn.index, turn.questions, [WeightedHistory(turn.history, 0.0)], self.scorer)
            found = completed(space, self.config, self.config.pool)
            if len(found):
                right = np.isclose(np.round(found.values, 5), as_float(turn.answer), rtol=1e-9, atol=1e-6)
                yield scores_of_pool(space, found).final, right

    def _names(self) -> Iterator[tuple[FloatArray, BoolArray]]:
        """The candidates of each question with a gold name alone."""
        for example in self.without_programs:
            if any(isinstance(gold, tuple) for gold in example.gold):
                searches = self._searches(self.read(example.report), example.questions)
                for search, gold in zip(searches, example.gold, strict=True):
                    if isinstance(gold, tuple) and search.ranked.scores is not None:
                        answers = search.ranked.pool.answers
                        right = [place in answers and exact_match(answers[place], gold)
                                 for place in range(len(search.ranked.pool))]  # fmt: skip
                        yield search.ranked.scores.final, np.array(right, dtype=bool)

    def with_confidence(self, least_right: float) -> HeldOutFit:
        """Returns the fit with a confidence; a turn abstains below the probability ``least_right`` in (0, 1)."""
        seen = self.scorer.encoder.pages if self.scorer.encoder is not None else frozenset()
        unseen = [one for one in self.without_programs if page_keys(one.report).isdisjoint(seen)]
        self.progress(f"confidence, on {sum(len(one.turns) for one in self.held_out)} turns")
        examples: list[tuple[dict[str, float], bool]] = []
        with threadpool_limits(limits=1):
            for one in self.held_out:
                if one.turns:
                    index, questions = one.turns[0].index, one.turns[-1].questions
                    examples += self._answered(index, questions, [turn.answer for turn in one.turns])
            for asked in unseen:
                examples += self._answered(self.read(asked.report), asked.questions, asked.gold)
            examples += self._cut()
        pages = {one.page for one in self.held_out} | {content_sha256(one.report) for one in unseen}
        fitted_on = f"{len(examples)} turns of {len(pages)} held-out reports and of cut pages"
        confidence = fit_confidence(*zip(*examples, strict=True), least_right=least_right, fitted_on=fitted_on)
        return replace(self, scorer=replace(self.scorer, confidence=confidence))

    def _cut(self) -> Iterator[tuple[dict[str, float], bool]]:
        """The first turns of conversations as the search answers them from cut pages, each question of a page once."""
        first = {(one.page, one.turns[0].questions): one for one in self.held_out if one.turns}
        self.progress(f"confidence, on cut pages of {len(first)} questions")
        for one in first.values():
            for report, answer in cut_pages(one.report, one.turns[0]):
                yield from self._answered(self.read(report), one.turns[0].questions, [answer])

    def _answered(
        self, index: ReportIndex, questions: Sequence[str], gold: Sequence[Answer | None]
    ) -> Iterator[tuple[dict[str, float], bool]]:
        """A conversation's turns as the search answers them; nothing is right where the report does not answer."""
        for search, own in zip(self._searches(index, questions), gold, strict=True):
            best = search.candidates[0].answer if search.candidates else None
            right = best is not None and own is not None and exact_match(best, own)
            yield confidence_features(search), right

    def _searches(self, index: ReportIndex, questions: Sequence[str]) -> list[TurnSearch]:
        """Returns the search for each question, after its own earlier answers."""
        histories: Sequence[WeightedHistory] = START
        searches: list[TurnSearch] = []
        for place in range(len(questions)):
            found = search_turn(index, questions[: place + 1], histories, self.scorer, self.config)
            histories = found.next_histories(self.config.histories)
            searches.append(found)
        return searches


def held_out_conversations(
    examples: Sequence[dspy.Example], read: Callable[[Report], ReportIndex]
) -> list[HeldOutConversation]:
    """Returns conversation examples with their turns; each report is read once."""
    found: list[HeldOutConversation] = []
    read_once = cache(read)
    for example, page in zip(examples, pages_of([example.report for example in examples]), strict=True):
        group, index = content_sha256(example.report), read_once(example.report)
        turns = training_turns(group, index, example.questions, example.programs)
        found.append(HeldOutConversation(page, turns, example.report))
    return found


def pages_of(reports: Sequence[Report]) -> list[str]:
    """Returns a name for the page of each report; reports of one document or with one content share it."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for report in reports:
        leader[find(content_sha256(report))] = find(document_of(report.id))
    return [find(document_of(report.id)) for report in reports]


def fit_blend(
    scorer: DerivationScorer,
    turns: Sequence[TrainingTurn],
    progress: Progress = silent,
) -> DerivationScorer:
    """Returns the scorer with fitted weights of its encoder.

    Args:
        scorer: With a ranker and an encoder.
        turns: Turns with gold histories, of reports that neither the scorer nor the encoder was fitted on.
        progress: Receives a line for each stage.

    Raises:
        DataError: The scorer has no encoder or no ranker, or no turn has a form that it knows.
    """
    if scorer.encoder is None or scorer.ranker is None:
        raise DataError("the scorer must have an encoder and a ranker")
    with threadpool_limits(limits=1):
        progress(f"forms and operands of {len(turns)} turns")
        choices = _choices(replace(scorer, blend=_ALONE), turns)
        if not choices["forms"] or not choices["figures"]:
            raise DataError("no turn has a form that the scorer knows: nothing can be fitted")
        blend = EncoderBlend()
        for name in (name for name, own in choices.items() if own):
            rows, right = zip(*choices[name], strict=True)
            first, second = fit_choices(rows, right, penalty=0.0, start=getattr(blend, name)).tolist()
            blend = replace(blend, **{name: (first, second)})
    return replace(scorer, blend=blend)


def _choices(scorer: DerivationScorer, turns: Sequence[TrainingTurn]) -> dict[str, list[Alternatives]]:
    """The alternatives of every turn's form and operands: ``forms``, ``figures`` and ``answers``."""
    choices: dict[str, list[Alternatives]] = {"forms": [], "figures": [], "answers": []}
    names = list(scorer.forms.forms)
    for turn in turns:
        if turn.collapsed is None or turn.collapsed.form not in names or not turn.has_report:
            continue
        space = DerivationSpace(turn.index, turn.questions, [WeightedHistory(turn.history, 0.0)], scorer)
        number = names.index(turn.collapsed.form)
        rows = _rows(space.form_log_probabilities[0], space.read_forms[0])
        choices["forms"].append((rows, np.arange(len(names)) == number))
        for kind, own in _operands(space, turn, number):
            choices[kind].append(own)
    return choices


def _rows(scorer: FloatArray, encoder: FloatArray) -> FloatArray:
    rows: FloatArray = np.maximum(np.stack([scorer, encoder], axis=1), _LEAST)
    return rows


def _operands(space: DerivationSpace, turn: TrainingTurn, number: int) -> Iterator[tuple[str, Alternatives]]:
    assert turn.collapsed is not None
    assert space.pointers is not None
    form: ParsedForm = space.scorer.parsed[number]
    first = -1
    for position, operand in enumerate(turn.collapsed.operands):
        if isinstance(operand, Constant):
            continue
        right = right_items(turn.index, operand) if isinstance(operand, Number) else right_turns(turn, operand)
        numbers, logs = space.operands(np.array([0, number, first, _ABSENT]), position)
        read = space.pointers.operands(0, form, position, first if position else -1)
        if not right.any() or not len(numbers) or read is None:
            first = -1
            continue
        yield "figures" if form.kinds[position] == "A" else "answers", (_rows(logs, read), right)
        first = int(numbers[np.flatnonzero(right)[0]])
