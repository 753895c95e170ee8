"""The fit of the confidence in parses, on the development parts of the graphs and on relations taken out of them.

    python benchmarks/fit_confidence.py --collect features.jsonl
    python benchmarks/plain_kgqa.py pathquestion --features pathquestion.jsonl
    python benchmarks/fit_confidence.py features.jsonl pathquestion.jsonl --out kg/parsing/confidence.json

``--collect`` asks all development conversations. Each question that is answered rightly is asked again of the graph
without a relation of its answer, where every answer is wrong. The fit prints figures of leaving one graph out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import plain_graphs

from experiments.commands.conversations.graphs import graph_program, triples_of
from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.facts import FactGraph
from kg.parsing import PastTurn, QuestionReader
from kg.parsing.algebra import relations_of
from programs.graphs import GraphWorld
from programs.turns import Conversation

PENALTY = 1.0
WEIGHT_OF_BENCHMARKS = 1.49
WEIGHT_OF_REMOVED = 1.5
"""The weight of a question whose relation was taken out: there is one for each right answer."""


def rows_of(folder: Path, vectors: Any) -> list[dict[str, Any]]:
    """The features of each development question and of each without its relation."""
    found: list[dict[str, Any]] = []
    conversations = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    for graph in sorted({one["graph"] for one in conversations if one["part"] == "dev"}):
        own = [one for one in conversations if one["graph"] == graph and one["part"] == "dev"]
        path = folder / (own[0].get("file") or plain_graphs.FILES[graph])
        triples = list(triples_of(str(path)))
        reader = QuestionReader(FactGraph.build(triples), vectors, shipped_thesaurus())
        removed: dict[str, list[tuple[str, tuple[PastTurn, ...]]]] = {}
        for talk in own:
            conversation = Conversation(graph_program(today=plain_graphs.TODAY), GraphWorld(reader))
            for question, gold in zip(talk["questions"], talk["answers"], strict=True):
                past = conversation.state.past
                reading = reader.read(question, past, today=plain_graphs.TODAY)
                turn = conversation.ask(question)
                if not reading.features:
                    continue
                names = plain_graphs.answers_of(turn)
                if names is None:
                    names = _answers(reader, question, past)
                right = plain_graphs.is_right(names, gold)
                found.append({"graph": graph, "right": right, "weight": 1.0, **reading.features})
                if right and gold is not None and not past:
                    for relation in relations_of(reading.parses[0].query):
                        removed.setdefault(reader.graph.relations[relation].iri, []).append((question, past))
        for iri, asked in removed.items():
            smaller = FactGraph.build([one for one in triples if one.relation != iri])
            other = QuestionReader(smaller, vectors, shipped_thesaurus())
            for question, _ in asked:
                values = other.read(question, today=plain_graphs.TODAY).features
                if values:
                    found.append({"graph": graph, "right": False, "weight": WEIGHT_OF_REMOVED, **values})
        print(graph, len(found), flush=True)
    return found


def _answers(reader: QuestionReader, question: str, past: Sequence[PastTurn]) -> list[str] | None:
    """The answers of the best parse, however low its confidence."""
    program = graph_program(today=plain_graphs.TODAY)
    program.answer_from = 0.0
    state = replace(program.start(GraphWorld(reader)), past=tuple(past))
    return plain_graphs.answers_of(program.ask(state, question).turns[-1])


_SIGNS = {
    "cost": -1, "cost_above_1": -1, "margin": 1, "support": 1, "left": -1, "over": -1, "reference_cost": -1,
    "after_abstention": -1, "part_left": -1, "word_left": -1, "unsaid": -1, "hardly_said": -1,
}  # fmt: skip
"""The direction in which a feature may move the confidence: what is true of any graph is not left to few rows."""


def fit(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> np.ndarray:
    """The constant and the weights, by penalized maximum likelihood."""
    values = np.array([[1.0, *(one[name] for name in names)] for one in rows])
    right = np.array([one["right"] for one in rows], dtype=float)
    weights = np.array([one["weight"] for one in rows])

    def loss(weight: np.ndarray) -> tuple[float, np.ndarray]:
        score = values @ weight
        error = weights * (1 / (1 + np.exp(-score)) - right)
        total = weights * (np.logaddexp(0, score) - right * score)
        free = np.concatenate([[0.0], weight[1:]])
        return float(total.sum() + PENALTY / 2 * free @ free), values.T @ error + PENALTY * free

    bounds = [(None, None)] + [
        {1: (0.0, None), -1: (None, 0.0)}.get(_SIGNS.get(name, 0), (None, None)) for name in names
    ]
    start = np.zeros(values.shape[1])
    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x  # type: ignore[no-any-return]


def figures(rows: Sequence[dict[str, Any]], scores: np.ndarray) -> str:
    """Shares of all questions at thresholds of confidence, and the calibration error."""
    right = np.array([one["right"] for one in rows])
    shown = []
    for least in (0.4, 0.5, 0.6, 0.7):
        kept = scores >= least
        shown.append(f">= {least}: right {(kept & right).mean():.1%} wrong {(kept & ~right).mean():.1%}")
    return "; ".join(shown)


def main() -> None:
    """Collects features or fits them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="features; those of plain_kgqa.py too")
    parser.add_argument("--collect", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.collect:
        known: dict[str, Any] = {}

        def vectors(texts: Sequence[str]) -> Any:
            new = [text for text in dict.fromkeys(texts) if text not in known]
            if new:
                known.update(zip(new, shipped_encoder().vectors(new), strict=True))
            return np.stack([known[text] for text in texts])

        rows = [
            row
            for name in ("plain_graphs", "made_graphs", "further_graphs")
            for row in rows_of(plain_graphs.FOLDER / name, vectors)
        ]
        options.files[0].write_text("\n".join(json.dumps(row) for row in rows) + "\n")
        return
    rows = [
        {"graph": file.stem, "weight": WEIGHT_OF_BENCHMARKS, **json.loads(line)}
        for file in options.files
        for line in file.read_text().splitlines()
    ]
    names = [name for name in rows[0] if name not in ("graph", "right", "weight")]
    scores = np.zeros(len(rows))
    for graph in sorted({one["graph"] for one in rows}):
        weight = fit([one for one in rows if one["graph"] != graph], names)
        for place, one in enumerate(rows):
            if one["graph"] == graph:
                scores[place] = 1 / (
                    1 + np.exp(-(weight[0] + sum(weight[1 + k] * one[n] for k, n in enumerate(names))))
                )
    for label, own in (
        ("asked", 1.0),
        ("relation taken out", WEIGHT_OF_REMOVED),
        ("of benchmarks", WEIGHT_OF_BENCHMARKS),
    ):
        some = [place for place, one in enumerate(rows) if one["weight"] == own]
        if not some:
            continue
        print(f"{label}, {len(some)}: {figures([rows[place] for place in some], scores[some])}")
    weight = fit(rows, names)
    fitted = {name: round(float(one), 3) for name, one in zip(names, weight[1:], strict=True)}
    stored = {"bias": round(float(weight[0]), 3), "weights": fitted}
    print(json.dumps(stored, indent=2))
    if options.out:
        options.out.write_text(json.dumps(stored, indent=2) + "\n")


if __name__ == "__main__":
    main()
