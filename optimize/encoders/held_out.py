"""Fitting the blend, the final ranking and the confidence on reports that neither scorer nor encoder was fitted on.

>>> scorer = fit_blend(replace(scorer, encoder=encoder), held_out_turns)
>>> scorer.blend.forms                                  # the weights of the scorer and of the encoder
(0.31, 0.74)
>>> fit = HeldOutFit(scorer, config, held_out, examples, read)
>>> fit.with_final().with_confidence(unanswerable=0.5, abstained_wrong=0.1).scorer.confidence.fitted_on
'2410 turns of 551 held-out reports, which answer 1630 of them'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from kg.reports import CellSource, Observation, Report, document_of
from kg.search import Answer, Constant, Number, merge_key
from optimize.fitting import fit_choices
from optimize.metrics.turns import exact_match
from optimize.optimizers import Progress, silent
from optimize.scorers import (
    ConfidenceExample,
    TrainingTurn,
    content_sha256,
    fit_confidence,
    page_keys,
    right_items,
    right_turns,
    training_turns,
)

REMOVED_WEIGHT = 0.25
"""Of a question whose figures were removed from the report. What is left often resembles an answer, and such questions
would outnumber those that people ask in vain."""

NAME_PENALTY, READ_PENALTY = 0.5, 1e-3
"""L2 penalties of the final ranking's weights of names, and of what the encoder reads, there for each turn."""

OPEN_WEIGHT = 3.0
"""Of a question with a gold answer alone, or with none: people asked these."""


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
        report: Its report.
        programs: The gold programs.
        turns: Its turns.
    """

    page: str
    report: Report
    programs: Sequence[str]
    turns: Sequence[TrainingTurn]


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
        seed: Of the draw of unanswerable questions and of the folds.
        progress: Receives a line for each stage.
    """

    scorer: DerivationScorer
    config: DerivationConfig
    held_out: Sequence[HeldOutConversation]
    without_programs: Sequence[dspy.Example]
    read: Callable[[Report], ReportIndex]
    seed: int
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

    def with_confidence(self, unanswerable: float, abstained_wrong: float) -> HeldOutFit:
        """Returns the fit with a confidence.

        Args:
            unanswerable: Share in (0, 1] of the turns that are also asked of their report without their figures.
            abstained_wrong: Share in (0, 1) of the answerable turns that abstain.
        """
        rng = np.random.default_rng(self.seed)
        examples: list[ConfidenceExample] = []
        pages = self.scorer.encoder.pages if self.scorer.encoder is not None else frozenset()
        unseen = [one for one in self.without_programs if page_keys(one.report).isdisjoint(pages)]
        self.progress(f"confidence, on {sum(len(one.turns) for one in self.held_out)} turns")
        with threadpool_limits(limits=1):
            for one in self.held_out:
                examples += self._answered(one)
                for place in range(len(one.turns)):
                    if rng.random() < unanswerable:
                        changed = unanswerable_turn(one.report, one.turns, one.programs, place, self.read)
                        if changed is not None:
                            found = self._unanswered(one.page, changed.index, changed.questions)
                            examples.append(replace(found, weight=REMOVED_WEIGHT))
            examples += self._moved(rng)
            for asked in unseen:
                searches = self._searches(self.read(asked.report), asked.questions)
                page = content_sha256(asked.report)
                examples += [_against(page, found, gold) for found, gold in zip(searches, asked.gold, strict=True)]
        answerable, reports = sum(one.answerable for one in examples), len({one.page for one in self.held_out})
        fitted_on = f"{len(examples)} turns of {reports} held-out reports, which answer {answerable} of them"
        confidence = fit_confidence(examples, abstained_wrong=abstained_wrong, seed=self.seed, fitted_on=fitted_on)
        return replace(self, scorer=replace(self.scorer, confidence=confidence))

    def _moved(self, rng: np.random.Generator) -> Iterator[ConfidenceExample]:
        """For each report, the first question of a conversation about another one."""
        by_page = {one.page: one for one in self.held_out if one.turns}
        pages = sorted(by_page)
        for page in pages if len(pages) > 1 else []:
            other = by_page[pages[(pages.index(page) + int(rng.integers(1, len(pages)))) % len(pages)]]
            yield self._unanswered(page, by_page[page].turns[0].index, other.turns[0].questions)

    def _answered(self, conversation: HeldOutConversation) -> list[ConfidenceExample]:
        """A conversation's turns as the search answers them.

        The long calculations of single questions do not count for the threshold: the search doubts many of them.
        """
        examples: list[ConfidenceExample] = []
        turns = conversation.turns
        found = self._searches(turns[0].index, turns[-1].questions) if turns else []
        for turn, search in zip(turns, found, strict=True):
            best = search.candidates[0].answer if search.candidates else None
            right = best is not None and merge_key(best) == merge_key(turn.answer)
            features = confidence_features(search)
            kind = "name" if isinstance(turn.answer, tuple) else "" if len(turns) == 1 else "conversation"
            examples.append(ConfidenceExample(conversation.page, features, answerable=True, right=right, kind=kind))
        return examples

    def _unanswered(self, page: str, index: ReportIndex, questions: Sequence[str]) -> ConfidenceExample:
        """The last of some questions, which the report does not answer."""
        features = confidence_features(self._searches(index, questions)[-1])
        return ConfidenceExample(page, features, answerable=False, right=False)

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
        found.append(HeldOutConversation(page, example.report, example.programs, turns))
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


def _against(page: str, found: TurnSearch, gold: Answer | None) -> ConfidenceExample:
    """A turn with a gold answer, or none."""
    best = found.candidates[0].answer if found.candidates else None
    right = best is not None and gold is not None and exact_match(best, gold)
    kind = "name" if isinstance(gold, tuple) else "open"
    features = confidence_features(found)
    return ConfidenceExample(page, features, answerable=gold is not None, right=right, weight=OPEN_WEIGHT, kind=kind)


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


MOST_PLACES = 6
"""Rows and sentences that are removed at the most; a figure in more of them is too common to be meant in all."""


def without_figures(report: Report, observations: Iterable[Observation]) -> Report:
    """Returns the report without the rows and sentences of some observations."""
    rows, sentences = _places(observations)
    starts = [part.start - sum(row < part.start for row in rows) for part in report.parts]
    before = len(report.pre_text)
    return replace(
        report,
        table=tuple(row for number, row in enumerate(report.table) if number not in rows),
        pre_text=tuple(one for number, one in enumerate(report.pre_text) if number not in sentences),
        post_text=tuple(one for number, one in enumerate(report.post_text, start=before) if number not in sentences),
        parts=tuple(replace(part, start=start) for part, start in zip(report.parts, starts, strict=True)),
    )


def unanswerable_turn(
    report: Report,
    turns: Sequence[TrainingTurn],
    programs: Sequence[str],
    place: int,
    read: Callable[[Report], ReportIndex],
) -> TrainingTurn | None:
    """Returns a turn of a conversation whose report does not have its figures any more.

    Args:
        report: The report.
        turns: The conversation's turns.
        programs: Their gold programs.
        place: The number of the turn.
        read: Builds a report's graph and index.

    Returns:
        ``None`` where the turn has no figures of its own, where an earlier turn has figures in the same rows or
        sentences, or where too much of the report would have to be removed.
    """
    turn = turns[place]
    index = turn.index
    earlier = {abs(number.value) for one in turns[:place] for number in one.derivation.numbers}
    own = {abs(number.value) for number in turn.derivation.numbers} - earlier
    gold = {int(index.base[item]) for item, value in enumerate(index.values) if abs(value) in own}
    removed = [one for one in (index.observations[number] for number in sorted(gold)) if not one.in_header]
    rows, sentences = _places(removed)
    used = _places(index.observations[number] for one in turn.history for number in one.all_figures)
    if not 0 < len(rows) + len(sentences) <= MOST_PLACES or rows & used[0] or sentences & used[1]:
        return None
    smaller = read(without_figures(report, removed))
    found = training_turns(turn.group, smaller, turn.questions, programs[: place + 1])
    return found[place] if len(smaller) and len(found) > place else None


def _places(observations: Iterable[Observation]) -> tuple[set[int], set[int]]:
    """The rows and the sentences of some observations."""
    sources = [one.source for one in observations]
    rows = {source.row for source in sources if isinstance(source, CellSource)}
    return rows, {source.sentence for source in sources if not isinstance(source, CellSource)}
