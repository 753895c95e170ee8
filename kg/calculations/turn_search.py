"""One turn of a conversation: candidates for a question under every history that is kept.

This is what programs call::

    start = (WeightedHistory((), 0.0),)
    found = search_turn(index, ["what were revenues in 2008?"], start, scorer, DerivationConfig())
    found.candidates[0].answer      # Decimal('9362.2')
    found.next_histories()          # what the search for the second question starts from
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kg.calculations.naming import with_comparisons
from kg.calculations.operand_features import HistoryTurn, extend_history, read_history
from kg.calculations.ranking import Candidate, Pool, Ranking, answered_at, best_states, pool, rank
from kg.calculations.report_index import ReportIndex
from kg.calculations.scorer import DerivationScorer
from kg.calculations.space import DerivationSpace, WeightedHistory
from kg.errors import ConfigError
from kg.search import BeamConfig, PastTurn, SearchStatistics, beam_search

_LEAST = 1e-6
"""What a probability is taken for that is less."""

START = (WeightedHistory((), 0.0),)
"""The one history of a conversation that has not begun."""


MEMORY = 24
"""Earlier turns that a question can refer to; with all of them, a turn's cost would grow with the conversation."""


@dataclass(frozen=True)
class DerivationConfig(BeamConfig):
    """Settings of the search for derivations; the scorer is fitted with the defaults.

    Attributes:
        histories: Histories of own answers that are kept from turn to turn; at least 1.
    """

    beam_width: int = 16
    output_top_k: int = 20
    pool: int = 300
    histories: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.histories < 1:
            raise ConfigError(f"histories must be at least 1, got {self.histories}")


@dataclass(frozen=True)
class TurnSearch:
    """The result of the search for one question.

    Attributes:
        candidates: Best first, answers merged numerically; empty when the beam is.
        statistics: What the search did.
        space: What was searched.
        ranked: The pool behind the candidates.
    """

    candidates: tuple[Candidate, ...]
    statistics: SearchStatistics
    space: DerivationSpace
    ranked: Ranking

    def probability(self, candidate: int) -> float:
        """The probability in [0, 1] that the search gives to one of its candidates."""
        return float(np.exp(self.candidates[candidate].score))

    def next_histories(
        self, count: int, pick: int | None = None, judged: Sequence[float] | None = None
    ) -> tuple[WeightedHistory, ...]:
        """The histories from which the next question is searched, with probabilities that sum to 1.

        Args:
            count: How many are kept at the most.
            pick: A candidate that an aggregator chose: only its derivations are kept. ``None`` keeps the most
                probable of all, so that a later turn may revise what this one answered.
            judged: The probabilities that an aggregator gives to the first candidates: the histories are weighed by
                them in place of the search's own, and a later turn may still revise the choice.
        """
        if not self.candidates:
            return tuple(history.after_failure() for history in self.space.histories)
        ranked = self.ranked if judged is None else self._judged(judged)
        places = best_states(ranked, count) if pick is None else ranked.members[pick][:count]
        kept = [(self._extend(place), float(ranked.log_probabilities[place])) for place in places]
        complete = [(turns, weight) for turns, weight in kept if turns is not None]
        if not complete:  # nothing can be executed: a history that was made by hand may hold ``table_*``
            return tuple(history.after_failure() for history in self.space.histories)
        total = float(np.logaddexp.reduce([weight for _, weight in complete]))
        return tuple(WeightedHistory(turns, weight - total) for turns, weight in complete)

    def _judged(self, judged: Sequence[float]) -> Ranking:
        """The pool with each judged candidate's probability shared among its derivations, and the rest elsewhere."""
        own = np.exp([candidate.score for candidate in self.candidates[: len(judged)]])
        rest = _log_ratio(1.0 - sum(judged), 1.0 - float(own.sum()))
        shifted = self.ranked.log_probabilities + np.float32(rest)
        for place, probability in enumerate(judged):
            members = list(self.ranked.members[place])
            shift = _log_ratio(probability, float(own[place]))
            shifted[members] = self.ranked.log_probabilities[members] + np.float32(shift)
        return replace(self.ranked, log_probabilities=shifted)

    def _extend(self, place: int) -> tuple[HistoryTurn, ...] | None:
        state = self.ranked.pool.states[place]
        earlier = self.space.histories[state[0]].turns
        found = answered_at(self.space, self.ranked.pool, place)
        if found is None:
            return None
        turn = PastTurn(self.space.question.questions[-1], *found)
        return (*earlier, extend_history(self.space.index, earlier, turn))


def search_turn(
    index: ReportIndex,
    questions: Sequence[str],
    histories: Sequence[WeightedHistory],
    scorer: DerivationScorer,
    config: BeamConfig,
) -> TurnSearch:
    """Searches the answer to the last of ``questions``.

    Args:
        index: The report.
        questions: All questions of the conversation so far, at least one; the last :data:`MEMORY` and this one count.
        histories: At least one; each has a turn for every earlier question that counts.
        scorer: The learned weights.
        config: The beam's settings.
    """
    histories = [replace(history, turns=history.turns[-MEMORY:]) for history in histories]
    space = DerivationSpace(index, questions[-(MEMORY + 1) :], histories, scorer)
    found, statistics = completed(space, config, config.pool * max(len(histories) // 2, 1))
    ranked = rank(space, found, config.output_top_k)
    return TurnSearch(ranked.candidates, statistics, space, ranked)


def completed(space: DerivationSpace, config: BeamConfig, size: int) -> tuple[Pool, SearchStatistics]:
    """Returns the candidates of a space: the best ``size`` of the beam, and comparisons."""
    result = beam_search(space, config)
    return with_comparisons(space, pool(space, result, size)), result.statistics


def _log_ratio(first: float, second: float) -> float:
    return float(np.log(max(first, _LEAST) / max(second, _LEAST)))


def fixed_history(index: ReportIndex, past: Sequence[PastTurn]) -> tuple[WeightedHistory, ...]:
    """The one history that earlier turns with known answers make."""
    return (WeightedHistory(read_history(index, past), 0.0),)
