"""The estimate of cached tokens: the longest common beginning with an earlier prompt of the same model."""

from __future__ import annotations

from typing import Any

import dspy
import pytest
from dspy import lm15

from programs.lm import GuardedLM, metered
from programs.lm.prefixes import KEPT, PromptMemory, text_of


def test_a_prompt_shares_its_beginning_with_the_nearest_earlier_one() -> None:
    prompts = PromptMemory()
    assert prompts.share("0123456789") == 0
    assert prompts.share("abcd") == 0
    assert prompts.share("01234xyzzz") == 0.5
    assert prompts.share("abcd") == 1
    assert prompts.share("") == 0
    for number in range(KEPT):
        prompts.share(f"{number:04d}")
    assert prompts.share("abcd") == 0, "old prompts are forgotten"


def test_messages_are_read_in_their_order() -> None:
    request = lm15.Request(model="m", messages=(lm15.Message.user("second"),), system="first")
    text = text_of(request)
    assert text.index("first") < text.index("second")
    messages = [{"role": "system", "content": "first"}, {"role": "user", "content": [{"text": "second"}]}]
    assert text_of(messages).index("first") < text_of(messages).index("second")


class _Engine:
    """A server that may return the number of cached tokens."""

    supported_params = frozenset({"temperature", "max_tokens"})

    def __init__(self, cached: int | None) -> None:
        self.cached = cached

    def __deepcopy__(self, memo: dict[int, Any]) -> _Engine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        usage = lm15.Usage(input_tokens=1000, output_tokens=5, cache_read_tokens=self.cached)
        message = lm15.Message.assistant("ok")
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


@pytest.mark.parametrize(("cached", "is_estimate"), [(None, True), (768, False), (0, False)])
def test_a_server_that_returns_no_cached_tokens_gets_an_estimate(cached: int | None, is_estimate: bool) -> None:
    lm = GuardedLM("openai/x", engine=_Engine(cached), cache=False, num_retries=0)
    with dspy.context(lm=lm):
        lm("x" * 600 + "first")
        with metered() as measured:
            lm("x" * 600 + "another")
    usage = measured.usage
    assert (usage.prompt_tokens, usage.cached_is_estimate) == (1000, is_estimate)
    assert usage.cached_prompt_tokens == cached if cached is not None else 970 < usage.cached_prompt_tokens < 1000
    assert lm.spent.cached_prompt_tokens >= usage.cached_prompt_tokens
    assert (lm.spent.estimated_cached_tokens > 0) == is_estimate
