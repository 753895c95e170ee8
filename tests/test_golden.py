"""Recorded results of the whole way: reports, entity graphs and the growing graph give what they gave before.

A change of structure must leave every line of ``golden.json`` equal. A change of behaviour records it again, in its own
commit, with the reason in the message::

    python tests/test_golden.py        # writes tests/golden.json
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from experiments.commands import main as cli
from experiments.data import load_conversations
from experiments.saved import find_program
from kg.ontology.learning import build_ontology
from programs.turns.turn import Turn

GOLDEN = Path(__file__).parent / "golden.json"


def _turn(turn: Turn) -> list[Any]:
    candidates = [[str(one.answer), str(one.path), f"{one.score:.4f}"] for one in turn.candidates[:5]]
    confidence = None if turn.confidence is None else f"{turn.confidence:.4f}"
    return [turn.question, str(turn.answer), str(turn.derivation), confidence, turn.words, candidates]


def reports() -> Any:
    """Every turn of ``sample:dev`` by the shipped beam, with its first five candidates."""
    program = find_program("beam").program
    return {
        one.id: [_turn(turn) for turn in program(report=one.report, questions=list(one.questions)).turns]
        for one in load_conversations("sample:dev").conversations
    }


def geography() -> Any:
    """The scripted conversations about the graph of countries."""
    return _json(["demo", "geography"])


def questions() -> Any:
    """The answers of an untrained and a trained program to the sample's questions over a graph."""
    common = ["--graph", "sample:graph", "--format", "metaqa"]
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(["kgqa", "train", *common, "--questions", "sample:train", "--out", str(folder / "program"), "--no-track"])
        for program in ("untrained", str(folder / "program")):
            file = folder / f"{Path(program).name}.jsonl"
            asked = ["kgqa", "evaluate", program, *common, "--questions", "sample:dev", "--predictions", str(file)]
            _run([*asked, "--no-track"])
            rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            kept = ("id", "prediction", "ground_truth")
            found[Path(program).name] = [{key: row.get(key) for key in kept} for row in rows]
    return found


def advisor() -> Any:
    """The advisor's questions before and after it read the news, by rules."""
    found = _json(["demo", "advisor", "--no-track"])
    rows = [{key: value for key, value in row.items() if key != "seconds"} for row in found.pop("rows")]
    return {"rows": rows, **{key: value for key, value in found.items() if not key.endswith("seconds")}}


def ontologies() -> Any:
    """The hashes of the ontologies, of the sample and of the shipped program."""
    train = load_conversations("sample:train").conversations
    return {
        "sample": build_ontology(one.report for one in train).sha256,
        "shipped": find_program("beam").program.ontology.sha256,
    }


def _run(arguments: list[str]) -> None:
    assert cli.main(arguments) == 0, arguments


def _json(arguments: list[str]) -> Any:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "out.json"
        _run([*arguments, "--json", str(file)])
        return json.loads(file.read_text(encoding="utf-8"))


PARTS: tuple[Callable[[], Any], ...] = (reports, geography, questions, advisor, ontologies)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_the_results_are_as_recorded(part: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8"))[part.__name__]
    assert json.loads(json.dumps(part())) == recorded


if __name__ == "__main__":
    record = {part.__name__: part() for part in PARTS}
    GOLDEN.write_text(json.dumps(record, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")
