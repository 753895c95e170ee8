"""Fits the ranking and the confidence of answers from sentences on the development parts of the news sets.

$ python benchmarks/fit_clauses.py --write
confidence 0.85: 435 right answers, 161 rightly without one (55.5%), 38 wrong (3.5%)

The ranking is a linear model of the candidates' features, fitted by the likelihood of the right ones. The confidence is
a logistic model of the best value's features. The figures are of sets left out: each set has other authors or kinds of
text, and is answered by a model that was fitted on the other sets. The typed facts are left out of the set ``news``,
since their frames were written with its development part in view.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from news import DATA, SETS, aliases, rows, same
from passage_readings import is_answer, passage_files, read_file
from scipy.optimize import minimize

from experiments.commands.main import main as command
from kg.clauses import SentenceParser
from kg.comprehension import (
    CONFIDENCE_FEATURES,
    FEATURES,
    AnswerProposal,
    Asked,
    ClauseAnswers,
    ClauseModel,
    Ranked,
    SpanCandidate,
    clause_model,
    features_of,
    proposal_of,
    rank,
)
from kg.comprehension.answers import Typed
from kg.growing import GrowingGraph
from kg.news import NewsAnswers, directory_of, parts_of, stored_facts, stored_passages

Array = npt.NDArray[np.float64]

PASSAGES = "passages"
PARTS = (*(name for name in SETS if (DATA / name / "dev").is_dir()), PASSAGES)
MODEL = Path("kg/comprehension/model.json")
UNTYPED = "news"
RIDGE = 1.0
CONFIDENCE_RIDGE = 1.5

EVERY = 3
"""Of so many questions about passages one is asked."""

POLAR = 0.8
"""The least confidence of yes or no, of which there are few examples."""


@dataclass
class Example:
    """A question of one part with its candidates.

    Attributes:
        text: The question.
        asked: It as a clause with a gap.
        gold: The right answers; ``None`` where there is none.
        candidates: Its candidates.
        right: Which of them are right.
        set: Its set.
        same: Whether a value is one of the right answers.
        verdict: What a question for yes or no is answered with.
        extreme: The company with the largest or smallest amount.
    """

    text: str
    asked: Asked
    gold: list[str] | None
    candidates: list[SpanCandidate]
    right: Array
    set: str
    same: Callable[[str, str], bool]
    verdict: AnswerProposal | None
    extreme: str


def examples(name: str) -> list[Example]:
    """Returns the questions of a set's development part, or those of the passages that the reader was not fitted on."""
    parser = SentenceParser.load()
    assert parser is not None
    if name == PASSAGES:
        return [one for path in passage_files(kept=True) for one in _of_passages(path, parser)]
    folder = DATA / name
    with tempfile.TemporaryDirectory() as scratch:
        with contextlib.redirect_stdout(io.StringIO()):
            command(["ingest", str(folder / "dev"), "--graph", f"{scratch}/graph"])
        with GrowingGraph(f"{scratch}/graph", read_only=True) as graph:
            by_facts = NewsAnswers(stored_facts(graph), directory_of(graph))
            passages = stored_passages(graph)
    typed = None if name == UNTYPED else (lambda question: by_facts.answer(question).values)
    answers = ClauseAnswers(passages, parser, typed, clause_model())
    given = [(row["question"], row["answers"]) for row in rows(folder, "questions.jsonl") if row["part"] == "dev"]
    return list(_examples(name, given, answers, typed, aliases(folder)))


def _of_passages(path: Path, parser: SentenceParser) -> Iterator[Example]:
    sentences, questions = read_file(path)
    answers = ClauseAnswers(sentences, parser, None, clause_model())
    given = [(one.text, list(one.answers) or None) for one in questions[::EVERY]]
    return _examples(f"{PASSAGES} {path.stem[0]}", given, answers, None, None)


class _Written:
    """Whether a value, as written in the sentences, is a right answer of a passage.

    Args:
        candidates: The candidates, which have the values as written.
    """

    def __init__(self, candidates: Sequence[SpanCandidate]) -> None:
        self._written: dict[str, set[str]] = {}
        for one in candidates:
            self._written.setdefault(one.value, {one.value}).add(one.mention.text)

    def __call__(self, value: str, gold: str) -> bool:
        return any(is_answer(text, gold) for text in self._written.get(value, (value,)))


def _examples(
    name: str,
    given: Sequence[tuple[str, list[str] | None]],
    answers: ClauseAnswers,
    typed: Typed | None,
    names: dict[str, str] | None,
) -> Iterator[Example]:
    """Yields the questions with their candidates; values are compared by the names of a set, or as written."""
    for question, gold in given:
        if len(parts_of(question)) > 1:
            continue
        asked = answers.parse(question)
        verdict = answers.proposed(asked, ()) if asked.words.polar else None
        candidates = []
        if verdict is None:
            candidates = answers.candidates(asked, typed(question) if typed is not None else ())
        fits = partial(same, names=names) if names is not None else _Written(candidates)
        right = np.array([any(fits(one.value, each) for each in gold or ()) for one in candidates], dtype=float)
        yield Example(question, asked, gold, candidates, right, name, fits, verdict, answers.extreme(asked))


def is_right(example: Example, values: Sequence[str]) -> bool:
    """Whether some values are the right answers of a question."""
    gold = example.gold or ()
    every = all(any(example.same(one, each) for each in gold) for one in values)
    return bool(gold) and every and all(any(example.same(one, each) for one in values) for each in gold)


def proposal(example: Example, ranked: Sequence[Ranked]) -> AnswerProposal:
    """Returns what a question would be answered with."""
    if example.verdict is not None:
        return example.verdict
    return proposal_of(example.asked, ranked, example.extreme) if ranked else AnswerProposal(problem="nothing fits")


def fitted_weights(given: Sequence[Example]) -> dict[str, float]:
    """Returns the weights under which the right candidates are likeliest."""
    data = [(features_of(one.candidates), one.right) for one in given if one.right.sum()]

    def loss(weights: Array) -> tuple[float, Array]:
        total, gradient = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for features, right in data:
            shares = np.exp(features @ weights - (features @ weights).max())
            total -= float(np.log((shares * right).sum() / shares.sum()))
            gradient -= features.T @ (shares * right / (shares * right).sum() - shares / shares.sum())
        return total, gradient

    found = minimize(loss, np.zeros(len(FEATURES)), jac=True, method="L-BFGS-B").x
    return {name: round(float(weight), 4) for name, weight in zip(FEATURES, found, strict=True)}


def fitted_confidence(features: Array, right: npt.NDArray[np.bool_]) -> Array:
    """Returns the weights of a logistic model, the last one for the intercept, which has no penalty.

    Args:
        features: Those of each answer.
        right: Whether it is right.
    """
    signs = np.where(right, 1.0, -1.0)
    given = np.hstack([features, np.ones((len(features), 1))])

    def loss(weights: Array) -> tuple[float, Array]:
        margins = signs * (given @ weights)
        kept = np.append(weights[:-1], 0.0)
        total = float(np.logaddexp(0, -margins).sum()) + CONFIDENCE_RIDGE * float(kept @ kept)
        return total, 2 * CONFIDENCE_RIDGE * kept - given.T @ (signs / (1 + np.exp(margins)))

    found: Array = minimize(loss, np.zeros(given.shape[1]), jac=True, method="L-BFGS-B").x
    return found


def probabilities(features: Array, weights: Array) -> Array:
    """Returns the confidence of some answers."""
    found: Array = 1 / (1 + np.exp(-(features @ weights[:-1] + weights[-1])))
    return found


def show_misses(
    confidences: Array, proposed: Sequence[tuple[Example, AnswerProposal]], right: npt.NDArray[np.bool_]
) -> None:
    """Prints the questions whose proposal is not right, the most confident first."""
    for place in np.argsort(-confidences):
        one, found = proposed[place]
        if not right[place]:
            text = found.passages[0].text if found.passages else ""
            print(f"{confidences[place]:.2f} {one.set} {one.text} | {one.gold} | {found.values} | {text[:120]}")


def left_out(given: Sequence[Example]) -> list[tuple[Example, AnswerProposal]]:
    """Returns what each question would be answered with, ranked by a model of the other sets."""
    found: list[tuple[Example, AnswerProposal]] = []
    for name in dict.fromkeys(one.set for one in given):
        weights = fitted_weights([one for one in given if one.set != name])
        found += [(one, proposal(one, rank(one.candidates, weights))) for one in given if one.set == name]
    return found


def main() -> None:
    """Prints the figures of the cross-validation, and writes the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the model that ships")
    parser.add_argument("--threshold", type=float, default=0.85, help="the least confidence of an answer")
    parser.add_argument("--misses", action="store_true", help="show the questions that are not right")
    arguments = parser.parse_args()
    given = [one for name in PARTS for one in examples(name)]
    fit(given, arguments.threshold, arguments.write, arguments.misses)


def fit(given: Sequence[Example], threshold: float, write: bool = False, misses: bool = False) -> None:
    """Fits the ranking and the confidence, and prints the figures of sets left out."""
    every = left_out(given)
    for name in dict.fromkeys(one.set for one in given):
        own = [(one, found) for one, found in every if one.set == name and one.gold]
        known = sum(one.right.any() for one, _ in own)
        first = sum(is_right(one, found.values) for one, found in own)
        print(f"{name}: answerable {len(own)}, among the values {known}, first {first}")
    proposed = [(one, found) for one, found in every if found.values]
    features = np.array([[found.features.get(name, 0.0) for name in CONFIDENCE_FEATURES] for _, found in proposed])
    right = np.array([is_right(one, found.values) for one, found in proposed])
    sets = np.array([one.set for one, _ in proposed])
    confidences = np.zeros(len(proposed))
    polar = np.array([one.verdict is not None for one, _ in proposed])
    for name in dict.fromkeys(one.set for one in given):
        others = sets != name
        fitted = fitted_confidence(features[others], right[others])
        confidences[sets == name] = probabilities(features[sets == name], fitted)
    empty = sum(one.gold is None for one in given)
    print(f"{len(given)} questions, {empty} without an answer; each set by a model of the others:")
    for least in sorted({0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, threshold}):
        chosen = np.where(polar, confidences >= POLAR, confidences >= least)
        hits = int(right[chosen].sum())
        none = empty - sum(one.gold is None and bool(kept) for (one, _), kept in zip(proposed, chosen, strict=True))
        print(
            f"confidence {least}: {hits} right answers, {none} rightly without one ({(hits + none) / len(given):.1%}), "
            f"{int(chosen.sum()) - hits} wrong ({(int(chosen.sum()) - hits) / len(given):.1%})"
        )
    if misses:
        show_misses(confidences, proposed, right)
    if write:
        last = fitted_confidence(features, right)
        confidence = {name: round(float(weight), 4) for name, weight in zip(CONFIDENCE_FEATURES, last, strict=False)}
        model = ClauseModel(
            about="Fitted by benchmarks/fit_clauses.py on the development parts of the news sets.",
            weights=fitted_weights(given),
            confidence={**confidence, "intercept": round(float(last[-1]), 4)},
            threshold=threshold,
            polar_threshold=POLAR,
        )
        MODEL.write_text(json.dumps(model.model_dump(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
