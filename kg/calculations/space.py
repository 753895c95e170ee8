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
from kg.calculations.forms import ParsedForm
from kg.calculations.names import AskedNames, read_names
from kg.calculations.operand_features import FAILED, HistoryTurn, operand_rows
from kg.calculations.pointers import Pointers
from kg.calculations.question_features import QuestionFeatures
from kg.calculations.report_index import ReportIndex
from kg.calculations.scorer import DerivationScorer, role_features
from kg.calculations.series import SeriesReader
from kg.search import Action, Expansion, Frontier

CONSTANT = -1
"""The number of an operand that is a constant."""

FORM_MARGIN = 6.0
"""Forms whose log-probability is this far below the best one's, over all histories, are not expanded.

On 363 held-out turns of train it costs no right answer, and the search is faster.
"""

FIRST_FORMS = 3
"""Forms of the most probable history that are expanded in any case."""

MOST_SCORES = 2_000_000
"""Scores of operands that are computed at a time; more would take memory without gain."""


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
        rows, self.observations = operand_rows(space.question, history)
        self._networks = space.scorer.operands
        self._prepared = {kind: network.prepared(rows[kind]) for kind, network in self._networks.items()}
        self._scores: dict[tuple[str, int], FloatArray] = {}

    def scores(self, form: ParsedForm, position: int) -> tuple[FloatArray, FloatArray]:
        """The raw scores of the operands of the kind that the form wants, and the weights of the pair features."""
        kind = form.kinds[position]
        group = self.space.role(form, position, bool(self.turns))
        network = self._networks[kind]
        key = (form.name, position)
        if key not in self._scores:
            self._scores[key] = network.scores_of(self._prepared[kind], group[None])[0]
        return self._scores[key], network.pair_weights(group[None])[0]


class DerivationSpace:
    """All derivations that a question may ask for, over a report and several histories.

    Args:
        index: The report.
        questions: All questions so far; the last is the one asked.
        histories: At least one, each with as many turns as there are earlier questions.
        scorer: The learned model.
    """

    def __init__(
        self,
        index: ReportIndex,
        questions: Sequence[str],
        histories: Sequence[WeightedHistory],
        scorer: DerivationScorer,
    ) -> None:
        self.index = index
        self.scorer = scorer
        self.question = QuestionFeatures(index, questions)
        self.histories = tuple(histories)
        items = len(index)
        self.numbering = {"A": np.arange(items), "R": np.arange(items, items + len(self.histories[0].turns))}
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
        pasts = [history.turns for history in self.histories]
        learned = self.scorer.forms.log_probabilities(self.question.questions, pasts)
        if self.pointers is not None:
            own, read = self.scorer.blend.forms
            learned = log_softmax(np.float32(own) * learned + np.float32(read) * self.read_forms, axis=-1)
        return learned

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
        parts = self._operands(frontier.choices.tolist(), depth - 2)
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
        return self._operands([state.tolist()], position)[0]

    def _operands(self, states: Sequence[Sequence[int]], position: int) -> list[tuple[IntArray, FloatArray]]:
        """The operands of several states; those of one kind are scored together, which is faster."""
        constant = np.array([CONSTANT]), np.zeros(1, dtype=np.float32)
        found = [constant] * len(states)
        for kind in ("A", "R"):
            places = [place for place, state in enumerate(states) if self._form(state).kinds[position] == kind]
            if not places:
                continue
            numbers = self.numbering[kind]
            size = max(MOST_SCORES // max(len(numbers), 1), 1)
            for start in range(0, len(places), size):
                chunk = places[start : start + size]
                logs = self._log_probabilities([states[place] for place in chunk], position, kind, numbers)
                for place, row in zip(chunk, logs, strict=True):
                    found[place] = numbers, row
        return found

    def _log_probabilities(
        self, states: Sequence[Sequence[int]], position: int, kind: str, numbers: IntArray
    ) -> FloatArray:
        """The log-probabilities of the operands ``numbers`` of one kind; a row a state."""
        if not len(numbers):
            return np.zeros((len(states), 0), dtype=np.float32)
        logs = log_softmax(np.stack([self._scores(state, position, numbers) for state in states]))
        if self.pointers is None:
            return logs
        asked = [(state[0], self._form(state), position, state[2] if position else -1) for state in states]
        self.pointers.read(asked)
        pointed = [self.pointers.operands(*one) for one in asked]
        known = [place for place, read in enumerate(pointed) if read is not None]
        if known:
            own, other = self.scorer.blend.figures if kind == "A" else self.scorer.blend.answers
            read = np.stack([read for read in pointed if read is not None])
            logs[known] = log_softmax(np.float32(own) * logs[known] + np.float32(other) * read)
        return logs

    def _scores(self, state: Sequence[int], position: int, numbers: IntArray) -> FloatArray:
        """The network's scores of the operands ``numbers``."""
        under = self.under[state[0]]
        scores, pair_weights = under.scores(self._form(state), position)
        if position == 0 or not len(self.index):
            return scores
        first = int(under.observations[state[2]]) if state[2] != CONSTANT else -1
        pairs = self.question.relations.pairs(first)[under.observations[numbers]]
        result: FloatArray = scores + pairs @ pair_weights
        return result

    def _form(self, state: Sequence[int]) -> ParsedForm:
        return self.scorer.parsed[state[1]]
