"""Remote models that limit, fail, hang and drop, over real HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy

from experiments.data import load_conversations
from experiments.evaluation import EvaluationConfig, ReportQuestions, evaluate
from experiments.lms.config import make_lm
from experiments.saved import find_program
from tests.experiments.lms.servers import GOOD, BadServer, Reply, asked


def test_failures_that_may_pass_are_tried_again_with_growing_pauses(
    serve: Callable[..., BadServer], pauses: list[float]
) -> None:
    server = serve(Reply(500, "broken"), Reply(503, "busy"), Reply(drop=True), GOOD)
    assert asked(server.config(retries=3)) == ["ok"]
    assert pauses == [1, 2, 4]


def test_a_failed_turn_costs_its_own_answer_only(serve: Callable[..., BadServer], pauses: list[float]) -> None:
    place = iter(range(10**6))
    server = serve(script=lambda _: Reply(500, "broken") if next(place) % 3 == 1 else GOOD)
    evaluation = evaluate(
        find_program("beam"),
        ReportQuestions(load_conversations("sample:dev")),
        EvaluationConfig(server.config(retries=0), limit=2),
    )
    failures = [turn.failure for turn in evaluation.turns.values()]
    assert "lm_error" in failures
    assert set(failures) - {"lm_error"}
    assert all("broken" in turn.message for turn in evaluation.turns.values() if turn.failure == "lm_error")


def test_retries_count_as_one_call(serve: Callable[..., BadServer], pauses: list[float]) -> None:
    server = serve(Reply(500, "broken"), GOOD)
    lm = make_lm(server.config(retries=1))
    assert lm is not None
    lm("tried twice")
    assert (lm.spent.calls, len(server.bodies)) == (1, 2)


class _Evil:
    """An object whose reading from a pickle makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_planted_row_of_the_cache_runs_no_code(serve: Callable[..., BadServer], tmp_path: Path) -> None:
    from diskcache import FanoutCache

    dspy.configure_cache(disk_cache_dir=str(tmp_path / "cache"))
    server = serve(GOOD)
    assert asked(server.config()) == ["ok"]
    planted = FanoutCache(str(tmp_path / "cache"), shards=16)
    keys = list(planted)
    assert len(keys) == 1
    planted[keys[0]] = _Evil(tmp_path / "run")
    planted.close()
    dspy.cache.reset_memory_cache()
    assert asked(server.config()) == ["ok"]
    assert not (tmp_path / "run").exists()
    assert len(server.bodies) == 2
