"""Chats as tokens: replies are learned to their end, and everything else is only read."""

from __future__ import annotations

from typing import Any

from optimize.finetuning.chats import IGNORED, Chat, token_sequence

MESSAGES = (
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "xy"},
    {"role": "user", "content": "b"},
    {"role": "assistant", "content": "z"},
)
TEXT = "<user:a/<assistant:xy/<user:b/<assistant:z/"


def _learned(sequence: dict[str, list[int]]) -> str:
    return "".join("/" if label == 3 else chr(label) for label in sequence["labels"] if label != IGNORED)


def test_replies_are_learned_to_their_end(tokeniser: Any) -> None:
    sequence = token_sequence(Chat(MESSAGES, frozenset({1, 3}), ""), tokeniser, 100)
    assert sequence["input_ids"] == tokeniser.token_ids(TEXT, marks=True)
    assert _learned(sequence) == "xy/z/"
    assert all(
        label in (IGNORED, token) for token, label in zip(sequence["input_ids"], sequence["labels"], strict=True)
    )


def test_other_replies_are_read_only(tokeniser: Any) -> None:
    sequence = token_sequence(Chat(MESSAGES, frozenset({3}), ""), tokeniser, 100)
    assert sequence["input_ids"] == tokeniser.token_ids(TEXT, marks=True)
    assert _learned(sequence) == "z/"


def test_turns_beyond_the_length_are_left_out(tokeniser: Any) -> None:
    sequence = token_sequence(Chat(MESSAGES, frozenset({1, 3}), ""), tokeniser, 30)
    assert _learned(sequence) == "xy/"
    assert len(sequence["input_ids"]) == len("<user:a/<assistant:xy/")
    assert token_sequence(Chat(MESSAGES, frozenset({1}), ""), tokeniser, 10) == {"input_ids": [], "labels": []}
