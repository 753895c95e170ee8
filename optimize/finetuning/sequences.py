"""Chat examples as tokens: what a model is shown, and what it learns at each place.

A reply's tokens are learned among all tokens that replies have. Where the reply has rivals (other calculations for the
same question), each token is also learned among those with which a rival goes on: the probabilities by which
:mod:`programs.lm.choice` later compares them. So the choice among candidates is trained at no cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

Messages = Sequence[Mapping[str, str]]


class Tokeniser(Protocol):
    """The runtime's own template and tokens: :class:`programs.lm.engine.EmbeddedEngine`."""

    def template(self, messages: Messages) -> str:
        """Messages as the model reads them, up to where its reply begins."""

    def token_ids(self, text: str, *, begins: bool = False, marks: bool = False) -> list[int]:
        """The tokens of a text."""


@dataclass(frozen=True)
class Reply:
    """A reply that is learned.

    Attributes:
        text: The reply.
        rivals: Other replies to the same messages, all wrong.
        weight: Of its loss.
    """

    text: str
    rivals: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True)
class ChatExample:
    """A conversation with the replies that are learned.

    Attributes:
        messages: Of ``system``, ``user`` and ``assistant`` in turn; the last one is a reply.
        replies: The learned replies, by the places of their messages. Other replies are only read.
        group: The document that the example is about; empty for none. One document is on one side of a split.
    """

    messages: tuple[Mapping[str, str], ...]
    replies: Mapping[int, Reply]
    group: str = ""

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> ChatExample:
        """Reads a record in the chat format of DSPy's ``BootstrapFinetune``: all its replies are learned."""
        messages = tuple({"role": one["role"], "content": one["content"] or ""} for one in record["messages"])
        places = [place for place, one in enumerate(messages) if one["role"] == "assistant"]
        return cls(messages, {place: Reply(messages[place]["content"]) for place in places})


@dataclass(frozen=True)
class Target:
    """A token that is learned.

    Attributes:
        place: The place of the token before it.
        token: The token.
        branches: All tokens with which the reply and its rivals go on, itself among them; empty where it has none.
        reply: The number of the reply in its sequence.
        weight: Of its loss.
    """

    place: int
    token: int
    branches: tuple[int, ...]
    reply: int
    weight: float


@dataclass
class TokenSequence:
    """A chat example as tokens, or several whose common beginning comes once.

    Attributes:
        tokens: The tokens.
        targets: Those that are learned.
        group: The document that the example is about.
        parts: The tokens of a common beginning and of what each example adds to it; none for one example.
    """

    tokens: list[int] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    group: str = ""
    parts: tuple[int, ...] = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """The tokens of each part."""
        return self.parts or (len(self.tokens),)

    @property
    def replies(self) -> int:
        """The number of learned replies."""
        return len({one.reply for one in self.targets})


class MemoTokeniser:
    """A tokeniser that remembers texts: replies and rivals recur.

    Args:
        tokeniser: Asked for what is new.
    """

    def __init__(self, tokeniser: Tokeniser) -> None:
        self._tokeniser = tokeniser
        self._known: dict[tuple[str, bool, bool], list[int]] = {}
        self.end = end_token(tokeniser)

    def template(self, messages: Messages) -> str:
        """Messages as the model reads them, up to where its reply begins."""
        return self._tokeniser.template(messages)

    def token_ids(self, text: str, *, begins: bool = False, marks: bool = False) -> list[int]:
        """The tokens of a text."""
        key = text, begins, marks
        if key not in self._known:
            self._known[key] = self._tokeniser.token_ids(text, begins=begins, marks=marks)
        return list(self._known[key])


def tokenised(example: ChatExample, tokeniser: MemoTokeniser, longest: int) -> TokenSequence:
    """The tokens of a chat example; turns beyond ``longest`` tokens are left out."""
    found = TokenSequence(group=example.group)
    written = ""
    for place, message in enumerate(example.messages):
        if message["role"] != "assistant":
            continue
        prompt = tokeniser.template(example.messages[:place])
        if not prompt.startswith(written):
            break  # a template that rewrites earlier messages: later turns cannot continue this sequence
        more = tokeniser.token_ids(prompt[len(written) :], begins=not written, marks=True)
        reply = tokeniser.token_ids(message["content"])
        if len(found.tokens) + len(more) + len(reply) + 1 > longest:
            break
        found.tokens += more
        if place in example.replies:
            _learn(found, [*reply, tokeniser.end], example.replies[place], tokeniser)
        found.tokens += reply
        written = prompt + message["content"]
    return found


def joined(sequences: Sequence[TokenSequence]) -> TokenSequence:
    """Several sequences as one: their common beginning comes once, then what each adds to it."""
    if len(sequences) == 1:
        return sequences[0]
    shared = min(min((target.place for target in one.targets), default=len(one.tokens) - 1) for one in sequences)
    first = sequences[0].tokens
    while any(one.tokens[:shared] != first[:shared] for one in sequences):
        shared -= 1
    found = TokenSequence(first[:shared], group=sequences[0].group)
    replies = 0
    for one in sequences:
        moved = len(found.tokens) - shared
        found.tokens += one.tokens[shared:]
        found.targets += [
            replace(target, place=target.place + moved, reply=target.reply + replies) for target in one.targets
        ]
        replies += one.replies
    found.parts = (shared, *(len(one.tokens) - shared for one in sequences))
    return found


def _learn(found: TokenSequence, reply: Sequence[int], learned: Reply, tokeniser: MemoTokeniser) -> None:
    rivals = [(*tokeniser.token_ids(rival), reply[-1]) for rival in dict.fromkeys(learned.rivals)]
    number, start = found.replies, len(found.tokens) - 1
    for place, token in enumerate(reply):
        rivals = [one for one in rivals if one[:place] == tuple(reply[:place]) and len(one) > place]
        branches = sorted({token, *(one[place] for one in rivals)})
        several = tuple(branches) if len(branches) > 1 else ()
        found.targets.append(Target(start + place, token, several, number, learned.weight))


def end_token(tokeniser: Tokeniser) -> int:
    """The token that ends a reply in the model's template."""
    roles = ("user", "assistant", "user")
    text = tokeniser.template([{"role": role, "content": f"part-{place}"} for place, role in enumerate(roles)])
    return tokeniser.token_ids(text.partition("part-1")[2], marks=True)[0]
