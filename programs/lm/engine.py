"""A language model inside this process: an engine for ``dspy.LM`` that runs llama.cpp on the machine's own cores.

    >>> engine = EmbeddedEngine(EngineSettings(path, "local/qwen2.5-coder-1.5b"))
    >>> both = {"engine": engine, "async_engine": AsyncEmbeddedEngine(engine)}
    >>> lm = dspy.LM("local/qwen2.5-coder-1.5b", **both, temperature=0.0)
    >>> lm("What is the capital of France? One word.")
    ['Paris']
    >>> engine.score([{"role": "user", "content": "2 + 2 = ?"}], ["4", "5"])
    [-0.11, -6.48]

Decoding is constrained to the request's JSON schema, or to lines (:data:`programs.lm.grammar.LINES`), so every reply
can be parsed. Common beginnings of prompts (instructions, demonstrations) are read once; ``Usage.cache_read_tokens``
counts their tokens. The weights are loaded at the first call.
"""

from __future__ import annotations

import asyncio
import json
import queue
import secrets
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dspy import lm15

from kg.errors import ConfigError, LMError
from programs.lm.choice import Memory, ReplyChoice, choices_of
from programs.lm.lora import find_adapter
from programs.lm.runtime import EngineSettings, serve, server_parameters, start
from programs.lm.scoring import Scoring, TokenCounts, report_usage
from programs.lm.wire import (
    PROVIDER,
    Prompt,
    checked,
    events_of,
    finish_reason_of,
    logprobs_of,
    request_body,
    usage_of,
)

__all__ = ["AsyncEmbeddedEngine", "EmbeddedEngine", "EngineSettings", "serve", "server_parameters"]


class EmbeddedEngine:
    """Answers DSPy's requests one after the other, from whichever thread they come.

    Args:
        settings: The weights and the machine's share.
    """

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset(
        {"temperature", "max_tokens", "top_p", "stop", "seed", "response_format", "logprobs", "top_logprobs", "stream"}
    )
    reads_lines = True
    """Support of a response format named :data:`programs.lm.grammar.LINES`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self._loading = threading.Lock()
        self._turns = threading.BoundedSemaphore(settings.parallel)
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
        if base != self.settings.name.partition("+")[0]:
            raise LMError(f"{model} is no adapter of {self.settings.name}")
        found = find_adapter(self.settings.path, name, self.settings.adapters)
        return EmbeddedEngine(replace(self.settings, name=model, adapter=found))

    @property
    def name(self) -> str:
        """The model's name."""
        return self.settings.name

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answers one request; errors are those of ``dspy.lm15``."""
        body = request_body(request)
        with self._turns:
            server = self._loaded()
            try:
                reply = checked(server.handle_chat_completions(body))
            except (ValueError, RuntimeError) as error:
                raise lm15.InvalidRequestError(str(error), provider=PROVIDER) from error
        choice = reply["choices"][0]
        return lm15.Response(
            id=reply.get("id"),
            model=self.settings.name,
            message=lm15.Message.assistant(choice["message"].get("content") or ""),
            finish_reason=finish_reason_of(choice["finish_reason"]),
            usage=usage_of(reply["usage"]),
            logprobs=logprobs_of(choice, request.config.logprobs) if request.config.logprobs is not None else None,
        )

    def stream(self, request: lm15.Request) -> Iterator[Any]:
        """The reply's events as they come; when the reader stops, so does the model."""
        body = {**request_body(request), "stream": True, "stream_options": {"include_usage": True}}
        chunks: queue.Queue[Any] = queue.Queue()
        stopped = threading.Event()

        def receive(chunk: Any) -> bool:
            chunks.put(chunk)
            return stopped.is_set()

        def work() -> None:
            try:
                with self._turns:
                    if not stopped.is_set():
                        chunks.put(self._loaded().handle_chat_completions(body, receive))
            except Exception as error:  # noqa: BLE001 - it is raised again in the reader's thread
                chunks.put(error)
            finally:
                chunks.put(None)

        worker = threading.Thread(target=work, name="embedded-lm", daemon=True)
        worker.start()
        try:
            yield from events_of(iter(chunks.get, None), self.settings.name, request.config.logprobs)
        finally:
            stopped.set()
            worker.join()

    def score(
        self, prompt: Prompt, replies: Sequence[str], *, end: bool = True, margin: float | None = None
    ) -> list[float]:
        """Returns the probability of each given reply, each token under those before it.

        The replies' common beginnings are computed once. They are tokenised whole, as in a prompt, and not by a grammar
        of their characters.

        Args:
            prompt: The prompt of the replies.
            replies: The texts; with a margin, put the likely ones first, because the others then stop sooner.
            end: Whether to count that the reply ends there; without it a reply's own beginning is always more probable.
            margin: Stop scoring a reply that is less probable than the best one so far by more than this, in natural
                logarithms. Its score is then an upper bound. By default all scores are exact.

        Returns:
            For each reply the natural logarithm of its probability, at most 0.

        Raises:
            LMError: The prompt is longer than the context, or the runtime failed.
        """
        if margin is not None and margin <= 0:
            raise ConfigError(f"margin must be more than 0, got {margin}")
        with self._turns:
            server = self._loaded()
            text = prompt if isinstance(prompt, str) else self._templated(prompt)
            tokens = [tuple(self._tokens(reply, special=False)) for reply in replies]
            scoring = Scoring(self, server, self._tokens(text, special=True), end, margin)
            # In the order of their tokens each reply goes on from the one before it.
            order = sorted(set(tokens)) if margin is None else dict.fromkeys(tokens)
            scores = {reply: scoring.score(reply) for reply in order}
        report_usage(self.settings.name, scoring.usage)
        return [scores[reply] for reply in tokens]

    def choose(self, prompt: Prompt, replies: Sequence[str], memory: Memory | None = None) -> list[ReplyChoice]:
        """Returns the choice among given replies, asked only where they branch (:mod:`programs.lm.choice`).

        Args:
            prompt: The prompt of the replies.
            replies: The texts.
            memory: A cache of scores, none by default.

        Raises:
            LMError: The prompt is longer than the context, or the runtime failed.
        """
        if not replies:
            return []
        usage = TokenCounts()
        with self._turns:
            server = self._loaded()
            text = prompt if isinstance(prompt, str) else self._templated(prompt)
            tokens = [self._tokens(reply, special=False) for reply in replies]
            asked = self._tokens(text, special=True)
            found = choices_of(self, server, asked, tokens, self._end_token(), usage, memory)
        if usage.prompt:
            report_usage(self.settings.name, usage)
        return found

    def tokens(self, text: str) -> int:
        """Returns the number of tokens of a text."""
        with self._turns:
            self._loaded()
            return len(self._tokens(text, special=False))

    def token_ids(self, text: str, *, begins: bool = False, marks: bool = False) -> list[int]:
        """Returns the tokens of a text.

        Args:
            text: The text.
            begins: Whether it begins a prompt, which some models mark with a token.
            marks: Whether marks of the template are read as such.
        """
        with self._turns:
            self._loaded()
            asked = {"content": text, "add_special": begins, "parse_special": marks}
            return [int(token) for token in self._asked("/tokenize", asked)["tokens"]]

    def template(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Messages as the model reads them, up to where its reply begins."""
        with self._turns:
            self._loaded()
            return self._templated(messages)

    def load(self) -> None:
        """Loads the weights now; else the first call does."""
        self._loaded()

    def close(self) -> None:
        """Frees the weights; the next call loads them again."""
        with self._loading:
            self._server = None

    def _loaded(self) -> Any:
        with self._loading:
            if self._server is None:
                parameters = server_parameters(self.settings)
                # The runtime also listens on loopback, where the tokeniser is asked; only this process knows the key.
                parameters.api_keys = [self._key]
                self._server = start(parameters, self.settings)
            return self._server

    def following(self, server: Any, prompt: Sequence[int], count: int, usage: TokenCounts) -> dict[int, float]:
        """Returns the log-probabilities of the ``count`` most probable tokens after ``prompt``."""
        reply = server.handle_completions(
            {"prompt": list(prompt), "max_tokens": 1, "logprobs": count, "temperature": 0.0}
        )
        if "error" in reply:
            raise LMError(f"{self.settings.name}: {reply['error'].get('message')}")
        usage.add(reply["usage"])
        [entry] = reply["choices"][0]["logprobs"]["content"]
        return {int(other["id"]): float(other["logprob"]) for other in entry["top_logprobs"]}

    def forced(
        self, server: Any, prompt: Sequence[int], tokens: Sequence[int], end: bool, usage: TokenCounts
    ) -> list[float]:
        """Returns the log-probabilities of ``tokens`` after ``prompt``, and of the end if ``end``."""
        count = len(tokens) + (1 if end else 0)
        if not count:
            return []
        # Tokens by their numbers: the grammar leaves no other, so that the tokenisation is the given one. Behind the
        # last the grammar is complete and leaves only the end.
        grammar = "root ::= " + (" ".join(f"<[{token}]>" for token in tokens) if tokens else '""')
        reply = server.handle_completions(
            {"prompt": list(prompt), "max_tokens": count, "logprobs": 1, "temperature": 0.0, "grammar": grammar}
        )
        if "error" in reply:
            raise LMError(f"{self.settings.name}: {reply['error'].get('message')}")
        usage.add(reply["usage"])
        logprobs = [float(entry["logprob"]) for entry in reply["choices"][0]["logprobs"]["content"]]
        if len(logprobs) != count:
            raise LMError(f"{self.settings.name} scored {len(logprobs)} of {count} tokens")
        return logprobs

    def _end_token(self) -> int:
        """The token that ends a reply in the model's template."""
        roles = ("user", "assistant", "user")
        text = self._templated([{"role": role, "content": f"part-{place}"} for place, role in enumerate(roles)])
        return self._tokens(text.partition("part-1")[2], special=True)[0]

    def _tokens(self, text: str, *, special: bool) -> list[int]:
        asked = {"content": text, "add_special": special, "parse_special": special}
        return [int(token) for token in self._asked("/tokenize", asked)["tokens"]]

    def _templated(self, messages: Sequence[Mapping[str, str]]) -> str:
        return str(self._asked("/apply-template", {"messages": [dict(message) for message in messages]})["prompt"])

    def _asked(self, path: str, body: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the runtime's own address
            self._server.listening_address + path,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as response:
                return json.load(response)
        except (urllib.error.URLError, TimeoutError, ValueError) as error:
            raise LMError(f"{self.settings.name} does not answer: {error}") from error


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

    async def stream(self, request: lm15.Request) -> AsyncIterator[Any]:
        """The reply's events as they come."""
        events = self.engine.stream(request)
        try:
            while (event := await asyncio.to_thread(next, events, None)) is not None:
                yield event
        finally:
            await asyncio.to_thread(events.close)  # type: ignore[attr-defined]

    async def aclose(self) -> None:
        """Frees the weights."""
        await asyncio.to_thread(self.engine.close)
