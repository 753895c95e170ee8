"""Chats with the replies that a model learns, and their tokens.

>>> token_sequence(Chat(messages, frozenset({2})), engine, 768)["labels"][-4:]
[81, 16, 66, 151645]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

IGNORED = -100
"""The label of a token that is read and not learned: the one that torch's cross-entropy leaves out."""


class Tokeniser(Protocol):
    """The runtime's own template and tokens: :class:`programs.lm.EmbeddedEngine`."""

    def template(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Messages as the model reads them, up to where its reply begins."""

    def token_ids(self, text: str, *, begins: bool = False, marks: bool = False) -> list[int]:
        """The tokens of a text."""


@dataclass(frozen=True)
class Chat:
    """A conversation with a model.

    Attributes:
        messages: Of ``system``, ``user`` and ``assistant`` in turn.
        learned: The places of the replies that are learned; other replies are only read.
        group: The document that the chat is about.
    """

    messages: tuple[Mapping[str, str], ...]
    learned: frozenset[int]
    group: str


def token_sequence(chat: Chat, tokeniser: Tokeniser, longest: int) -> dict[str, list[int]]:
    """The ``input_ids`` and ``labels`` of a chat; turns beyond ``longest`` tokens are left out."""
    tokens: list[int] = []
    labels: list[int] = []
    written, is_learned = "", False

    def read(prompt: str) -> list[int]:
        """The tokens of a prompt after what is written; the first of them ends the reply before."""
        return tokeniser.token_ids(prompt[len(written) :], begins=not written, marks=True)

    for place, message in enumerate(chat.messages):
        if message["role"] != "assistant":
            continue
        prompt = tokeniser.template(chat.messages[:place])
        if not prompt.startswith(written):
            break  # a template that rewrites earlier messages: later turns cannot continue this sequence
        more, reply = read(prompt), tokeniser.token_ids(message["content"])
        if len(tokens) + len(more) + len(reply) + 1 > longest:
            break
        tokens += [*more, *reply]
        labels += [more[0] if is_learned else IGNORED] + [IGNORED] * (len(more) - 1)
        is_learned = place in chat.learned
        labels += reply if is_learned else [IGNORED] * len(reply)
        written = prompt + message["content"]
        following = [*chat.messages[: place + 1], {"role": "user", "content": ""}]
    if written:
        end = read(tokeniser.template(following))[0]
        tokens.append(end)
        labels.append(end if is_learned else IGNORED)
    return {"input_ids": tokens, "labels": labels}
