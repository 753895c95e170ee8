"""Calls of a model of an API at the same time, in the order of what is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def concurrently(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yields what a function returns for each item, in their order; its first exception is raised here.

    Each call has a copy of the context, so settings of DSPy and recorders of calls hold in all threads.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        for future in [pool.submit(copy_context().run, function, item) for item in items]:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
