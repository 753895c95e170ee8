"""The evidence for all derivations of development questions, which the reader and the ranking of parses are fitted on.

    python benchmarks/collect_parses.py parses --set writers_graphs_a writers_graphs_b made_graphs

It asks all development conversations and writes the evidence for the derivations of each turn, a file a graph. Later
turns refer to the right answers of earlier ones. Each first question that has its answer is asked again of the graph
without a relation of the answer, where every answer is wrong. ``fit_parse_reader.py`` and ``fit_ranking.py`` use it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import plain_graphs
from parse_files import Asked, written

from experiments.facade.subjects import triples_of
from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.algebra import relations_of
from kg.facts import FactGraph
from kg.graphs import local_name
from kg.parsing import FEATURES, DialogueTurn, Parse, QuestionReader, telling
from programs.graphs import parse_answer

DEVELOPED = [
    one
    for one in plain_graphs.SETS
    if '"part": "dev"' in (plain_graphs.FOLDER / one / "questions.jsonl").read_text(encoding="utf-8")
]
"""The sets with a part that may be read."""

MOST = 80
"""Derivations of a turn that are kept, those of the least cost."""


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
            past: list[DialogueTurn] = []
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
    past: Sequence[DialogueTurn],
    gold: list[str] | None,
    query: str | None = None,
) -> tuple[Asked, Parse | None, DialogueTurn]:
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
    return turn, best, DialogueTurn(text, analysis.asks, best, analysis.named, 1.0, guess)


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


def main() -> None:
    """Collects the evidence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", nargs="+", choices=DEVELOPED, default=DEVELOPED)
    parser.add_argument("--graph", nargs="+", help="these graphs alone")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    known: dict[str, Any] = {}

    def vectors(texts: Sequence[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, shipped_encoder().vectors(new), strict=True))
        return np.stack([known[text] for text in texts])

    for name in options.set:
        for graph, turns in collected(plain_graphs.FOLDER / name, vectors, options.graph):
            written(turns, options.folder / f"{graph}.npz")
            print(graph, len(turns), flush=True)


if __name__ == "__main__":
    main()
