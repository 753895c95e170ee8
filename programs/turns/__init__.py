"""Turns and conversations about any world."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from programs.turns.conversation import Conversation, Kept, State
    from programs.turns.turn import (
        LONGEST_MESSAGE,
        AnyTurn,
        CallMeter,
        Failure,
        GraphDetail,
        NoAnswerError,
        PastTurn,
        Record,
        Resolution,
        TextDetail,
        ToolCall,
        Turn,
        Usage,
        cached_tokens,
        concurrently,
        failure_of,
        history_records,
        is_embedded,
        metered,
        plain,
        read_exactly,
        read_histories,
        read_turn,
        suited_adapter,
        trace_of,
        turn_record,
        write_exactly,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)
