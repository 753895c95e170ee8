"""Symbolic equality of two programs, as the official program accuracy defines it.

Each literal argument of the gold program (a figure or a constant, as written) becomes a symbol; the other program
must use those literals only, and calculate the same expression of them::

    >>> program_match("add(5, 3), divide(#0, 5)", "add(3, 5), divide(#0, 5)")
    True
    >>> program_match("subtract(5, 3)", "subtract(3, 5)")
    False

``add``, ``subtract``, ``multiply`` and ``divide`` make rational functions of the symbols; two of them are equal when
they agree at a random point of a field of 2**127 - 1 elements. Equal functions always agree there. Different ones agree
with a chance below 10**-30 for a program of up to twenty steps (Schwartz-Zippel lemma). Unlike expanding polynomials,
this takes no longer for a program that squares a sum repeatedly. ``exp``, ``greater``
and the ``table_*`` operations are equal when their arguments are.
"""

from __future__ import annotations

import hashlib

from kg.errors import ProgramError
from kg.search import Derivation, Operand, Step, StepResult

_PRIME = 2**127 - 1


def program_match(program: Derivation | str | None, gold: str) -> bool:
    """Returns whether a program is the gold one but for the order and form of its arithmetic.

    A constant is a literal like any other: ``a/b - const_1`` is not ``(a - b)/b``, since the one has a literal that the
    other lacks, and a look-up equals only the same look-up. The official evaluation has the same rule.

    Args:
        program: A derivation, its text, or ``None`` for a turn without one; a text that cannot be parsed never matches.
        gold: The gold program.

    Raises:
        ProgramError: The gold program cannot be parsed.
    """
    wanted = Derivation.parse(gold)
    if isinstance(program, str):
        try:
            program = Derivation.parse(program)
        except ProgramError:
            return False
    if program is None or program.is_look_up != wanted.is_look_up:
        return False
    if not _literals(program) <= _literals(wanted):
        return False
    try:
        return _value(program) == _value(wanted)
    except ZeroDivisionError:
        # A divisor that is zero whatever its figures are: no function to compare, so only the same text is equal.
        return str(program) == str(wanted)


def _literals(derivation: Derivation) -> set[str]:
    """Returns figures and constants as written, and ``table_*`` steps whole."""
    literals: set[str] = set()
    for step in derivation.steps:
        if step.operation.startswith("table_"):
            literals.add(str(step))
        else:
            literals.update(str(operand) for operand in step.operands if not isinstance(operand, StepResult))
    return literals


def _value(derivation: Derivation) -> int:
    """Returns the derivation's result with every symbol replaced by its own random element of the field."""
    results: list[int] = []
    for step in derivation.steps:
        results.append(_step_value(step, results))
    return results[-1]


def _step_value(step: Step, results: list[int]) -> int:
    if step.operation.startswith("table_"):
        return _element(str(step))
    values = [_operand_value(operand, results) for operand in step.operands]
    match step.operation:
        case "select":
            return values[0]
        case "add":
            return (values[0] + values[1]) % _PRIME
        case "subtract":
            return (values[0] - values[1]) % _PRIME
        case "multiply":
            return values[0] * values[1] % _PRIME
        case "divide":
            if values[1] == 0:
                raise ZeroDivisionError
            return values[0] * pow(values[1], -1, _PRIME) % _PRIME
        case _:
            # exp and greater: a new symbol, the same for the same arguments.
            return _element(f"{step.operation}({values[0]}, {values[1]})")


def _operand_value(operand: Operand, results: list[int]) -> int:
    if isinstance(operand, StepResult):
        return results[operand.index]
    return _element(str(operand))


def _element(symbol: str) -> int:
    """Returns a symbol's element of the field: random over symbols, and the same in every run."""
    return int.from_bytes(hashlib.sha256(symbol.encode()).digest()) % _PRIME
