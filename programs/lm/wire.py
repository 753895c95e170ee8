"""DSPy's requests as llama.cpp takes them, and its replies as DSPy takes them.

>>> request_body(lm15.Request(model="m", messages=(lm15.Message.user("2 + 2?"),)))
{'messages': [{'role': 'user', 'content': '2 + 2?'}], 'temperature': 0.0, 'cache_prompt': True}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dspy import lm15

from programs.lm.marks import without_special_tokens

GBNF = "finpath_gbnf"
"""The name of a response format whose schema holds a grammar as it is: ``{"grammar": "root ::= ..."}``."""

PROVIDER = "embedded"
"""The source that errors name."""

_ERRORS = {
    "exceed_context_size_error": lm15.ContextLengthError,
    "invalid_request_error": lm15.InvalidRequestError,
}


def request_body(request: lm15.Request) -> dict[str, Any]:
    """The request as llama.cpp takes it.

    Raises:
        lm15.UnsupportedFeatureError: It asks for something other than text.
    """
    config = request.config
    if request.tools:
        raise lm15.UnsupportedFeatureError("the embedded model calls no tools natively", feature="tools")
    messages = [{"role": "system", "content": _text(request.system)}] if request.system is not None else []
    for message in request.messages:
        role = "system" if message.role == "developer" else message.role
        messages.append({"role": role, "content": _text(message.parts)})
    body: dict[str, Any] = {
        "messages": messages,
        "temperature": config.temperature if config.temperature is not None else 0.0,
        "cache_prompt": True,
    }
    if config.logprobs is not None:
        # The runtime reports nothing at all when no alternatives are asked for.
        body.update(logprobs=True, top_logprobs=max(config.logprobs, 1))
    for name in ("max_tokens", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty"):
        if (value := getattr(config, name)) is not None:
            body[name] = value
    if config.stop:
        body["stop"] = list(config.stop)
    if config.response_format is not None:
        schema = config.response_format.get("schema")
        if config.response_format.get("name") == GBNF:
            body["grammar"] = str(schema["grammar"])
        else:
            body["json_schema"] = schema if schema is not None else {"type": "object"}
    return body


def _text(content: str | Sequence[Any]) -> str:
    parts: Sequence[Any] = (lm15.TextPart(text=content),) if isinstance(content, str) else content
    for part in parts:
        if not isinstance(part, lm15.TextPart):
            kind = type(part).__name__
            raise lm15.UnsupportedFeatureError(f"the embedded model reads text only, got {kind}", feature="messages")
    # Only the model's template may write the tokens that divide messages.
    return without_special_tokens("".join(part.text for part in parts))


def quoted(text: str) -> str:
    """Returns a text as a literal of a grammar."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'


def checked(reply: Any) -> Any:
    """The reply, unless it is an error.

    Raises:
        lm15.LM15Error: What the runtime reports, by its kind.
    """
    error = reply.get("error") if isinstance(reply, Mapping) else None
    if error is None:
        return reply
    kind = _ERRORS.get(str(error.get("type")), lm15.ServerError)
    raise kind(str(error.get("message")), provider=PROVIDER, status=error.get("code"))


def response_of(reply: Mapping[str, Any], model: str, alternatives: int | None) -> lm15.Response:
    """The reply as DSPy takes it, with the log-probabilities of so many ``alternatives`` to each token."""
    [choice], usage = reply["choices"], reply["usage"]
    return lm15.Response(
        id=reply.get("id"),
        model=model,
        message=lm15.Message.assistant(choice["message"].get("content") or ""),
        finish_reason="length" if choice["finish_reason"] == "length" else "stop",
        usage=lm15.Usage(
            input_tokens=usage["prompt_tokens"],
            output_tokens=usage["completion_tokens"],
            cache_read_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
        ),
        logprobs=_logprobs(choice, alternatives) if alternatives is not None else None,
    )


def _logprobs(choice: Mapping[str, Any], top: int) -> tuple[lm15.TokenLogprob, ...]:
    def parts(entry: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "token": entry["token"],
            "logprob": entry["logprob"],
            "bytes": tuple(entry["bytes"]),
            "token_id": entry["id"],
        }

    return tuple(
        lm15.TokenLogprob(
            **parts(entry), top=tuple(lm15.TopLogprob(**parts(other)) for other in entry["top_logprobs"][:top])
        )
        for entry in (choice.get("logprobs") or {}).get("content") or ()
    )
