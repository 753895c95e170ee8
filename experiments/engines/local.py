"""Threads of this process.

LocalEngine(threads=8).run(answer, conversations, keep)
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.engines.base import Done, ItemT, ResultT, Take, Work


class LocalEngine:
    """Threads of this process.

    Args:
        threads: The number of items at a time.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    @property
    def description(self) -> Mapping[str, Any]:
        """Its settings, for the run."""
        return {"engine": "local", "threads": self.threads}

    def run(
        self,
        work: Work[ItemT, ResultT],
        items: Sequence[ItemT],
        take: Take[ResultT],
        *,
        done: Done[ItemT, ResultT] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Runs ``work`` for each item, in their order with one thread."""
        import dspy

        stop = threading.Event()
        errors: list[Exception] = []

        def answer(item: ItemT) -> None:
            if stop.is_set():
                return
            try:
                for result in work(item, done(item) if done is not None else ()):
                    if stop.is_set():
                        return
                    take(result)
                    if stop.is_set():
                        return
            except Exception as error:  # noqa: BLE001 - the executor would report it once for every item
                stop.set()
                errors.append(error)

        try:
            # The matrices are small, and threads that each ask BLAS for more threads wait for each other.
            with dspy.context(**(settings or {})), threadpool_limits(limits=1, user_api="blas"):
                self._each(answer, items)
        finally:
            stop.set()  # the other threads start no further result, and their current ones are not waited for
        if errors:
            raise errors[0]

    def _each(self, answer: Callable[[ItemT], None], items: Sequence[ItemT]) -> None:
        from dspy.utils.parallelizer import ParallelExecutor

        if self.threads == 1:
            for item in items:
                answer(item)
            return
        # dspy.Evaluate would start a conversation a second time when it takes longer than two minutes.
        executor = ParallelExecutor(num_threads=self.threads, max_errors=1, disable_progress_bar=True, timeout=0)
        with _quiet_dspy():
            executor.execute(answer, items)


@contextmanager
def _quiet_dspy() -> Iterator[None]:
    """Silences DSPy's own message about Ctrl-C."""
    one = logging.getLogger("dspy.utils.parallelizer")
    level = one.level
    one.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        one.setLevel(level)
