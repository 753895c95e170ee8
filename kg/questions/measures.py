"""Sets of entities compared by numbers: superlatives, thresholds, sums, averages, differences and quotients.

    >>> sets = MeasuredSets(graph)
    >>> largest = sets.extreme(sets.kind(COUNTRY), AREA, sign=1)
    >>> largest.members, largest.basis[:2]
    ({'…#Russia': ()}, ('Russia -> area -> 17098242', 'Turkey -> area -> 783562'))

A measure is a literal property with numbers, a quotient that the graph declares, or a relation, whose ends are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from kg.errors import QueryError
from kg.questions.answer import PropertyValue, plain
from kg.questions.sets import Denotation, PhraseSets, Support
from kg.questions.tagging import DegreeTag

_VACUOUS = 1
"""The cost of a superlative over a single entity."""


class MeasuredSets(PhraseSets):
    """Sets of one graph with comparisons of their numbers."""

    def measure(self, found: Denotation, degree: DegreeTag, named: str | None = None) -> str | None:
        """Returns the property by which an adjective compares a set.

        Args:
            found: The set.
            degree: The adjective.
            named: The property that the question names; ``None`` for the adjective's own.

        Returns:
            The first such property of which a member has a number, or ``None``.
        """
        words = self.graph.lexicon.properties
        options = [prop for prop in ((named,) if named is not None else degree.properties) if not words[prop].temporal]
        return next((prop for prop in options if self._numbers(found, prop)), None)

    def extreme(self, found: Denotation, prop: str, sign: int, rank: int = 1, count: int = 1) -> Denotation | None:
        """Returns the members with the highest values, or the lowest for a negative sign; equal values all count.

        Args:
            found: The set.
            prop: The measure.
            sign: 1 for most, -1 for least.
            rank: 2 for "second largest".
            count: 3 for "three largest".

        Returns:
            The members; ``None`` if the set has too few values.
        """
        numbers = self._numbers(found, prop)
        ranked = sorted(numbers, key=lambda node: -sign * numbers[node])
        values = list(dict.fromkeys(numbers[node] for node in ranked))
        wanted = values[rank - 1 : rank - 1 + count]
        if len(wanted) < count:
            return None
        basis = [fact for node in ranked[: rank + count + 1] for fact in self.stated(node, prop)]
        members = {node: found.members[node] for node in ranked if numbers[node] in wanted}
        best = found.of(members, prop, cost=_VACUOUS if len(numbers) < 2 else 0)
        return replace(best, basis=(*found.basis, *basis))

    def compared(self, subject: Denotation, prop: str, sign: int, bound: Decimal, basis: Support = ()) -> Denotation:
        """Returns the members whose value is above a bound, or below it for a negative sign."""
        members = {
            node: (*subject.members[node], *self.stated(node, prop))
            for node, number in self._numbers(subject, prop).items()
            if (number - bound) * sign > 0
        }
        return replace(subject.of(members, prop), basis=(*subject.basis, *basis))

    def number_of(self, found: Denotation, prop: str) -> tuple[Decimal, Support] | None:
        """Returns the one number that a phrase stands for: its value, or its only member's value of a property."""
        values = found.values if found.values else self._values_of(found, prop)
        single = values[0][0].value if len(values) == 1 else None
        return (single, values[0][1]) if isinstance(single, Decimal) else None

    def combined(self, found: Denotation, *, average: bool) -> Denotation | None:
        """Returns values with their sum or average; ``None`` if they are no numbers."""
        numbers = [value.value for value, _ in found.values if isinstance(value.value, Decimal)]
        if not numbers or len(numbers) < len(found.values):
            return None
        total = sum(numbers, Decimal(0))
        result = total / len(numbers) if average else total
        fact = f"{'average' if average else 'sum'} of {len(numbers)} values = {plain(result)}"
        return replace(found, result=(result, fact))

    def of_two(
        self, first: Denotation, second: Denotation, *, quotient: bool = False, sign: int = 1
    ) -> Denotation | None:
        """Returns two values with their difference or quotient.

        Args:
            first: One value.
            second: The value that is subtracted, or by which the first is divided.
            quotient: Whether to divide.
            sign: -1 to subtract or divide the other way round, 0 for the absolute difference.

        Raises:
            QueryError: The divisor is zero.
        """
        sides = [one.values[0][0].value for one in (first, second) if len(one.values) == 1]
        numbers = [side for side in sides if isinstance(side, Decimal)]
        if len(numbers) != 2:
            return None
        over, under = numbers if sign >= 0 else numbers[::-1]
        if quotient and under == 0:
            raise QueryError("a quotient by zero has no value")
        result = over / under if quotient else over - under
        result = abs(result) if sign == 0 else result
        fact = f"from {plain(numbers[0])} and {plain(numbers[1])}: {plain(result)}"
        return replace(self.union(first, second), result=(result, fact))

    def _numbers(self, found: Denotation, prop: str) -> dict[str, Decimal]:
        known = ((node, self.graph.value(node, prop)) for node in found.members)
        return {node: number for node, number in known if number is not None}

    def _values_of(self, found: Denotation, prop: str) -> list[tuple[PropertyValue, Support]]:
        return [
            (PropertyValue(node, prop, number), (*found.members[node], *self.stated(node, prop)))
            for node, number in self._numbers(found, prop).items()
        ]


def single_values(found: Denotation) -> Iterable[Denotation]:
    """Splits a set of values into sets of one value each."""
    return (replace(found, values=(one,)) for one in found.values)
