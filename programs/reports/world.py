"""A report as a world that questions are asked about.

state = program.start(ReportWorld(report, references))
program.ask(state, "what was the net income in 2009?").turns[-1].words
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kg.candidates import START, WeightedHistory
from kg.figures import ReportIndex
from kg.graphs import ContextConfig, GraphContext, TurnEntities
from kg.report_graphs import ReportGraph, report_base
from kg.reports import Report
from programs.turns import AnyTurn, State, history_records

if TYPE_CHECKING:
    from kg.coreference import ReferenceModel


@dataclass(frozen=True, eq=False)
class ReportWorld:
    """A report.

    Attributes:
        report: The report.
        references: The model of the earlier turns that a question uses. Without one, no references are spelled out and
            turns have no graph context.
        context: The size of a turn's graph context.
    """

    report: Report
    references: ReferenceModel | None = None
    context: ContextConfig | None = None
    kind = "report"

    @property
    def name(self) -> str:
        """The report's id."""
        return self.report.id


@dataclass(frozen=True, kw_only=True)
class ConversationState(State[ReportWorld]):
    """A conversation about a report after some turns.

    Attributes:
        index: The report's index, with the figures that the turns read from its text.
        histories: The histories of own answers with their weights.
        entities: The lookup of graph context, where the world has references.
    """

    index: ReportIndex
    histories: tuple[WeightedHistory, ...] = START
    entities: ReportContext | None = None

    def after(self, turn: AnyTurn) -> ConversationState:
        """See :meth:`programs.turns.program.State.after`: the histories continue as after a failure."""
        histories = tuple(history.after_failure() for history in self.histories)
        return replace(self, turns=(*self.turns, turn), histories=histories)

    def kept(self) -> list[dict[str, Any]]:
        """The histories."""
        return history_records(self.histories)


class ReportContext:
    """The graph context of turns about a report.

    Args:
        graph: The report's graph, without figures that a conversation read.
        config: The size of a context.
    """

    def __init__(self, graph: ReportGraph, config: ContextConfig | None) -> None:
        from kg.graphs import GraphContextRetriever, MemoryStore
        from kg.report_graphs import ReportStore

        store = MemoryStore()
        ReportStore(store).put(graph)
        self.retriever = GraphContextRetriever(store, config)
        self._base = report_base(graph.report.id)
        self._known = {one.entity for one in graph.observations}

    def of(self, turns: Sequence[AnyTurn], index: ReportIndex) -> GraphContext:
        """The instances whose figures the latest answers used, with all their properties."""
        used = []
        for turn in turns:
            places = index.align(turn.derivation, turn.question) if turn.derivation is not None else ()
            entities = [index.observations[place].entity for place in places]
            nodes = dict.fromkeys(f"{self._base}#{entity}" for entity in entities if entity in self._known)
            used.append(TurnEntities(results=tuple(nodes)))
        return self.retriever.for_turns(used)
