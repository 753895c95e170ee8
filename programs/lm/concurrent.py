"""Calls of a model of an API at the same time, in the order of what is asked.

>>> list(concurrently(str.upper, ["a", "b"], threads=2))
['A', 'B']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def concurrently(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yields what a function returns for each item, in their order.

    Each call has a copy of the context, so settings of DSPy and recorders of calls hold in all threads.

    Args:
        function: The function; if it raises, its exception is raised here and calls that have not begun are left out.
        items: The items.
        threads: Calls at a time; 1 makes them in this thread.
    """
    if threads == 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        waiting = [pool.submit(copy_context().run, function, item) for item in items]
        for future in waiting:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
