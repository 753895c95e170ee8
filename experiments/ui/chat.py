"""The OpenAI chat protocol over a program: any chat client can ask about the files that the server was given.

    client = openai.OpenAI(base_url="http://127.0.0.1:8080/v1", api_key="none")
    client.chat.completions.create(model="finpath", messages=[{"role": "user", "content": "net sales in 2020?"}])

The user's messages are the questions of a conversation; replies of a client's history are not read, but answered again.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import dspy
from fastapi import APIRouter, HTTPException
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel

from experiments.console import write_share
from experiments.facade import Subject
from experiments.ui.answers import turn_content
from experiments.ui.sessions import Backend
from programs.turns import AnyTurn

MODEL = "finpath"
"""The name of the model that clients choose."""

_KEPT = 200


class ChatMessage(BaseModel):
    """A message of a client."""

    role: str
    content: str | list[dict[str, str]] | None = None

    @property
    def text(self) -> str:
        """Its text."""
        parts = self.content if isinstance(self.content, list) else [{"text": self.content or ""}]
        return "\n".join(part.get("text", "") for part in parts).strip()


class ChatRequest(BaseModel):
    """A request for the next message of a chat; other settings of the protocol have no effect."""

    messages: list[ChatMessage]
    model: str = MODEL
    stream: bool = False


def chat_router(backend: Backend) -> APIRouter:
    """The routes of the protocol: ``/v1/models`` and ``/v1/chat/completions``."""
    router, states = APIRouter(prefix="/v1"), OrderedDict[tuple[str, ...], Any]()

    def answer(subject: Subject, questions: tuple[str, ...]) -> AnyTurn:
        """The turn of the last question; those before it are mostly known from the request before."""
        state, rest = states.get(questions[:-1]), questions[-1:]
        if state is None:
            state, rest = subject.program.start(subject.world), questions
        with dspy.context(**backend.settings):
            for question in rest:
                state = subject.program.ask(state, question)
        states[questions] = state
        if len(states) > _KEPT:
            states.popitem(last=False)
        turn: AnyTurn = state.turns[-1]
        return turn

    @router.get("/models")
    def list_models() -> dict[str, Any]:
        """The one model."""
        return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "finpath"}]}

    @router.post("/chat/completions")
    async def complete(request: ChatRequest) -> Response:
        """Answers the last message of the user; ``finpath`` of the reply has steps, paths and sources."""
        limits, subject = backend.limits, backend.subject
        questions = tuple(message.text for message in request.messages if message.role == "user")
        if subject is None:
            raise HTTPException(400, "there is nothing to ask about: start the server with files")
        if not questions or not all(0 < len(text) <= limits.characters for text in questions):
            raise HTTPException(400, f"messages of the user must have 1 to {limits.characters} characters")
        if len(questions) > limits.questions:
            raise HTTPException(400, f"a chat may have at most {limits.questions} questions")
        turn = await backend.run(answer, subject, questions)
        content = turn_content(subject, turn)
        reply = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": MODEL}
        text = reply_text(content)
        if request.stream:
            return StreamingResponse(_chunks(reply, text), media_type="text/event-stream")
        usage = {name: getattr(turn.usage, name) for name in ("prompt_tokens", "completion_tokens")}
        usage["total_tokens"] = sum(usage.values())
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        whole = {"object": "chat.completion", "choices": [choice], "usage": usage, "finpath": content}
        return JSONResponse({**reply, **whole})

    return router


def reply_text(content: dict[str, Any]) -> str:
    """An answer with its confidence, calculation and sources as the text of a message."""
    if content["abstained"]:
        return f"No answer: {content['message'] or content['failure']}"
    confidence = content["confidence"]
    lines = [content["answer"] + (f" (confidence {write_share(confidence, 0)})" if confidence is not None else "")]
    if content["steps"]:
        lines.append(f"Calculated: {content['program']} = {content['exact']}")
    lines += [f"Read in: {source['place']}" for source in content["sources"]]
    lines += [f"Fact: {fact}" for fact in content["facts"][:5]]
    if content["runner_up"] is not None:
        lines.append(f"Not certain; the next best answer: {content['runner_up']['answer']}")
    return "\n".join(lines)


def _chunks(reply: dict[str, Any], text: str) -> Iterator[str]:
    """A reply as the chunks of a stream, a line each."""
    lines = text.splitlines(keepends=True)
    deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": line}, None) for line in lines]
    for delta, reason in [*deltas, ({}, "stop")]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield f"data: {json.dumps({**reply, 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"
    yield "data: [DONE]\n\n"
