"""Engines without a cluster: threads, the ledger of a cluster, and a missing Ray."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Sequence

import pytest

from experiments.engines import LocalEngine, RayEngine
from kg.errors import ConfigError
from tests.experiments.engines.mapping import map_items


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


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'finpath\[ray\]'"):
        RayEngine()


def test_settings_out_of_range_are_refused() -> None:
    pytest.importorskip("ray")
    with pytest.raises(ConfigError, match="workers must be at least 1, got 0"):
        RayEngine(workers=0)
