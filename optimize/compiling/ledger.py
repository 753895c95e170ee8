"""The budgets of the language models of a compile by role, and their use.

    >>> ledger = Ledger({"task": RoleBudget(calls=300, tokens=90_000, usd=None)})
    >>> lm = ledger.hold("task", lm)            # the same model, held to the budget
    >>> ledger.figures()["task_lm_calls"]
    212

After a budget is spent, the next call raises :class:`BudgetSpent`, which nothing between the model and the chain
(:mod:`optimize.compiling.chain`) catches. The program would turn another error into a failed turn, and an optimizer
would continue with candidates that are scored on failures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kg.errors import LMError
from optimize.compiling.plan import RoleBudget
from programs.lm import Budget, Expenses, GuardedLM

if TYPE_CHECKING:
    import dspy


class BudgetSpent(BaseException):
    """The budget is spent; not an ``Exception``, so it ends an optimizer at once."""


class _RoleExpenses(Expenses):
    """Counts for one role and for all together, and stops the compile at the cap of either."""

    def __init__(self, together: Expenses, cap: Budget) -> None:
        super().__init__()
        self.together, self.cap = together, cap
        self.is_closed = False

    def begin(self, model: str, budget: Budget) -> None:
        if self.is_closed:
            raise BudgetSpent("the compile has ended")
        try:
            super().begin(model, budget)
            self.together.begin(model, self.cap)
        except LMError as error:
            raise BudgetSpent(str(error)) from error

    def end(self, usage: Mapping[str, Any] | None, cost: Decimal | None, *, answered: bool) -> None:
        super().end(usage, cost, answered=answered)
        self.together.end(usage, cost, answered=answered)


class Ledger:
    """The budgets and the counts of all roles.

    Args:
        budgets: The limits of each role; a role without one has no limit of its own.
        before: The use before the compile was stopped, as :meth:`figures` returned it.
        cap: The user's limit on all roles together.
    """

    def __init__(
        self,
        budgets: Mapping[str, RoleBudget],
        before: Mapping[str, float] | None = None,
        cap: Budget | None = None,
    ) -> None:
        self.budgets = dict(budgets)
        self.before = dict(before if before is not None else {})
        self._cap = self._left(cap, self.budgets or ("task",))
        self._together = Expenses()
        self._spent: dict[str, _RoleExpenses] = {}

    def hold(self, role: str, lm: dspy.LM) -> dspy.LM:
        """Returns a copy of a model that counts for ``role`` and is held to its budget.

        Args:
            role: Its role.
            lm: The model; one that does not count (no :class:`programs.lm.guarded.GuardedLM`) is returned as it is.
        """
        if not isinstance(lm, GuardedLM):
            return lm
        held: GuardedLM = lm.copy()
        stated = self.budgets.get(role)
        # A model without costs has no budget in dollars.
        usd = stated.usd if stated is not None and stated.usd else None
        held.budget = self._left(Budget(stated.calls, stated.tokens, usd) if stated is not None else None, (role,))
        held.spent = self._spent[role] = _RoleExpenses(self._together, self._cap)
        return held

    def _left(self, cap: Budget | None, roles: Iterable[str]) -> Budget:
        """Returns a cap less the earlier use, and at least the minimum for one call."""
        if cap is None:
            return Budget()
        calls, tokens, usd = (sum(self._before(role, name) for role in roles) for name in ("calls", "tokens", "usd"))
        return Budget(
            calls=None if cap.calls is None else max(cap.calls - int(calls), 1),
            tokens=None if cap.tokens is None else max(cap.tokens - int(tokens), 1),
            usd=None if cap.usd is None else max(cap.usd - Decimal(str(usd)), Decimal("0.000001")),
        )

    def _before(self, role: str, name: str) -> float:
        names = ("prompt_tokens", "completion_tokens") if name == "tokens" else (name,)
        return sum(self.before.get(f"{role}_lm_{one}", 0.0) for one in names)

    def close(self) -> None:
        """Refuses all further calls: threads of a stopped compile would otherwise continue to ask."""
        for spent in self._spent.values():
            spent.is_closed = True

    def figures(self) -> dict[str, float]:
        """Returns the use of each role, the earlier use included: ``task_lm_calls``, ``prompt_lm_prompt_tokens`` ..."""
        found = dict(self.before)
        for role, spent in self._spent.items():
            if role not in self.budgets and not spent.calls and not spent.cache_hits:
                continue
            for name, value in spent.figures().items():
                key = f"{role}_{name}"
                found[key] = self.before.get(key, 0.0) + value
        return found
