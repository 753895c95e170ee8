from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import dspy
import numpy as np
import pytest

from experiments import saved
from experiments.saved import CONFIG, EVIDENCE, SCORER, find_program, load_program, save_program
from kg.arrays import FloatArray
from kg.calculations import DerivationScorer
from kg.calculations.turn_search import DerivationConfig
from kg.encoders import TextEncoder
from kg.errors import ConfigError, TrackingError
from kg.graphs import GraphIndex
from kg.paths import LearnedRelationScorer, PathRanker
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from programs.agent import AgentQA
from programs.aggregate import EvidenceConfig, EvidencePlan
from programs.conversation import ConversationQA
from programs.worlds.graph import GraphConfig, GraphReader
from programs.worlds.report import ReportReader

REPORT = Report("a", (), (("", "2020", "2019"), ("revenue", "$ 5", "$ 4"), ("costs", "3", "2")), ())


@pytest.fixture
def program() -> ConversationQA:
    return ConversationQA.unfitted(build_ontology([REPORT]), config=DerivationConfig(beam_width=4))


@pytest.fixture
def folder(program: ConversationQA, tmp_path: Path) -> Path:
    return save_program(program, tmp_path / "mine", {"optimizers": [{"name": "scorer", "settings": {}}], "seed": 3})


def test_a_saved_program_answers_as_before(program: ConversationQA, folder: Path) -> None:
    saved = load_program(folder)
    questions = ["what was the revenue in 2020?", "and in 2019?", "what is the change?"]
    before, after = (one(report=REPORT, questions=questions).turns for one in (program, saved.program))
    assert [turn.answer for turn in before] == [turn.answer for turn in after]
    assert saved.program.config == program.config
    assert saved.program.ontology.sha256 == program.ontology.sha256
    assert saved.program.scorer.sha256 == program.scorer.sha256
    assert (saved.name, saved.config["seed"], saved.config["optimizers"][0]["name"]) == ("mine", 3, "scorer")


def test_prompts_with_other_fields_are_refused(tmp_path: Path) -> None:
    program = ConversationQA.for_graphs()
    predict = program.beam.understand.predict
    predict.signature = predict.signature.delete("readings")
    folder = save_program(program, tmp_path / "earlier")
    rule = "prompts of beam.understand.predict have 6 fields, finpath's have 7: compile it again"
    with pytest.raises(TrackingError, match=rule):
        load_program(folder)


def test_saving_again_replaces_and_leaves_nothing_behind(program: ConversationQA, folder: Path) -> None:
    save_program(program, folder, {"seed": 4})
    assert load_program(folder).config["seed"] == 4
    assert [path.name for path in folder.parent.iterdir()] == ["mine"]


def test_broken_folders_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match="nowhere is not there"):
        load_program(tmp_path / "nowhere")
    with pytest.raises(TrackingError, match=r"no config\.json"):
        load_program(tmp_path)
    scorer = (folder / SCORER).read_text()
    (folder / SCORER).write_text(scorer + " ")
    with pytest.raises(TrackingError, match=r"scorer\.json is not the file"):
        load_program(folder)
    (folder / SCORER).unlink()
    with pytest.raises(TrackingError, match=r"scorer\.json cannot be read"):
        load_program(folder)
    (folder / SCORER).write_text(scorer)
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**config, "settings": {"beam_width": 4, "unknown": 1}}))
    with pytest.raises(TrackingError, match="unknown"):
        load_program(folder)
    (folder / CONFIG).write_text(json.dumps({**config, "format": 99}))
    with pytest.raises(TrackingError, match="format 99"):
        load_program(folder)
    (folder / CONFIG).write_text("{")
    with pytest.raises(TrackingError, match=r"config\.json: : Invalid JSON"):
        load_program(folder)


def test_programs_are_found_by_folder_only_without_a_tracker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_program(str(folder)).name == "mine"
    monkeypatch.chdir(folder.parent)
    assert find_program("mine").name == "mine"
    with pytest.raises(TrackingError, match="other is not there"):
        find_program("other")
    with pytest.raises(TrackingError, match="is not there"):
        find_program("runs:/x/program")


@pytest.fixture
def encoder() -> TextEncoder:
    heads = io.BytesIO()
    np.savez(heads, forms=np.array(["select(A)"]), scale=np.zeros((), dtype=np.float16))
    pieces = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n:\n"
    return TextEncoder({"encoder.onnx": b"weights", "heads.npz": heads.getvalue(), "vocab.txt": pieces})


def test_the_encoder_is_kept_in_a_folder_of_its_own(
    program: ConversationQA, encoder: TextEncoder, tmp_path: Path
) -> None:
    program.turn.reader.scorer = replace(program.turn.reader.scorer, encoder=encoder)
    folder = save_program(program, tmp_path / "one")
    saved = load_program(folder)
    assert saved.program.scorer.encoder.files == encoder.files
    assert saved.program.scorer.sha256 == program.scorer.sha256
    assert {"encoder/encoder.onnx", "encoder/heads.npz", "encoder/vocab.txt"} <= set(saved.config["files"])
    assert pickle.loads(pickle.dumps(program.turn.reader)).scorer.encoder.files == encoder.files
    (folder / "encoder" / "encoder.onnx").write_bytes(b"other weights")
    with pytest.raises(TrackingError, match=r"encoder/encoder\.onnx is not the file that config\.json names"):
        load_program(folder)
    (folder / "encoder" / "encoder.onnx").unlink()
    with pytest.raises(TrackingError, match=r"encoder/encoder\.onnx cannot be read"):
        load_program(folder)


def test_a_scorer_that_lost_its_encoder_is_refused(
    program: ConversationQA, encoder: TextEncoder, tmp_path: Path
) -> None:
    program.turn.reader.scorer = replace(program.turn.reader.scorer, encoder=encoder)
    folder = save_program(program, tmp_path / "one")
    config = json.loads((folder / CONFIG).read_text())
    files = {name: sha256 for name, sha256 in config["files"].items() if not name.startswith("encoder/")}
    (folder / CONFIG).write_text(json.dumps({**config, "files": files}))
    with pytest.raises(TrackingError, match=r"the scorer was fitted with the encoder .*, and there is none"):
        load_program(folder)


def test_how_models_help_to_choose_is_kept(program: ConversationQA, tmp_path: Path) -> None:
    plan = EvidencePlan(5, lines=True, agreement={"search": 0.9, "agrees": 0.25})
    program.evidence = EvidenceConfig(seed=3, plans={"openai/gpt": plan})
    saved = load_program(save_program(program, tmp_path / "one")).program
    assert saved.evidence == program.evidence
    written = json.loads((tmp_path / "one" / EVIDENCE).read_text())["plans"]["openai/gpt"]
    assert written["agreement"] == {"search": 0.9, "agrees": 0.25}
    assert [name for name, _ in saved.named_predictors()] == [name for name, _ in program.named_predictors()]
    agent = ConversationQA(AgentQA(ReportReader(program.ontology, DerivationScorer.untrained())))
    assert agent.evidence is None
    with pytest.raises(ConfigError, match="kind 'agent' chooses among no candidates"):
        agent.evidence = EvidenceConfig()


def test_a_saved_program_cannot_bring_its_own_model(program: ConversationQA, tmp_path: Path) -> None:
    """It would be asked in place of the user's, with the user's key."""
    for _, predictor in program.named_predictors():
        predictor.lm = dspy.LM("openai/planted")
    folder = save_program(program, tmp_path / "planted")
    assert "openai/planted" in (folder / "program.json").read_text(encoding="utf-8")
    loaded = load_program(folder).program
    assert [predictor.lm for _, predictor in loaded.named_predictors() if predictor.lm is not None] == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", "[]"),
        ("config.json", '{"format": 1, "files": "x", "settings": {}, "scorer_sha256": null}'),
        ("config.json", "[" * 100_000),
        ("program.json", "[]"),
        ("program.json", "[" * 100_000),
    ],
)
def test_a_file_of_another_shape_is_refused(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    if name != CONFIG:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        config["files"][name] = hashlib.sha256(content.encode()).hexdigest()
        (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(TrackingError, match=r"the saved program"):
        load_program(folder)


GRAPH = GraphIndex.from_triples([("Alien", "directed_by", "Scott"), ("Alien", "starred", "Weaver")])


class Letters:
    """An encoder whose vectors count letters."""

    sha256 = "letters"

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        counts = np.array([[text.count(letter) + 0.1 for letter in "abcdeimnorstw"] for text in texts])
        found: FloatArray = (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)
        return found


TINY = Letters()


def test_a_ranker_is_saved_with_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "shipped_encoder", lambda: TINY)
    ranker = PathRanker(TINY.vectors, {"beam": 1.0})
    reader = GraphReader(LearnedRelationScorer.untrained(), ranker)
    program = ConversationQA.for_graphs(GraphConfig(max_depth=1), reader)
    config = saved._write_graph_program(program, tmp_path)
    read = saved._read_graph_program(tmp_path, {**config, "files": {saved.RELATIONS: ""}})
    read.evidence = EvidenceConfig(answer="always")
    assert read(question="who made Alien?", graph=GRAPH, topics=["Alien"]).answers[0][0] == "Scott"
    with pytest.raises(TrackingError, match="another encoder"):
        saved._read_graph_program(tmp_path, {**config, "ranker_encoder_sha256": "x", "files": {saved.RELATIONS: ""}})
    del config["ranker_encoder_sha256"]
    kept = saved._read_graph_program(tmp_path, {**config, "files": {saved.RELATIONS: ""}})
    assert kept.turn.reader.ranker is None
