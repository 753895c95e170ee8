"""The tools of the agent, on the report's graph and for calculations, with a record of every call.

A call returns text, also for an error, which names the problem and the known names.

    >>> now = Session(tools, index, question, past)
    >>> now.call("query_kg", {"entity_type": "CashFlow", "property": "net_income", "filters": {"year": "2009"}})
    'f1 = 103102 thousand (2009, net income)'
    >>> now.calls[0].tool, now.calls[0].failed
    ('query_kg', False)
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import dspy
from pydantic import ValidationError

from kg.candidates import Candidate
from kg.derivations import PastTurn
from kg.errors import FinpathError, QueryError
from kg.figures import GraphTools, OntologyAction, ReportIndex
from programs.agent.findings import Findings
from programs.lm import plain_text
from programs.turns import ToolCall

TOOLS = ("query_kg", "calculate", "list_entities", "introspect_ontology", "finish")
"""The names of the tools, each a method of :class:`Session`."""

SHOWN = 10
"""The most figures that one query shows."""

_LONGEST = 400
_current: ContextVar[Session] = ContextVar("finpath_agent_session")


class Session:
    """One question, and what the tools did for it.

    Args:
        tools: The tools over the report's graph.
        index: The report's index.
        question: The question.
        past: The earlier turns.

    Attributes:
        found: Figures and results by name.
        calls: Every call of a tool.
        answer: The argument of ``finish``.
    """

    def __init__(self, tools: GraphTools, index: ReportIndex, question: str, past: Sequence[PastTurn]) -> None:
        self.tools = tools
        self.index = index
        self.question = question
        self.found = Findings(index, past)
        self.calls: list[ToolCall] = []
        self.answer: Candidate | None = None
        self._by_source = {observation.source: observation for observation in index.reported()}

    def introspect_ontology(self, action: OntologyAction, entity_type: str | None = None) -> str:
        """Lists the entity types (list_types), or the properties of an entity type (get_properties)."""
        return _listed(self.tools.introspect_ontology(action, entity_type))

    def list_entities(self, entity_type: str) -> str:
        """Lists the instances of an entity type, such as CashFlow_2009."""
        return _listed(self.tools.list_entities(entity_type))

    def query_kg(
        self,
        entity_type: str,
        property: str | None = None,  # noqa: A002 - what an agent calls it
        filters: Mapping[str, Any] | None = None,
    ) -> str:
        """Finds figures of an entity type; filters may hold year, entity, section, column and row."""
        wanted = {name: str(value) for name, value in (filters or {}).items() if value is not None}
        try:
            figures = self.tools.query_kg(entity_type, wanted, property, SHOWN + 1)
        except QueryError as error:
            raise QueryError(f"{error}{self._elsewhere(entity_type, property)}") from error
        observations = [self._by_source[figure.source] for figure in figures if figure.source in self._by_source]
        if not observations:
            return f"no figures{self._elsewhere(entity_type, property)}"
        lines = [str(self.found.figure(observation)) for observation in observations[:SHOWN]]
        more = ["there are more: name a property, or a year in filters"] if len(observations) > SHOWN else []
        return "; ".join([*lines, *more])

    def calculate(self, operation: str, values: list[str | int | float]) -> str:
        """Calculates with what was found."""
        return str(self.found.calculated(operation, values, self.question))

    def finish(self, answer: str | int | float) -> str:
        """Ends with the figure or result that is the answer."""
        self.answer = self.found.answered(answer, self.question)
        return "done"

    def _elsewhere(self, entity_type: str, name: str | None) -> str:
        """Returns the entity types that have a property, for a message."""
        if name is None:
            return ""
        bare, kind = name.removeprefix("kg:"), entity_type.removeprefix("kg:")
        others = [
            other
            for other in self.tools.introspect_ontology("list_types")
            if other != kind and bare in self.tools.introspect_ontology("get_properties", other)
        ]
        return f"; {', '.join(others)} has {bare}" if others else ""

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


@contextmanager
def session(new: Session) -> Iterator[Session]:
    """Makes a session the one that the agent works on in this context."""
    token = _current.set(new)
    try:
        yield new
    finally:
        _current.reset(token)


def current() -> Session:
    """The session of this context."""
    return _current.get()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
