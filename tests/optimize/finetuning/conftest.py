"""A tokeniser of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

MARKS = {"<": 1, ">": 2, "/": 3}


class CharacterTokeniser:
    """Each character is a token; a message is ``<role:content/``, and ``<assistant:`` begins a reply."""

    def template(self, messages: Sequence[Mapping[str, str]]) -> str:
        text = "".join(f"<{message['role']}:{message['content']}/" for message in messages)
        return text if messages[-1]["role"] == "assistant" else f"{text}<assistant:"

    def token_ids(self, text: str, *, begins: bool = False, marks: bool = False) -> list[int]:
        return [MARKS[one] if marks and one in MARKS else ord(one) for one in text]


@pytest.fixture
def tokeniser() -> CharacterTokeniser:
    return CharacterTokeniser()
