"""Coverage of gold operands: the figures of gold programs that the report graphs contain.

    >>> stands_in("-26", "$ -26 ( 26 )"), stands_in("26", "$ 1926")
    (True, False)

**The rule.** Each different operand of a conversation's gold programs counts once. It is a *table operand* if its
digits occur in a cell, and otherwise a *text operand*. Text operands without any occurrence are also counted as
``absent_operands``. A table operand is *covered* if the value of a cell's observation equals it or its negation;
a text operand is covered by the observation of a sentence. Signs are ignored because programs write losses with and
without them; ``N%`` is compared as N. Digits are searched in the plain text, independently of the graph's reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from kg.derivations import Derivation
from kg.errors import ProgramError
from kg.report_graphs import CellSource, ReportGraph


@dataclass(frozen=True)
class OperandCoverage:
    """Counts of gold operands; they add up over reports.

    Attributes:
        table: Operands whose digits occur in a cell.
        table_covered: Those of them that a cell's observation holds.
        text: All other operands.
        text_covered: Those of them that a sentence's observation holds.
        absent: Operands (counted in ``text`` too) whose digits do not occur in the report.
        missed: Operands that are not covered, each with its place.
    """

    table: int = 0
    table_covered: int = 0
    text: int = 0
    text_covered: int = 0
    absent: int = 0
    missed: tuple[str, ...] = ()

    def __add__(self, other: OperandCoverage) -> OperandCoverage:
        return OperandCoverage(
            self.table + other.table,
            self.table_covered + other.table_covered,
            self.text + other.text,
            self.text_covered + other.text_covered,
            self.absent + other.absent,
            self.missed + other.missed,
        )


def operands(programs: Iterable[str]) -> list[str]:
    """The different figures of some programs in the order of their first use; unreadable programs have none."""
    found: dict[str, None] = {}
    for program in programs:
        try:
            numbers = Derivation.parse(program).numbers
        except ProgramError:
            continue
        found |= dict.fromkeys(number.text for number in numbers)
    return list(found)


def stands_in(operand: str, text: str) -> bool:
    """Whether the operand's digits, without sign and percent sign, occur in a text as a separate number."""
    digits = operand.lstrip("-").rstrip("%")
    return re.search(rf"(?<!\d)(?<!\d\.){re.escape(digits)}(?!\d|\.\d)", text.replace(",", "")) is not None


def operand_coverage(graph: ReportGraph, programs: Sequence[str]) -> OperandCoverage:
    """Counts the operands of programs that a graph covers, by the module's rule."""
    cells = {abs(o.quantity.value) for o in graph.observations if isinstance(o.source, CellSource)}
    phrases = {abs(o.quantity.value) for o in graph.observations if not isinstance(o.source, CellSource)}
    report = graph.report
    table = " | ".join(" | ".join(row) for row in report.table)
    text = " | ".join(report.sentences)
    total = OperandCoverage()
    for operand in operands(programs):
        value = abs(Decimal(operand.rstrip("%")))
        if stands_in(operand, table):
            covered = value in cells
            missed = () if covered else (f"{report.id}: {operand} in the table",)
            total += OperandCoverage(table=1, table_covered=covered, missed=missed)
        else:
            covered, absent = value in phrases, not stands_in(operand, text)
            missed = () if covered else (f"{report.id}: {operand} {'nowhere' if absent else 'in the text'}",)
            total += OperandCoverage(text=1, text_covered=covered, absent=absent, missed=missed)
    return total
