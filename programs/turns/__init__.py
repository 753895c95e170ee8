"""Turns, the programs that answer them, and conversations: the interface that reports and graphs share."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.turns.codecs import Record, plain, read_exactly, write_exactly
    from programs.turns.conversation import Conversation
    from programs.turns.details import PathDetail, QueryDetail, TextDetail, trace_of
    from programs.turns.program import AnyTurn, AnyWorld, Kept, State, TurnProgram
    from programs.turns.records import history_records, read_histories, read_turn, turn_record
    from programs.turns.turn import Failure, NoAnswerError, PastTurn, Resolution, ToolCall, Turn, Usage
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "AnyTurn",
    "AnyWorld",
    "Conversation",
    "Failure",
    "Kept",
    "NoAnswerError",
    "PastTurn",
    "PathDetail",
    "QueryDetail",
    "Record",
    "Resolution",
    "State",
    "TextDetail",
    "ToolCall",
    "Turn",
    "TurnProgram",
    "Usage",
    "history_records",
    "plain",
    "read_exactly",
    "read_histories",
    "read_turn",
    "trace_of",
    "turn_record",
    "write_exactly",
]
