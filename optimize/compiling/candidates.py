"""The log of the candidates that optimizers try, with their scores.

    >>> log = CandidateLog(folder / "candidates.jsonl")
    >>> with dspy.context(callbacks=[*dspy.settings.callbacks, log]):
    ...     optimizer.compile(student, trainset=train, valset=val)
    >>> log.best(turns=20).score
    0.85

DSPy calls it for every evaluation. SIMBA scores without one and attaches its candidates to the program that it returns.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from dspy.utils.callback import BaseCallback

from optimize.prompts import prompt_state, state_hash


@dataclass(frozen=True)
class PromptCandidate:
    """One candidate and its score.

    Attributes:
        place: Its place among the candidates, from 0.
        step: The place of the optimizer in the chain, from 0; -1 for the program before all of them.
        optimizer: The optimizer's name, or ``start`` and ``result`` for the program before and after a step.
        prompts: A hash of its instructions and demonstrations.
        score: Share of turns that are right, in [0, 1].
        turns: The number of turns that it was scored on.
        seconds: Wall time of scoring it.
        state: Its instructions and demonstrations, by predictor.
    """

    place: int
    step: int
    optimizer: str
    prompts: str
    score: float
    turns: int
    seconds: float
    state: Mapping[str, Any]


class CandidateLog(BaseCallback):
    """The log of every scored candidate.

    Args:
        path: A file with one line a candidate; an existing one is read and continued.
        tell: Called with each candidate as it is scored.

    Attributes:
        found: The candidates so far.
        step: The place of the current optimizer.
        optimizer: Its name.
    """

    def __init__(self, path: Path | None = None, tell: Callable[[PromptCandidate], None] | None = None) -> None:
        self.found: list[PromptCandidate] = []
        self.step, self.optimizer = -1, "start"
        self._path, self._tell = path, tell
        self._started: dict[str, tuple[float, dict[str, Any], int]] = {}
        self._lock = Lock()
        if path is not None and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self.found = [PromptCandidate(**json.loads(line)) for line in lines if line.endswith("}")]

    def on_evaluate_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """An optimizer begins to score a program."""
        devset = inputs.get("devset") or instance.devset
        self._started[call_id] = (time.perf_counter(), prompt_state(inputs["program"]), len(devset))

    def on_evaluate_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """The scoring ended, perhaps with an exception."""
        started, state, turns = self._started.pop(call_id)
        if exception is None and outputs is not None:
            self.add(state, float(outputs.score) / 100, turns, time.perf_counter() - started)

    def add(self, state: Mapping[str, Any], score: float, turns: int, seconds: float = 0.0) -> PromptCandidate:
        """Adds a candidate; one that was scored before a stop is not added twice."""
        key = state_hash(state)
        with self._lock:
            for one in self.found:
                if (one.prompts, one.turns, one.step, one.optimizer) == (key, turns, self.step, self.optimizer):
                    return one
            new = PromptCandidate(len(self.found), self.step, self.optimizer, key, score, turns, seconds, state)
            self.found.append(new)
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(new), ensure_ascii=False, default=str) + "\n")
        if self._tell is not None:
            self._tell(new)
        return new

    def best(self, *, turns: int, since: int = -1) -> PromptCandidate | None:
        """Returns the candidate with the highest score on at least ``turns`` turns; of equal ones the latest.

        Args:
            turns: The least number of turns.
            since: Only candidates of this step of the chain and later ones.
        """
        scored = [one for one in self.found if one.turns >= turns and one.step >= since]
        return max(scored, key=lambda one: (one.score, one.place), default=None)


class CalledModules(BaseCallback):
    """Records the modules of a program that are called.

    Attributes:
        seen: The identities of their objects.
    """

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
        """A module is called."""
        self.seen.add(id(instance))
