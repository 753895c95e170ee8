"""Work over threads: every result is taken, and the first error ends the run."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import dspy
import pytest

from experiments.engines import run
from kg.errors import ConfigError


@pytest.mark.parametrize("threads", [1, 4])
def test_every_result_is_taken_under_the_settings_of_dspy(threads: int) -> None:
    def work(item: int) -> Iterator[str]:
        yield from (f"{dspy.settings.temperature} {item}.{place}" for place in range(2))

    results: list[str] = []
    run(work, [3, 1], results.append, threads=threads, settings={"temperature": 0.5})
    assert sorted(results) == ["0.5 1.0", "0.5 1.1", "0.5 3.0", "0.5 3.1"]


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_error_ends_the_run(threads: int) -> None:
    begun: list[int] = []
    gate = threading.Event()

    def work(item: int) -> Iterator[int]:
        begun.append(item)
        if item == 0:
            gate.set()
            raise ConfigError("broken")
        gate.wait(5)
        yield item

    with pytest.raises(ConfigError, match="broken"):
        run(work, range(100), begun.append, threads=threads)
    assert len(begun) < 200
