"""Conversations and a program whose answers are written down, for testing everything around programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import dspy
import pytest

from experiments.data import ConversationRecord, LoadedData
from experiments.saved import SavedProgram
from experiments.tracking import Tracker, TrackingConfig
from kg.calculations.ranking import Candidate
from kg.reports.report import Report
from kg.search.derivation import Derivation
from programs.turns.conversation import State
from programs.turns.turn import PastTurn, Turn, Usage
from programs.worlds.report import ReportWorld


@dataclass(frozen=True)
class _Settings:
    beam_width: int = 3


@dataclass(frozen=True)
class _Hashed:
    sha256: str

    def to_turtle(self) -> str:
        return "# no ontology"


class ScriptedQA(dspy.Module):
    """Answers each question with the program written down for it; without one the turn fails, ``!`` raises."""

    kind = "scripted"
    evidence = None

    def __init__(self, programs: Mapping[str, str | None]) -> None:
        super().__init__()
        self.programs = dict(programs)
        self.config = _Settings()
        self.ontology = _Hashed("0" * 64)
        self.scorer = _Hashed("1" * 64)
        self.seen: list[tuple[str, Sequence[Turn]]] = []

    def forward(
        self, report: Report, questions: Sequence[str], past: Sequence[PastTurn] | None = None
    ) -> dspy.Prediction:
        return dspy.Prediction(turns=[self._turn(question) for question in questions])

    def world(self, report: Report) -> ReportWorld:
        """A report that nobody reads."""
        return ReportWorld(report, cast("Any", None))

    def start(self, world: ReportWorld, turns: Sequence[Turn] = (), kept: Any = ()) -> State[ReportWorld]:
        if self.programs.get(world.report.id) == "!":
            raise RuntimeError("no graph")
        return State(world, tuple(turns))

    def ask(self, state: State[ReportWorld], question: str) -> State[ReportWorld]:
        self.seen.append((question, state.turns))
        return state.after(self._turn(question))

    def _turn(self, question: str) -> Turn:
        program = self.programs.get(question)
        if program is None:
            return Turn(question, failure="empty_beam", message="nothing found", usage=Usage(seconds=0.5))
        if program == "!":
            raise RuntimeError("the program broke")
        if program == "^C":
            raise KeyboardInterrupt
        chosen = Derivation.parse(program)
        candidates = [
            Candidate(derivation, derivation.execute(), -float(place + 1), f"A -> b -> {derivation}")
            for place, derivation in enumerate([chosen, Derivation.parse("42")])
        ]
        return Turn(
            question,
            answer=chosen.execute(),
            derivation=chosen,
            candidates=tuple(candidates),
            pick=0,
            confidence=0.9,
            usage=Usage(lm_calls=2, prompt_tokens=100, completion_tokens=10, seconds=0.25),
        )


def make_conversation(number: int, gold: Mapping[str, str]) -> ConversationRecord:
    """A conversation with the gold program of each question."""
    report = Report(f"ACME/2020/page_{number}.pdf", ("sold 5 .",), (("", "2020"), ("revenue", "5")), ())
    programs = tuple(gold.values())
    answers = tuple(Derivation.parse(program).execute() for program in programs)
    rounded = tuple(round(answer, 5) if isinstance(answer, Decimal) else answer for answer in answers)
    return ConversationRecord(f"Single_{report.id}-1", report, tuple(gold), programs, rounded, (0,) * len(gold))


GOLD = [
    {"revenue?": "5", "and the change?": "subtract(5, 3)"},
    {"costs?": "3", "the share?": "divide(3, 5)"},
    {"is it greater?": "greater(5, 3)"},
]


@pytest.fixture
def conversation_maker() -> Callable[[int, Mapping[str, str]], ConversationRecord]:
    """:func:`make_conversation`."""
    return make_conversation


@pytest.fixture
def data() -> LoadedData:
    """Three conversations, five turns."""
    conversations = tuple(make_conversation(number, gold) for number, gold in enumerate(GOLD))
    return LoadedData(conversations, (), "ab" * 32, "dev.json", "dev")


@pytest.fixture
def make_saved(tmp_path: Path) -> Callable[..., SavedProgram]:
    """Makes a saved program that answers with the gold programs, but for those that are given otherwise."""

    def make(name: str = "scripted", **changed: str | None) -> SavedProgram:
        programs: dict[str, Any] = {question: program for gold in GOLD for question, program in gold.items()}
        for question, program in changed.items():
            key = next(known for known in programs if known.startswith(question.replace("_", " ")))
            programs[key] = program
        return SavedProgram(ScriptedQA(programs), name, tmp_path, {"optimizers": [{"name": "scorer"}]})

    return make


@pytest.fixture
def tracker(tracking_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tracker:
    """A tracker on a store of the test's own, and a cache of its own."""
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    return Tracker(TrackingConfig(uri=tracking_uri))
