"""The tools of the agent, on the report's graph and for calculations, with a record of every call.

Each figure, result and earlier answer gets a short name, and a named answer has its derivation over figures of the
report. Any other number is refused. A call returns text, also for an error.

    >>> session = Session(index, ontology, question, past)
    >>> session.call("query_kg", {"entity_type": "CashFlow", "property": "net_income", "filters": {"year": "2009"}})
    'f1 = 103102 thousand (2009, net income)'
    >>> session.call("calculate", {"operation": "subtract", "values": ["f1", "r2c2"]})
    'r1 = -1119, subtract of f1, r2c2'
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dspy
from pydantic import ValidationError

from kg.calculations import Candidate, ReportIndex
from kg.errors import FinpathError, QueryError
from kg.reports import Observation, Ontology
from kg.search import PastTurn
from kg.text import nearest
from programs.lm import plain_text
from programs.turns import ToolCall
from programs.wording import written_number, written_quantity
from programs.worlds.page import IDENTIFIER, NamedCalculation, PageFigures, read_calculation

TOOLS = ("query_kg", "calculate", "list_entities", "introspect_ontology", "finish")
"""The names of the tools, each a method of :class:`Session`."""

SHOWN = 10
"""The most figures that one query shows."""

OntologyAction = Literal["list_types", "get_properties"]
_FILTERS = {"year": "period", "entity": "entity", "section": "section", "column": "column_label", "row": "label"}
_LONGEST = 400
_NAME = re.compile(r"\b[fr]\d+\b")
_PERCENTAGE_CHANGE = "percentage_change"


@dataclass(frozen=True)
class Finding:
    """A figure or a result.

    Attributes:
        expression: Its calculation over identifiers of the page.
        value: Its value as the model is shown it.
        words: The value with its description.
    """

    expression: str
    value: str
    words: str


class Session:
    """One question, and what the tools did for it.

    Args:
        index: The report's index.
        ontology: The ontology, whose labels name properties too.
        question: The question.
        past: The earlier turns; their answers have the names ``a1``, ``a2``, ... by their place.

    Attributes:
        findings: Figures (``f1``, ``f2``, ...) and results (``r1``, ...) by name.
        calls: Every call of a tool.
        answer: The argument of ``finish``.
    """

    def __init__(self, index: ReportIndex, ontology: Ontology, question: str, past: Sequence[PastTurn]) -> None:
        self.index, self.question, self.past = index, question, tuple(past)
        self.findings: dict[str, Finding] = {}
        self.calls: list[ToolCall] = []
        self.answer: Candidate | None = None
        self._ontology, self._figures = ontology, PageFigures(index)
        self._observations = [observation for observation in index.observations if not observation.in_header]

    def __repr__(self) -> str:
        return f"Session({self.question!r})"

    def introspect_ontology(self, action: OntologyAction, entity_type: str | None = None) -> str:
        """Lists the entity types (list_types), or the properties of an entity type (get_properties)."""
        if action == "list_types":
            return self._names("entity_type", self._observations)
        return self._names("property", self._of_type(entity_type or ""))

    def list_entities(self, entity_type: str) -> str:
        """Lists the instances of an entity type, such as CashFlow_2009."""
        return self._names("entity", self._of_type(entity_type))

    def query_kg(
        self,
        entity_type: str,
        property: str | None = None,  # noqa: A002 - what an agent calls it
        filters: Mapping[str, Any] | None = None,
    ) -> str:
        """Finds figures of an entity type; filters may hold year, entity, section, column and row."""
        observations = self._of_type(entity_type)
        if property is not None:
            names = {property.removeprefix("kg:"), self._ontology.property_for(property.removeprefix("kg:"))}
            known = [observation for observation in observations if observation.property in names]
            if not known:
                others = [other for other in self._observations if other.property in names]
                elsewhere = f"; {self._names('entity_type', others)} has {property}" if others else ""
                problem = nearest(property, {observation.property for observation in observations})
                raise QueryError(f"{entity_type} has no property {property!r}; {problem}{elsewhere}")
            observations = known
        for name, value in (filters or {}).items():
            if name not in _FILTERS:
                raise QueryError(f"there is no filter {name!r}; {nearest(name, _FILTERS)}")
            if value is None:
                continue
            values = {str(getattr(observation, _FILTERS[name])): observation for observation in observations}
            if str(value) not in values:
                raise QueryError(f"{property or entity_type} has no {name} {value!r}; {nearest(str(value), values)}")
            observations = [found for found in observations if str(getattr(found, _FILTERS[name])) == str(value)]
        lines = [self._figure(observation) for observation in observations[:SHOWN]]
        more = ["there are more: name a property, or a year in filters"] if len(observations) > SHOWN else []
        return "; ".join([*lines, *more])

    def calculate(self, operation: str, values: list[str | int | float]) -> str:
        """Calculates with what was found."""
        operands = [self._expression(value) for value in values]
        expression = f"{operation}({', '.join(operands)})"
        if operation == _PERCENTAGE_CHANGE:
            if len(operands) != 2:
                raise QueryError(f"{operation} takes 2 values, got {len(operands)}")
            expression = f"divide(subtract({operands[1]}, {operands[0]}), {operands[0]})"
        answer = self._read(expression).answer
        if operation == _PERCENTAGE_CHANGE and not isinstance(answer, str):
            value = f"{written_number(answer * 100)}%"
        else:
            value = written_number(answer)
        return self._added("r", expression, value, f"{value}, {operation} of {', '.join(map(str, values))}")

    def finish(self, answer: str | int | float) -> str:
        """Ends with the figure or result that is the answer."""
        self.answer = self.candidate(answer)
        return "done"

    def candidate(self, answer: object) -> Candidate:
        """Returns the candidate of a name, an identifier, a calculation over such, or a number of the report.

        Raises:
            QueryError: It is none of these, or rests on no figure of the report.
        """
        calculation = self._read(self._expression(answer))
        derivation = calculation.derivation
        by_id = {observation.id: observation.source for observation in self.index.observations}
        sources = [by_id[number.source] for number in derivation.numbers if number.source in by_id]
        return Candidate(derivation, calculation.answer, 0.0, derivation.path, tuple(sources))

    def lines(self) -> str:
        """One line for every figure, result and earlier answer."""
        earlier = [
            f"a{place} = {written_number(turn.answer)}, the answer to Q{place}"
            for place, turn in enumerate(self.past, 1)
            if turn.derivation is not None and turn.answer is not None
        ]
        return "\n".join([*earlier, *(f"{name} = {finding.words}" for name, finding in self.findings.items())])

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Calls a tool and records the call; an error is text, with the right arguments where those are wrong."""
        tool = dspy.Tool(getattr(self, name), name=name)
        started = time.perf_counter()
        try:
            output, failed = str(tool(**arguments)), False
        except (FinpathError, ValueError, TypeError, ValidationError) as error:
            known = "" if isinstance(error, FinpathError) else f"; {name} takes {', '.join(tool.args or {})}"
            output, failed = f"error: {plain_text(str(error))[:_LONGEST]}{known}", True
        self.calls.append(ToolCall(name, arguments, output, time.perf_counter() - started, failed))
        return output

    def _figure(self, observation: Observation) -> str:
        expression = f"[{observation.id}]"
        for name, finding in self.findings.items():
            if finding.expression == expression:  # a repeated figure has the same name
                return f"{name} = {finding.words}"
        parts = (observation.period, observation.label, observation.column_label, observation.section)
        about = ", ".join(dict.fromkeys(plain_text(part) for part in parts if part))
        value = written_quantity(observation.quantity)
        return self._added("f", expression, value.partition(" ")[0], f"{value} ({about})")

    def _added(self, letter: str, expression: str, value: str, words: str) -> str:
        name = f"{letter}{sum(known.startswith(letter) for known in self.findings) + 1}"
        self.findings[name] = Finding(expression, value, words)
        return f"{name} = {words}"

    def _expression(self, value: object) -> str:
        """Returns a value with expressions in place of names; a number that was shown is that finding."""
        text = str(value).strip()
        if IDENTIFIER.fullmatch(text):
            return f"[{text}]"
        for finding in reversed(self.findings.values()):
            if text.replace(",", "").strip("$%") == finding.value.strip("%"):
                return finding.expression
        unknown = [name for name in _NAME.findall(text) if name not in self.findings]
        if unknown:
            raise QueryError(f"nothing is named {unknown[0]!r}; there are: {', '.join(self.findings) or 'none'}")
        return _NAME.sub(lambda match: self.findings[match[0]].expression, text)

    def _read(self, expression: str) -> NamedCalculation:
        """Returns a calculation.

        Raises:
            CalculationError: It is not in the language, is over no figure of the page, or has no result.
            QueryError: It is empty.
        """
        calculation = read_calculation(expression, self._figures, self.past, [self.question])
        if calculation is None:
            raise QueryError("a figure, a result or a calculation over such must be named")
        return calculation

    def _of_type(self, entity_type: str) -> list[Observation]:
        """Returns the figures of an entity type, in the order of the document.

        Raises:
            QueryError: There is no such type.
        """
        kind = entity_type.removeprefix("kg:")
        observations = [observation for observation in self._observations if observation.entity_type == kind]
        if not observations:
            known = nearest(kind, {observation.entity_type for observation in self._observations})
            raise QueryError(f"there is no entity type {entity_type!r}; {known}")
        return observations

    @staticmethod
    def _names(field: str, observations: Sequence[Observation]) -> str:
        return ", ".join(sorted({plain_text(getattr(observation, field)) for observation in observations})) or "none"
