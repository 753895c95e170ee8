"""One turn of a conversation: candidates for a question under every history that is kept.

This is what programs call::

    start = (WeightedHistory((), 0.0),)
    found = search_turn(index, ["what were revenues in 2008?"], start, scorer, DerivationConfig())
    found.candidates[0].answer      # Decimal('9362.2')
    found.next_histories()          # what the search for the second question starts from
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kg.calculations.naming import with_comparisons
from kg.calculations.operand_features import extend_history, read_history
from kg.calculations.ranking import Candidate, Pool, Ranking, answered_at, best_states, pool, rank
from kg.calculations.report_index import ReportIndex
from kg.calculations.scorer import DerivationScorer
from kg.calculations.space import DerivationSpace, WeightedHistory
from kg.errors import ConfigError
from kg.search import BeamConfig, PastTurn, beam_search

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
        space: What was searched.
        ranked: The pool behind the candidates.
        earlier: The histories that this turn extends, where the question was read alone; ``None`` for a follow-up.
    """

    candidates: tuple[Candidate, ...]
    space: DerivationSpace
    ranked: Ranking
    earlier: tuple[WeightedHistory, ...] | None = None

    def next_histories(self, count: int) -> tuple[WeightedHistory, ...]:
        """The histories from which the next question is searched, with probabilities that sum to 1.

        Args:
            count: How many are kept at the most; a later turn may revise what this one answered.
        """
        complete = [history for place in best_states(self.ranked, count) for history in self._extended(place)]
        if not complete:  # nothing can be executed: a history that was made by hand may hold ``table_*``
            return tuple(history.after_failure() for history in self.earlier or self.space.histories)
        best = sorted(complete, key=lambda history: -history.log_probability)[:count]
        total = float(np.logaddexp.reduce([history.log_probability for history in best]))
        return tuple(replace(history, log_probability=history.log_probability - total) for history in best)

    def _extended(self, place: int) -> Iterator[WeightedHistory]:
        """The histories that end with the calculation at a place of the pool."""
        found = answered_at(self.space, self.ranked.pool, place)
        if found is None:
            return
        own = replace(self.space.histories[self.ranked.pool.states[place, 0]], log_probability=0.0)
        past = PastTurn(self.space.question.questions[-1], *found)
        for earlier in (own,) if self.earlier is None else self.earlier:
            turn = extend_history(self.space.index, earlier.turns, past)
            weight = earlier.log_probability + float(self.ranked.log_probabilities[place])
            yield WeightedHistory((*earlier.turns, turn), weight)


def search_turn(
    index: ReportIndex,
    questions: Sequence[str],
    histories: Sequence[WeightedHistory],
    scorer: DerivationScorer,
    config: BeamConfig,
) -> TurnSearch:
    """Searches the answer to the last of ``questions``, without the earlier ones where it stands alone.

    Args:
        index: The report.
        questions: All questions of the conversation so far, at least one; the last :data:`MEMORY` and this one count.
        histories: At least one; each has a turn for every earlier question that counts.
        scorer: The learned weights.
        config: The beam's settings.
    """
    histories = [replace(history, turns=history.turns[-MEMORY:]) for history in histories]
    alone = len(questions) > 1 and scorer.reads_alone(index, questions[-1])
    read = questions[-1:] if alone else questions[-(MEMORY + 1) :]
    space = DerivationSpace(index, read, START if alone else histories, scorer)
    found = completed(space, config, config.pool * max(len(space.histories) // 2, 1))
    ranked = rank(space, found, config.output_top_k)
    return TurnSearch(ranked.candidates, space, ranked, tuple(histories) if alone else None)


def completed(space: DerivationSpace, config: BeamConfig, size: int) -> Pool:
    """Returns the candidates of a space: the best ``size`` of the beam, and comparisons."""
    return with_comparisons(space, pool(space, beam_search(space, config), size))


def fixed_history(index: ReportIndex, past: Sequence[PastTurn]) -> tuple[WeightedHistory, ...]:
    """The one history that earlier turns with known answers make."""
    return (WeightedHistory(read_history(index, past), 0.0),)
