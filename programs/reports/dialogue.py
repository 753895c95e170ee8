"""A report as something to hold a conversation with: any program for reports, its references spelled out by the graph.

>>> conversation = Conversation(ReportTurns(program, report, references))
>>> conversation.ask("what was the net income in 2009?").answer
'103102'
>>> conversation.ask("and in 2008?").resolution.canonical
'what was the net income in 2008?'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kg.coreference import ReferenceModel, Resolution, resolve_report
from kg.graphs import ContextConfig, GraphContext, GraphContextRetriever, MemoryStore, TurnEntities
from kg.reports import Report, ReportStore, report_base
from programs.reports.conversation import ConversationQA, ConversationState
from programs.turns import (
    Exchange,
    Turn,
    history_records,
    read_histories,
    read_resolution,
    read_turn,
    resolution_record,
    turn_record,
)
from programs.wording import written_answer


class ReportTurns:
    """The turn program over a report.

    Args:
        program: Any program for conversations about reports.
        report: The report.
        references: Which earlier turns a question uses.
        config: How much graph context a turn gets.

    Raises:
        FinpathError: The report's graph cannot be built.
    """

    kind = "report"

    def __init__(
        self,
        program: ConversationQA,
        report: Report,
        references: ReferenceModel,
        config: ContextConfig | None = None,
    ) -> None:
        self.program = program
        self.report = report
        self.references = references
        self.source = report.id
        self._start = program.start(report)
        store = MemoryStore()
        ReportStore(store).put(program.turn.reader.graph_of(self._start.index))
        self.retriever = GraphContextRetriever(store, config)

    def begin(self) -> ConversationState:
        """See :class:`programs.turns.conversation.TurnProgram`."""
        return self._start

    def reply(
        self, state: ConversationState, question: str, exchanges: Sequence[Exchange]
    ) -> tuple[ConversationState, Exchange]:
        """See :class:`programs.turns.conversation.TurnProgram`."""
        past = [turn.past() for turn in state.turns]
        canonicals = [one.resolution.canonical for one in exchanges]
        resolution = resolve_report(question, past, canonicals, state.index, self.references)
        state = self.program.ask(state, question)
        return state, self._exchange(state.turns[-1], resolution, self._context(state))

    def record(self, state: ConversationState, exchanges: Sequence[Exchange]) -> Mapping[str, Any]:
        """See :class:`programs.turns.conversation.TurnProgram`; kept histories included."""
        return {
            "turns": [turn_record(turn) for turn in state.turns],
            "resolutions": [resolution_record(one.resolution) for one in exchanges],
            "histories": history_records(state.histories),
        }

    def restore(self, record: Mapping[str, Any]) -> tuple[ConversationState, tuple[Exchange, ...]]:
        """See :class:`programs.turns.conversation.TurnProgram`."""
        state = self._start
        exchanges = []
        for one, resolved in zip(record["turns"], record["resolutions"], strict=True):
            state = self.program.with_turn(state, read_turn(one))
            exchanges.append(self._exchange(state.turns[-1], read_resolution(resolved), self._context(state)))
        questions = [turn.question for turn in state.turns]
        histories = read_histories(record["histories"], state.index, questions)
        return replace(state, histories=histories), tuple(exchanges)

    def _exchange(self, turn: Turn, resolution: Resolution, context: GraphContext) -> Exchange:
        answer = "" if turn.answer is None else turn.words or written_answer(turn)
        return Exchange(turn.question, resolution, answer, turn.failure, turn.message, context, turn)

    def _context(self, state: ConversationState) -> GraphContext:
        """The instances whose figures the latest answers used, with all that the graph has of them."""
        base = report_base(self.report.id)
        known = {one.entity for one in self._start.index.observations}  # what was read from the text is in no store
        turns = []
        for turn in state.turns:
            places = state.index.align(turn.derivation, turn.question) if turn.derivation is not None else ()
            entities = [state.index.observations[place].entity for place in places]
            nodes = dict.fromkeys(f"{base}#{entity}" for entity in entities if entity in known)
            turns.append(TurnEntities(results=tuple(nodes)))
        return self.retriever.for_turns(turns)
