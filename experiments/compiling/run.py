"""A running compile: its messages, its logs, and its state for resuming.

with CompileRun.alone(folder, key, tracker) as keeper:
    with open_run(tracker, "compile", name, resumed=keeper.resumed) as run:
        keeper.remember(run)
        with keeper.working(run) as working:
            compile_program(..., checkpoints=keeper.checkpoints, announce=working.announce, tell=working.tell)
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.compiling.quiet import printed_to
from experiments.console import format_table
from experiments.tracking import PROCESS_TAG, Run, RunRecord, Tracker, is_gone, temporary_folder
from kg.errors import ConfigError, TrackingError
from kg.files import cache_folder
from kg.locks import BusyError, FileLock
from optimize.compiling import Checkpoints

if TYPE_CHECKING:
    from optimize.compiling import CompilePlan, PromptCandidate

_RUN, _PRINTED = "run", "printed.log"


def compiles_folder() -> Path:
    """Returns the default folder of compiles that can be resumed."""
    return cache_folder() / "compiles"


@dataclass
class Working:
    """The messages and logs of a running compile.

    Attributes:
        run: Its run.
        speak: Writes a line for the user.
        new_params: Leaves those settings that the run does not have yet.
        candidates: Those that were scored by this process.
    """

    run: Run
    speak: Callable[[str], None]
    new_params: Callable[[Mapping[str, object]], Mapping[str, object]]
    candidates: list[PromptCandidate] = field(default_factory=list)
    _val: int = 0

    def announce(self, plan: CompilePlan) -> None:
        """Prints and logs the upper bound of the compile's costs before it starts."""
        from experiments.tracking import plan_params

        self._val = plan.sizes.val
        self.run.log_params(self.new_params(plan_params(plan)))
        self.speak(describe_plan(plan))

    def plot(self, values: Mapping[str, float], step: int) -> None:
        """Logs a point of a training's curves as it comes."""
        self.run.log_metrics(values, step)

    def tell(self, candidate: PromptCandidate) -> None:
        """Logs a candidate's score as it comes."""
        from experiments.tracking import log_candidate

        self.candidates.append(candidate)
        log_candidate(self.run, candidate, self._val)
        right = f"{100 * candidate.score:.1f}% of {candidate.turns} turns right"
        self.speak(f"    candidate {candidate.place} ({candidate.optimizer}): {right}")


def describe_plan(plan: CompilePlan) -> str:
    """The stated budget as a table."""
    rows = [
        [role, one.calls, one.tokens, "unknown" if one.usd is None else f"{one.usd:.2f}"]
        for role, one in plan.budgets.items()
    ]
    turns = f"{plan.sizes.train} turns to learn from, {plan.sizes.val} to choose on; " if plan.sizes.train else ""
    title = f"    {turns}it takes at most:" if rows else f"    {turns}no language model is asked"
    table = format_table(["language model as", "calls", "tokens", "dollars"], rows)
    lines = [title, *(f"    {line}" for line in table.splitlines())] if rows else [title, "    (not measured)"]
    lines.append(
        f"    about {plan.seconds / 60:.0f} minutes at the speed that was measured, one turn at a time, with training"
    )
    lines.append(
        f"    prompts that may change: {', '.join(name.removeprefix('turn.') for name in plan.measured.active)}"
    )
    return "\n".join(lines)


class CompileRun:
    """The stored state of a compile.

    Args:
        checkpoints: Its folder, or nothing.
        tracker: The tracking store of its run.
    """

    def __init__(self, checkpoints: Checkpoints, tracker: Tracker | None) -> None:
        self.checkpoints, self._tracker = checkpoints, tracker

    @classmethod
    @contextmanager
    def alone(
        cls, folder: Path | None, key: str, tracker: Tracker | None, *, fresh: bool = False
    ) -> Iterator[CompileRun]:
        """Yields the compile of this key in ``folder``; with ``fresh`` its stored state is removed.

        Raises:
            ConfigError: Another process compiles the same.
        """
        from experiments.saved import Origin, load_program, save_program

        if folder is None:
            yield cls(Checkpoints(), tracker)
            return
        own = folder / key
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock = FileLock(folder / f".{key}.lock", wait=False)
        except BusyError as error:
            raise ConfigError("a compile with these settings is under way in another process: wait for it") from error
        try:
            if fresh and own.is_dir():
                shutil.rmtree(own)
            checkpoints = Checkpoints(
                own,
                lambda program, target: save_program(program, target, Origin()),
                lambda one: load_program(one).program,
            )
            yield cls(checkpoints, tracker)
        finally:
            lock.release(remove=True)

    @property
    def resumed(self) -> str | None:
        """Returns the id of the stopped run, if there is one."""
        return self.stopped.id if self.stopped is not None else None

    @cached_property
    def stopped(self) -> RunRecord | None:
        """Returns the stopped run of this compile, unchanged; ``None`` where this store has none."""
        if self._tracker is None or self._tracker.config.new_store is not None:
            return None
        known = self.checkpoints.read(_RUN)
        if known is None or known["uri"] != self._tracker.config.uri:
            return None
        try:
            record = self._tracker.find(known["run_id"], kinds=("compile",))
        except TrackingError:
            return None
        gone = record.status == "RUNNING" and is_gone(record.tags.get(PROCESS_TAG, ""))
        return record if record.status == "KILLED" or gone else None

    def new_params(self, params: Mapping[str, object]) -> Mapping[str, object]:
        """Returns the settings that a resumed run does not have yet, as MLflow lets none be changed."""
        known = self.stopped.params if self.stopped is not None else {}
        return {key: value for key, value in params.items() if key not in known}

    def remember(self, run: Run) -> None:
        """Stores the run, so that a later process can resume it."""
        if self._tracker is not None:
            self.checkpoints.write(_RUN, {"run_id": run.id, "uri": self._tracker.config.uri})

    @contextmanager
    def working(self, run: Run) -> Iterator[Working]:
        """While the context lasts, what optimizers print goes to a file; if it is stopped, what was done is logged."""
        from experiments.tracking import log_candidates, log_spent

        with temporary_folder() as temporary:
            folder = self.checkpoints.folder or temporary
            with printed_to(folder / _PRINTED) as speak:
                working = Working(run, speak, self.new_params)
                try:
                    yield working
                except BaseException:
                    log_candidates(run, working.candidates)
                    log_spent(run, self.checkpoints.read("spent") or {})
                    self.log_printed(run)
                    raise

    def log_printed(self, run: Run) -> None:
        """Logs the optimizers' output as an artifact."""
        path = self.checkpoints.folder / _PRINTED if self.checkpoints.folder is not None else None
        if path is not None and path.exists():
            run.log_text(_PRINTED, path.read_text(encoding="utf-8", errors="replace"))
