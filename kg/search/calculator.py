"""The calculator that agents get as a tool: named operations over figures as they are written, in exact decimals.

    >>> calculate("percentage_change", ["181001", "206588"])
    Decimal('14.13638598681775238810835299252490')
    >>> calculate("greater", ["5%", "0.04"])
    'yes'

``N%`` is read as N/100, a program's constant (``const_100``) as its number. ``percentage_change`` is in percent, from
the first figure to the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from functools import reduce
from typing import Any, Literal, cast, get_args

from kg.errors import QueryError, UndefinedResult
from kg.search.steps import BINARY_OPERATIONS, LONG_OPERATIONS, Answer, Constant, Number
from kg.text import nearest

CalculatorOperation = Literal[
    "add", "subtract", "multiply", "divide", "percentage_change", "average", "sum", "min", "max", "greater", "exp"
]

_CONTEXT = Context(prec=34, traps=[DivisionByZero, InvalidOperation, Overflow])
_REPEATED = ("add", "multiply")
"""Operations over two or more figures."""


def calculate(operation: CalculatorOperation, values: Sequence[str | int | float | Decimal]) -> Answer:
    """Calculates with two figures.

    ``add`` and ``multiply`` take two or more, ``average``, ``sum``, ``min`` and ``max`` one or more.

    Args:
        operation: The operation's name.
        values: Figures, as numbers or as they are written: ``206588``, ``4.02%``, ``-26``, ``const_100``.

    Raises:
        QueryError: The operation does not exist, a value is no number, or there are too few or too many.
        UndefinedResult: The arithmetic has no result, such as a division by zero.
    """
    if operation not in get_args(CalculatorOperation):
        raise QueryError(f"there is no operation {operation!r}; {nearest(operation, get_args(CalculatorOperation))}")
    numbers = [_number(value) for value in values]
    _check_count(operation, len(numbers))
    try:
        with localcontext(_CONTEXT):
            if operation in LONG_OPERATIONS:
                return LONG_OPERATIONS[operation](numbers)
            if operation == "percentage_change":
                return (numbers[1] - numbers[0]) / numbers[0] * 100
            return reduce(cast("Callable[[Any, Any], Any]", BINARY_OPERATIONS[operation]), numbers)
    except (DivisionByZero, InvalidOperation, Overflow) as error:
        written = ", ".join(map(str, values))
        raise UndefinedResult(f"{operation}({written}) has no result") from error


def _check_count(operation: CalculatorOperation, count: int) -> None:
    if operation in LONG_OPERATIONS and count < 1:
        raise QueryError(f"{operation} takes at least 1 value, got 0")
    if operation in _REPEATED and count < 2:
        raise QueryError(f"{operation} takes at least 2 values, got {count}")
    if operation not in (*LONG_OPERATIONS, *_REPEATED) and count != 2:
        raise QueryError(f"{operation} takes 2 values, got {count}")


def _number(value: str | int | float | Decimal) -> Decimal:
    text = str(value).strip().replace(",", "").removeprefix("$").strip()
    try:
        number = Constant(text).value if text.startswith("const_") else Number(text).value
    except InvalidOperation as error:
        raise QueryError(f"{value!r} is not a number") from error
    if not number.is_finite():
        raise QueryError(f"{value!r} is not a number")
    return number
