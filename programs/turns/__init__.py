"""Turns, the programs that answer them, and conversations: the interface that reports and graphs share."""

from programs.turns.conversation import Conversation, Exchange, TurnProgram, read_resolution, resolution_record
from programs.turns.details import EntityDetail, PathDetail
from programs.turns.program import AnyTurn, State, World
from programs.turns.records import Record, history_records, plain, read_exactly, read_histories, read_turn, turn_record
from programs.turns.steps import Step, Steps, arun, in_thread, run, step
from programs.turns.turn import FactReading, Failure, NoAnswerError, PastTurn, ToolCall, Turn, Usage
from programs.turns.votes import Vote, majority

__all__ = [
    "AnyTurn",
    "Conversation",
    "EntityDetail",
    "Exchange",
    "FactReading",
    "Failure",
    "NoAnswerError",
    "PastTurn",
    "PathDetail",
    "Record",
    "State",
    "Step",
    "Steps",
    "ToolCall",
    "Turn",
    "TurnProgram",
    "Usage",
    "Vote",
    "World",
    "arun",
    "history_records",
    "in_thread",
    "majority",
    "plain",
    "read_exactly",
    "read_histories",
    "read_resolution",
    "read_turn",
    "resolution_record",
    "run",
    "step",
    "turn_record",
]
