"""A server that hangs, breaks and babbles in the middle of an evaluation: each costs its own turn, and is counted."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from experiments.data import load_conversations
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.lms.config import LMConfig
from experiments.saved import find_program
from experiments.tasks import ConvFinQA
from experiments.traces import read_traces
from experiments.tracking import Tracker


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, str]]]:
    """A server's address, and what it does to prompts that have a text in them: ``hang`` or ``break``."""
    moods: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            mood = next((mood for text, mood in moods.items() if text in asked.lower()), "babble")
            if mood == "hang":
                time.sleep(4)
            reply = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "fake",
                "choices": [
                    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}},
                ],
                "usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6},
            }
            body = json.dumps({"error": {"message": "out of order"}} if mood == "break" else reply).encode()
            try:
                self.send_response(500 if mood == "break" else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass  # the client did not wait

        def log_message(self, *_: Any) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/v1", moods
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.mark.slow
def test_each_kind_of_failure_costs_its_turn_and_is_counted_apart(
    server: tuple[str, dict[str, str]], tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    url, moods = server
    data = load_conversations("sample:dev")
    questions = data.conversations[0].questions
    assert len(questions) >= 3
    # The whole line of the prompt that holds the question that is asked; later turns have it in their history too.
    moods[f"question ## ]]\\n{questions[0].lower()}"] = "hang"
    moods[f"question ## ]]\\n{questions[1].lower()}"] = "break"
    moods[f'\\"question\\": \\"{questions[0].lower()}'] = "hang"
    moods[f'\\"question\\": \\"{questions[1].lower()}'] = "break"
    lm = LMConfig("openai/fake", api_base=url, timeout=1.0, retries=0, max_tokens=16)
    done = evaluate(find_program("beam"), ConvFinQA(data), EvaluationConfig(lm, limit=1, threads=1), tracker=tracker)
    messages = [score.message for score in done.scores]
    assert [score.failure for score in done.scores][:2] == ["lm_error", "lm_error"], messages
    assert done.figures["turns"] == len(questions)
    assert sum("timed out" in text.lower() or "timeout" in text.lower() for text in messages) == 1, messages
    assert done.figures["failures_lm_error"] == 2, messages
    assert tracker.find("latest").status == "FINISHED"
    traces = read_traces(tracker, tracker.find("latest"))
    assert [trace["info"]["state"] for trace in traces][:2] == ["ERROR", "ERROR"]
    asked = [
        span for trace in traces for span in trace["data"]["spans"] if "CHAT" in span["attributes"]["mlflow.spanType"]
    ]
    assert len(asked) >= len(questions)
