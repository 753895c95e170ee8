"""An embedded model computed by torch, for measurements of many long prompts.

    >>> engine = TorchEngine(settings)          # the settings of an EmbeddedEngine
    >>> engine.choose("2 + 2 = ", ["4", "5"])[0].log_share
    -0.01

The weights are those of the runtime's file, dequantised to bfloat16. The tokens and the chat template are the
runtime's own. On a processor with matrix instructions a prompt takes about a tenth of the runtime's time. So its
seconds are no measure of the embedded model. The common beginning with the prompt before is kept, as in the runtime.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from dspy import lm15
from torch.nn import functional

from optimize.finetuning.export import adapter_shape, read_adapter
from optimize.finetuning.model import AdapterShape, Block, Decoder, _rotary, _turned
from optimize.finetuning.weights import FAMILIES, read_weights
from programs.lm import GBNF, EmbeddedEngine, EngineSettings, Prompt, ReplyChoice
from programs.lm.choice import ALTERNATIVES, Memory
from programs.lm.scoring import TokenCounts, report_usage
from programs.lm.wire import request_body

TOP = 20
_CONFIDENCE_DIGITS = 3


class TorchEngine(EmbeddedEngine):
    """The choice among given replies, and replies to the signature of the choice by number.

    Args:
        settings: The weights.
        states_confidence: Whether a reply by number states a confidence, which takes a pass for each digit. Where the
            probabilities of the numbers are the evidence, it is not read.
    """

    def __init__(self, settings: EngineSettings, *, states_confidence: bool = False) -> None:
        super().__init__(settings)
        self.states_confidence = states_confidence
        self.exact: list[float] = []
        self.said: str | None = None
        self._decoder: Decoder | None = None
        self._kept: list[int] = []
        self._keys: list[tuple[torch.Tensor, torch.Tensor]] = []

    def choose(self, prompt: Prompt, replies: Sequence[str], memory: Memory | None = None) -> list[ReplyChoice]:
        """The choice among given replies, by one pass over the prompt and the tree of the replies' tokens."""
        del memory
        with self._turns:
            self._loaded()
            text = prompt if isinstance(prompt, str) else self._templated(prompt)
            asked = self._tokens(text, special=True)
            end = self._end_token()
            whole = [(*self._tokens(reply, special=False), end) for reply in replies]
            usage = TokenCounts()
            found, exact = self._choices(asked, whole, usage)
        report_usage(self.settings.name, usage)
        self.exact = [exact[reply] for reply in whole]
        return [found[reply] for reply in whole]

    def _choices(
        self, prompt: list[int], replies: Sequence[tuple[int, ...]], usage: TokenCounts
    ) -> tuple[dict[tuple[int, ...], ReplyChoice], dict[tuple[int, ...], float]]:
        paths: dict[tuple[int, ...], dict[int, None]] = {}
        for reply in sorted(set(replies)):
            for depth, token in enumerate(reply):
                paths.setdefault(reply[:depth], {})[token] = None
        branching = {path for path, tokens in paths.items() if len(tokens) > 1}
        above = {path[:depth] for path in branching for depth in range(len(path) + 1)}
        nodes = [path for path in paths if path and path in above]  # each after those before it
        scores = self._tree(prompt, nodes, branching, usage)
        found, exact = {}, {}
        for reply in set(replies):
            probability = share = whole = 0.0
            for depth, token in enumerate(reply):
                branches = list(paths[reply[:depth]])
                if len(branches) > 1:
                    after = scores[reply[:depth]]
                    whole += float(after[token] - torch.logsumexp(after[branches], 0))
                    bounded = torch.clamp(after[branches], min=float(after.topk(ALTERNATIVES).values[-1]))
                    own = bounded[branches.index(token)]
                    probability += float(own)
                    share += float(own - torch.logsumexp(bounded, 0))
            found[reply] = ReplyChoice(min(probability, 0.0), min(share, 0.0))
            exact[reply] = min(whole, 0.0)
        return found, exact

    def _tree(
        self,
        prompt: list[int],
        nodes: Sequence[tuple[int, ...]],
        wanted: Collection[tuple[int, ...]],
        usage: TokenCounts,
    ) -> dict[tuple[int, ...], torch.Tensor]:
        """The log-probabilities of the token after each wanted node; that without tokens is the prompt's end."""
        start = self._shared(prompt)
        places = {node: len(prompt) + number for number, node in enumerate(nodes)}
        tokens = [*prompt[start:], *(node[-1] for node in nodes)]
        positions = [*range(start, len(prompt)), *(len(prompt) + len(node) - 1 for node in nodes)]
        total = len(prompt) + len(nodes)
        mask = torch.zeros(len(tokens), total, dtype=torch.bool)
        for row in range(len(prompt) - start):
            mask[row, : start + row + 1] = True
        for node, place in places.items():
            above = [places[node[:depth]] for depth in range(1, len(node) + 1)]
            mask[place - start, : len(prompt)] = True
            mask[place - start, above] = True
        hidden = self._forward(tokens, positions, mask, start, keep=len(prompt))
        self._kept = list(prompt)
        usage.add({"prompt_tokens": total, "prompt_tokens_details": {"cached_tokens": start}, "completion_tokens": 1})
        places[()] = len(prompt) - 1
        rows = [places[node] - start for node in wanted]
        logits = functional.linear(hidden[rows], self._model().output).float()
        return dict(zip(wanted, torch.log_softmax(logits, -1), strict=True))

    def complete(self, request: lm15.Request) -> lm15.Response:
        """A reply ``choice: NUMBER`` and ``confidence: NUMBER``, held to the numbers of the request.

        A request with a grammar of its own is answered by the most probable tokens. A reply that the grammar has is
        the one that the runtime gives; any other is one that it would not give.
        """
        body = request_body(request)
        with self._turns:
            self._loaded()
            prompt = self._tokens(self._templated(body["messages"]), special=True)
            usage = TokenCounts()
            if (request.config.response_format or {}).get("name") == GBNF:
                return self._response(self._written(prompt, request.config.max_tokens or 64, usage), usage)
            most = _most(request)
            before = self._tokens("choice: ", special=False)
            digits = {str(number): self._tokens(str(number), special=False)[0] for number in range(10)}
            after = self._next([*prompt, *before], usage)
            options = {text: float(after[token]) for text, token in digits.items() if int(text) <= most}
            chosen = max(options, key=lambda text: options[text])
            entries = [self._entry(chosen, after, digits)]
            if most >= 10 and chosen == "1":  # two digits are two tokens
                following = self._next([*prompt, *before, digits["1"]], usage)
                line = self._tokens("\n", special=False)[0]
                if following[digits["0"]] > following[line]:
                    entries.append(self._entry("0", following, digits))
                    chosen = "10"
            sure = self._confidence([*prompt, *self._tokens(f"choice: {chosen}\nconfidence: ", special=False)], usage)
        probabilities = (lm15.TokenLogprob(token="choice: ", logprob=0.0), *entries)
        return self._response(f"choice: {chosen}\nconfidence: {sure}", usage, probabilities)

    def _response(self, text: str, usage: TokenCounts, probabilities: Any = None) -> lm15.Response:
        return lm15.Response(
            id=None,
            model=self.settings.name,
            message=lm15.Message.assistant(text),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=usage.prompt, output_tokens=usage.completion, cache_read_tokens=usage.cached),
            logprobs=probabilities,
        )

    def _written(self, prompt: Sequence[int], most: int, usage: TokenCounts) -> str:
        """The most probable tokens up to the end of the reply."""
        end, written = self._end_token(), list[int]()
        while len(written) < most:
            token = int(self._next([*prompt, *written], usage).argmax())
            if token == end:
                break
            written.append(token)
        self.said = str(self._asked("/detokenize", {"tokens": written})["content"])
        return self.said

    def _entry(self, chosen: str, after: torch.Tensor, digits: Mapping[str, int]) -> lm15.TokenLogprob:
        bound = float(after.topk(TOP).values[-1])  # the runtime reports no more alternatives
        top = tuple(
            lm15.TopLogprob(token=text, logprob=float(after[token]))
            for text, token in digits.items()
            if float(after[token]) >= bound
        )
        return lm15.TokenLogprob(token=chosen, logprob=float(after[digits[chosen]]), top=top)

    def _confidence(self, prompt: list[int], usage: TokenCounts) -> str:
        if not self.states_confidence:
            return "50"
        digits = {str(number): self._tokens(str(number), special=False)[0] for number in range(10)}
        end, said = self._end_token(), ""
        while len(said) < _CONFIDENCE_DIGITS:
            after = self._next([*prompt, *(digits[digit] for digit in said)], usage)
            best = max(digits, key=lambda digit: float(after[digits[digit]]))
            if said and float(after[end]) > float(after[digits[best]]):
                break
            said += best
        return said

    def _next(self, tokens: list[int], usage: TokenCounts) -> torch.Tensor:
        return self._tree(tokens, [], [()], usage)[()]

    def _shared(self, prompt: Sequence[int]) -> int:
        """Tokens of the beginning that the prompt before had too; the last one is always computed."""
        most = min(len(prompt) - 1, len(self._kept))
        return next((place for place in range(most) if prompt[place] != self._kept[place]), most)

    def _model(self) -> Decoder:
        if self._decoder is None:
            weights = read_weights(self.settings.path, torch.bfloat16, torch.device("cpu"))
            adapter = self.settings.adapter
            shape = adapter_shape(adapter) if adapter is not None else AdapterShape(8, 16.0, 0)
            self._decoder = Decoder(weights, shape).eval()
            if adapter is not None:
                read_adapter(self._decoder, adapter)
        return self._decoder

    @torch.inference_mode()
    def _forward(
        self, tokens: Sequence[int], positions: Sequence[int], mask: torch.Tensor, start: int, keep: int
    ) -> torch.Tensor:
        """The hidden states of some tokens after ``start`` kept ones; keys and values are kept up to ``keep``."""
        model = self._model()
        shape = model.shape
        rotary = _rotary(torch.tensor(positions), shape, model.embedding.dtype)
        hidden = functional.embedding(torch.tensor(tokens), model.embedding)
        neighbours, kept = FAMILIES[shape.family], []
        for number, block in enumerate(model.blocks):
            assert isinstance(block, Block)
            inputs = functional.rms_norm(hidden, (shape.width,), block.before, shape.epsilon)
            query, key, value = block.attention_in(inputs)
            query = _turned(query.view(-1, shape.heads, shape.head_width), rotary, neighbours).transpose(0, 1)
            key = _turned(key.view(-1, shape.key_heads, shape.head_width), rotary, neighbours).transpose(0, 1)
            value = value.view(-1, shape.key_heads, shape.head_width).transpose(0, 1)
            if start:
                old = self._keys[number]
                key, value = (torch.cat([one[:, :start], new], 1) for one, new in zip(old, (key, value), strict=True))
            kept.append((key[:, :keep], value[:, :keep]))
            attended = functional.scaled_dot_product_attention(
                query[None], key[None], value[None], attn_mask=mask[None, None], enable_gqa=True
            )[0]
            hidden = hidden + block.attention_out(attended.transpose(0, 1).flatten(1))[0]
            inputs = functional.rms_norm(hidden, (shape.width,), block.between, shape.epsilon)
            gate, up = block.feed_in(inputs)
            hidden = hidden + block.feed_out(functional.silu(gate) * up)[0]
        self._keys = kept
        return functional.rms_norm(hidden, (shape.width,), model.norm, shape.epsilon)


def _most(request: lm15.Request) -> int:
    """The highest number that a reply may choose."""
    form: Any = request.config.response_format
    schema = form["schema"]["properties"]["choice"]
    values = schema.get("enum", [schema.get("const", math.nan)])
    return int(max(values))
