"""The expenses of a language model over a cluster: one ledger, which all workers ask before each call.

    ledger = ray.remote(Ledger).remote(lm.spent)
    held = lm.copy()
    held.spent = ClusterExpenses(ledger)      # sent to the workers; budget and rate hold over all of them

The ledger knows the calls of each worker that are under way. Those of a lost worker are booked as calls without a
reply, so that they do not hold back the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from kg.errors import LMError
from programs.lm import Budget, Expenses


class Ledger:
    """The one count of calls, tokens and dollars; an actor of the cluster.

    Args:
        spent: The expenses until now.
    """

    def __init__(self, spent: Expenses) -> None:
        self.spent = spent
        self._under_way: Counter[str] = Counter()

    def begin(self, worker: str, model: str, budget: Budget) -> tuple[float, str]:
        """Reserves a call; returns the seconds to wait, and the reason of a refusal, which is empty otherwise."""
        try:
            wait = self.spent.begin(model, budget)
        except LMError as error:
            return 0.0, str(error)
        self._under_way[worker] += 1
        return wait, ""

    def end(self, worker: str, usage: Mapping[str, Any] | None, cost: Decimal | None, answered: bool) -> None:
        """Books a call, unless its worker was given up."""
        if self._under_way[worker]:
            self._under_way[worker] -= 1
            self.spent.end(usage, cost, answered=answered)

    def give_up(self, worker: str) -> None:
        """Books the calls under way of a lost worker."""
        for _ in range(self._under_way.pop(worker, 0)):
            self.spent.end(None, None, answered=False)

    def counts(self) -> Expenses:
        """Returns the expenses."""
        return self.spent


class ClusterExpenses(Expenses):
    """The expenses as a worker sees them: every question goes to the ledger.

    Args:
        ledger: The handle of the ledger's actor.
    """

    def __init__(self, ledger: Any) -> None:
        super().__init__()
        self.ledger = ledger

    def __reduce__(self) -> tuple[type[ClusterExpenses], tuple[Any]]:
        return ClusterExpenses, (self.ledger,)

    def begin(self, model: str, budget: Budget) -> float:
        """Reserves a call; returns the seconds for which it must wait.

        Raises:
            LMError: A cap is reached.
        """
        import ray

        wait, refusal = ray.get(self.ledger.begin.remote(_worker(), model, budget))
        if refusal:
            raise LMError(refusal)
        return float(wait)

    def end(self, usage: Mapping[str, Any] | None, cost: Decimal | None, *, answered: bool) -> None:
        """Books a call."""
        import ray

        ray.get(self.ledger.end.remote(_worker(), usage, cost, answered))

    def figures(self) -> dict[str, float]:
        """The counts of the whole cluster under stable names."""
        import ray

        counts: Expenses = ray.get(self.ledger.counts.remote())
        return counts.figures()


def _worker() -> str:
    import ray

    return str(ray.get_runtime_context().get_actor_id())
