"""Fits the confidence in what the span reader, or an embedded model that quotes, reads in the news.

$ python benchmarks/fit_news.py --rows spans.jsonl --threshold 0.85 --write
$ python benchmarks/fit_news.py --lm local/qwen2.5-coder-1.5b+news --rows quotes.jsonl --most-wrong 0.1 --write

The questions are those of the development parts of the news sets, and of the files of passages on which neither reader
was fitted. Each row of the file is a question with what would be answered; a run goes on where it was stopped. A
logistic model is fitted to whether an answer is right. The figures that are printed are of sets left out: each set is
answered by a model of the other sets. With ``--most-wrong`` the threshold is the one that has most right there with
at most that share of questions wrong. An embedded model is asked where the span reader is not confident.
"""

from __future__ import annotations

import argparse
import calendar
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import dspy
import numpy as np
from news import DATA, SETS, SMALL_WORDS, aliases, rows, verdict
from question_sets import unpacked

from experiments.data import read_documents
from experiments.lms import LMConfig, lm_settings
from kg.news import AnswerConfidence, Passage, SpanAnswers, TextAnswer, passages_of, plain_name
from kg.news.answers import READ, SpanReader, proposals_of, read
from optimize.fitting import fit_logistic
from programs.worlds.news.reading import ADAPTER, SHOWN, quotation, quote

PASSAGES = unpacked("passages") / "reader" / "passages"
KEPT = "*03.txt"
"""The files of passages that the readers are not fitted on."""

EVERY, PENALTY = 6, 0.5
"""Of so many questions about passages one is asked, and the weight of the squares of the weights."""

ROOT = Path(__file__).parent.parent
SPANS, QUOTES = ROOT / "kg" / "news" / "confidence.json", ROOT / "programs" / "worlds" / "news" / "confidence.json"

Question = tuple[str, list[str] | None]


def sets(names: Sequence[str]) -> Iterator[tuple[str, list[Passage], list[Question]]]:
    """Yields each set with its sentences and its questions: news, and kept files of passages by their names."""
    for name in names:
        folder = DATA / name
        if (folder / "dev").is_dir():
            documents, _ = read_documents([str(folder / "dev")], date(2026, 11, 28))
            given = (row for row in rows(folder, "questions.jsonl") if row["part"] == "dev")
            sentences = [passage for document in documents for passage in passages_of(document)]
            yield name, sentences, [(row["question"], row["answers"]) for row in given]
        elif (PASSAGES / f"{name}.txt").is_file():
            yield name, *_passages(PASSAGES / f"{name}.txt")


def _passages(path: Path) -> tuple[list[Passage], list[Question]]:
    """Returns sentences and some questions of a file of ``# ID | DAY | HEADLINE``, ``S``, ``Q text => answers``."""
    sentences: list[Passage] = []
    questions: list[Question] = []
    name, day, place = "", date.min, -1
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, rest = line[:1], line[2:].strip()
        if kind == "#":
            name, written, headline = (part.strip() for part in rest.split("|", 2))
            day, place = date.fromisoformat(written), -1
            sentences.append(Passage(name, day, place, headline))
        elif kind == "S":
            place += 1
            sentences.append(Passage(name, day, place, rest))
        elif kind == "Q":
            text, _, answer = rest.rpartition(" => ")
            given = [part.strip() for part in answer.split(";;")]
            questions.append((text.strip(), None if given == ["-"] else given))
    return sentences, questions[::EVERY]


def is_right(name: str, values: Sequence[str], gold: Sequence[str] | None) -> str:
    """Returns the verdict of an answer; passages have theirs as they are written."""
    if (DATA / name).is_dir():
        return verdict(values, gold, aliases(DATA / name))
    written = [next((one for one in gold or () if _is_day(value, one)), value) for value in values]
    names = {plain_name(value): plain_name(SMALL_WORDS.sub("", value)) for value in (*written, *(gold or ()))}
    return verdict(written, gold, names)


def _is_day(value: str, written: str) -> bool:
    """Whether a day or a month as the product gives it is the one that a passage writes."""
    day = re.fullmatch(r"\d{4}-(\d\d)(?:-(\d\d))?", value)
    has_month = day is not None and calendar.month_name[int(day[1])][:3].lower() in written.lower()
    return day is not None and has_month and (day[2] is None or int(day[2]) in map(int, re.findall(r"\d+", written)))


def proposals(answers: SpanAnswers, question: str, lm: dspy.LM | None) -> list[TextAnswer]:
    """Returns what would be answered to a question, with the features of its confidence."""
    if lm is None:
        reader = SpanReader.load()
        assert reader is not None, "this needs the extra 'news'"
        return proposals_of(*read(question, answers.library.near(question, READ), reader))
    near, own = answers.library.near(question, *SHOWN[ADAPTER]), answers.proposed(question)
    if own.is_confident(answers.model):
        return [replace(own, features={})]
    return [quotation(quote(lm, question, near), near, own)]


def collect(arguments: argparse.Namespace, lm: dspy.LM | None) -> list[dict[str, Any]]:
    """Returns the rows of all questions, of which new ones are appended to the file."""
    path = Path(arguments.rows)
    stored = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    done = {(row["set"], row["question"]) for row in stored}
    for name, sentences, questions in sets([*SETS, *sorted(path.stem for path in PASSAGES.glob(KEPT))]):
        answers = SpanAnswers(sentences)
        for question, gold in random.Random(0).sample(questions, min(arguments.first, len(questions))):
            if (name, question) not in done:
                given = [one for one in proposals(answers, question, lm) if one.values]
                record = [{"values": one.values, "features": one.features} for one in given]
                stored.append({"set": name, "question": question, "gold": gold, "proposals": record})
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(stored[-1]) + "\n")
    return stored


def fitted(given: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Returns the weights of a logistic model of the answers that are right."""
    answers = [(row, one) for row in given for one in row["proposals"] if one["features"]]
    features = list(answers[0][1]["features"])
    inputs = np.array([[one["features"][name] for name in features] + [1.0] for _, one in answers])
    targets = [
        row["gold"] is not None and is_right(row["set"], one["values"], row["gold"]) == "right" for row, one in answers
    ]
    weights = fit_logistic(inputs, targets, penalty=[PENALTY] * len(features) + [0.0])
    return dict(zip((*features, "intercept"), (round(float(one), 4) for one in weights), strict=True))


def left_out(given: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], float, list[str]]]:
    """Yields each question with the best answer and its confidence, by a model of the other sets."""
    for name in dict.fromkeys(row["set"] for row in given):
        model = AnswerConfidence(about="", weights=fitted([row for row in given if row["set"] != name]), threshold=0)
        for row in (row for row in given if row["set"] == name):
            rated = [
                (model.confidence(one["features"]) if one["features"] else 1.0, one["values"])
                for one in row["proposals"]
            ]
            yield row, *max(rated, default=(0.0, []), key=lambda one: one[0])


def main() -> None:
    """Asks the questions, prints the figures of sets left out, and writes the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=10_000, help="questions of each set, in random order")
    parser.add_argument("--lm", help="an embedded model with the adapter for news; by default the span reader answers")
    parser.add_argument("--rows", required=True, help="the file of the rows")
    parser.add_argument("--threshold", type=float, default=0.85, help="the least confidence of an answer")
    parser.add_argument("--most-wrong", type=float, help="choose the threshold by this share of wrong answers")
    parser.add_argument("--write", action="store_true", help="write the model that ships")
    arguments = parser.parse_args()
    lm = lm_settings(LMConfig(arguments.lm, threads=1))["lm"] if arguments.lm else None
    given = collect(arguments, lm)
    outcomes = [
        (row["set"], confidence, [is_right(row["set"], shown, row["gold"]) for shown in ([], values)])
        for row, confidence, values in left_out(given)
    ]

    def figures(least: float, name: str = "") -> Counter[str]:
        return Counter(one[confidence >= least] for own, confidence, one in outcomes if name in ("", own))

    allowed = [arguments.threshold] if arguments.most_wrong is None else [step / 100 for step in range(30, 96)]
    fit = [one for one in allowed if figures(one)["wrong"] <= (arguments.most_wrong or 1) * len(outcomes)]
    chosen = max(fit, key=lambda one: (figures(one)["right"], one))
    for name in ("", *dict.fromkeys(row["set"] for row in given)):
        print(f"threshold {chosen}, {name or 'all'}: {dict(figures(chosen, name))}")
    if arguments.write:
        about = f"benchmarks/fit_news.py: {len(given)} questions of {len({row['set'] for row in given})} sets"
        record: dict[str, Any] = {"about": about, "weights": fitted(given), "threshold": chosen}
        if arguments.lm:
            record = {**json.loads(QUOTES.read_text(encoding="utf-8")), arguments.lm: record}
        (QUOTES if arguments.lm else SPANS).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
