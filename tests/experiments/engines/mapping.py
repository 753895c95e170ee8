"""Plain functions as the work of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from experiments.engines import Engine
from experiments.engines.base import ItemT, ResultT


def map_items(
    engine: Engine,
    work: Callable[[ItemT], ResultT],
    items: Sequence[ItemT],
    keep: Callable[[ResultT], None] | None = None,
) -> list[ResultT]:
    """Returns the result of ``work`` for each item, in their order; ``keep`` is called with each as it comes."""
    results: dict[int, ResultT] = {}

    def take(result: tuple[int, ResultT]) -> None:
        results.update([result])
        if keep is not None:
            keep(result[1])

    engine.run(partial(_numbered, work), list(enumerate(items)), take)
    return [results[place] for place in range(len(items))]


def _numbered(work: Callable[[Any], Any], item: tuple[int, Any], done: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    place, content = item
    if not done:
        yield place, work(content)
