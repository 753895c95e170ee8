"""Inference of the encoder, by a small model that adds the mean of a sequence to each token, and random heads."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest

from kg.calculations import Idf, ReportIndex
from kg.calculations.forms import ParsedForm
from kg.calculations.pointers import Pointers
from kg.encoders import TextEncoder, TurnOperands
from kg.encoders.heads import JOINED, WIDTH
from kg.errors import DataError
from kg.reports import Report, build_ontology, build_report_graph

FOLDER = Path(__file__).resolve().parents[2] / "data" / "encoder"
TEMPLATES = ("divide(R, R)", "select(A)", "subtract(A, A)")
TOKEN = 16
REPORT = Report(
    "a",
    ("sales were $ 120 million in 2020 and 4% of them was tax .", "costs rose ."),
    (("", "2020", "2019"), ("net income", "$ 7", "$ 5"), ("costs", "81", "72")),
    (),
)


def _heads() -> bytes:
    count = len(TEMPLATES)
    shapes: dict[str, tuple[int, ...]] = {
        "past_form.weight": (count + 1, JOINED),
        "past_used.weight": (2, JOINED),
        "past_figure.weight": (JOINED, JOINED),
        "kind.weight": (4, JOINED),
        "role.weight": (2 * count, JOINED),
        "first.weight": (JOINED, JOINED),
        "token.weight": (TOKEN, WIDTH),
        "scale": (),
        "loud": (),
    }
    linears = dict.fromkeys(("ask", "ask_2", "turn", "listen", "join.out"), (JOINED, JOINED))
    linears |= dict.fromkeys(("slot", "figure", "heard"), (JOINED, WIDTH)) | {"form": (count, JOINED)}
    linears |= {"join.qkv": (3 * JOINED, JOINED), "join.up": (512, JOINED), "join.down": (JOINED, 512)}
    for name, shape in linears.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    shapes |= {f"join.{norm}.{part}": (JOINED,) for norm in ("norm_1", "norm_2") for part in ("weight", "bias")}
    rng = np.random.default_rng(0)
    weights = {name: (rng.normal(size=shape) * 0.1).astype(np.float16) for name, shape in shapes.items()}
    written = io.BytesIO()
    np.savez(written, forms=np.array(TEMPLATES), **weights)
    return written.getvalue()


@pytest.fixture(scope="module")
def encoder() -> TextEncoder:
    files = {name: (FOLDER / name).read_bytes() for name in ("encoder.onnx", "vocab.txt")}
    return TextEncoder({**files, "heads.npz": _heads()})


def _index(report: Report = REPORT) -> ReportIndex:
    graph = build_report_graph(report, build_ontology([REPORT], min_reports=1))
    return ReportIndex(graph.observations, report.sentences, Idf({}, 1.0))


def test_histories_are_told_apart(encoder: TextEncoder) -> None:
    index = _index()
    page = encoder.page(index.observations, index.sentences)
    question = encoder.question(["net income in 2020?", "and in 2019?", "what is the change?"])
    assert question.numbers == (1, 0)
    turns = [TurnOperands("select(A)", (), (int(page.order[0]),)), TurnOperands("select(A)", (), (int(page.order[1]),))]
    other = [turns[0], TurnOperands("never seen", (0,), ())]
    joined = encoder.heads.join(question, [turns, other, turns], page)
    assert joined.templates.shape == (3, len(TEMPLATES))
    assert np.allclose(np.exp(joined.templates).sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(joined.templates[0], joined.templates[2])
    assert not np.allclose(joined.templates[0], joined.templates[1])


def test_pointers_are_probabilities_of_the_figures(encoder: TextEncoder) -> None:
    index = _index()
    pointers = Pointers(encoder, index, ["what was net income in 2020?"], [()])
    logs = pointers.operands(0, ParsedForm.parse("subtract(A, A)"), 0, -1)
    assert logs is not None
    of_observation = {int(base): float(log) for base, log in zip(index.base, logs, strict=True)}
    shown = [one for place, one in of_observation.items() if not index.observations[place].in_header]
    assert np.exp(shown).sum() == pytest.approx(1, abs=1e-3)
    assert pointers.operands(0, ParsedForm.parse("add(A, A)"), 0, -1) is None
    mean, least = pointers.coverage(0, ParsedForm.parse("select(A)"), 0, -1, int(np.argmax(logs)))
    assert -1 - 1e-5 <= least <= mean <= 1 + 1e-5


def test_copies_and_files_are_the_same_encoder(encoder: TextEncoder, tmp_path: Path) -> None:
    encoder.write(tmp_path / "new")
    for other in (TextEncoder.read(tmp_path / "new"), pickle.loads(pickle.dumps(encoder))):
        assert other.sha256 == encoder.sha256
        assert np.array_equal(other.question(["net income?"]).slots, encoder.question(["net income?"]).slots)
    (tmp_path / "new" / "heads.npz").unlink()
    with pytest.raises(DataError, match="the encoder cannot be read"):
        TextEncoder.read(tmp_path / "new")
    with pytest.raises(DataError, match=r"an encoder must have .*; vocab\.txt is missing"):
        TextEncoder({"encoder.onnx": b"", "heads.npz": b""})
    with pytest.raises(DataError, match=r"heads\.npz: the encoder's heads cannot be read"):
        TextEncoder({**encoder.files, "heads.npz": b"nothing"})
