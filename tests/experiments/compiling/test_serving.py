"""A compiled program, served by MLflow."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from experiments.compiling import compile_program, report_job
from experiments.data import load_conversations
from experiments.tracking import Tracker
from optimize.optimizers import parse_optimizers

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_mlflow_serves_the_model(tracker: Tracker, tracking_uri: str, tmp_path: Path) -> None:
    """``mlflow models serve`` in a process of its own, asked over HTTP."""
    import socket

    train = load_conversations("sample:train")
    job = report_job("beam", train, parse_optimizers("scorer", ["scorer.form_steps=1"]))
    compiled = compile_program(job, tracker=tracker, run_name="mine")
    uri = tracker.find("mine", kinds=("compile",)).tags["finpath.model_uri"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MLFLOW_TRACKING_URI": tracking_uri,
        "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", uri, "--env-manager", "local"]
    log = (tmp_path / "serve.log").open("w")
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"],
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    first = train.conversations[0]
    asked = {"report": dataclasses.asdict(first.report), "questions": list(first.questions)}
    try:
        answers = _ask(port, {"dataframe_records": [asked]})
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)
        log.close()
    turns = compiled.saved.program(report=first.report, questions=list(first.questions)).turns
    assert [one["question"] for one in answers] == list(first.questions)
    assert [one["exact"] for one in answers] == [str(turn.answer) for turn in turns]
    assert answers[0]["sources"]


def _ask(port: int, body: dict[str, Any]) -> list[dict[str, Any]]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/invocations",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    deadline = time.monotonic() + 180
    while True:
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                answers: list[dict[str, Any]] = json.load(reply)["predictions"]["answers"]
                return answers
        except (ConnectionError, urllib.error.URLError):
            if time.monotonic() > deadline:
                raise
            time.sleep(1)
