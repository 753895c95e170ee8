"""Recorded results of the whole way: reports, entity graphs and the growing graph give what they gave before.

A change of structure must leave every line of ``golden.json`` equal, but for the last digit of scores. A change of
behaviour records it again, in its own commit, with the reason in the message::

    python tests/test_golden.py        # writes tests/golden.json
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from experiments import readers
from experiments.commands import main as cli
from experiments.data import load_conversations
from experiments.saved import find_program
from kg.reports.learning import build_ontology
from programs.turns import Turn
from tests.conftest import has_recorded_arithmetic
from tests.demonstrations import geography_turns

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
    asked = []
    for conversation, turn, right in geography_turns():
        asked.append(
            {
                "conversation": conversation,
                "question": turn.question,
                "canonical": turn.canonical,
                "answer": turn.words or None,
                "facts": list(turn.detail.facts),
                "context": [entity.label for entity in turn.context.entities],
                "right": right,
            }
        )
    return {"turns": len(asked), "right": sum(turn["right"] for turn in asked), "asked": asked}


def questions() -> Any:
    """The answers of an untrained and a trained program to the sample's questions over a graph."""
    common = ["--graph", "sample:graph", "--format", "metaqa"]
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(["compile", "kgqa", *common, "--train", "sample:train", "--out", str(folder / "program"), "--no-track"])
        for program in ("untrained", str(folder / "program")):
            file = folder / f"{Path(program).name}.jsonl"
            asked = ["evaluate", program, *common, "--questions", "sample:dev", "--predictions", str(file)]
            _run([*asked, "--no-track"])
            rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            kept = ("id", "prediction", "ground_truth")
            found[Path(program).name] = [{key: row.get(key) for key in kept} for row in rows]
    return found


def ontologies() -> Any:
    """The hashes of the ontologies, of the sample and of the shipped program."""
    train = load_conversations("sample:train").conversations
    return {
        "sample": build_ontology(one.report for one in train).sha256,
        "shipped": find_program("beam").program.ontology.sha256,
    }


def _run(arguments: list[str]) -> None:
    assert cli.main(arguments) == 0, arguments


_SCORE = re.compile(r"-?\d+\.\d{4}")


def _same(found: Any, recorded: Any) -> bool:
    """Whether two results are equal; scores may differ by rounding, as another order of sums gives."""
    if isinstance(found, dict) and isinstance(recorded, dict):
        return found.keys() == recorded.keys() and all(_same(found[key], recorded[key]) for key in found)
    if isinstance(found, list) and isinstance(recorded, list):
        return len(found) == len(recorded) and all(map(_same, found, recorded))
    if isinstance(found, str) and isinstance(recorded, str) and _SCORE.fullmatch(found) and _SCORE.fullmatch(recorded):
        return abs(float(found) - float(recorded)) < 2.5e-4
    return bool(found == recorded)


def _first_difference(found: Any, recorded: Any, place: str = "") -> str:
    """The first place at which two results differ, with both values."""
    if type(found) is type(recorded) and isinstance(found, dict | list) and len(found) == len(recorded):
        for key in found if isinstance(found, dict) else range(len(found)):
            if isinstance(found, dict) and key not in recorded:
                return f"{place}/{key} is new"
            if not _same(found[key], recorded[key]):
                return _first_difference(found[key], recorded[key], f"{place}/{key}")
    return f"{place}: {found!r} in place of {recorded!r}"


PARTS: tuple[Callable[[], Any], ...] = (reports, geography, questions, ontologies)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_the_results_are_as_recorded(part: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("experiments.readers.parse_reader", lambda: None)  # the extra is not there everywhere
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8"))[part.__name__]
    found = json.loads(json.dumps(part()))
    if part is reports and not has_recorded_arithmetic():
        pairs = [pair for name in recorded for pair in zip(found[name], recorded[name], strict=True)]
        assert sum(starmap(_same, pairs)) >= 0.95 * len(pairs), "near ties alone may be in another order"
    else:
        assert _same(found, recorded), _first_difference(found, recorded)


if __name__ == "__main__":
    readers.parse_reader = lambda: None
    record = {part.__name__: part() for part in PARTS}
    GOLDEN.write_text(json.dumps(record, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")
