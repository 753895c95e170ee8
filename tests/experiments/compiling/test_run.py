"""A compile with a language model: what is on its run, killed and gone on with, opened and served by MLflow."""

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

from experiments.compiling import CompileConfig, compile_and_evaluate, provenance
from experiments.compiling import compilation as compiling
from experiments.compiling.compilation import Compiled
from experiments.compiling.run import CompileRun
from experiments.data import LoadedData, load_conversations
from experiments.evaluation import EvaluationConfig
from experiments.lms.config import LMConfig
from experiments.tracking import RunRecord, Tracker
from experiments.tracking.compiling import PROMPT_ALIAS, prompt_difference, written_prompts
from kg.errors import ConfigError
from optimize.compiling.plan import CompileSettings
from optimize.compiling.registry import parse_optimizers
from programs.lm.guarded import GuardedLM
from tests.optimize.conftest import AnyReplyEngine

SHIPPED = str(Path(compiling.__file__).parents[1] / "shipped" / "beam")
ROOT = Path(compiling.__file__).parent.parent


@pytest.fixture(scope="module")
def train() -> LoadedData:
    loaded = load_conversations("sample:train")
    return dataclasses.replace(loaded, conversations=loaded.conversations[:12])


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> AnyReplyEngine:
    """The language model that every name stands for."""
    engine = AnyReplyEngine()

    def reach(config: LMConfig) -> dict[str, Any]:
        return {"lm": GuardedLM("local/any", engine=engine, temperature=config.temperature, free=True, num_retries=0)}

    monkeypatch.setattr(compiling, "reach_lm", reach)
    monkeypatch.setattr(provenance, "code_sha256", lambda: "as it is")
    return engine


def config_of(optimizers: str, checkpoints: Path | None = None, **options: Any) -> CompileConfig:
    return CompileConfig(
        parse_optimizers(optimizers, options.pop("settings", [])),
        EvaluationConfig(lm=LMConfig("local/any")),
        settings=CompileSettings(train_turns=6, val_turns=3, measure_turns=1, keep="last"),
        checkpoints=checkpoints,
        **options,
    )


def compiled_run(tracker: Tracker, compiled: Compiled) -> RunRecord:
    assert compiled.run_id is not None
    return tracker.find(compiled.run_id, kinds=("compile",))


@pytest.mark.parametrize("name", ["programs/tools/web.py", "kg/ontology/kinds.json"])
def test_the_hash_of_the_code_sees_subpackages_and_data(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    file.write_text("TIMEOUT = 1\n")
    before = provenance.code_sha256(tmp_path)
    file.write_text("TIMEOUT = 2\n")
    provenance.code_sha256.cache_clear()
    assert provenance.code_sha256(tmp_path) != before


def test_everything_that_shaped_a_compile_is_on_its_run(
    train: LoadedData, tracker: Tracker, engine: AnyReplyEngine
) -> None:
    search = "bootstrap-random-search"
    config = config_of(
        f"{search},labeled-few-shot", settings=["labeled-few-shot.k=3", f"{search}.num_candidate_programs=1"]
    )
    compiled = compile_and_evaluate(SHIPPED, train, None, config, tracker=tracker, run_name="asked")
    run = compiled_run(tracker, compiled)
    assert run.params["optimizer.1.labeled-few-shot.k"] == "3"
    assert run.params["optimizer.1.labeled-few-shot.longest"] == "700"
    assert run.params["optimizer.0.bootstrap-random-search.num_candidate_programs"] == "1"
    assert run.params["compile.val_turns"] == "3"
    for role in ("task", "teacher"):
        assert 0 < run.metrics[f"compile_{role}_lm_calls"] <= int(run.params[f"budget.{role}.calls"])
    by_role = [run.metrics[f"compile_{role}_lm_calls"] for role in ("task", "teacher")]
    assert run.metrics["compile_lm_calls"] == sum(by_role)
    assert {f"finpath.{name}" for name in ("ontology_sha256", "scorer_sha256", "packages", "data_sha256")} <= set(
        run.tags
    )
    candidates = tracker.table(run, "candidates")
    assert [row["place"] for row in candidates] == list(range(len(candidates)))
    scores = tracker.client.get_metric_history(run.id, "candidate_score")
    assert {(one.step, one.value) for one in scores} == {
        (row["place"], row["score"]) for row in candidates if row["turns"] >= 3
    }
    inputs = tracker.client.get_run(run.id).inputs.dataset_inputs
    assert [one.dataset.digest for one in inputs] == [train.sha256[:16]]
    assert "demonstration 1:" in tracker.text(run, "prompts/after.txt")
    assert "+demonstration 1:" in tracker.text(run, "prompts/difference.diff").splitlines()
    assert "demonstration" not in tracker.text(run, "prompts/before.txt")


def test_long_settings_are_kept_whole(train: LoadedData, tracker: Tracker) -> None:
    with tracker.run("compile", "long") as run:
        run.log_params({"instructions": "x" * 7000})
    record = tracker.find("long", kinds=("compile",))
    assert len(tracker.text(record, "params/instructions.txt")) == 7000


def test_prompts_are_in_the_registry_under_an_alias(
    train: LoadedData, tracker: Tracker, engine: AnyReplyEngine
) -> None:
    compiled = compile_and_evaluate(SHIPPED, train, None, config_of("labeled-few-shot"), tracker=tracker)
    run = compiled_run(tracker, compiled)
    uris = json.loads(run.tags["finpath.prompts"])
    names = ["finpath.beam.understand", "finpath.beam.read_page", "finpath.beam.aggregate"]
    assert [uri.split("/")[1] for uri in uris] == names
    version = tracker.client.get_prompt_version_by_alias("finpath.beam.read_page", PROMPT_ALIAS)
    assert "demonstration 1:" in version.template
    assert version.tags["run_id"] == run.id


def test_no_key_is_in_the_logged_model(
    train: LoadedData, tracker: Tracker, engine: AnyReplyEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-planted-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    import dspy

    with dspy.context(lm=GuardedLM("openai/gpt-4o-mini", api_key=secret)):
        compiled = compile_and_evaluate(SHIPPED, train, None, config_of("labeled-few-shot"), tracker=tracker)
    run = compiled_run(tracker, compiled)
    folders = [tracker.download(run.tags["finpath.model_uri"]), tracker.download(f"runs:/{run.id}/")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_an_ontology_is_logged_once(train: LoadedData, tracker: Tracker) -> None:
    for name in ("a", "b"):
        compile_and_evaluate("beam", train, None, CompileConfig(log_model=False), tracker=tracker, run_name=name)
    ontology = tracker.search(["ontology"])
    assert len(ontology) == 1
    for name in ("a", "b"):
        assert tracker.find(name, kinds=("compile",)).tags["finpath.ontology_run_id"] == ontology[0].id


def test_a_compile_that_was_stopped_goes_on_on_its_run(
    train: LoadedData, tracker: Tracker, engine: AnyReplyEngine, tmp_path: Path
) -> None:
    config = config_of("labeled-few-shot,bootstrap", tmp_path / "kept", log_model=False)
    engine.stop_after = 24
    with pytest.raises(KeyboardInterrupt):
        compile_and_evaluate(SHIPPED, train, None, config, tracker=tracker, run_name="mine")
    killed = tracker.find("mine", kinds=("compile",))
    assert killed.status == "KILLED"
    assert len(tracker.table(killed, "candidates")) >= 2
    assert killed.metrics["compile_lm_calls"] > 0
    engine.stop_after = None
    allowed = EvaluationConfig(lm=LMConfig("local/any", budget="calls=100000"))  # more may be spent when it goes on
    config = dataclasses.replace(config, evaluation=allowed)
    compiled = compile_and_evaluate(SHIPPED, train, None, config, tracker=tracker, run_name="mine")
    assert compiled.run_id == killed.id
    done = compiled_run(tracker, compiled)
    assert done.status == "FINISHED"
    assert compiled.compilation.resumed
    assert done.tags["finpath.resumed"] == "true"
    asked = len(engine.prompts)
    again = compile_and_evaluate(SHIPPED, train, None, config, tracker=tracker, run_name="again")
    assert len(engine.prompts) == asked
    assert again.run_id != killed.id
    assert again.compilation.prompts_after == compiled.compilation.prompts_after
    fresh = dataclasses.replace(config, fresh=True)
    compile_and_evaluate(SHIPPED, train, None, fresh, tracker=tracker, run_name="fresh")
    assert len(engine.prompts) > asked


def test_other_data_or_settings_are_another_compile(
    train: LoadedData, tracker: Tracker, engine: AnyReplyEngine, tmp_path: Path
) -> None:
    base = config_of("labeled-few-shot", tmp_path)
    other = config_of("labeled-few-shot", tmp_path, settings=["labeled-few-shot.k=2"])
    keys = {provenance.compile_key(SHIPPED, train, one, tracker) for one in (base, other)}
    keys.add(provenance.compile_key(SHIPPED, dataclasses.replace(train, sha256="0" * 64), base, tracker))
    assert len(keys) == 3
    allowed = dataclasses.replace(base, evaluation=EvaluationConfig(lm=LMConfig("local/any", budget="calls=9")))
    assert provenance.compile_key(SHIPPED, train, allowed, tracker) in keys


def test_a_difference_of_prompts_is_readable() -> None:
    before = written_prompts({"understand": {"instructions": "Say it.", "demos": []}})
    after = written_prompts({"understand": {"instructions": "Say it.\nWell.", "demos": [{"question": "and?"}]}})
    difference = prompt_difference(before, after)
    assert "+    Well." in difference
    assert "+    question: and?" in difference
    assert prompt_difference(before, before) == "The instructions and demonstrations are as they were."


KILLED = """
import sys
from pathlib import Path
from experiments.commands import main as cli
from experiments.compiling import compilation as compiling
from experiments.compiling import provenance
from programs.lm.guarded import GuardedLM
from tests.optimize.conftest import AnyReplyEngine

class Slow(AnyReplyEngine):
    def complete(self, request):
        import time
        time.sleep(0.05)
        return super().complete(request)

engine = Slow()
provenance.code_sha256 = lambda: "as it is"
compiling.reach_lm = lambda config: {"lm": GuardedLM("openai/any", engine=engine, temperature=0.0, free=True)}
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_sigterm_leaves_a_killed_run_that_goes_on(tracking_uri: str, tmp_path: Path) -> None:
    """The real command in a process of its own."""
    arguments = ["compile", SHIPPED, "--optimizer", "labeled-few-shot,bootstrap", "--train", "sample:train"]
    arguments += ["--lm", "openai/any", "--train-turns", "6", "--val-turns", "3", "--run-name", "mine"]
    arguments += ["--checkpoints", str(tmp_path / "kept"), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DSPY_CACHEDIR": str(tmp_path / "dspy")}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", KILLED, *arguments],
            env=environment,
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    process = start()
    deadline = time.monotonic() + 240
    lines: list[Path] = []
    while time.monotonic() < deadline and process.poll() is None:
        lines = [path for path in tmp_path.glob("kept/*/candidates.jsonl") if len(path.read_text().splitlines()) >= 2]
        if lines:
            break
        time.sleep(0.1)
    assert lines, process.communicate()[1][-2000:]
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "stopped" in said
    tracker = _tracker(tracking_uri)
    killed = tracker.find("mine", kinds=("compile",))
    assert killed.status == "KILLED"
    process = start()
    _, said = process.communicate(timeout=400)
    assert process.returncode == 0, said
    done = tracker.find("mine", kinds=("compile",))
    assert (done.id, done.status) == (killed.id, "FINISHED")
    assert (tmp_path / "out" / "config.json").exists()


def _tracker(uri: str) -> Tracker:
    from experiments.tracking import TrackingConfig

    return Tracker(TrackingConfig(uri=uri))


@pytest.mark.slow
def test_mlflow_serves_the_model(train: LoadedData, tracker: Tracker, tracking_uri: str, tmp_path: Path) -> None:
    """``mlflow models serve`` in a process of its own, asked over HTTP."""
    import socket

    compiled = compile_and_evaluate("beam", train, None, CompileConfig(), tracker=tracker, run_name="mine")
    uri = compiled_run(tracker, compiled).tags["finpath.model_uri"]
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


def test_a_compile_is_done_by_one_process_at_a_time(tmp_path: Path) -> None:
    with CompileRun.alone(tmp_path, "a", None):
        with CompileRun.alone(tmp_path, "b", None):
            pass
        with pytest.raises(ConfigError, match="is under way in another process"), CompileRun.alone(tmp_path, "a", None):
            pass
    with CompileRun.alone(tmp_path, "a", None, fresh=True) as keeper:
        assert keeper.resumed is None


def test_curves_are_metrics_of_the_run_by_their_steps(tracker: Tracker) -> None:
    with (
        CompileRun.alone(None, "key", tracker) as keeper,
        tracker.run("compile", "tuned") as run,
        keeper.working(run) as working,
    ):
        for step, right in ((0, 0.2), (40, 0.6), (80, 0.7)):
            working.plot({"training/held_out_accuracy": right, "training/loss": 1.0 - right}, step)
    history = tracker.client.get_metric_history(run.id, "training/held_out_accuracy")
    assert [(one.step, one.value) for one in history] == [(0, 0.2), (40, 0.6), (80, 0.7)]
    assert tracker.find("latest", kinds=("compile",)).metrics["training/loss"] == pytest.approx(0.3)
