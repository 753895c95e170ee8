"""The fit of the confidence in answers as conversations use it: after what earlier turns were taken to mean.

    python benchmarks/fit_confidence.py hold held --set writers_graphs_o writers_graphs_w
    python benchmarks/fit_confidence.py fit held/*.npz --write
    python benchmarks/fit_confidence.py hold unread --set writers_graphs_o writers_graphs_w --unread
    python benchmarks/fit_confidence.py fit unread/*.npz --unread --write

``hold`` holds the development conversations of sets, and writes the features of each first answer, a file a graph. A
later turn follows the program's own answers, right or wrong, or its guesses. ``fit`` keeps the network that
``fit_ranking.py`` fitted, and fits a logistic model of its log-odds, of the trust in earlier answers and of whether the
turn before has none. It prints figures of leaving graphs out. ``--unread`` is for parses without a reader.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import plain_graphs
from collect_parses import DEVELOPED

from experiments.facade.subjects import triples_of
from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.facts import FactGraph
from kg.parsing import FEATURES, MORE_FEATURES, READ_FEATURES, DialogueTurn, ParseReader, QuestionReader, Ranker
from kg.parsing.ranking import FILE, FILE_READ
from programs.graphs import parse_answer
from programs.worlds.graph import GraphConfig

NAMES = (*FEATURES, *READ_FEATURES, *MORE_FEATURES)
"""The features of a first answer."""

FOLDS = 10
OF_TURNS = ("trusted", "after_abstention")
"""The features whose weights are fitted, besides the log-odds of the network."""

START = np.array([0.0, 1.0, 1.0, 0.0])
"""The constant and the weights of the log-odds and of OF_TURNS that the fit begins with."""

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
    limit, rows = GraphConfig().answer_from, []
    for talk in own:
        past: list[DialogueTurn] = []
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
            past.append(DialogueTurn(reading.canonical, reading.asks, answer, reading.named, reading.confidence, guess))
    columns = ("features", "right", "has_answer", "is_answered", "is_later")
    return {name: np.array(values) for name, values in zip(columns, zip(*rows, strict=True), strict=True)}


def fitted(table: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The weights of a logistic model; none but the constant is below 0, and that of a missing answer is at most 0."""

    def loss(weight: np.ndarray) -> tuple[float, np.ndarray]:
        score = table @ weight
        total = float((np.logaddexp(0, score) - right * score).sum()) + 0.5 * float(((weight - START) ** 2).sum())
        return total, table.T @ (1 / (1 + np.exp(-score)) - right) + weight - START

    bounds = [(None, None), (0.0, None), (0.0, None), (None, 0.0)]
    return minimize(loss, START, jac=True, method="L-BFGS-B", bounds=bounds).x  # type: ignore[no-any-return]


def _hold(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.set:
        lines = (plain_graphs.FOLDER / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        talks = [json.loads(line) for line in lines]
        for graph in dict.fromkeys(one["graph"] for one in talks if one["part"] == "dev"):
            file = options.folder / f"{name}.{graph}.npz"
            if not file.exists():
                rows = held(plain_graphs.FOLDER / name, graph, is_read=not options.unread)
                np.savez_compressed(file, **rows)  # type: ignore[arg-type]
                print(file.stem, flush=True)


def _fit(options: argparse.Namespace) -> None:
    tables = [dict(np.load(file)) for file in options.files]
    rows = {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
    fold = np.concatenate([np.full(len(one["right"]), place % FOLDS) for place, one in enumerate(tables)])
    ranker = Ranker.shipped(read=not options.unread)
    network = ranker.confidence
    own = [NAMES.index(str(name)) for name in network.names]
    odds = network(rows["features"][:, own].astype(np.float32))
    of_turns = [rows["features"][:, NAMES.index(name)] for name in OF_TURNS]
    table = np.column_stack([np.ones(len(fold)), odds, *of_turns]).astype(float)
    answered, right = rows["is_answered"], rows["right"].astype(float)
    scores = np.full(len(fold), -50.0)
    for part in range(FOLDS):
        inside, outside = answered & (fold != part), answered & (fold == part)
        scores[outside] = table[outside] @ fitted(table[inside], right[inside])
    report(1 / (1 + np.exp(-np.where(answered, odds, -50.0))), rows, "before")
    report(1 / (1 + np.exp(-scores)), rows, "graphs left out")
    constant, factor, *more = fitted(table[answered], right[answered]).astype(np.float32)
    print(f"constant {constant:.3f}, log-odds {factor:.3f}, " + ", ".join(map("{} {:.3f}".format, OF_TURNS, more)))
    if options.write:
        linear, bias = network.linear * factor, network.bias * factor + constant
        for name, weight in zip(OF_TURNS, more, strict=True):
            place = network.names.tolist().index(name)
            linear[place] += weight * network.scale[place]
            bias += weight * network.mean[place]
        changed = replace(network, linear=linear, bias=np.float32(bias), out=network.out * factor)
        file = FILE if options.unread else FILE_READ
        np.savez_compressed(file, **ranker.ranking.arrays("ranking_"), **changed.arrays("confidence_"))


def report(confidence: np.ndarray, rows: dict[str, np.ndarray], label: str) -> None:
    """Prints the shares of right and wrong turns at limits of confidence, of all turns and of the later ones."""
    for part, inside in (("all", rows["right"] | True), ("later", rows["is_later"])):
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
    fit.add_argument("--unread", action="store_true", help="of parses without a reader")
    fit.add_argument("--write", action="store_true", help="write the networks that ship")
    fit.set_defaults(run=_fit)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
