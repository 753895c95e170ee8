"""Engines against a scripted model server: speed-up from 1 to 8 workers, overhead a turn, memory a worker.

    python benchmarks/bench_engines.py --workers 1 2 4 8 --json engines.json

Every question is one call to a server of this machine that answers after 500 ms, so that the workers wait and two cores
are enough for eight of them. The time begins when all workers are ready; their start is measured apart.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from experiments.engines import Engine, LocalEngine, RayEngine, map_items
from experiments.lms import LMConfig, lm_settings

TURNS = 3
REPLY = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "5"}}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 2, "total_tokens": 402},
    }
).encode()


def serve(latency: float, port: Any) -> None:
    """Runs the scripted server; writes its port into ``port``."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(latency)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(REPLY)))
            self.end_headers()
            self.wfile.write(REPLY)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.send(server.server_port)
    server.serve_forever()


class Conversation:
    """The turns of a conversation, each with a call; its first turn in a process waits for the other processes."""

    def __init__(self, gate: Path, workers: int) -> None:
        self.gate, self.workers = gate, workers

    def __call__(self, item: int, done: Sequence[Any]) -> Iterator[tuple[int, float, float]]:
        import dspy

        (self.gate / str(os.getpid())).touch()
        while len(list(self.gate.iterdir())) < self.workers:
            time.sleep(0.05)
        for turn in range(len(done), TURNS):
            start = time.time()
            dspy.settings.lm(f"conversation {item}, question {turn}", cache=False)
            yield item, start, time.time()


def answer(engine: Engine, workers: int, count: int, port: int) -> dict[str, float]:
    """Returns the seconds of a run, without the start of the workers, and of their start."""
    settings = lm_settings(LMConfig("openai/m", api_base=f"http://127.0.0.1:{port}/v1"))
    found: list[tuple[int, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        begin = time.time()
        engine.run(Conversation(Path(folder), workers), range(count), found.append, settings=settings)
    first, last = min(start for _, start, _ in found), max(end for _, _, end in found)
    assert len(found) == count * TURNS == settings["lm"].spent.figures()["lm_calls"]
    turns = sorted(end - start for _, start, end in found)
    return {"seconds": last - first, "start": first - begin, "turn_p50": statistics.median(turns)}


class Memory:
    """The memory of a process that has answered with the shipped program."""

    def __init__(self) -> None:
        from experiments.saved import find_program

        self.program = find_program("beam").program

    def __call__(self, _: int) -> dict[str, int]:
        from experiments.data import load_conversations

        item = load_conversations("sample:dev").conversations[0]
        state = self.program.start(self.program.world(item.report))
        self.program.ask(state, item.questions[0])
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
        time.sleep(3)  # so that each process gets one
        return {"pid": os.getpid(), "rss_mb": sizes["Rss"] // 1024, "pss_mb": sizes["Pss"] // 1024}


def trivial(item: int, done: Sequence[Any]) -> Iterator[int]:
    yield from range(100)


class Asked:
    """Questions to the ledger alone."""

    def __call__(self, count: int, done: Sequence[Any]) -> Iterator[float]:
        import dspy

        from programs.lm import Budget

        spent, start = dspy.settings.lm.spent, time.perf_counter()
        for _ in range(count):
            spent.begin("m", Budget())
            spent.end({"prompt_tokens": 1}, None, answered=True)
        yield (time.perf_counter() - start) / count


def ledger_seconds(threads: int) -> float:
    """Returns the seconds of the ledger's two questions a call, with several callers at a time."""
    found: list[float] = []
    settings = lm_settings(LMConfig("openai/m", api_base="http://127.0.0.1:9/v1"))
    engine = RayEngine(workers=1, threads=threads)
    engine.run(Asked(), [500] * threads, found.append, settings=settings)
    return statistics.mean(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--conversations", type=int, default=64, help="of three turns each")
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of a reply")
    parser.add_argument("--memory", action="store_true", help="also measure the memory with the shipped program")
    parser.add_argument("--json")
    given = parser.parse_args()
    context = get_context("spawn")
    receiver, sender = context.Pipe()
    server = context.Process(target=serve, args=(given.latency, sender), daemon=True)
    server.start()
    port = receiver.recv()
    figures: dict[str, Any] = {"turns": given.conversations * TURNS, "latency": given.latency, "ray": {}}
    figures["local"] = answer(LocalEngine(), 1, given.conversations, port)
    print("local, 1 thread", figures["local"], flush=True)
    import ray

    ray.init(num_cpus=max(given.workers), object_store_memory=256 << 20, include_dashboard=False, log_to_driver=False)
    for workers in given.workers:
        found = answer(RayEngine(workers=workers), workers, given.conversations, port)
        figures["ray"][workers] = found
        speed_up = figures["ray"][given.workers[0]]["seconds"] * given.workers[0] / found["seconds"]
        figures["ray"][workers]["speed_up"] = speed_up
        print(f"ray, {workers} workers", {name: round(value, 3) for name, value in found.items()}, flush=True)
    figures["overhead"] = (figures["ray"][given.workers[0]]["seconds"] - figures["local"]["seconds"]) / figures["turns"]
    results: list[int] = []
    times = []
    RayEngine(workers=1).run(trivial, range(20), lambda _: times.append(time.perf_counter()) or results.append(1))
    figures["driver_results_per_second"] = (len(times) - 1) / (times[-1] - times[0])
    figures["ledger_seconds_per_call"] = {threads: ledger_seconds(threads) for threads in (1, 8)}
    figures["ledger_calls_per_second"] = 8 / figures["ledger_seconds_per_call"][8]
    if given.memory:
        figures["memory"] = map_items(RayEngine(workers=2), Memory(), range(2))
    print(json.dumps(figures, indent=1))
    if given.json:
        Path(given.json).write_text(json.dumps(figures, indent=1) + "\n")
    server.terminate()


if __name__ == "__main__":
    main()
