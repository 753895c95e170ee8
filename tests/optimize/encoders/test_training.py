"""Training and export of the encoder, on a random base model and the sample."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kg.calculations.report_index import Idf, ReportIndex
from kg.encoders import TextEncoder, TurnOperands, WordPiece
from kg.encoders.encoder import JOINED
from kg.errors import DataError
from kg.reports import Report, build_ontology, build_report_graph
from optimize.encoders.examples import EncoderConfig, EncoderData, base_vocabulary, encoder_data
from optimize.scorers.derivations import TrainingTurn, training_turns

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from optimize.encoders.export import export_encoder, to_onnx  # noqa: E402
from optimize.encoders.model import Reader, padded  # noqa: E402
from optimize.encoders.training import EncoderPass, by_page, train_encoder  # noqa: E402

SAMPLE = Path(__file__).resolve().parents[3] / "experiments" / "sample"
SMALL = EncoderConfig(epochs=2, tokens=400, frozen=0, form_count=1, rate=1e-3, head_rate=3e-3)


@pytest.fixture(scope="module")
def turns() -> list[TrainingTurn]:
    records = json.loads((SAMPLE / "train.json").read_text())[:5]
    reports = [Report.from_dict(record) for record in records]
    ontology = build_ontology(reports)
    found: list[TrainingTurn] = []
    for record, report in zip(records, reports, strict=True):
        index = ReportIndex(build_report_graph(report, ontology).observations, report.sentences, Idf({}, 1.0))
        gold = record["annotation"]
        found += training_turns(report.id, index, gold["dialogue_break"], gold["turn_program"])
    unknown = ReportIndex([], [], Idf({}, 1.0))
    return [*found, *training_turns("d", unknown, ["sales?", "squared?"], ["7", "exp(7, const_2)"])]


@pytest.fixture(scope="module")
def data(turns: list[TrainingTurn], base_model: Path) -> EncoderData:
    return encoder_data(turns, WordPiece(base_vocabulary(base_model)))


@pytest.fixture(scope="module")
def told() -> list[str]:
    return []


@pytest.fixture(scope="module")
def model(data: EncoderData, base_model: Path, told: list[str]) -> Reader:
    return train_encoder(base_model, data, replace(SMALL, epochs=6), progress=told.append)


@pytest.fixture(scope="module")
def exported(model: Reader, data: EncoderData, base_model: Path) -> TextEncoder:
    return export_encoder(model, base_vocabulary(base_model), data)


def test_training_learns_templates_and_operands(
    model: Reader, data: EncoderData, base_model: Path, told: list[str]
) -> None:
    untrained = train_encoder(base_model, data, replace(SMALL, epochs=1, rate=0.0, head_rate=0.0))
    units = list(by_page(data.examples).items())
    with torch.no_grad():
        before, after = (float(EncoderPass(one, data.pages, units).loss()[0]) for one in (untrained, model))
    assert after < 0.7 * before
    assert any(line.startswith("encoder: step 20 of ") for line in told)


def test_a_killed_training_continues_with_the_same_result(
    data: EncoderData, base_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, told = SMALL, list[str]()
    whole = train_encoder(base_model, data, config, seed=1, progress=told.append)
    total = int(told[0].rpartition(", ")[2].removesuffix(" steps"))
    steps: list[int] = []

    real = torch.optim.AdamW.step

    def step(self: object, *arguments: object) -> object:
        steps.append(1)
        if len(steps) == total - 1:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    with pytest.raises(KeyboardInterrupt):
        train_encoder(base_model, data, config, seed=1, checkpoint=tmp_path / "training.pt")
    monkeypatch.undo()
    told.clear()
    resumed = train_encoder(base_model, data, config, seed=1, checkpoint=tmp_path / "training.pt", progress=told.append)
    assert told[1] == f"encoder: continued at step {total // 2} of {total}"
    for name, value in whole.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name
    assert [path.name for path in tmp_path.iterdir()] == ["training.pt"]
    with pytest.raises(DataError, match=r"training\.pt: the checkpoint is of another training: remove it"):
        train_encoder(base_model, data, replace(config, rate=0.5), seed=1, checkpoint=tmp_path / "training.pt")
    (tmp_path / "training.pt").write_bytes(b"broken")
    with pytest.raises(DataError, match=r"training\.pt: the checkpoint cannot be read"):
        train_encoder(base_model, data, config, seed=1, checkpoint=tmp_path / "training.pt")


def test_export_calculates_the_same_states(model: Reader, data: EncoderData) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    sequences = [one.sequence for one in data.examples[:4]]
    tokens, specials, mask = padded(sequences)
    with torch.no_grad():
        expected = model.encoder(tokens, specials, mask).numpy()
    session = onnxruntime.InferenceSession(to_onnx(model.encoder), providers=["CPUExecutionProvider"])
    inputs = {"tokens": tokens.numpy(), "specials": specials.numpy(), "mask": mask.numpy()}
    found = session.run(None, inputs)[0]
    assert np.abs(found - expected)[mask.numpy()].max() < 1e-4


def test_the_exported_encoder_scores_as_the_trained_one(
    model: Reader, data: EncoderData, turns: list[TrainingTurn], exported: TextEncoder, base_model: Path
) -> None:
    assert exported.heads.templates == model.templates
    assert len(exported.wordpiece.numbers) < len(base_vocabulary(base_model))
    for place in (2, 3):
        turn, example = turns[place], data.examples[place]
        page = exported.page(turn.index.observations, turn.index.sentences)
        question = exported.question(turn.questions)
        past = [TurnOperands(*one) for one in ((one.template, one.used, one.figures) for one in example.past)]
        found = exported.heads.join(question, [past], page).templates[0]
        with torch.no_grad():
            reading = EncoderPass(model, data.pages, [(example.page, [example])], half=False)
            expected = torch.log_softmax(reading.templates[0], -1).numpy()
            operands = list(reading.operands(0))
        assert np.abs(found - expected).max() < 0.5
        assert found.argmax() == expected.argmax()
        if operands and operands[0].kind == "A":
            joined, zero = exported.heads.join(question, [past], page), np.array([0])
            number = np.array([exported.heads.number[example.template]])
            queries, listened = exported.heads.queries(joined, zero, number, zero, np.zeros((1, JOINED), np.float32))
            query, words = queries[0], exported.heads.word_weights(question.heard, listened)[0]
            scores = page.vectors[page.order] @ query + words @ page.similarities(question.spoken)
            shares = np.zeros(len(page.vectors))
            shares[page.order] = scores
            own = [one for sequence in data.pages[example.page] for one in sequence.figures.values()]
            assert np.corrcoef(shares[own], operands[0].scores.numpy())[0, 1] > 0.98
