"""``finpath compile advisor``: scored before and after, logged, saved, loaded, and used to read news."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import dspy
import pytest

from experiments.commands import main as cli
from experiments.compiling import extraction
from experiments.lms import LMConfig
from experiments.saved import ServedExtraction, find_program
from experiments.tracking import Tracker, read_traces
from kg.growing import GrowingGraph
from kg.news import stored_facts
from programs.advisor import FactExtraction

BOUGHT = "Orvane Semiconductor Corp. agreed to buy laser maker Brightlane Photonics for $340 million."
WIRE = f"Orvane buys Brightlane\n2026-01-14\n\n{BOUGHT} It praised staff.\n"
FACT = {"document": "wire", "subject": "Orvane Semiconductor", "relation": "acquires"}


@pytest.fixture
def news(tmp_path: Path) -> Path:
    folder = tmp_path / "news" / "train"
    folder.mkdir(parents=True)
    (folder / "wire.txt").write_text(WIRE, encoding="utf-8")
    row = {**FACT, "object": "Brightlane Photonics", "quote": BOUGHT}
    (folder.parent / "facts.jsonl").write_text(json.dumps(row), encoding="utf-8")
    return folder


def model(monkeypatch: pytest.MonkeyPatch, module: object, lm: dspy.LM) -> None:
    """Lets a module ask a scripted model, whatever the command names."""
    monkeypatch.setattr(module, "lm_settings", lambda _: {"lm": lm, "adapter": dspy.ChatAdapter()})


def test_the_compiled_program_is_logged_loaded_and_reads_news(
    news: Path,
    tmp_path: Path,
    tracker: Tracker,
    scripted_lm: Callable[..., dspy.LM],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    none = {"facts": "[]"}
    right = {"facts": json.dumps(["Orvane Semiconductor Corp | acquires | Brightlane Photonics"])}
    model(monkeypatch, extraction, scripted_lm([none, none, right, none]))
    words = ["--optimizer", "labeled-few-shot", "--train", str(news), "--dev", str(news), "--lm", "openai/scripted"]
    out = tmp_path / "figures.json"
    assert cli.main(["compile", "advisor", *words, "--out", "mine", "--run-name", "read", "--json", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert (found["dev/recall_before"], found["dev/recall"], found["dev/precision"]) == (0.0, 1.0, 1.0)
    record = tracker.find("read", kinds=("compile",))
    assert (record.metrics["dev/f1"], record.params["optimizer"]) == (1.0, "labeled-few-shot")
    assert len(read_traces(tracker, record)) == 4
    loaded = find_program("read", tracker).program
    assert loaded.extract_facts.demos == find_program("./mine").program.extract_facts.demos
    assert list(loaded.extract_facts.demos[0]["facts"]) == [
        "Orvane Semiconductor Corp | acquires | Brightlane Photonics"
    ]

    from experiments.commands import growing

    model(monkeypatch, growing, scripted_lm([right, none]))
    ingest = ["advisor", "ingest", str(news), "--graph", "knowledge", "--lm", "openai/scripted", "--program", "./mine"]
    assert cli.main(ingest) == 0
    with GrowingGraph("knowledge", read_only=True) as graph:
        assert "acquires" in {fact.relation for fact in stored_facts(graph)}


def test_what_cannot_be_compiled_is_said(news: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compile", "advisor", "--train", str(news), "--no-track"]
    assert cli.main([*words, "--out", "mine", "--optimizer", "gepa"]) == 1
    assert "must be one of none, labeled-few-shot, bootstrap" in capsys.readouterr().err
    (news.parent / "facts.jsonl").write_text('{"document": "wire"}', encoding="utf-8")
    assert cli.main([*words, "--out", "mine", "--optimizer", "none"]) == 1
    assert "must hold document, subject, relation, object" in capsys.readouterr().err


def test_a_served_program_returns_the_facts_of_texts(scripted_lm: Callable[..., dspy.LM]) -> None:
    reply = {"facts": json.dumps(["Orvane Semiconductor Corp | acquires | Brightlane Photonics"])}
    lm = scripted_lm([reply, {"facts": "[]"}])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        served = ServedExtraction(FactExtraction(), LMConfig())(texts=[WIRE]).toDict()
    (fact,) = served["answers"][0]["facts"]
    assert (fact["relation"], fact["sentence"]) == ("acquires", BOUGHT)
