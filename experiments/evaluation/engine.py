"""Engines: the execution of an evaluation's items, in this process or elsewhere.

LocalEngine(threads=8).map(conversations, answer_conversation)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

ItemT = TypeVar("ItemT")


class Engine(Protocol):
    """Runs work for each of many items."""

    def map(self, items: Sequence[ItemT], work: Callable[[ItemT], None]) -> None:
        """Calls ``work`` once for each item and returns after the last call; Ctrl-C ends it early."""


class LocalEngine:
    """Threads of this process.

    Args:
        threads: The number of items at a time.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def map(self, items: Sequence[ItemT], work: Callable[[ItemT], None]) -> None:
        """Calls ``work`` once for each item, in their order with one thread."""
        from dspy.utils.parallelizer import ParallelExecutor

        if self.threads == 1:
            for item in items:
                work(item)
            return
        # dspy.Evaluate would start a conversation a second time when it takes longer than two minutes.
        executor = ParallelExecutor(num_threads=self.threads, max_errors=1, disable_progress_bar=True, timeout=0)
        with _quiet_dspy():
            executor.execute(work, items)


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
