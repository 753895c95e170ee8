"""Engines without a cluster: threads, the ledger of a cluster, and a missing Ray."""

from __future__ import annotations

import importlib.util
import pickle
import threading
from collections.abc import Iterator, Sequence

import pytest

from experiments.engines import LocalEngine, RayEngine, map_items
from experiments.engines.ledger import Ledger
from kg.errors import ConfigError
from programs.lm import Budget, Expenses


def counting(item: int, done: Sequence[str]) -> Iterator[str]:
    yield from (f"{item}.{place}" for place in range(len(done), 3))


@pytest.mark.parametrize("threads", [1, 3])
def test_results_that_are_done_are_not_worked_for_again(threads: int) -> None:
    found: list[str] = []
    LocalEngine(threads).run(counting, [1, 2], found.append, done=lambda item: ["1.0", "1.1"] if item == 1 else [])
    assert sorted(found) == ["1.2", "2.0", "2.1", "2.2"]


@pytest.mark.parametrize("threads", [1, 4])
def test_items_are_mapped_in_their_order(threads: int) -> None:
    assert map_items(LocalEngine(threads), str, [3, 1, 2]) == ["3", "1", "2"]


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_error_ends_the_run(threads: int) -> None:
    begun: list[int] = []
    gate = threading.Event()

    def work(item: int) -> int:
        begun.append(item)
        if item == 0:
            gate.set()
            raise ConfigError("broken")
        gate.wait(5)
        return item

    with pytest.raises(ConfigError, match="broken"):
        map_items(LocalEngine(threads), work, range(100))
    assert len(begun) < 100


def test_a_lost_worker_gives_back_what_it_had_reserved() -> None:
    ledger, budget = Ledger(Expenses()), Budget(calls=3)
    assert [ledger.begin("a", "m", budget)[1] for _ in range(2)] == ["", ""]
    assert ledger.begin("b", "m", budget)[1] == ""
    assert "3 calls" in ledger.begin("b", "m", budget)[1]
    ledger.end("b", None, None, True)  # the cache had it
    assert ledger.begin("b", "m", budget)[1] == ""
    ledger.give_up("a")
    assert ledger.counts().calls == 2  # they may have been answered, so they count
    ledger.end("a", {"prompt_tokens": 5}, None, True)  # of a worker that was given up
    assert ledger.counts().figures()["lm_prompt_tokens"] == 0
    ledger.end("b", {"prompt_tokens": 5}, None, True)
    assert ledger.counts().figures()["lm_calls"] == 3


def test_expenses_travel_without_the_calls_under_way() -> None:
    spent = Expenses()
    spent.begin("m", Budget(calls=1))
    sent = pickle.loads(pickle.dumps(spent))
    sent.begin("m", Budget(calls=1))
    sent.end({"prompt_tokens": 7}, None, answered=True)
    spent.update(sent)
    assert spent.figures() == sent.figures()
    assert spent.prompt_tokens == 7


def test_a_rate_gives_calls_their_turns_and_takes_back_those_of_the_cache() -> None:
    spent, budget = Expenses(), Budget(rate=60)
    waits = [spent.begin("m", budget) for _ in range(3)]
    assert waits == pytest.approx([0, 1, 2], abs=0.2)
    spent.end(None, None, answered=True)
    assert spent.begin("m", budget) == pytest.approx(2, abs=0.2)


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'finpath\[ray\]'"):
        RayEngine()


def test_settings_out_of_range_are_refused() -> None:
    pytest.importorskip("ray")
    with pytest.raises(ConfigError, match="workers must be at least 1, got 0"):
        RayEngine(workers=0)
    with pytest.raises(ConfigError, match="HOST:PORT"):
        RayEngine("ray://head:10001")
