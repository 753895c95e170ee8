"""The fit of the confidence in answers as conversations use it: after what earlier turns were taken to mean.

    python benchmarks/fit_confidence.py hold held --set writers_graphs_o writers_graphs_w
    python benchmarks/fit_confidence.py fit held/*.npz --onto kg/parsing/ranking_read.json --out kg/parsing/ranking_read.json
    python benchmarks/fit_confidence.py hold plain --set writers_graphs_o writers_graphs_w --unread

``hold`` holds the development conversations of sets, and writes the features of each first answer, a file a graph. A
later turn follows the program's own answers, right or wrong, or its guesses. ``fit`` draws the weights to those that
a file has, keeps its ranking, and prints figures of leaving graphs out. ``--unread`` is for parses without a reader.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import plain_graphs
from fit_parses import DEVELOPED, SIGNS

from experiments.commands.conversations.graphs import triples_of
from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.facts import FactGraph
from kg.parsing import FEATURES, READ_FEATURES, ParseReader, PastTurn, QuestionReader
from programs.graphs import QueryQA
from programs.graphs.query_qa import parse_answer

NAMES = (*FEATURES, *READ_FEATURES, "share", "log_share", "margin", "after_abstention", "trusted", "read_lead")
"""The features of a first answer."""

FOLDS = 10
PENALTIES = (1.0, 3.0, 10.0, 30.0)
"""How strongly weights are drawn to those before; the one that leaving graphs out likes best is taken."""

LIMITS = (0.5, 0.55, 0.6, 0.64, 0.68, 0.72, 0.76)


def held(folder: Path, graph: str, *, is_read: bool) -> dict[str, np.ndarray]:
    """The turns of one graph's development conversations: features, whether the answer is right and whether one is."""
    talks = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    own = [one for one in talks if one["part"] == "dev" and one["graph"] == graph]
    triples = triples_of(str(folder / (own[0].get("file") or plain_graphs.FILES[graph])))
    parse_reader = ParseReader.load() if is_read else None
    reader = QuestionReader(
        FactGraph.build(triples), shipped_encoder().vectors, shipped_thesaurus(), parse_reader=parse_reader
    )
    limit, rows = QueryQA().answer_from, []
    for talk in own:
        past: list[PastTurn] = []
        for place, (question, gold) in enumerate(zip(talk["questions"], talk["answers"], strict=True)):
            reading = reader.read(question, past, today=plain_graphs.TODAY)
            best = reading.parses[0] if reading.parses else None
            found = parse_answer(reader.graph, best) if best is not None else None
            listed = [str(one) for one in found] if isinstance(found, tuple) else [str(found)]
            right = best is not None and gold is not None and plain_graphs.is_right(listed, gold)
            values = [reading.features.get(name, 0.0) for name in NAMES]
            rows.append((values, right, gold is not None, best is not None, place > 0))
            answer = best if reading.confidence >= limit else None
            guess = best if answer is None else None
            past.append(PastTurn(reading.canonical, reading.asks, answer, reading.named, reading.confidence, guess))
    columns = ("features", "right", "has_answer", "is_answered", "is_later")
    return {name: np.array(values) for name, values in zip(columns, zip(*rows, strict=True), strict=True)}


def fitted(table: np.ndarray, right: np.ndarray, start: np.ndarray, scale: np.ndarray, penalty: float) -> np.ndarray:
    """The constant and the weights of a logistic model, drawn to those of another; signs are as SIGNS has them."""
    scaled, center = table / scale, start * scale

    def loss(weight: np.ndarray) -> tuple[float, np.ndarray]:
        score, away = scaled @ weight, weight - center
        total = float((np.logaddexp(0, score) - right * score).sum()) + penalty / 2 * float(away @ away)
        return total, scaled.T @ (1 / (1 + np.exp(-score)) - right) + penalty * away

    signs = [0, *(SIGNS.get(name, 1 if name == "trusted" else 0) for name in NAMES)]
    bounds = [{1: (0.0, None), -1: (None, 0.0)}.get(sign, (None, None)) for sign in signs]
    found = minimize(loss, center, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500})
    return found.x / scale  # type: ignore[no-any-return]


def _hold(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.set:
        lines = (plain_graphs.FOLDER / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        talks = [json.loads(line) for line in lines]
        for graph in dict.fromkeys(one["graph"] for one in talks if one["part"] == "dev"):
            file = options.folder / f"{name}.{graph}.npz"
            if not file.exists():
                np.savez_compressed(file, **held(plain_graphs.FOLDER / name, graph, is_read=not options.unread))
                print(file.stem, flush=True)


def _fit(options: argparse.Namespace) -> None:
    tables = [dict(np.load(file)) for file in options.files]
    all_rows = {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
    fold = np.concatenate([np.full(len(one["right"]), place % FOLDS) for place, one in enumerate(tables)])
    table = np.hstack([np.ones((len(fold), 1)), all_rows["features"]])
    stored = json.loads(options.onto.read_text(encoding="utf-8"))
    start = np.array([stored["bias"], *(stored["confidence"].get(name, 0.0) for name in NAMES)])
    scale = np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    answered, right = all_rows["is_answered"], all_rows["right"].astype(float)
    scores: dict[float, np.ndarray] = {}
    for penalty in PENALTIES:
        scores[penalty] = np.full(len(fold), -50.0)
        for own in range(FOLDS):
            inside, outside = answered & (fold != own), answered & (fold == own)
            weight = fitted(table[inside], right[inside], start, scale, penalty)
            scores[penalty][outside] = table[outside] @ weight
    surprise = {
        penalty: float((np.logaddexp(0, own) - right * own)[answered].mean()) for penalty, own in scores.items()
    }
    best = min(surprise, key=lambda one: surprise[one])
    print("log loss: " + ", ".join(f"{penalty:g} {value:.4f}" for penalty, value in surprise.items()))
    before = np.where(answered, table @ start, -50.0)
    for label, own in (("before", before), (f"penalty {best:g}, graphs left out", scores[best])):
        report(1 / (1 + np.exp(-own)), all_rows, label)
    weight = fitted(table[answered], right[answered], start, scale, best)
    if options.out:
        own_names = [name for name in NAMES if stored["ranking"].get("read") is not None or not name.startswith("read")]
        values = dict(zip(NAMES, weight[1:], strict=True))
        stored["bias"] = round(float(weight[0]), 3)
        stored["confidence"] = {name: round(float(values[name]), 3) for name in own_names if name != "unread_"}
        options.out.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


def report(confidence: np.ndarray, rows: dict[str, np.ndarray], label: str) -> None:
    """Prints the shares of right and wrong turns at limits of confidence, of all turns and of the later ones."""
    parts: dict[str, Sequence[bool]] = defaultdict(list)
    parts["all"], parts["later"] = rows["right"] | True, rows["is_later"]
    for part, inside in parts.items():
        found = []
        for limit in LIMITS:
            given = confidence >= limit
            right = np.where(given, rows["right"], ~rows["has_answer"])[inside].mean()
            found.append(f"{limit:.2f}: {right:.1%} / {(given & ~rows['right'])[inside].mean():.1%}")
        print(f"{label}, {part} ({np.sum(inside)} turns), right / wrong from " + ", ".join(found))


def main() -> None:
    """Holds conversations or fits the confidence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    hold = actions.add_parser("hold")
    hold.add_argument("folder", type=Path)
    hold.add_argument("--set", nargs="+", choices=DEVELOPED, required=True)
    hold.add_argument("--unread", action="store_true", help="without the reader of parses")
    hold.set_defaults(run=_hold)
    fit = actions.add_parser("fit")
    fit.add_argument("files", type=Path, nargs="+")
    fit.add_argument("--onto", type=Path, required=True, help="the ranking, and the confidence to begin with")
    fit.add_argument("--out", type=Path)
    fit.set_defaults(run=_fit)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
