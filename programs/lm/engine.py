"""A language model inside this process: an engine for ``dspy.LM`` that runs llama.cpp on the machine's own cores.

    >>> engine = EmbeddedEngine(EngineSettings(path, "local/qwen2.5-coder-1.5b"))
    >>> both = {"engine": engine, "async_engine": AsyncEmbeddedEngine(engine)}
    >>> lm = dspy.LM("local/qwen2.5-coder-1.5b", **both, temperature=0.0)
    >>> lm("What is the capital of France? One word.")
    ['Paris']

Decoding is constrained to the request's JSON schema, or to a grammar (:data:`GBNF`), so every reply
can be parsed. Common beginnings of prompts (instructions, demonstrations) are read once; ``Usage.cache_read_tokens``
counts their tokens. The weights are loaded at the first call.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dspy import lm15

from kg.errors import LMError
from programs.lm.marks import without_special_tokens
from programs.lm.runtime import EngineSettings, find_adapter, server_parameters, start

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


class EmbeddedEngine:
    """Answers DSPy's requests one after the other, from whichever thread they come.

    Args:
        settings: The weights and the machine's share.
    """

    supports_response_schema = True
    supported_params = frozenset(
        {"temperature", "max_tokens", "top_p", "stop", "seed", "response_format", "logprobs", "top_logprobs"}
    )
    in_process = True

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self._turn = threading.RLock()
        self._server: Any = None
        self._key = secrets.token_hex(16)

    def __deepcopy__(self, memo: dict[int, Any]) -> EmbeddedEngine:
        """Itself: copies of a program or of its language model share the weights."""
        return self

    def __reduce__(self) -> tuple[type[EmbeddedEngine], tuple[EngineSettings]]:
        return type(self), (self.settings,)

    def with_adapter(self, model: str) -> EmbeddedEngine:
        """The engine of the same weights with an adapter.

        Args:
            model: The model's name, ``local/NAME+ADAPTER``.

        Raises:
            LMError: There is no such adapter of these weights.
        """
        base, _, name = model.partition("+")
        if base != self.name.partition("+")[0]:
            raise LMError(f"{model} is no adapter of {self.name}")
        file = find_adapter(self.settings.path, name, self.settings.adapters)
        return EmbeddedEngine(replace(self.settings, name=model, adapter=file))

    @property
    def name(self) -> str:
        """The model's name."""
        return self.settings.name

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answers one request; errors are those of ``dspy.lm15``."""
        body = request_body(request)
        with self._turn:
            try:
                reply = checked(self.load().handle_chat_completions(body))
            except (ValueError, RuntimeError) as error:
                raise lm15.InvalidRequestError(str(error), provider=PROVIDER) from error
        return response_of(reply, self.name, request.config.logprobs)

    def token_ids(self, text: str, *, begins: bool = False, marks: bool = False) -> list[int]:
        """Returns the tokens of a text.

        Args:
            text: The text.
            begins: Whether it begins a prompt, which some models mark with a token.
            marks: Whether marks of the template are read as such.
        """
        body = {"content": text, "add_special": begins, "parse_special": marks}
        return [int(token) for token in self._ask("/tokenize", body)["tokens"]]

    def template(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Messages as the model reads them, up to where its reply begins."""
        return str(self._ask("/apply-template", {"messages": list(map(dict, messages))})["prompt"])

    def load(self) -> Any:
        """Loads the weights now, else the first call does; returns the runtime."""
        with self._turn:
            if self._server is None:
                parameters = server_parameters(self.settings)
                # The runtime also listens on loopback, where the tokeniser is asked; only this process knows the key.
                parameters.api_keys = [self._key]
                self._server = start(parameters, self.settings)
            return self._server

    def close(self) -> None:
        """Frees the weights; the next call loads them again."""
        with self._turn:
            self._server = None

    def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the runtime's own address
            self.load().listening_address + path,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as response:
                return json.load(response)
        except (urllib.error.URLError, TimeoutError, ValueError) as error:
            raise LMError(f"{self.name} does not answer: {error}") from error


class AsyncEmbeddedEngine:
    """The same model for DSPy's async calls; it works in threads, so the event loop is not blocked.

    Args:
        engine: The engine that answers.
    """

    def __init__(self, engine: EmbeddedEngine) -> None:
        self.engine = engine

    async def complete(self, request: lm15.Request) -> lm15.Response:
        """Answers one request."""
        return await asyncio.to_thread(self.engine.complete, request)
