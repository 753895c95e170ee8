"""Recorded replies in place of a language model: the same prompts get the same replies, and a changed one is named.

    with dspy.context(**replay_settings(Path("tests/data/transcripts/sample_dev.jsonl"))):
        program(report=report, questions=questions)

A transcript is a file of JSON objects, one a line: ``{"messages": [{"role": …, "content": …}], "reply": "…"}``, that
``tools/record_transcript.py`` writes. A prompt that it does not hold raises an error with the first line that differs
from the nearest recorded prompt, so the effect of every change of a prompt is seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dspy import lm15

from kg.errors import DataError, LMError
from programs.lm import GuardedLM
from programs.turns import suited_adapter

_LONGEST = 160


@dataclass(frozen=True)
class Exchange:
    """A prompt and its reply.

    Attributes:
        messages: The role and the text of each message.
        reply: The text of the reply.
    """

    messages: tuple[tuple[str, str], ...]
    reply: str

    @property
    def prompt(self) -> str:
        """The messages as one text, the role of each on a line of its own."""
        return "\n".join(f"--- {role}\n{text}" for role, text in self.messages)


@dataclass(frozen=True)
class Transcript:
    """Recorded exchanges, in their order."""

    exchanges: tuple[Exchange, ...]

    @classmethod
    def read(cls, path: Path) -> Transcript:
        """Reads a file of :meth:`write`.

        Raises:
            DataError: The file cannot be read, or a line is no exchange.
        """
        found = []
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot be read as UTF-8 text: {error}", file=str(path)) from error
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                try:
                    record = json.loads(line)
                    found.append(Exchange(_messages(record["messages"]), str(record["reply"])))
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                    rule = f"must hold messages and a reply as JSON ({type(error).__name__}: {error})"
                    raise DataError(rule, file=str(path), place=f"line {number}") from error
        return cls(tuple(found))

    @classmethod
    def of_folder(cls, folder: Path) -> Transcript:
        """Reads a folder of requests of the OpenAI protocol (``in/00001.json``) and replies (``out/00001.txt``).

        Requests without a reply, and those of one word that only check the connection, are left out.

        Raises:
            DataError: A request cannot be read.
        """
        found = []
        for path in sorted((folder / "in").glob("*.json")):
            reply = folder / "out" / f"{path.stem}.txt"
            if not reply.is_file():
                continue
            try:
                messages = _messages(json.loads(path.read_text(encoding="utf-8"))["messages"])
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise DataError(f"is no request ({type(error).__name__}: {error})", file=str(path)) from error
            if len(messages) > 1:
                found.append(Exchange(messages, reply.read_text(encoding="utf-8")))
        return cls(tuple(found))

    def write(self, path: Path) -> None:
        """Writes the file, each different exchange once."""
        lines = []
        for one in dict.fromkeys(self.exchanges):
            messages = [{"role": role, "content": text} for role, text in one.messages]
            lines.append(json.dumps({"messages": messages, "reply": one.reply}, ensure_ascii=False))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")


class ReplayEngine:
    """Answers with recorded replies.

    Args:
        transcript: The recorded exchanges. Of several replies to one prompt, the last is given.

    Attributes:
        changed: What differs in each prompt that was not recorded, in words.
        used: The prompts that were answered.
    """

    supports_response_schema = True
    supported_params = frozenset({"temperature", "max_tokens", "response_format"})

    def __init__(self, transcript: Transcript) -> None:
        self.replies = {one.prompt: one.reply for one in transcript.exchanges}
        self.changed: list[str] = []
        self.used: set[str] = set()
        self._asked: list[str] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> ReplayEngine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        """The recorded reply.

        Raises:
            LMError: The prompt was not recorded; the message has the first line that differs.
        """
        messages = [("system", text_of(request.system))] if request.system is not None else []
        messages += [(one.role, text_of(one.parts)) for one in request.messages]
        prompt = Exchange(tuple(messages), "").prompt
        reply = self.replies.get(prompt)
        if reply is None:
            self.changed.append(self._difference(prompt))
            raise LMError(f"the transcript has no reply to this prompt: {self.changed[-1]}")
        self.used.add(prompt)
        # As a server with a cache of prompts: what an earlier one begins with is not computed again.
        cached = max((_shared(prompt, known) for known in self._asked), default=0) // 4
        self._asked.append(prompt)
        usage = lm15.Usage(input_tokens=len(prompt) // 4, output_tokens=len(reply) // 4, cache_read_tokens=cached)
        message = lm15.Message.assistant(reply)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)

    def _difference(self, prompt: str) -> str:
        """The first line in which a prompt differs from the recorded one that is nearest to it."""
        if not self.replies:
            return "it is empty"
        nearest = max(self.replies, key=lambda known: _likeness(prompt, known))
        now, before = prompt.splitlines(), nearest.splitlines()
        place = next((n for n, (one, other) in enumerate(zip(now, before, strict=False)) if one != other), None)
        place = min(len(now), len(before)) if place is None else place
        recorded, found = (lines[place][:_LONGEST] if place < len(lines) else "(its end)" for lines in (before, now))
        return f"line {place + 1} was recorded as {recorded!r}, and is now {found!r}"


def replay_settings(path: Path) -> dict[str, Any]:
    """A transcript as a language model in settings of ``dspy.context``."""
    engine = ReplayEngine(Transcript.read(path))
    lm = GuardedLM(f"replay/{path}", engine=engine, own_server=True, free=True, cache=False, num_retries=0)
    return {"lm": lm, "adapter": suited_adapter(lm)}


def text_of(prompt: Any) -> str:
    """A prompt or messages as one text, in the order in which a server reads them."""
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, Mapping):
        return f"{prompt.get('role', '')}\n{text_of(prompt.get('content', prompt.get('text', '')))}\n"
    if isinstance(prompt, Sequence):
        return "".join(text_of(part) for part in prompt)
    parts = [getattr(prompt, name, None) for name in ("system", "messages", "role", "parts", "text")]
    return "".join(text_of(part) for part in parts if part is not None)


def _messages(records: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(one["role"]), text_of(one["content"])) for one in records)


def _likeness(one: str, other: str) -> int:
    """The lengths of the common beginning and the common end of two texts."""
    return _shared(one, other) + _shared(one[::-1], other[::-1])


def _shared(first: str, second: str) -> int:
    """The length of the common beginning of two texts, by bisection."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[low:middle] == second[low:middle] else (low, middle - 1)
    return low
