"""The fit of the ranking of parses and of the confidence in the first, on the development parts of the graphs.

    python benchmarks/fit_parses.py collect parses --set writers_graphs_a writers_graphs_b made_graphs
    python benchmarks/fit_parses.py fit parses/*.npz --out kg/parsing/ranking.json
    python benchmarks/fit_parses.py fit parses/*.npz --scores scores_*.npz --out kg/parsing/ranking_read.json
    python benchmarks/fit_parses.py fit new/*.npz --scores new_*.npz --onto kg/parsing/ranking_read.json \
        --removed 0.25 --out kg/parsing/ranking_read.json

``collect`` asks all development conversations and writes the evidence for all derivations of each turn, a file a graph.
Later turns refer to the right answers of earlier ones. Each first question that has its answer is asked again of the
graph without a relation of the answer, where every answer is wrong. ``fit`` prints figures of leaving graphs out.
``--onto`` keeps a ranking, and averages its confidence with one that is fitted on other graphs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import plain_graphs
from parse_files import Asked, read, with_scores, written

from experiments.commands.conversations.graphs import triples_of
from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.algebra import relations_of
from kg.facts import FactGraph
from kg.graphs import local_name
from kg.parsing import FEATURES, READ_FEATURES, Parse, PastTurn, QuestionReader, telling
from programs.graphs.query_qa import parse_answer

DEVELOPED = [
    "plain_graphs",
    "made_graphs",
    "further_graphs",
    *(f"writers_graphs_{one}" for one in "abcdefghijklmnopstuvwxz"),
]
MORE = ["share", "log_share", "margin", "after_abstention"]
"""The features of the confidence besides those of the first parse."""

MORE_READ = "read_lead"
"""A further one where parses were read."""

MOST_MARGIN = 4.0

PENALTY, RANKING_PENALTY = 3.0, 20.0
"""How strongly weights are drawn to 0, and those of the ranking to ``START``; 20 puts as many right answers first."""

WEIGHT_OF_REMOVED = 0.5
"""The usual weight of a question whose relation was taken out; nearly every first question with an answer gives one."""

FOLDS, MOST = 6, 80
"""Derivations of a turn that are fitted on, those of the least cost."""

NOT_RANKED = ["false"]
"""Features that do not rank: the fit would learn how often questions are answered with yes."""

_WORSE = """
    cost left_nouns left_verbs left_names left_bounds left_degrees left_negations left_references left_unknown
    left_share unsaid unsaid_classes least_said not_implied name_cost reference_cost other_cost mismatch listed head
    sense_behind after_abstention unread
"""
_BETTER = "sense least_sense names share log_share margin read read_lead"
SIGNS = dict.fromkeys(_WORSE.split(), -1) | dict.fromkeys(_BETTER.split(), 1)
"""The direction in which a feature may move a parse: what is true of any graph is not left to few rows."""

if misspelt := SIGNS.keys() - {*FEATURES, *READ_FEATURES, *MORE, MORE_READ}:
    raise ValueError(f"SIGNS must name features, got {', '.join(sorted(misspelt))}")

START = {"cost": -3.0}
"""The weights that the penalty draws to: those of the cost alone."""


# Collecting


def collected(folder: Path, vectors: Any, graphs: Sequence[str] | None = None) -> Iterator[tuple[str, list[Asked]]]:
    """The development turns of each graph of a set, or of some of its graphs."""
    talks = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    talks = [one for one in talks if one["part"] == "dev" and (not graphs or one["graph"] in graphs)]
    for graph in dict.fromkeys(one["graph"] for one in talks):
        own = [one for one in talks if one["graph"] == graph]
        triples = list(triples_of(str(folder / (own[0].get("file") or plain_graphs.FILES[graph]))))
        reader = QuestionReader(FactGraph.build(triples), vectors, shipped_thesaurus())
        name, turns, removed = f"{folder.name}.{graph}", list[Asked](), defaultdict[str, list[str]](list)
        for talk in own:
            past: list[PastTurn] = []
            queries = talk.get("queries") or [None] * len(talk["questions"])
            for question, gold, query in zip(talk["questions"], talk["answers"], queries, strict=True):
                turn, best, further = _turn(reader, name, question, past, gold, query)
                turns.append(turn)
                if best is not None and not past:
                    relation = min(relations_of(best.query), default=None)
                    if relation is not None:
                        removed[reader.graph.relations[relation].iri].append(question)
                past.append(further)
        for iri, questions in removed.items():
            smaller = FactGraph.build([one for one in triples if one.relation != iri])
            other = QuestionReader(smaller, vectors, shipped_thesaurus())
            for question in questions:
                turn, _, _ = _turn(other, name, question, [], None)
                turns.append(replace(turn, removed=True))
        yield name, turns


def _turn(
    reader: QuestionReader,
    name: str,
    question: str,
    past: Sequence[PastTurn],
    gold: list[str] | None,
    query: str | None = None,
) -> tuple[Asked, Parse | None, PastTurn]:
    """A turn, its right parse of the least cost, and what later turns see: the right answer, else the likely one."""
    analysis, every = reader.derivations(question, past, today=plain_graphs.TODAY)
    every = sorted(every, key=lambda one: one.cost)[:MOST]
    numbers: dict[object, int] = {}
    right: dict[int, bool] = {}
    for one in every:
        number = numbers.setdefault(one.answer, len(numbers))
        if number not in right:
            right[number] = gold is not None and plain_graphs.is_right(_answers(reader.graph, one), gold)
    answers = np.array([numbers[one.answer] for one in every], dtype=np.int64)
    is_right = np.array([right[number] for number in answers], dtype=bool)
    meant = np.array([_is_meant(reader.graph, one, query) for one in every], dtype=bool)
    is_right = is_right & meant if (is_right & meant).any() or _is_counted(gold) else is_right
    evidence = np.array([one.evidence for one in every], dtype=np.float32).reshape(-1, len(FEATURES))
    good = [one for one, ok in zip(every, is_right, strict=True) if ok]
    best = min(good, key=lambda one: one.cost) if good else None
    guess = None if best is not None or gold is None or not every else min(every, key=lambda one: one.cost)
    after = bool(past) and past[-1].parse is None
    before = reader.context(past)
    said = [before + reader.canonical(analysis, one.references) for one in every]
    texts = np.array([(text, telling(one, reader.graph)) for text, one in zip(said, every, strict=True)], str)
    turn = Asked(name, evidence, answers, is_right, gold is not None, after, removed=False, texts=texts.reshape(-1, 2))
    text = reader.canonical(analysis, best.references if best is not None else ())
    return turn, best, PastTurn(text, analysis.asks, best, analysis.named, 1.0, guess)


def _is_meant(graph: FactGraph, parse: Parse, query: str | None) -> bool:
    """Whether most relations of a parse are in the gold query: a number may be right by chance."""
    names = [plain_graphs.folded(local_name(graph.relations[one].iri)) for one in relations_of(parse.query)]
    inside = plain_graphs.folded(query).replace(" ", "") if query else ""
    return not query or 2 * sum(name.replace(" ", "") in inside for name in names) >= len(names)


def _is_counted(gold: list[str] | None) -> bool:
    return gold is not None and all(plain_graphs.number(one) is not None for one in gold)


def _answers(graph: FactGraph, parse: Parse) -> list[str]:
    found = parse_answer(graph, parse)
    return [str(one) for one in found] if isinstance(found, tuple) else [str(found)]


# Fitting


def fit_ranking(turns: Sequence[Asked], scale: np.ndarray) -> np.ndarray:
    """The weights that make the right derivations of each turn most probable together."""
    kept = [one for one in turns if len(one.right) and one.right.any() and not one.right.all() and not one.removed]
    values = np.concatenate([one.evidence for one in kept]) / scale.astype(np.float32)
    values[:, [FEATURES.index(name) for name in NOT_RANKED]] = 0.0
    right = np.concatenate([one.right for one in kept])
    lengths = np.array([len(one.right) for one in kept])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    names = names_of(turns)
    start = np.array([START.get(name, 0.0) for name in names]) * scale

    def loss(weight: np.ndarray) -> tuple[float, np.ndarray]:
        scores = values @ weight
        odds = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
        every, good = np.add.reduceat(odds, starts), np.add.reduceat(odds * right, starts)
        total = RANKING_PENALTY / 2 * float(((weight - start) ** 2).sum()) - float(np.log(good / every).sum())
        error = odds / np.repeat(every, lengths) - odds * right / np.repeat(good, lengths)
        return total, RANKING_PENALTY * (weight - start) + error @ values

    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=_bounds(names), options={"maxiter": 300}).x / scale  # type: ignore[no-any-return]


def names_of(turns: Sequence[Asked]) -> tuple[str, ...]:
    """The features of the derivations of some turns."""
    return (*FEATURES, *READ_FEATURES)[: turns[0].evidence.shape[1]]


def first(turn: Asked, weight: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """The features of the confidence in a turn's first answer, and whether that is right; ``None`` without one."""
    if not len(turn.answers):
        return None
    scores = turn.evidence @ weight
    odds = np.exp(scores - scores.max())
    shares = np.zeros(turn.answers.max() + 1)
    add = np.maximum if turn.evidence[:, FEATURES.index("check")].any() else np.add
    add.at(shares, turn.answers, odds / odds.sum())
    order = np.argsort(-shares, kind="stable")
    own = np.flatnonzero(turn.answers == order[0])
    place = own[int(np.argmax(scores[own]))]
    share = max(float(shares[order[0]]), 1e-6)
    second = max(float(shares[order[1]]) if len(order) > 1 else 0.0, 1e-6)
    after = float(turn.after and turn.evidence[place, FEATURES.index("references")] > 0)
    more = [share, np.log(share), min(np.log(share / second), MOST_MARGIN), after]
    if turn.evidence.shape[1] > len(FEATURES):
        best = [np.flatnonzero(turn.answers == one) for one in order[1:]]
        others = [turn.evidence[some[int(np.argmax(scores[some]))], len(FEATURES)] for some in best]
        own_read = turn.evidence[place, len(FEATURES)]
        more.append(float(np.clip(own_read - max(others, default=own_read - MOST_MARGIN), -MOST_MARGIN, MOST_MARGIN)))
    return np.concatenate([[1.0], turn.evidence[place], more]), bool(turn.right[place])


def fit_confidence(
    values: np.ndarray, right: np.ndarray, weights: np.ndarray, scale: np.ndarray, names: Sequence[str]
) -> np.ndarray:
    """The constant and the weights of the confidence, by penalized maximum likelihood."""
    scaled = values / scale

    def loss(weight: np.ndarray) -> tuple[float, np.ndarray]:
        score = scaled @ weight
        free = np.concatenate([[0.0], weight[1:]])
        total = weights * (np.logaddexp(0, score) - right * score)
        slope = scaled.T @ (weights * (1 / (1 + np.exp(-score)) - right))
        return float(total.sum()) + PENALTY / 2 * float(free @ free), slope + PENALTY * free

    bounds = [(None, None), *_bounds(names)]
    start = np.zeros(values.shape[1])
    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x / scale  # type: ignore[no-any-return]


def _bounds(names: Sequence[str]) -> list[tuple[float | None, float | None]]:
    return [{1: (0.0, None), -1: (None, 0.0)}.get(SIGNS.get(name, 0), (None, None)) for name in names]


@dataclass(frozen=True)
class Before:
    """A written model of ranking and confidence.

    Attributes:
        ranking: Its weights of the features.
        confidence: The constant and the weights of its confidence.
    """

    ranking: np.ndarray
    confidence: np.ndarray

    @classmethod
    def read(cls, file: Path, turns: Sequence[Asked]) -> Before:
        """Reads a model of the features that some turns have."""
        stored = json.loads(file.read_text(encoding="utf-8"))
        confidence = [stored["confidence"].get(name, 0.0) for name in confidence_names(turns)]
        ranking = [stored["ranking"].get(name, 0.0) for name in names_of(turns)]
        return cls(np.array(ranking), np.array([stored["bias"], *confidence]))


def confidence_of(
    values: Sequence[tuple[np.ndarray, bool] | None],
    turns: Sequence[Asked],
    of_removed: float,
    before: Before | None = None,
) -> np.ndarray:
    """The weights of the confidence in the first answers of some turns.

    Args:
        values: The features of each first answer, and whether it is right.
        turns: The turns.
        of_removed: The weight of a question whose relation was taken out.
        before: A model whose confidence is averaged with the fitted one.
    """
    kept = [place for place, one in enumerate(values) if one is not None]
    table = np.array([values[place][0] for place in kept])  # type: ignore[index]
    right = np.array([values[place][1] for place in kept], dtype=float)  # type: ignore[index]
    weights = np.array([of_removed if turns[place].removed else 1.0 for place in kept])
    scale = np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    fitted = fit_confidence(table, right, weights, scale, confidence_names(turns))
    return fitted if before is None else (fitted + before.confidence) / 2


def confidence_names(turns: Sequence[Asked]) -> tuple[str, ...]:
    """The features of the confidence in the first answers of some turns."""
    names = names_of(turns)
    return (*names, *MORE, *([MORE_READ] if len(names) > len(FEATURES) else []))


def report(turns: Sequence[Asked], results: Sequence[tuple[float, bool]], label: str) -> None:
    """Prints the right answer's place and the shares of right and wrong turns at limits of confidence."""
    answerable = [place for place, one in enumerate(turns) if one.has_answer]
    reached = sum(bool(turns[place].right.any()) for place in answerable) / max(len(answerable), 1)
    top = sum(results[place][1] for place in answerable) / max(len(answerable), 1)
    print(f"{label}, {len(turns)} turns: with the right answer {reached:.1%}, which is first {top:.1%}")
    for limit in (0.5, 0.6, 0.7, 0.75, 0.8):
        right = sum(
            ok if confidence >= limit else not one.has_answer
            for one, (confidence, ok) in zip(turns, results, strict=True)
        )
        wrong = sum(confidence >= limit and not ok for confidence, ok in results)
        print(f"  from {limit}: right {right / len(turns):.1%}, wrong {wrong / len(turns):.1%}")


def _collect(options: argparse.Namespace) -> None:
    known: dict[str, Any] = {}

    def vectors(texts: Sequence[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, shipped_encoder().vectors(new), strict=True))
        return np.stack([known[text] for text in texts])

    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.set:
        for graph, turns in collected(plain_graphs.FOLDER / name, vectors, options.graph):
            written(turns, options.folder / f"{graph}.npz")
            print(graph, len(turns), flush=True)


def _fit(options: argparse.Namespace) -> None:
    turns = [turn for file in options.files for turn in read(file)]
    if options.scores:
        scores = {graph: own for file in options.scores for graph, own in np.load(file).items()}
        turns = with_scores([one for one in turns if one.graph in scores], scores)
    graphs = sorted({one.graph for one in turns})
    scale = np.concatenate([one.evidence for one in turns]).std(axis=0) + 1e-6
    fold_of = {graph: place % FOLDS for place, graph in enumerate(graphs)}
    folds = [fold_of[one.graph] for one in turns]
    before = Before.read(options.onto, turns) if options.onto else None
    firsts: list[tuple[np.ndarray, bool] | None] = [None] * len(turns)
    for fold in range(FOLDS):
        inside_turns = [one for one, own in zip(turns, folds, strict=True) if own != fold]
        weight = before.ranking if before is not None else fit_ranking(inside_turns, scale)
        for place, one in enumerate(turns):
            if folds[place] == fold:
                firsts[place] = first(one, weight)
    results: list[tuple[float, bool]] = [(0.0, False)] * len(turns)
    for fold in range(FOLDS):
        inside = [place for place, own in enumerate(folds) if own != fold]
        weight = confidence_of(
            [firsts[place] for place in inside], [turns[place] for place in inside], options.removed, before
        )
        for place, values in enumerate(firsts):
            if folds[place] == fold and values is not None:
                results[place] = float(1 / (1 + np.exp(-values[0] @ weight))), values[1]
    for label in [*dict.fromkeys(one.graph.split(".")[0] for one in turns), "relation taken out"]:
        own = [
            place
            for place, one in enumerate(turns)
            if (one.removed if label == "relation taken out" else not one.removed and one.graph.split(".")[0] == label)
        ]
        report([turns[place] for place in own], [results[place] for place in own], label)
    ranking = before.ranking if before is not None else fit_ranking(turns, scale)
    confidence = confidence_of(firsts, turns, options.removed, before)
    stored = {
        "ranking": {name: round(float(one), 3) for name, one in zip(names_of(turns), ranking, strict=True)},
        "bias": round(float(confidence[0]), 3),
        "confidence": {
            name: round(float(one), 3) for name, one in zip(confidence_names(turns), confidence[1:], strict=True)
        },
    }
    if options.out:
        options.out.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Collects the evidence or fits the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    collect = actions.add_parser("collect")
    collect.add_argument("folder", type=Path)
    collect.add_argument("--set", nargs="+", choices=DEVELOPED, default=DEVELOPED)
    collect.add_argument("--graph", nargs="+", help="these graphs alone")
    collect.set_defaults(run=_collect)
    fit = actions.add_parser("fit")
    fit.add_argument("files", type=Path, nargs="+")
    fit.add_argument("--scores", type=Path, nargs="+", help="what fit_parse_reader.py scored, for parses that are read")
    fit.add_argument("--onto", type=Path, metavar="FILE", help="keep this ranking, and average its confidence")
    fit.add_argument(
        "--removed", type=float, default=WEIGHT_OF_REMOVED, help="the weight of questions without a relation"
    )
    fit.add_argument("--out", type=Path)
    fit.set_defaults(run=_fit)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
