"""The loop of an evaluation: answers the turns of many items on an engine, and hands on each one at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Generic

from threadpoolctl import threadpool_limits

from experiments.evaluation.engine import Engine
from experiments.evaluation.records import EvaluationConfig
from experiments.evaluation.results import Results
from experiments.evaluation.task import Answered, ItemT, ScoreT, TurnT

Sink = Callable[[Answered[TurnT]], None]


def answer_all(
    program: Any,
    results: Results[ItemT, TurnT, ScoreT],
    *,
    engine: Engine,
    lm: Mapping[str, Any],
    sink: Sink[TurnT],
    config: EvaluationConfig,
) -> None:
    """Answers all turns that are not done.

    Args:
        program: The program.
        results: The task, its items and the turns that are done.
        engine: The engine that runs the items.
        lm: The settings of ``dspy.context``.
        sink: Called with each turn as soon as it is answered, from several threads.
        config: The evaluation's settings.
    """
    import dspy

    loop = _Loop(program, results, sink, config)
    waiting = [one for one in results.items.values() if len(results.done(one)) < results.task.size(one)]
    try:
        # The matrices are small, and threads that each ask BLAS for more threads wait for each other.
        with dspy.context(**lm), threadpool_limits(limits=1, user_api="blas"):
            engine.map(waiting, loop.answer_item)
    finally:
        loop.stop.set()  # the other threads start no further turn, and their current ones are not waited for
    if loop.broken is not None:
        raise loop.broken


class _Loop(Generic[ItemT, TurnT, ScoreT]):
    """The state that the threads share.

    Attributes:
        stop: Set when no further turn is to be started.
        broken: An error that is no turn's fault and ends the evaluation.
    """

    def __init__(
        self, program: Any, results: Results[ItemT, TurnT, ScoreT], sink: Sink[TurnT], config: EvaluationConfig
    ) -> None:
        self.program = program
        self.results = results
        self.sink = sink
        self.config = config
        self.stop = threading.Event()
        self.broken: Exception | None = None

    def answer_item(self, item: ItemT) -> None:
        if self.stop.is_set():
            return
        try:
            for answered in self.results.task.answer(self.program, item, self.results.done(item), self.config):
                if self.stop.is_set():
                    return
                self.sink(answered)
                if self.stop.is_set():
                    return
        except Exception as error:  # noqa: BLE001 - the executor would report it once for every item
            self.stop.set()
            if self.broken is None:
                self.broken = error
