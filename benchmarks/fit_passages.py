"""Fits the confidence of what an embedded model quotes from documents, and measures it on questions of other rows.

$ python benchmarks/fit_passages.py read writers_news_a writers_news_b --first 20 --rows look.jsonl
$ python benchmarks/fit_passages.py read writers_news_a writers_news_b --skip 60 --first 20 --rows other.jsonl
$ python benchmarks/fit_passages.py fit look.jsonl --measure other.jsonl --write
$ python benchmarks/fit_passages.py read a03 b03 writers_news_a --rows quotes.jsonl
$ python benchmarks/fit_passages.py fit quotes.jsonl --write

``read`` asks the model about the documents nearest to each question of a set's part ``dev``, in random order; it goes
on where it was stopped. A set may also be a file of passages on which neither the adapter nor the reader of rules was
fitted. ``fit`` fits a logistic model to whether a reading is right, in ten-fold cross-validation.
"""

from __future__ import annotations

import argparse
import calendar
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy
import numpy as np
from news import DATA, aliases, rows, verdict
from passage_readings import is_answer, passage_files, read_file
from scipy.optimize import minimize

from experiments.commands.main import main as command
from experiments.lms import LMConfig, lm_settings
from kg.arrays import FloatArray
from kg.clauses import SentenceParser
from kg.comprehension import ClauseAnswers
from kg.growing import GrowingGraph
from kg.sentences import plain_name
from programs.advisor import GraphAnswers
from programs.worlds.news.documents import near_documents
from programs.worlds.news.quoting import QUOTE_FEATURES, quotation, quote, quote_models
from programs.worlds.news.readings import ReadAnswer, ReadingModel

PENALTY = 1.0
THRESHOLDS = (0.0, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


@dataclass(frozen=True)
class Set:
    """The questions of a set in random order, and what answers them by rules."""

    questions: list[dict[str, Any]]
    clauses: ClauseAnswers
    answered: Callable[[str], tuple[Sequence[str], float]]


def opened(name: str, part: str) -> Set:
    """Returns a set, or a file of passages that is kept out."""
    files = {path.stem: path for path in passage_files(kept=True)}
    found = _passages(files[name]) if name in files else _news(name, part)
    random.Random(0).shuffle(found.questions)
    return found


def _passages(path: Path) -> Set:
    sentences, asked = read_file(path)
    parser = SentenceParser.load()
    assert parser is not None, "this needs the extra 'news'"
    clauses = ClauseAnswers(sentences, parser)
    rows = [
        {"id": str(number), "question": one.text, "answers": list(one.answers) or None}
        for number, one in enumerate(asked)
    ]

    def answered(question: str) -> tuple[Sequence[str], float]:
        found = clauses.answer(question)
        return found.values, found.confidence

    return Set(rows, clauses, answered)


def _news(name: str, part: str) -> Set:
    folder = DATA / name
    with tempfile.TemporaryDirectory() as scratch:
        path = str(Path(scratch) / "graph")
        command(["ingest", str(folder / part), "--graph", path])
        with GrowingGraph(path, read_only=True) as written:
            graph = written.copy()
    answers = GraphAnswers(graph)
    assert answers.clauses is not None, "this needs the extra 'news'"

    def answered(question: str) -> tuple[Sequence[str], float]:
        found = answers.proposed(question).answers
        return found.values, found.confidence or 0.0

    rows_ = [row for row in rows(folder, "questions.jsonl") if row["part"] == part]
    return Set(rows_, answers.clauses, answered)


def read(name: str, arguments: argparse.Namespace) -> None:
    """Appends a row for each question of a set: the answer by rules, and the model's readings with their features."""
    out = Path(arguments.rows)
    done = {(row["set"], row["id"]) for row in stored(out)}
    given = opened(name, arguments.part)
    questions = given.questions[arguments.skip :][: arguments.first]
    questions = [one for one in questions if (name, one["id"]) not in done]
    begin = time.monotonic()
    with dspy.context(**lm_settings(LMConfig(arguments.lm, threads=1))):
        readings = _quotes(given, questions)
        for question in questions:
            if time.monotonic() - begin > arguments.seconds:
                break
            values, confidence = given.answered(question["question"])
            found = readings(question["question"], values, confidence)
            row = {
                "id": question["id"],
                "set": name,
                "gold": question["answers"],
                "rules": list(values),
                "sure": confidence,
                "readings": [{"values": list(each.answer.values), **each.features} for each in found],
            }
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


Readings = Callable[[str, Sequence[str], float], list[ReadAnswer]]


def _quotes(given: Set, questions: Sequence[dict[str, Any]]) -> Readings:
    """The readings of a model that quotes: one, or none where it replies so."""
    asked = {one["question"]: given.clauses.parse(one["question"]) for one in questions}
    near = {text: near_documents(one, given.clauses.library) for text, one in asked.items()}

    def readings(question: str, values: Sequence[str], confidence: float) -> list[ReadAnswer]:
        if not near[question]:
            return []
        reply = quote(dspy.settings.lm, asked[question], near[question])
        found = quotation(given.clauses, asked[question], near[question], reply, values, confidence)
        return [found] if found is not None else []

    return readings


def stored(path: Path) -> list[dict[str, Any]]:
    """Returns the rows of a file; none if it is not there."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def is_right(values: Sequence[str], row: dict[str, Any]) -> str:
    """Returns whether values are ``right``, ``abstained`` or ``wrong``; a passage has answers as they are written."""
    folder, gold = DATA / row["set"], row["gold"]
    if folder.exists() or gold is None or not values:
        return verdict(values, gold, aliases(folder) if folder.exists() else {})
    matched = all(any(_is_same(value, one) for value in values) for one in gold)
    return "right" if matched and len(values) == len(gold) else "wrong"


def _is_same(value: str, written: str) -> bool:
    """Whether a value is an answer as a passage writes it, or the full name of a person for "Bowyer"."""
    is_fuller = value.istitle() and written.istitle() and plain_name(value).endswith(f" {plain_name(written)}")
    return is_fuller or is_answer(value, written) or _is_day(value, written)


def _is_day(value: str, written: str) -> bool:
    """Whether a day or a month as the product gives it is the one that a passage writes."""
    day = re.fullmatch(r"\d{4}-(\d\d)(?:-(\d\d))?", value)
    if day is None:
        return False
    has_month = calendar.month_name[int(day[1])][:3].lower() in written.lower()
    return has_month and (day[2] is None or int(day[2]) in map(int, re.findall(r"\d+", written)))


def fitted(given: Sequence[dict[str, Any]], features: Sequence[str]) -> dict[str, float]:
    """Returns the weights of a logistic model of the readings that are right."""
    pairs = [(one, float(row["gold"] is not None and is_right(one["values"], row) == "right"))
             for row in given for one in row["readings"]]  # fmt: skip
    inputs = np.array([[one[name] for name in features] + [1.0] for one, _ in pairs])
    targets = np.array([right for _, right in pairs])
    penalty = np.array([PENALTY] * len(features) + [0.0])

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        score = inputs @ weights
        cost = np.logaddexp(0, -score) @ targets + np.logaddexp(0, score) @ (1 - targets)
        slope = inputs.T @ (1 / (1 + np.exp(-score)) - targets)
        return float(cost + penalty @ weights**2 / 2), slope + penalty * weights

    found = minimize(loss, np.zeros(len(features) + 1), jac=True).x
    return dict(zip((*features, "intercept"), (round(float(one), 4) for one in found), strict=True))


def counted(given: Sequence[dict[str, Any]], model: ReadingModel) -> Counter[str]:
    """Returns how many questions are right, abstained and wrong.

    Args:
        given: The rows.
        model: The fitted confidence; rules answer from the confidence of ``model.rules`` what it leaves open.
    """
    found: Counter[str] = Counter()
    for row in given:
        scored = [(model.confidence(one), one["values"]) for one in row["readings"]]
        confidence, values = max(scored, default=(0.0, []), key=lambda one: one[0])
        read = values if confidence >= model.threshold else []
        rules = row["rules"] if row["sure"] >= model.rules else []
        found[is_right(read or rules, row)] += 1
    return found


def fit(arguments: argparse.Namespace) -> None:
    """Prints the counts in cross-validation and on other rows, and writes the model."""
    given = [row for path in arguments.files for row in stored(Path(path))]
    print(f"{len(given)} questions; by rules {dict(Counter(is_right(row['rules'], row) for row in given))}")
    for threshold in THRESHOLDS:
        total: Counter[str] = Counter()
        for fold in range(10):
            weights = fitted([row for place, row in enumerate(given) if place % 10 != fold], QUOTE_FEATURES)
            model = ReadingModel(about="a fold", weights=weights, threshold=threshold, rules=arguments.rules)
            total += counted(given[fold::10], model)
        print(f"least confidence {threshold}: {dict(total)}")
    about = f"{len(given)} development questions of {', '.join(sorted({row['set'] for row in given}))}"
    weights = fitted(given, QUOTE_FEATURES)
    model = ReadingModel(
        about=f"{about}; {arguments.lm}", weights=weights, threshold=arguments.threshold, rules=arguments.rules
    )
    for path in arguments.measure:
        other = stored(Path(path))
        print(f"{path}: {dict(counted(other, model))}")
    if arguments.write:
        folder = Path(__file__).parent.parent / "programs" / "worlds" / "news"
        written = json.dumps({**_written(), arguments.lm: model.model_dump()}, indent=1)
        (folder / "quotes.json").write_text(written + "\n", encoding="utf-8")


def _written() -> dict[str, Any]:
    return {name: one.model_dump() for name, one in quote_models().items()}


def main() -> None:
    """Reads or fits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", default="local/qwen2.5-coder-1.5b+news")
    actions = parser.add_subparsers(dest="action", required=True)
    one = actions.add_parser("read")
    one.add_argument("sets", nargs="+")
    one.add_argument("--part", default="dev", choices=["dev", "held_out"])
    one.add_argument("--first", type=int, default=20)
    one.add_argument("--skip", type=int, default=0)
    one.add_argument("--seconds", type=float, default=1200)
    one.add_argument("--rows", required=True)
    other = actions.add_parser("fit")
    other.add_argument("files", nargs="+")
    other.add_argument("--measure", nargs="*", default=[])
    other.add_argument("--threshold", type=float, default=0.5)
    other.add_argument(
        "--rules", type=float, default=0.0, help="the least confidence of rules after a model that quotes"
    )
    other.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.action == "fit":
        fit(arguments)
    else:
        for name in arguments.sets:
            read(name, arguments)


if __name__ == "__main__":
    main()
