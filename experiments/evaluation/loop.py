"""The work of an evaluation on one item: its turns are answered and scored, one by one.

    engine.run(Answering(program, task, config), items, keep, done=results.done, settings={"lm": lm})

Turns are scored where they are answered. A turn of a graph can then leave its graph there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

from experiments.evaluation.records import EvaluationConfig
from experiments.evaluation.task import ItemT, Scored, ScoreT, Task, TurnT


@dataclass(frozen=True)
class Answering(Generic[ItemT, TurnT, ScoreT]):
    """Answers and scores the turns of an item that are not done; an engine may send it to other processes.

    Attributes:
        program: The program.
        task: The task.
        config: The evaluation's settings.
    """

    program: Any
    task: Task[ItemT, TurnT, ScoreT]
    config: EvaluationConfig

    def __call__(self, item: ItemT, done: Sequence[Scored[TurnT, ScoreT]]) -> Iterator[Scored[TurnT, ScoreT]]:
        """Yields the turns."""
        for answered in self.task.answer(self.program, item, [one.answered for one in done], self.config):
            score = self.task.score(item, answered)
            yield Scored(replace(answered, graph=None), score, self.task.source(item))
