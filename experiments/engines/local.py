"""Threads of this process.

LocalEngine(threads=8).run(answer, conversations, keep)
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
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

        def answer(item: ItemT) -> None:
            for result in work(item, done(item) if done is not None else ()):
                if not stop.is_set():
                    take(result)
                if stop.is_set():
                    return

        # The matrices are small, and threads that each ask BLAS for more threads wait for each other.
        with dspy.context(**(settings or {})), threadpool_limits(limits=1, user_api="blas"):
            if self.threads == 1:
                for item in items:
                    answer(item)
                return
            pool = ThreadPoolExecutor(self.threads)
            try:
                for future in as_completed([pool.submit(copy_context().run, answer, item) for item in items]):
                    future.result()
            finally:  # after an error the other threads start no further result, and are not waited for
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
