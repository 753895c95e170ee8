"""What language models may use up while a program is compiled, by what they are asked for, and what they did.

    >>> ledger = Ledger({"task": RoleBudget(calls=300, tokens=90_000, usd=None)})
    >>> lm = ledger.hold("task", lm)            # the same model, held to the budget
    >>> ledger.figures()["task_lm_calls"]
    212

When a budget is spent, the next call raises :class:`BudgetSpent`, which nothing between the model and
:func:`optimize.compiling.compile.compile_program` catches: neither the program, which turns errors of a model into
failed turns, nor an optimizer, which would go on with candidates that are scored on failures.
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
    """The stated budget is used up; not an ``Exception``, so that it ends an optimizer at once."""


class _RoleExpenses(Expenses):
    """Counts for one role and for all together, and stops the compile where a cap of either is reached."""

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
        budgets: What each role may use up; a role without one is not held to any of its own.
        before: What was used up before the compile was stopped and taken up again, as :meth:`figures` has it.
        cap: What all roles together may use up, by the user.
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
        """A copy of a model that counts for ``role`` and is held to its budget.

        Args:
            role: What it is asked for.
            lm: The model; one that does not count (no :class:`programs.lm.guarded.GuardedLM`) is returned as it is.
        """
        if not isinstance(lm, GuardedLM):
            return lm
        held: GuardedLM = lm.copy()
        stated = self.budgets.get(role)
        # A model that costs nothing has no budget in dollars, which none could keep to.
        usd = stated.usd if stated is not None and stated.usd else None
        held.budget = self._left(Budget(stated.calls, stated.tokens, usd) if stated is not None else None, (role,))
        held.spent = self._spent[role] = _RoleExpenses(self._together, self._cap)
        return held

    def _left(self, cap: Budget | None, roles: Iterable[str]) -> Budget:
        """A cap less what was spent before; at least as much as one call begins with."""
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
        """Lets no further call through: threads that were left behind when a compile was stopped would go on asking."""
        for spent in self._spent.values():
            spent.is_closed = True

    def figures(self) -> dict[str, float]:
        """What each role took, with what it took before: ``task_lm_calls``, ``prompt_lm_prompt_tokens`` and so on."""
        found = dict(self.before)
        for role, spent in self._spent.items():
            if role not in self.budgets and not spent.calls and not spent.cache_hits:
                continue
            for name, value in spent.figures().items():
                key = f"{role}_{name}"
                found[key] = self.before.get(key, 0.0) + value
        return found
