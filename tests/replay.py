"""Recorded replies in place of a language model: the same prompts get the same replies, and a changed one is named.

    with dspy.context(**replay_settings(Path("tests/data/transcripts/sample_dev.jsonl"))):
        program(report=report, questions=questions)

A transcript is a file of JSON objects, one a line: ``{"messages": [{"role": …, "content": …}], "reply": "…"}``, that
``tools/record_transcript.py`` writes. A prompt that it does not hold raises an error with the first line that differs
from the nearest recorded prompt, so the effect of every change of a prompt is seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dspy import lm15

from kg.errors import LMError
from programs.lm import GuardedLM
from programs.turns import suited_adapter

Messages = tuple[tuple[str, str], ...]
"""The role and the text of each message of a prompt."""


def read_transcript(path: Path) -> dict[Messages, str]:
    """Returns the reply to each recorded prompt; of several replies to one, the last."""
    records = map(json.loads, filter(str.strip, path.read_text(encoding="utf-8").splitlines()))
    return {messages_of(record["messages"]): record["reply"] for record in records}


def read_folder(folder: Path) -> dict[Messages, str]:
    """Reads a folder of requests of the OpenAI protocol (``in/00001.json``) and replies (``out/00001.txt``).

    Requests without a reply, and those of one word that only check the connection, are left out.
    """
    found = {}
    for path in sorted((folder / "in").glob("*.json")):
        reply = folder / "out" / f"{path.stem}.txt"
        messages = messages_of(json.loads(path.read_text(encoding="utf-8"))["messages"])
        if len(messages) > 1 and reply.is_file():
            found[messages] = reply.read_text(encoding="utf-8")
    return found


def write_transcript(replies: Mapping[Messages, str], path: Path) -> None:
    """Writes the file that :func:`read_transcript` reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for prompt, reply in replies.items():
            messages = [{"role": role, "content": text} for role, text in prompt]
            file.write(json.dumps({"messages": messages, "reply": reply}, ensure_ascii=False) + "\n")


def messages_of(records: list[dict[str, Any]]) -> Messages:
    """The messages of a request in JSON."""
    return tuple((str(record["role"]), _text(record["content"])) for record in records)


def _text(content: Any) -> str:
    """The text of a message, which may be in parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] if isinstance(part, Mapping) else part.text for part in content)


class ReplayEngine:
    """Answers with recorded replies.

    Attributes:
        replies: The reply to each prompt, as one text.
        changed: What differs in each prompt that was not recorded, in words.
        used: The prompts that were answered.
    """

    supports_response_schema = True
    supported_params = frozenset({"temperature", "max_tokens", "response_format"})

    def __init__(self, replies: Mapping[Messages, str]) -> None:
        self.replies = {_prompt(messages): reply for messages, reply in replies.items()}
        self.changed: list[str] = []
        self.used: set[str] = set()
        self._asked: list[str] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> ReplayEngine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        """The recorded reply; LMError with the first line that differs where the prompt was not recorded."""
        system = () if request.system is None else (("system", _text(request.system)),)
        prompt = _prompt((*system, *((one.role, _text(one.parts)) for one in request.messages)))
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
        nearest = max(self.replies, key=lambda known: _shared(prompt, known) + _shared(prompt[::-1], known[::-1]))
        now, before = ([*text.splitlines(), "(its end)"] for text in (prompt, nearest))
        place = next(number for number, lines in enumerate(zip(now, before, strict=False)) if len(set(lines)) > 1)
        return f"line {place + 1} was recorded as {before[place][:160]!r}, and is now {now[place][:160]!r}"


def replay_settings(path: Path) -> dict[str, Any]:
    """A transcript as a language model in settings of ``dspy.context``."""
    engine = ReplayEngine(read_transcript(path))
    lm = GuardedLM(f"replay/{path}", engine=engine, own_server=True, free=True, cache=False, num_retries=0)
    return {"lm": lm, "adapter": suited_adapter(lm)}


def _prompt(messages: Messages) -> str:
    """The messages as one text, the role of each on a line of its own."""
    return "\n".join(f"--- {role}\n{text}" for role, text in messages)


def _shared(first: str, second: str) -> int:
    """The length of the common beginning of two texts, by bisection."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[low:middle] == second[low:middle] else (low, middle - 1)
    return low
