"""Derivations as a search space: which calculation, then its operands one by one.

A state is a row of numbers ``(history, form, first operand, second operand)``. Operands are numbered through the
report's items, then the earlier answers of the state's history; a constant is fixed by its form and numbered -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kg.arrays import FloatArray, IntArray, log_softmax
from kg.figures import AskedNames, ReportIndex, SeriesReader, read_names
from kg.scoring import (
    REFERENCE_WIDTH,
    DerivationScorer,
    HistoryTurn,
    ParsedForm,
    PastForm,
    Pointers,
    QuestionFeatures,
    SearchHint,
    candidate_items,
    pair_features,
    role_features,
)
from kg.search import Action, Expansion, Frontier

CONSTANT = -1
"""The number of an operand that is a constant."""


FAILED = HistoryTurn(None, float("nan"), PastForm.of(None), (), ())
"""An earlier turn without an answer."""

FORM_MARGIN = 6.0
"""Forms whose log-probability is this far below the best one's, over all histories, are not expanded.

On 363 held-out turns of train it costs no right answer, and the search is faster.
"""

FIRST_FORMS = 3
"""Forms of the most probable history that are expanded in any case."""

HINT_WEIGHT = 1.0
"""Added to the log-probability of the forms whose operation a hint names, before they are normalised."""


@dataclass(frozen=True)
class WeightedHistory:
    """One way in which the conversation may have gone.

    Attributes:
        turns: The earlier turns with the answers of this history.
        log_probability: How sure the search is of it, at most 0.
    """

    turns: tuple[HistoryTurn, ...]
    log_probability: float

    def after_failure(self) -> WeightedHistory:
        """The history after one more turn, which has no answer."""
        return WeightedHistory((*self.turns, FAILED), self.log_probability)


class _HistoryScores:
    """The scores of all operands under one history, computed once for every role that is asked for."""

    def __init__(self, space: DerivationSpace, history: Sequence[HistoryTurn]) -> None:
        self.space = space
        self.turns = history
        features, self.observations = candidate_items(space.question, history)
        items = len(space.index)
        self.rows = {"A": features[:items, : -(REFERENCE_WIDTH + 1)], "R": features[items:]}
        self._scores: dict[tuple[str, int], FloatArray] = {}

    def scores(self, form: ParsedForm, position: int) -> tuple[FloatArray, FloatArray]:
        """The raw scores of the operands of the kind that the form wants, and the weights of the pair features."""
        kind = form.kinds[position]
        group = self.space.role(form, position, bool(self.turns))
        network = self.space.scorer.operands[kind]
        key = (form.name, position)
        if key not in self._scores:
            self._scores[key] = network.scores(self.rows[kind], group[None])[0]
        return self._scores[key], network.pair_weights(group[None])[0]

    def numbering(self, kind: str) -> IntArray:
        """The numbers of the operands of a kind."""
        items = len(self.space.index)
        return np.arange(items) if kind == "A" else np.arange(items, items + len(self.turns))


class DerivationSpace:
    """All derivations that a question may ask for, over a report and several histories.

    Args:
        index: The report.
        questions: All questions so far; the last is the one asked.
        histories: At least one, each with as many turns as there are earlier questions.
        scorer: The learned model.
        hint: What a language model understood of the question.
    """

    def __init__(
        self,
        index: ReportIndex,
        questions: Sequence[str],
        histories: Sequence[WeightedHistory],
        scorer: DerivationScorer,
        hint: SearchHint | None = None,
    ) -> None:
        self.index = index
        self.scorer = scorer
        self.hint = hint
        self.question = QuestionFeatures(index, questions, hint)
        self.histories = tuple(histories)
        self.under = [_HistoryScores(self, history.turns) for history in histories]
        self._roles: dict[tuple[str, int, bool], FloatArray] = {}
        self.pointers = (
            None
            if scorer.encoder is None
            else Pointers(scorer.encoder, index, questions, [history.turns for history in histories])
        )

    def role(self, form: ParsedForm, position: int, has_history: bool) -> FloatArray:
        """The group features of one operand of a form."""
        key = (form.name, position, has_history)
        if key not in self._roles:
            self._roles[key] = np.concatenate([role_features(form, position, has_history), self.question.context])
        return self._roles[key]

    @cached_property
    def series(self) -> SeriesReader:
        """The series of the report."""
        return SeriesReader(self.index, self.asked.time)

    @cached_property
    def asked(self) -> AskedNames:
        """The question's demands on names."""
        return read_names(self.question.questions[-1])

    @property
    def count(self) -> int:
        """The number of names that the question asks for."""
        return self.asked.count

    @cached_property
    def form_log_probabilities(self) -> FloatArray:
        """Of each form under each history; shape ``(histories, forms)``."""
        pasts = [[turn.form for turn in history.turns] for history in self.histories]
        learned = self.scorer.forms.log_probabilities(self.question.questions, pasts)
        if self.pointers is not None:
            own, read = self.scorer.blend.forms
            learned = log_softmax(np.float32(own) * learned + np.float32(read) * self.read_forms, axis=-1)
        if self.hint is None:
            return learned
        named = np.array([form.operation == self.hint.operation for form in self.scorer.parsed], dtype=np.float32)
        hinted: FloatArray = log_softmax(learned + np.float32(HINT_WEIGHT) * named, axis=-1)
        return hinted

    @cached_property
    def read_forms(self) -> FloatArray:
        """The encoder's log-probabilities of each form under each history."""
        assert self.pointers is not None
        return self.pointers.forms(self.scorer.forms.forms)

    @cached_property
    def priors(self) -> FloatArray:
        """The histories' log-probabilities."""
        return np.array([history.log_probability for history in self.histories], dtype=np.float32)

    def roots(self) -> Frontier:
        """One state a history."""
        return Frontier(np.arange(len(self.histories))[:, None], self.priors)

    def expand(self, frontier: Frontier) -> Expansion:
        """Forms for a history, first operands for a form, second operands for a first one."""
        depth = frontier.choices.shape[1]
        if depth == 1:
            return self._expand_forms(frontier)
        parts = [self.operands(state, depth - 2) for state in frontier.choices]
        counts = np.array([len(choice) for choice, _ in parts], dtype=np.int64)
        parent = np.repeat(np.arange(len(frontier)), counts)
        empty_choice, empty_scores = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        last = np.array([self.scorer.parsed[state[1]].operands == depth - 1 for state in frontier.choices], dtype=bool)
        return Expansion(
            parent,
            np.concatenate([empty_choice, *(choice for choice, _ in parts)]),
            np.concatenate([empty_scores, *(scores for _, scores in parts)]),
            np.where(last[parent], int(Action.ANSWER), int(Action.CONTINUE)),
        )

    def _expand_forms(self, frontier: Frontier) -> Expansion:
        scores = self.form_log_probabilities[frontier.choices[:, 0]]
        total = scores + frontier.scores[:, None]
        best = total.max(initial=-np.inf)
        # The first of the best history are always expanded: the most probable form may have no result.
        first = np.sort(total[total.max(axis=1).argmax()])[-FIRST_FORMS:].min() if len(total) else best
        parent, form = np.nonzero(total >= min(best - FORM_MARGIN, first))
        return Expansion(parent, form, scores[parent, form], np.full(len(parent), int(Action.CONTINUE)))

    def operands(self, state: IntArray, position: int) -> tuple[IntArray, FloatArray]:
        """The operands that may fill a position of a state's form, with their log-probabilities."""
        form = self.scorer.parsed[state[1]]
        kind = form.kinds[position]
        if kind == "C":
            return np.array([CONSTANT]), np.zeros(1, dtype=np.float32)
        under = self.under[state[0]]
        numbers = under.numbering(kind)
        if not len(numbers):
            return numbers, np.zeros(0, dtype=np.float32)
        scores, pair_weights = under.scores(form, position)
        if position == 1 and len(self.index):
            first = under.observations[state[2]] if state[2] != CONSTANT else -1
            pairs = pair_features(self.index, np.full(len(numbers), first), under.observations[numbers])
            scores = scores + pairs @ pair_weights
        logs: FloatArray = log_softmax(scores)
        if self.pointers is None:
            return numbers, logs
        pointed = self.pointers.operands(int(state[0]), form, position, int(state[2]) if position else -1)
        if pointed is None:
            return numbers, logs
        own, read = self.scorer.blend.figures if kind == "A" else self.scorer.blend.answers
        blended: FloatArray = log_softmax(np.float32(own) * logs + np.float32(read) * pointed)
        return numbers, blended


__all__ = ["CONSTANT", "FAILED", "DerivationSpace", "SearchHint", "WeightedHistory"]
