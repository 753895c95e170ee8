"""DSPy's requests as llama.cpp takes them, and its replies as DSPy takes them.

>>> request_body(lm15.Request(model="m", messages=(lm15.Message.user("2 + 2?"),)))
{'messages': [{'role': 'user', 'content': '2 + 2?'}], 'temperature': 0.0, 'cache_prompt': True}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dspy import lm15

from programs.lm.grammar import GBNF, LINES, json_grammar, lines_grammar
from programs.lm.marks import without_special_tokens

Prompt = str | Sequence[Mapping[str, str]]
"""A text as the model reads it, or messages with ``role`` and ``content`` that the model's own template writes out."""

PROVIDER = "embedded"
"""The source that errors name."""

_FINISH = {"stop": "stop", "length": "length"}


def request_body(request: lm15.Request) -> dict[str, Any]:
    """The request as llama.cpp takes it.

    Raises:
        lm15.UnsupportedFeatureError: It asks for something other than text.
    """
    config = request.config
    if request.tools:
        raise lm15.UnsupportedFeatureError("the embedded model calls no tools natively", feature="tools")
    body: dict[str, Any] = {
        "messages": _messages(request),
        "temperature": config.temperature if config.temperature is not None else 0.0,
        "cache_prompt": True,
    }
    if config.logprobs is not None:
        # The runtime reports nothing at all when no alternatives are asked for.
        body.update(logprobs=True, top_logprobs=max(config.logprobs, 1))
    for name in ("max_tokens", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty"):
        value = getattr(config, name)
        if value is not None:
            body[name] = value
    if config.stop:
        body["stop"] = list(config.stop)
    if config.response_format is not None:
        body["grammar"] = _grammar(config.response_format)
    return body


def _messages(request: lm15.Request) -> list[dict[str, str]]:
    messages = []
    if request.system is not None:
        system = request.system if isinstance(request.system, str) else _text(request.system)
        messages.append({"role": "system", "content": system})
    for message in request.messages:
        role = "system" if message.role == "developer" else message.role
        messages.append({"role": role, "content": _text(message.parts)})
    return messages


def _text(parts: Sequence[Any]) -> str:
    for part in parts:
        if not isinstance(part, lm15.TextPart):
            kind = type(part).__name__
            raise lm15.UnsupportedFeatureError(f"the embedded model reads text only, got {kind}", feature="messages")
    # Only the model's template may write the tokens that divide messages.
    return without_special_tokens("".join(part.text for part in parts))


def _grammar(response_format: Mapping[str, Any]) -> str:
    schema = response_format.get("schema")
    if schema is None:
        return json_grammar({"type": "object"})
    if response_format.get("name") == GBNF:
        return str(schema["grammar"])
    return lines_grammar(schema) if response_format.get("name") == LINES else json_grammar(schema)


def checked(reply: Any) -> Any:
    """The reply, unless it is an error.

    Raises:
        lm15.LM15Error: What the runtime reports, by its kind.
    """
    error = reply.get("error") if isinstance(reply, Mapping) else None
    if error is None:
        return reply
    message, kind, status = str(error.get("message")), error.get("type"), error.get("code")
    if kind == "exceed_context_size_error":
        raise lm15.ContextLengthError(message, provider=PROVIDER, status=status)
    if kind == "invalid_request_error":
        raise lm15.InvalidRequestError(message, provider=PROVIDER, status=status)
    raise lm15.ServerError(message, provider=PROVIDER, status=status)


def finish_reason_of(reason: str | None) -> Any:
    """Why a reply ended, in DSPy's words."""
    return _FINISH.get(str(reason), "stop")


def usage_of(usage: Mapping[str, Any]) -> lm15.Usage:
    """Returns the tokens of a call; cached ones of the prompt are counted as read from the cache."""
    return lm15.Usage(
        input_tokens=usage["prompt_tokens"],
        output_tokens=usage["completion_tokens"],
        cache_read_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
    )


def logprobs_of(choice: Mapping[str, Any], top: int) -> tuple[lm15.TokenLogprob, ...]:
    """Returns the log-probability of each token of the reply, with the ``top`` most probable alternatives."""
    entries = (choice.get("logprobs") or {}).get("content") or ()
    return tuple(
        lm15.TokenLogprob(
            token=entry["token"],
            logprob=entry["logprob"],
            bytes=tuple(entry["bytes"]),
            token_id=entry["id"],
            top=tuple(
                lm15.TopLogprob(
                    token=other["token"], logprob=other["logprob"], bytes=tuple(other["bytes"]), token_id=other["id"]
                )
                for other in entry["top_logprobs"][:top]
            ),
        )
        for entry in entries
    )


def events_of(chunks: Iterator[Any], name: str, top: int | None) -> Iterator[Any]:
    """The events of a stream, from the chunks that the runtime sends; an exception among them is raised."""
    started, finish, usage = False, "stop", None
    for chunk in chunks:
        if isinstance(chunk, Exception):
            raise chunk
        checked(chunk)
        if not started:
            yield lm15.StreamStartEvent(id=chunk.get("id"), model=name)
            started = True
        usage = usage_of(chunk["usage"]) if chunk.get("usage") else usage
        for choice in chunk.get("choices", ()):
            finish = finish_reason_of(choice["finish_reason"]) if choice.get("finish_reason") else finish
            text = (choice.get("delta") or {}).get("content")
            if text:
                logprobs = logprobs_of(choice, top) if top is not None else ()
                yield lm15.StreamDeltaEvent(lm15.TextDelta(text=text, logprobs=logprobs))
    yield lm15.StreamEndEvent(finish_reason=finish, usage=usage)
