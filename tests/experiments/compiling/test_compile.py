"""Compiles of programs for reports: what is saved, what is on the run, what the command refuses."""

from __future__ import annotations

import dataclasses
import json
import shlex
from pathlib import Path
from typing import Any

import mlflow
import pytest

from experiments.commands import main as cli
from experiments.compiling import CompileJob, compile_program, report_job
from experiments.console import SHIPPED_FOLDER
from experiments.data import LoadedData, load_conversations
from experiments.evaluation import ReportQuestions, evaluate
from experiments.lms import LMConfig
from experiments.saved import find_program, load_program
from experiments.tracking import Tracker, at_store
from kg.errors import ConfigError, DataError
from optimize.optimizers import parse_optimizers
from programs.lm.guarded import GuardedLM
from tests.experiments.openai_server import ScriptedServer
from tests.optimize.conftest import AnyReplyEngine

SHIPPED = str(SHIPPED_FOLDER / "beam")


@pytest.fixture(scope="module")
def train() -> LoadedData:
    loaded = load_conversations("sample:train")
    return dataclasses.replace(loaded, conversations=loaded.conversations[:8])


@pytest.fixture(scope="module")
def dev() -> LoadedData:
    loaded = load_conversations("sample:dev")
    return dataclasses.replace(loaded, conversations=loaded.conversations[:2])


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> AnyReplyEngine:
    """The language model that every name stands for."""
    engine = AnyReplyEngine()

    def reach(config: LMConfig) -> dict[str, Any]:
        lm = GuardedLM("local/any", engine=engine, temperature=config.temperature, free=True, num_retries=0)
        return {"lm": lm}

    monkeypatch.setattr("experiments.compiling.reach_lm", reach)
    return engine


def job_of(train: LoadedData, optimizers: str, *settings: str) -> CompileJob:
    chain = parse_optimizers(optimizers, settings)
    return report_job(SHIPPED, train, chain, lm=LMConfig("local/any"), train_turns=6, val_turns=3)


def test_a_program_and_its_evaluation_are_on_the_run(train: LoadedData, dev: LoadedData, tracker: Tracker) -> None:
    steps = parse_optimizers("scorer", ["scorer.form_steps=10", "scorer.ensemble=1"])
    job = report_job("beam", train, steps)
    compiled = compile_program(job, tracker=tracker, run_name="mine", task=ReportQuestions(dev))
    record = tracker.find("mine", kinds=("compile",))
    assert record.id == compiled.figures["run_id"]
    assert record.params["optimizers"] == "scorer"
    assert record.tags["finpath.data_sha256"] == train.sha256
    assert record.metrics["dev/turns"] == compiled.figures["turns"]
    assert tracker.find("mine").tags["mlflow.parentRunId"] == record.id
    for reference in ("mine", f"runs:/{record.id}/program", record.tags["finpath.model_uri"]):
        again = evaluate(find_program(reference, tracker), ReportQuestions(dev))
        assert again.figures["exe_accuracy"] == compiled.figures["exe_accuracy"]


def test_prompts_evaluations_and_calls_are_on_the_run(
    train: LoadedData, tracker: Tracker, engine: AnyReplyEngine
) -> None:
    job = job_of(train, "labeled-few-shot+bootstrap", "labeled-few-shot.k=3")
    compiled = compile_program(job, tracker=tracker, run_name="asked")
    run = tracker.find("asked", kinds=("compile",))
    assert run.params["labeled-few-shot.k"] == "3"
    assert [name for name in compiled.fit.figures if name.startswith("val_score")] == [
        "val_score_0_start",
        "val_score_1_labeled-few-shot",
        "val_score_2_bootstrap",
    ]
    assert 0 < run.metrics["compile_lm_calls"] <= len(engine.prompts)
    scores = tracker.client.get_metric_history(run.id, "eval_full")
    assert len(scores) == 3
    assert scores[0].value == pytest.approx(100 * compiled.fit.figures["val_score_0_start"], abs=0.1)
    assert tracker.client.search_traces(locations=[tracker.experiment("compile")], run_id=run.id)
    assert "BETTERTOGETHER" in tracker.download(f"runs:/{run.id}/printed.log").read_text("utf-8")
    models = tracker.client.search_logged_models([tracker.experiment("compile")])
    assert [f"models:/{model.model_id}" for model in models] == [run.tags["finpath.model_uri"]]
    inputs = tracker.client.get_run(run.id).inputs.dataset_inputs
    assert train.sha256[:16] in [one.dataset.digest for one in inputs]


def test_no_key_is_on_the_run(
    train: LoadedData, tracker: Tracker, engine: AnyReplyEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dspy

    secret = "sk-planted-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    with dspy.context(lm=GuardedLM("openai/gpt-4o-mini", api_key=secret)):
        compiled = compile_program(job_of(train, "labeled-few-shot"), tracker=tracker)
    run = tracker.find(compiled.figures["run_id"], kinds=("compile",))
    folders = [tracker.download(run.tags["finpath.model_uri"]), tracker.download(f"runs:/{run.id}/")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_a_stopped_compile_asks_nothing_twice(train: LoadedData, tracker: Tracker, engine: AnyReplyEngine) -> None:
    job = job_of(train, "labeled-few-shot")
    engine.stop_after = 5
    with pytest.raises(KeyboardInterrupt):
        compile_program(job, tracker=tracker, run_name="mine")
    assert tracker.find("mine", kinds=("compile",)).status == "KILLED"
    engine.stop_after = None
    compile_program(job, tracker=tracker, run_name="mine")
    assert tracker.find("mine", kinds=("compile",)).status == "FINISHED"
    asked = len(engine.prompts)
    assert len(set(engine.prompts)) == asked - 1, "only the request that was stopped is repeated"
    compile_program(job, tracker=tracker, run_name="again")
    assert len(engine.prompts) == asked


def test_the_agent_learns_from_the_right_turns_of_a_run(
    tracker: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = {"plan": json.dumps({"understanding": "u", "concepts": [], "steps": ["look"]})}
    step = {"next_thought": "so", "next_tool_name": "finish"}
    right, wrong = [[plan, {**step, "next_tool_args": f'{{"answer": "{name}"}}'}] for name in ("r1c1", "r3c1")]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")

    def evaluate_agent(program: str, replies: list[dict[str, str]], data: str) -> list[str]:
        with ScriptedServer(replies) as server:
            words = ["--lm", "openai/any", "--lm-set", f"api_base={server.url}", "--limit", "1", "--threads", "1"]
            assert cli.main(["evaluate", program, "--data", data, *words]) == 0
        return [json.dumps(messages) for messages in server.heard]

    before = evaluate_agent("agent", [*right, *wrong, *wrong, *wrong], "sample:dev")
    learned = str(tmp_path / "learned")
    assert cli.main(["compile", "agent", "--from", "latest", "--out", learned, "--run-name", "use"]) == 0
    run = tracker.find("use", kinds=("compile",))
    assert run.metrics["right_turns"] == 1
    after = evaluate_agent(learned, right * 9, "sample:train")
    assert len(after[0]) < 2 * len(before[0]), "only the lines of the page are shown that the turn used"
    for place, prompt in enumerate(after[:2]):
        assert "what was the net income in 2020?" in prompt
        assert "what was the net income in 2018?" not in prompt
        assert ("[r1c1] $ 50652" in prompt, "effect of dilutive" in prompt) == (True, False), place
    traces = tracker.client.search_traces(locations=[tracker.experiment("evaluate")], run_id=run.params["from"])
    [right] = [trace for trace in traces if "in 2020?" in trace.info.request_preview]
    with at_store(tracker):
        mlflow.log_feedback(trace_id=right.info.trace_id, name="correct", value=False)  # as a person does on a page
    assert cli.main(["compile", "agent", "--from", run.params["from"], "--out", learned]) == 1
    assert "has no right answer by a language model" in capsys.readouterr().err


def test_a_program_must_be_kept_somewhere(train: LoadedData, tmp_path: Path) -> None:
    job = report_job("beam", train)
    with pytest.raises(ConfigError, match="kept nowhere"):
        compile_program(job)
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(ConfigError, match="out must be a new or empty folder"):
        compile_program(job, out=tmp_path)


def test_train_must_have_gold(train: LoadedData) -> None:
    blind = tuple(dataclasses.replace(one, programs=None, answers=None) for one in train.conversations)
    with pytest.raises(DataError, match="no conversations with gold"):
        report_job("beam", dataclasses.replace(train, conversations=blind))


def test_the_same_seed_gives_the_same_scorer(train: LoadedData, tmp_path: Path) -> None:
    steps = parse_optimizers("scorer", ["scorer.form_steps=10", "scorer.ensemble=1"])
    job = report_job("beam", train, steps)
    hashes = {compile_program(job, out=tmp_path / name).saved.config["scorer_sha256"] for name in ("a", "b")}
    assert len(hashes) == 1
    config = json.loads((tmp_path / "a" / "config.json").read_text())
    [optimizer] = config["optimizers"]
    assert (optimizer["name"], optimizer["settings"]["settings"]["form_steps"]) == ("scorer", 10)
    assert config["train"]["sha256"] == train.sha256


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("beam --format metaqa", "--format does not apply to programs for reports"),
        ("kgqa --format metaqa --teacher-lm openai/x", "name one with --lm"),
        ("beam --set nonsense=1", "has no setting 'nonsense'"),
        ("beam --set scorer.nonsense=1", "has no setting 'nonsense'"),
        ("beam --set gepa.max_metric_calls=1", "is for 'gepa', which is not in the chain 'scorer'"),
        ("beam --teacher-lm openai/x", "name one with --lm"),
        ("kgqa --format metaqa --graph sample:graph --set nonsense=1", "has no setting 'nonsense'"),
        ("beam --dev /nonexistent", "/nonexistent"),
    ],
)
def test_every_option_is_used_or_refused(
    words: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, *rest = shlex.split(words)
    out = str(tmp_path / "out")
    assert cli.main(["compile", kind, "--train", "sample:train", "--out", out, *rest]) != 0
    assert message in capsys.readouterr().err
    assert not Path(out).exists()


def test_the_command_ends_with_an_error_when_the_budget_is_spent(
    tmp_path: Path, tracking_uri: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from programs.lm import Budget

    lm = GuardedLM("openai/any", engine=AnyReplyEngine(), budget=Budget(calls=8), cache=False, num_retries=0)
    monkeypatch.setattr("experiments.compiling.reach_lm", lambda _: {"lm": lm})
    words = ["compile", "shipped:beam", "--optimizer", "bootstrap", "--train", "sample:train", "--lm", "openai/any"]
    words += ["--train-turns", "6", "--val-turns", "3", "--out", str(tmp_path / "mine"), "--no-track"]
    assert cli.main([*words, "--threads", "1"]) == 1
    assert "ended early: " in (said := capsys.readouterr().err)
    assert "the budget of openai/any is spent: 8 calls" in said
    assert load_program(tmp_path / "mine").program.kind == "beam"
