from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from experiments.commands import main as cli
from experiments.compiling import CompileConfig, compile_and_evaluate
from experiments.data import LoadedData, conversation_examples, load_conversations
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.files import SAMPLE_FOLDER
from experiments.saved import find_program, load_program, shipped_references
from experiments.tasks import ConvFinQA
from experiments.tracking import Tracker
from kg.coreference import ReferenceModel
from kg.errors import ConfigError, DataError, UnmappedRowError
from optimize.compiling.registry import OptimizerStep
from optimize.scorers import fit_references, reference_examples


@pytest.fixture(scope="module")
def train() -> LoadedData:
    return load_conversations("sample:train")


@pytest.fixture(scope="module")
def dev() -> LoadedData:
    loaded = load_conversations("sample:dev")
    return dataclasses.replace(loaded, conversations=loaded.conversations[:2])


def test_compiling_keeps_everything_on_its_run(train: LoadedData, dev: LoadedData, tracker: Tracker) -> None:
    compiled = compile_and_evaluate("beam", train, dev, CompileConfig(), tracker=tracker, run_name="mine")
    record = tracker.find("mine", kinds=("compile",))
    assert record.id == compiled.run_id
    assert record.params["optimizers"] == "none"
    assert record.tags["finpath.data_sha256"] == train.sha256
    assert record.metrics["dev/turns"] == compiled.figures()["turns"]
    evaluated = tracker.find("mine")
    assert evaluated.tags["mlflow.parentRunId"] == record.id
    ontology = tracker.search(["ontology"])[0]
    assert record.tags["finpath.ontology_run_id"] == ontology.id
    assert ontology.tags["finpath.ontology_sha256"] == record.tags["finpath.ontology_sha256"]
    assert compiled.evaluation is not None
    for reference in ("mine", f"runs:/{record.id}/program", record.tags["finpath.model_uri"]):
        again = evaluate(find_program(reference, tracker), ConvFinQA(dev), EvaluationConfig())
        assert again.figures["exe_accuracy"] == compiled.evaluation.figures["exe_accuracy"]


def test_mlflow_opens_the_model(train: LoadedData, dev: LoadedData, tracker: Tracker, tracking_uri: str) -> None:
    import mlflow

    compile_and_evaluate("beam", train, None, CompileConfig(), tracker=tracker, run_name="mine")
    mlflow.set_tracking_uri(tracking_uri)
    model = mlflow.pyfunc.load_model(tracker.find("mine", kinds=("compile",)).tags["finpath.model_uri"])
    first = dev.conversations[0]
    answers = model.predict({"report": dataclasses.asdict(first.report), "questions": list(first.questions)})["answers"]
    assert len(answers) == len(first.questions)


def test_a_program_must_be_kept_somewhere(train: LoadedData, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="kept nowhere"):
        compile_and_evaluate("beam", train, None, CompileConfig())
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(ConfigError, match="out must be a new or empty folder"):
        compile_and_evaluate("beam", train, None, CompileConfig(), out=tmp_path)


def test_train_must_have_gold(train: LoadedData, tmp_path: Path) -> None:
    blind = tuple(dataclasses.replace(one, programs=None, answers=None) for one in train.conversations)
    with pytest.raises(DataError, match="no conversations with gold"):
        compile_and_evaluate("beam", dataclasses.replace(train, conversations=blind), None, CompileConfig(), out="x")


def test_the_scorer_is_fitted_with_its_settings(train: LoadedData, dev: LoadedData, tmp_path: Path) -> None:
    few = dataclasses.replace(train, conversations=train.conversations[:15])
    steps = (OptimizerStep("scorer", {"form_steps": 10, "ensemble": 1}),)
    figures = []
    for name in ("a", "b"):
        compiled = compile_and_evaluate("beam", few, dev, CompileConfig(steps), out=tmp_path / name)
        figures.append(compiled.figures())
    assert figures[0]["scorer_sha256"] == figures[1]["scorer_sha256"]
    config = json.loads((tmp_path / "a" / "config.json").read_text())
    assert config["optimizers"] == [{"name": "scorer", "settings": {"form_steps": 10, "ensemble": 1}}]
    assert config["train"]["sha256"] == train.sha256


def test_the_command_saves_and_writes_figures(
    tmp_path: Path, tracking_uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compile", "beam", "--optimizer", "none", "--train", "sample:train", "--dev", "sample:dev"]
    arguments += ["--limit", "2", "--no-track", "--out", str(tmp_path / "mine"), "--json", str(tmp_path / "out.json")]
    assert cli.main(arguments) == 0
    figures = json.loads((tmp_path / "out.json").read_text())
    assert figures["conversations"] == 2
    assert figures["run_id"] is None
    assert (tmp_path / "mine" / "config.json").exists()
    shown = capsys.readouterr().out
    assert "right answers (exe_accuracy)" in shown
    assert "build the ontology from" in shown


def test_a_program_that_was_compiled_to_fail_unmapped_rows_is_saved_so(
    tmp_path: Path, tracking_uri: str, train: LoadedData, dev: LoadedData
) -> None:
    config = CompileConfig(unmapped="fail")
    compiled = compile_and_evaluate("beam", train, dev, config, out=tmp_path / "mine")
    failing = load_program(tmp_path / "mine").program
    assert failing.unmapped == "fail"
    figures = compiled.figures()
    assert 0 < figures["failed_turns"] <= figures["turns"]
    words = ["evaluate", str(tmp_path / "mine"), "--data", "sample:dev", "--limit", "2", "--no-track", "--json"]
    out = tmp_path / "out.json"
    assert cli.main([*words, str(out)]) == 1
    assert json.loads(out.read_text())["failed_turns"] == figures["failed_turns"]
    assert cli.main([*words, str(out), "--set", "unmapped=keep"]) == 0
    assert json.loads(out.read_text())["failed_turns"] == 0
    fitted = dataclasses.replace(config, optimizers=(OptimizerStep("scorer", {}),))
    with pytest.raises(UnmappedRowError, match="covers none of these rows"):
        compile_and_evaluate(str(tmp_path / "mine"), dev, None, fitted, out=tmp_path / "other")


@pytest.mark.slow
def test_the_model_of_references_is_fitted_and_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = json.loads((SAMPLE_FOLDER / "train.json").read_text())[:12]
    (tmp_path / "train.json").write_text(json.dumps(records))
    out = tmp_path / "references.json"
    words = ["compile", "references", "--train", str(tmp_path / "train.json"), "--out", str(out)]
    assert cli.main([*words, "--json", str(tmp_path / "out.json")]) == 0
    model = ReferenceModel.from_json(out.read_text())
    assert json.loads((tmp_path / "out.json").read_text())["weights"] == len(model.weights) > 100
    assert set(model.weights) & set(shipped_references().weights)
    examples = conversation_examples(load_conversations(words[3]).conversations)
    assert model == fit_references(reference_examples(examples, find_program("beam").program.turn.reader))
    assert cli.main(words[:-2]) == 2
    assert "references needs --out" in capsys.readouterr().err
