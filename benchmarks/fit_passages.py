"""Fits the confidence of what an embedded model reads in documents, and measures it on questions of other rows.

$ python benchmarks/fit_passages.py read writers_news_a writers_news_b --first 20 --rows look.jsonl
$ python benchmarks/fit_passages.py read writers_news_a writers_news_b --skip 60 --first 20 --rows other.jsonl
$ python benchmarks/fit_passages.py fit look.jsonl --measure other.jsonl --write

``read`` asks the model about the documents nearest to each question of a set's part ``dev``, in random order; it goes
on where it was stopped. ``fit`` fits a logistic model to whether a reading is right, in ten-fold cross-validation.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dspy
import numpy as np
from news import DATA, aliases, rows, verdict
from scipy.optimize import minimize

from experiments.commands.main import main as command
from experiments.lms import LMConfig, lm_settings
from kg.arrays import FloatArray
from kg.growing import GrowingGraph
from programs.advisor import GraphAnswers, PassageReader, ReadingModel, near_documents
from programs.advisor.passages import FEATURES, reading_model

PENALTY = 1.0
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)


def read(name: str, arguments: argparse.Namespace) -> None:
    """Appends a row for each question of a set: the answer by rules, and the model's readings with their features."""
    folder, out = DATA / name, Path(arguments.rows)
    done = {row["id"] for row in stored(out)}
    questions = [row for row in rows(folder, "questions.jsonl") if row["part"] == arguments.part]
    random.Random(0).shuffle(questions)
    questions = [one for one in questions[arguments.skip :][: arguments.first] if one["id"] not in done]
    with tempfile.TemporaryDirectory() as scratch:
        path = str(Path(scratch) / "graph")
        command(["advisor", "ingest", str(folder / arguments.part), "--graph", path])
        with GrowingGraph(path, read_only=True) as opened:
            graph = opened.copy()
    answers = GraphAnswers(graph)
    clauses = answers.clauses
    assert clauses is not None, "this needs the extra 'news'"
    reader = PassageReader(clauses)
    asked = [clauses.parse(one["question"]) for one in questions]
    near = [[] if one.words.polar else near_documents(one, clauses.library) for one in asked]
    pairs = [(document.text.name, place, document) for place, found in enumerate(near) for document in found]
    begin = time.monotonic()
    with dspy.context(**lm_settings(LMConfig(arguments.lm, threads=1))):
        for _, place, document in sorted(pairs, key=lambda pair: pair[:2]):  # each document is read once
            if time.monotonic() - begin < arguments.seconds:
                reader.reply(asked[place], document)
        for question, one, found in zip(questions, asked, near, strict=True):
            if time.monotonic() - begin > arguments.seconds:
                break
            readings = reader.readings(one, found) if found else []
            row = {
                "id": question["id"],
                "set": name,
                "gold": question["answers"],
                "rules": list(answers.answer(question["question"]).values),
                "readings": [{"values": list(each.answer.values), **each.features} for each in readings],
            }
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def stored(path: Path) -> list[dict[str, Any]]:
    """Returns the rows of a file; none if it is not there."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def is_right(values: Sequence[str], row: dict[str, Any]) -> str:
    """Returns whether values are ``right``, ``abstained`` or ``wrong``."""
    return verdict(values, row["gold"], aliases(DATA / row["set"]))


def fitted(given: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Returns the weights of a logistic model of the readings that are right."""
    pairs = [(one, float(row["gold"] is not None and is_right(one["values"], row) == "right"))
             for row in given for one in row["readings"]]  # fmt: skip
    inputs = np.array([[one[name] for name in FEATURES] + [1.0] for one, _ in pairs])
    targets = np.array([right for _, right in pairs])
    penalty = np.array([PENALTY] * len(FEATURES) + [0.0])

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        score = inputs @ weights
        cost = np.logaddexp(0, -score) @ targets + np.logaddexp(0, score) @ (1 - targets)
        slope = inputs.T @ (1 / (1 + np.exp(-score)) - targets)
        return float(cost + penalty @ weights**2 / 2), slope + penalty * weights

    found = minimize(loss, np.zeros(len(FEATURES) + 1), jac=True).x
    return dict(zip((*FEATURES, "intercept"), (round(float(one), 4) for one in found), strict=True))


def counted(given: Sequence[dict[str, Any]], model: ReadingModel) -> Counter[str]:
    """Returns how many questions are right, abstained and wrong by rules, then by the model."""
    found: Counter[str] = Counter()
    for row in given:
        scored = [(model.confidence(one), one["values"]) for one in row["readings"]]
        sure, values = max(scored, default=(0.0, []), key=lambda one: one[0])
        found[is_right(row["rules"] or (values if sure >= model.threshold else []), row)] += 1
    return found


def fit(arguments: argparse.Namespace) -> None:
    """Prints the counts in cross-validation and on other rows, and writes the model."""
    given = [row for path in arguments.files for row in stored(Path(path))]
    print(f"{len(given)} questions; by rules {dict(Counter(is_right(row['rules'], row) for row in given))}")
    for threshold in THRESHOLDS:
        total: Counter[str] = Counter()
        for fold in range(10):
            weights = fitted([row for place, row in enumerate(given) if place % 10 != fold])
            model = ReadingModel(about="a fold", weights=weights, threshold=threshold)
            total += counted(given[fold::10], model)
        print(f"least confidence {threshold}: {dict(total)}")
    about = f"{len(given)} development questions of {', '.join(sorted({row['set'] for row in given}))}"
    model = ReadingModel(about=f"{about}; {arguments.lm}", weights=fitted(given), threshold=arguments.threshold)
    for path in arguments.measure:
        other = stored(Path(path))
        print(f"{path}: {dict(counted(other, model))}; as shipped {dict(counted(other, reading_model()))}")
    if arguments.write:
        path = Path(__file__).parent.parent / "programs" / "advisor" / "passages.json"
        path.write_text(model.model_dump_json(indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Reads or fits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", default="local/qwen2.5-coder-1.5b")
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
    other.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.action == "fit":
        fit(arguments)
    else:
        for name in arguments.sets:
            read(name, arguments)


if __name__ == "__main__":
    main()
