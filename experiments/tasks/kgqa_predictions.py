"""Predictions on disk, a line a question, written as the questions are answered, so that a stopped evaluation goes on.

OUT.jsonl             what GCR's evaluation reads: id, question, prediction, ground_truth, ground_truth_paths,
                      reasoning_trace
OUT.jsonl.scores      what the evaluation is, and each question's score, by which it goes on
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from experiments.data.questions import KGQuestion
from kg.errors import ConfigError, DataError
from optimize.metrics import KGQAScore
from programs.graphs import PathTurn
from programs.turns import PathDetail

SCORES = ".scores"
"""What the name of the second file ends with."""


class Predictions:
    """The predictions of one evaluation, of which some may be there already.

    Args:
        path: The predictions file; ``None`` to keep the scores in memory only.
        told: What the evaluation is: another one must not go on with this file.

    Attributes:
        scores: The score of each question that is answered, by its id.

    Raises:
        ConfigError: The file is of another evaluation.
        DataError: It cannot be read or written.
    """

    def __init__(self, path: Path | None, told: Mapping[str, Any]) -> None:
        self.scores: dict[str, KGQAScore] = {}
        self._files: list[IO[str]] = []
        if path is None:
            return
        beside = path.with_name(path.name + SCORES)
        head = json.dumps(dict(told), sort_keys=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._take_up(path, beside, head)
            self._files = [file.open("a", encoding="utf-8") for file in (path, beside)]
        except OSError as error:
            raise DataError(f"cannot be written: {error}", file=str(path)) from error

    def _take_up(self, path: Path, beside: Path, head: str) -> None:
        """Reads what is there, and cuts off lines that were not written to their end."""
        if not path.exists() and not beside.exists():
            beside.write_text(head + "\n", encoding="utf-8")
            return
        known, first = _whole_lines(path), _whole_lines(beside)
        if not beside.exists() or not first or first[0] != head:
            raise ConfigError(
                f"predictions must be a new file, or that of this very evaluation to go on with; {path} is of another: "
                "remove it, or name another file"
            )
        scores = {score.id: score for score in map(_read_score, first[1:])}
        kept = [line for line in known if json.loads(line)["id"] in scores]
        self.scores = {name: scores[name] for name in (json.loads(line)["id"] for line in kept)}
        path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
        lines = [head, *(_written_score(score) for score in self.scores.values())]
        beside.write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def add(self, question: KGQuestion, turn: PathTurn, score: KGQAScore) -> None:
        """Keeps an answered question."""
        self.scores[question.id] = score
        if self._files:
            predictions, scores = self._files
            predictions.write(json.dumps(record_of(question, turn), ensure_ascii=False) + "\n")
            predictions.flush()
            scores.write(_written_score(score) + "\n")
            scores.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files:
            file.close()


def record_of(question: KGQuestion, turn: PathTurn) -> dict[str, Any]:
    """A line of the predictions file, as GCR's evaluation reads it."""
    detail = turn.detail or PathDetail()
    return {
        "id": question.id,
        "question": question.question,
        "prediction": list(detail.predictions),
        "ground_truth": list(question.answers),
        "ground_truth_paths": list(question.gold_paths),
        "reasoning_trace": detail.reasoning_trace,
    }


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file without the last one where that has no end: a line is whole JSON or not there."""
    if not path.exists():
        return []
    text = path.read_bytes().decode("utf-8", "ignore")
    return text[: text.rfind("\n") + 1].split("\n")[:-1]


def _written_score(score: KGQAScore) -> str:
    return json.dumps(dataclasses.asdict(score), ensure_ascii=False)


def _read_score(line: str) -> KGQAScore:
    record = json.loads(line)
    return KGQAScore(**{**record, "gold": tuple(record["gold"])})
