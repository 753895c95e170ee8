"""A Ray cluster of three nodes on this machine: results as with threads, also where a node is killed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from experiments.data import LoadedData
from experiments.engines import LocalEngine, RayEngine
from experiments.evaluation import EvaluationConfig, evaluate, journals_folder
from experiments.lms import LMConfig, lm_settings
from experiments.saved import SavedProgram
from experiments.tasks import ConvFinQA
from experiments.tracking import Tracker, read_traces
from kg.errors import ConfigError
from tests.experiments.conftest import ScriptedQA, make_conversation
from tests.experiments.engines.mapping import map_items

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Tip.*:FutureWarning"),
]

STORE = 100 << 20
REPLY = (
    b'{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": '
    b'"stop", "message": {"role": "assistant", "content": "ok"}}], '
    b'"usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}'
)


class Slow(ScriptedQA):
    def _turn(self, question: str) -> Any:
        time.sleep(0.15)
        return super()._turn(question)


class KillsNode(RayEngine):
    """Calls ``kill`` after the third result."""

    def __init__(self, kill: Callable[[], object], **settings: Any) -> None:
        super().__init__(**settings)
        self.kill = kill

    def run(self, work: Any, items: Sequence[Any], take: Any, **others: Any) -> None:
        taken = 0

        def hooked(result: Any) -> None:
            nonlocal taken
            take(result)
            taken += 1
            if taken == 3:
                self.kill()

        super().run(work, items, hooked, **others)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head node and two others, each with one core."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": STORE})
        for _ in range(2):
            made.add_node(num_cpus=1, object_store_memory=STORE)
        ray.init(address=made.address, log_to_driver=False, configure_logging=False)
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """A server of the OpenAI protocol that counts its requests in ``asked``."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.server.asked.append(time.monotonic())  # type: ignore[attr-defined]
            time.sleep(0.05)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(REPLY)))
            self.end_headers()
            self.wfile.write(REPLY)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        found.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def data() -> LoadedData:
    gold = [{f"a{n}?": "5", f"b{n}?": "subtract(5, 3)", f"c{n}?": "3"} for n in range(8)]
    return LoadedData(tuple(make_conversation(n, one) for n, one in enumerate(gold)), (), "ab" * 32, "dev.json", "dev")


def slow_program(folder: Path) -> SavedProgram:
    programs = {question: "5" for one in data().conversations for question in one.questions}
    return SavedProgram(Slow(programs), "slow", folder, {})


def comparable(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name not in ("run_id", "seconds")}


def test_the_tasks_of_a_killed_node_go_elsewhere(cluster: Any, tmp_path: Path, tracker: Tracker) -> None:
    doomed = [cluster.list_all_nodes()[-1]]
    task, saved = ConvFinQA(data()), slow_program(tmp_path)
    local = evaluate(saved, task, EvaluationConfig(), engine=LocalEngine(3))
    engine = KillsNode(lambda: cluster.remove_node(doomed.pop(), allow_graceful=False), workers=3)
    found = evaluate(saved, task, EvaluationConfig(), engine=engine, tracker=tracker)
    cluster.add_node(num_cpus=1, object_store_memory=STORE)
    assert not doomed
    assert comparable(dict(found.figures)) == comparable(dict(local.figures))
    assert found.scores == local.scores
    assert list(found.turns) == list(local.turns)
    assert [one.answer for one in found.turns.values()] == [one.answer for one in local.turns.values()]
    [record] = tracker.search(["evaluate"])
    assert record.status == "FINISHED"
    assert record.tags["finpath.engine"] == '{"engine": "ray", "workers": 3, "threads": 1}'
    assert len(read_traces(tracker, record)) == 24
    assert not list(journals_folder().glob("*.jsonl"))


def test_a_stopped_evaluation_is_resumed_on_the_cluster(cluster: Any, tmp_path: Path, tracker: Tracker) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    task, saved = ConvFinQA(data()), slow_program(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        evaluate(saved, task, EvaluationConfig(), engine=KillsNode(stop, workers=2), tracker=tracker)
    assert tracker.find("latest").status == "KILLED"
    found = evaluate(saved, task, EvaluationConfig(), engine=RayEngine(workers=3), tracker=tracker, resume=True)
    assert found.figures["resumed_turns"] == 3
    assert found.figures["turns"] == 24
    assert len(tracker.search(["evaluate"])) == 1


def asked(number: int, done: Sequence[str]) -> Iterator[str]:
    import dspy

    yield str(dspy.settings.lm(f"question {number}", cache=False)[0])


def test_the_calls_of_all_workers_are_counted(cluster: Any, server: ThreadingHTTPServer) -> None:
    base = f"http://127.0.0.1:{server.server_port}/v1"
    settings = lm_settings(LMConfig("openai/m", api_base=base))
    replies: list[str] = []
    RayEngine(workers=3, threads=2).run(asked, range(30), replies.append, settings=settings)
    assert len(server.asked) == replies.count("ok") == 30  # type: ignore[attr-defined]
    assert settings["lm"].spent.figures()["lm_calls"] == 30
    assert settings["lm"].spent.figures()["lm_prompt_tokens"] == 300
    capped = lm_settings(LMConfig("openai/m", api_base=base, budget="calls=10"))
    with pytest.raises(ConfigError, match="use the engine local, or a router's budget"):
        RayEngine(workers=3).run(asked, range(30), replies.append, settings=capped)


def ends_its_worker(number: int) -> int:
    if number == 1:
        os._exit(1)
    return number


def test_a_run_without_a_worker_ends(cluster: Any) -> None:
    with pytest.raises(ConfigError, match="all workers were lost, the last at item 2"):
        map_items(RayEngine(workers=2), ends_its_worker, range(3))


def breaks(number: int) -> int:
    raise ConfigError(f"no {number}")


def test_an_error_of_the_work_is_raised_here(cluster: Any) -> None:
    with pytest.raises(ConfigError, match=r"^no 0$"):
        map_items(RayEngine(workers=1), breaks, [0])


def plain(item: int, done: Sequence[int]) -> Iterator[int]:
    return iter(range(item * 10, item * 10 + 3))


def test_work_may_return_any_iterator(cluster: Any) -> None:
    found: list[int] = []
    RayEngine(workers=1).run(plain, [1, 2], found.append)
    assert sorted(found) == [10, 11, 12, 20, 21, 22]


def test_work_that_cannot_be_sent_is_refused(cluster: Any) -> None:
    lock = threading.Lock()
    with pytest.raises(ConfigError, match="cannot be sent to other processes, use the engine local"):
        map_items(RayEngine(workers=1), lambda _: lock, [0])
