"""The interface of an engine, and of the work that it runs.

    engine.run(answer, conversations, keep, done=results.done, settings={"lm": lm})

The work of an item is a generator: a conversation's turns come one by one, and each is handed on at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

Work: TypeAlias = Callable[[ItemT, Sequence[ResultT]], Iterator[ResultT]]
"""Yields the results of an item that are not done, given those that are. An engine may send it to other processes."""

Take: TypeAlias = Callable[[ResultT], None]
"""Receives each result in the calling process, perhaps from several threads at once."""

Done: TypeAlias = Callable[[ItemT], Sequence[ResultT]]
"""Returns the results of an item that were taken."""


class Engine(Protocol):
    """Runs work for each of many items."""

    @property
    def description(self) -> Mapping[str, Any]:
        """Its settings, for the run."""

    def run(
        self,
        work: Work[ItemT, ResultT],
        items: Sequence[ItemT],
        take: Take[ResultT],
        *,
        done: Done[ItemT, ResultT] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Runs ``work`` for each item, and returns after the last result was taken; Ctrl-C ends it early.

        The first error of ``work`` or ``take`` is raised, and no further item is begun then.

        Args:
            work: The work.
            items: The items.
            take: Called with each result.
            done: The results of an item that need no work; by default none.
            settings: Settings of ``dspy.context`` for the work, such as the language model.
        """
