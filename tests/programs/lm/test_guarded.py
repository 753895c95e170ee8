from __future__ import annotations

import asyncio
import copy
import threading
import traceback
from decimal import Decimal
from typing import Any

import dspy
import pytest
from dspy import lm15
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.errors import ConfigError, LMError
from kg.secrets import without_secrets
from programs.lm.budget import Budget
from programs.lm.guarded import GuardedLM
from programs.lm.secrets import redact
from tests.experiments.lms.servers import ECHOES, SECRET


class Scripted:
    """An engine that replies with the number of the call, or fails with the text it is given."""

    def __init__(self, failure: str | None = None) -> None:
        self.calls = 0
        self.failure = failure

    def __deepcopy__(self, memo: dict[int, Any]) -> Scripted:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        self.calls += 1
        if self.failure is not None:
            raise lm15.AuthError(self.failure)
        usage = lm15.Usage(input_tokens=10, output_tokens=2, cache_read_tokens=4)
        message = lm15.Message.assistant(str(self.calls))
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


class AsyncScripted:
    def __init__(self, engine: Scripted) -> None:
        self.engine = engine

    async def complete(self, request: lm15.Request) -> lm15.Response:
        return self.engine.complete(request)


def guarded(budget: Budget | None = None, failure: str | None = None, **settings: Any) -> GuardedLM:
    engine = Scripted(failure)
    given: dict[str, Any] = {"engine": engine, "async_engine": AsyncScripted(engine), "budget": budget}
    return GuardedLM("local/scripted", **given, **{"cache": False, "num_retries": 0, **settings})


def test_tokens_are_capped() -> None:
    lm = guarded(Budget(tokens=20))
    lm("a")
    lm("b")
    with pytest.raises(LMError, match="20 tokens"):
        lm("c")
    assert lm.spent.figures() == {
        "lm_calls": 2,
        "lm_cache_hits": 0,
        "lm_prompt_tokens": 20,
        "lm_cached_prompt_tokens": 8,
        "lm_completion_tokens": 4,
        "lm_usd": 0.0,
        "lm_unpriced_calls": 2,
    }


def test_money_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = guarded(Budget(usd=Decimal("0.05")))
    prices = iter([0.03, 0.04])
    keep = GuardedLM.update_history
    monkeypatch.setattr(GuardedLM, "update_history", lambda self, entry: keep(self, {**entry, "cost": next(prices)}))
    with dspy.context(disable_history=True):
        lm("a")
        lm("b")
    assert lm.spent.usd == Decimal("0.07")
    with pytest.raises(LMError, match=r"0\.05 usd"):
        lm("c")


def test_money_cannot_be_capped_without_a_price() -> None:
    lm = guarded(Budget(usd=Decimal(1)))
    lm("a")
    with pytest.raises(LMError, match="the price of local/scripted is not known"):
        lm("b")
    free = guarded(Budget(usd=Decimal(1)), free=True)
    assert [free("a"), free("b")] == [["1"], ["2"]]


def test_replies_from_the_cache_are_counted_apart() -> None:
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=True)
    lm = guarded(Budget(calls=2), cache=True)
    assert lm("the same question of the budget's test") == lm("the same question of the budget's test")
    assert (lm.spent.calls, lm.spent.cache_hits, lm.spent.tokens) == (1, 1, 12)
    lm("another question of the budget's test")
    assert lm.spent.calls == 2


def test_a_failed_call_counts() -> None:
    lm = guarded(Budget(calls=1), failure="no")
    with pytest.raises(DSPyLMError, match="no"):
        lm("a")
    assert (lm.spent.calls, lm.spent.cache_hits) == (1, 0)
    with pytest.raises(LMError, match="1 calls"):
        lm("b")


def test_copies_and_threads_share_the_budget() -> None:
    lm = guarded(Budget(calls=5))
    models = [lm, lm.copy(temperature=0.5), copy.deepcopy(lm)]
    refused: list[LMError] = []

    def ask(model: GuardedLM) -> None:
        for number in range(4):
            try:
                model(f"q{number}")
            except LMError as error:
                refused.append(error)

    threads = [threading.Thread(target=ask, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert lm.spent.calls == 5
    assert len(refused) == 7


def test_usage_still_reaches_dspy() -> None:
    lm = guarded()
    with dspy.track_usage() as tracker:
        lm("a")
        asyncio.run(lm.acall("b"))
    [usage] = tracker.get_total_tokens().values()
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (20, 4)
    assert lm.spent.calls == 2


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("calls=500,tokens=200000,usd=1.50", Budget(500, 200_000, Decimal("1.50"))),
        ("usd=2", Budget(usd=Decimal(2))),
        (" calls = 3 ", Budget(calls=3)),
    ],
)
def test_a_budget_is_written_in_one_line(text: str, budget: Budget) -> None:
    assert Budget.parse(text) == budget


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("calls=many", "calls must be a number, got 'many'"),
        ("euro=3", "a budget is written"),
        ("", "must be a number"),
        ("calls=0", "calls must be more than 0, got 0"),
        ("usd=-1", "usd must be more than 0, got -1"),
        ("usd=nan", "usd must be a number, got 'nan'"),
    ],
)
def test_a_budget_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Budget.parse(text)


def test_no_key_is_in_an_error_and_callbacks_are_told_none(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Tracing(BaseCallback):
        def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
            seen.append("".join(traceback.format_exception(exception)) if exception is not None else "")

    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with dspy.context(callbacks=[Tracing()]), pytest.raises(DSPyLMError) as caught:
        guarded(failure=f"wrong key: Bearer {SECRET}")("a")
    for text in (seen[0], "".join(traceback.format_exception(caught.value)), repr(caught.value)):
        assert SECRET not in text
        assert "wrong key: Bearer [OPENAI_API_KEY]" in text


def test_short_values_and_other_variables_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "none")
    monkeypatch.setenv("KEYBOARD_LAYOUT", "a-long-enough-value")
    error = ValueError("none of a-long-enough-value")
    redact(error)
    assert str(error) == "none of a-long-enough-value"


@pytest.mark.parametrize("echo", ECHOES)
def test_a_key_is_found_in_the_encodings_of_an_echo(echo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_CREDENTIALS", SECRET)
    [text] = without_secrets([f"unauthorized: {echo} (401)"])
    assert "[SERVICE_CREDENTIALS]" in text
    assert echo[len(echo) // 3 : -len(echo) // 3] not in text
    assert without_secrets({"a": "https://ann:pw@x/y"}) == {"a": "https://[…]@x/y"}


def test_its_saved_state_is_that_of_a_plain_model() -> None:
    lm = GuardedLM("openai/m", budget=Budget(calls=1), api_key=SECRET, api_base="http://localhost:1/v1")
    state = lm.dump_state()
    assert SECRET not in str(state)
    assert type(dspy.LM.load_state(state)) is dspy.LM
    assert type(dspy.BaseLM.load_state(state)) is dspy.LM
