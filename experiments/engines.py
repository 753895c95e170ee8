"""The work of an evaluation, mapped over threads of this process.

run(answer, conversations, keep, threads=8, settings={"lm": lm})

The work of an item is a generator: a conversation's turns come one by one, and each is handed on at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import Any, TypeVar

import dspy
from threadpoolctl import threadpool_limits

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


def run(
    work: Callable[[ItemT], Iterable[ResultT]],
    items: Sequence[ItemT],
    take: Callable[[ResultT], None],
    *,
    threads: int = 1,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Runs ``work`` for each item, and returns after the last result was taken; Ctrl-C ends it early.

    The first error of ``work`` or ``take`` is raised, and no further item is begun then.

    Args:
        work: Yields the results of an item.
        items: The items; one thread takes them in their order.
        take: Called with each result, perhaps from several threads at once.
        threads: Items at a time, at least 1.
        settings: Settings of ``dspy.context`` for the work, such as the language model.
    """
    stop = threading.Event()

    def answer(item: ItemT) -> None:
        if stop.is_set():
            return
        try:
            for result in work(item):
                if stop.is_set():
                    return
                take(result)
        except BaseException:
            stop.set()
            raise

    # The matrices are small, and threads that each ask BLAS for more threads wait for each other.
    with dspy.context(**(settings or {})), threadpool_limits(limits=1, user_api="blas"):
        pool = ThreadPoolExecutor(threads)
        try:
            for future in as_completed([pool.submit(copy_context().run, answer, item) for item in items]):
                future.result()
        finally:  # other threads start no further result, and are not waited for
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
