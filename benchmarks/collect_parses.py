"""The evidence for the derivations of development questions, by which the reader and the ranking of parses are fitted.

    python benchmarks/collect_parses.py parses --set writers_graphs_ay writers_graphs_az --conversations 40

It holds development conversations and writes the evidence for the derivations of each turn, a file a graph. Half of the
later turns follow the right answers of earlier ones, the others the program's own. ``--read`` adds the scores of the
reader of parses. ``fit_ranking.py`` and ``fit_parse_reader.py`` read the turns.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import plain_graphs

from experiments.facade import triples_of
from experiments.readers import shipped_encoder
from kg.graphs import FactGraph
from kg.parsing import FEATURES, READ_FEATURES, DialogueTurn, Parse, ParseReader, QuestionReader, telling
from kg.parsing.dialogue import trusted
from programs.graphs import parse_answer
from programs.worlds.graph import GraphConfig

MOST = 80
"""Derivations of a turn that are kept, those of the least cost."""


@dataclass
class Asked:
    """A turn with the evidence for its derivations.

    Attributes:
        graph: The set and the graph.
        evidence: The features; shape ``(derivations, features)``.
        answers: The number of each derivation's answer.
        right: Whether each answer is right.
        has_answer: Whether the graph has the answer.
        after: Whether the turn before has no answer.
        trusted: The least confidence in the earlier answers that each derivation depends on, in [0, 1].
        texts: The question and the parse in words, for each derivation; shape ``(derivations, 2)``.
    """

    graph: str
    evidence: np.ndarray
    answers: np.ndarray
    right: np.ndarray
    has_answer: bool
    after: bool
    trusted: np.ndarray
    texts: np.ndarray


def collected(folder: Path, most: int | None, *, is_read: bool) -> Iterator[tuple[str, list[Asked]]]:
    """The development turns of each graph of a set."""
    talks = plain_graphs.talks_of(folder, "dev", most)
    for graph in dict.fromkeys(one["graph"] for one in talks):
        own = [one for one in talks if one["graph"] == graph]
        file = str(folder / (own[0].get("file") or plain_graphs.FILES[graph]))
        parse_reader = ParseReader.load() if is_read else None
        reader = QuestionReader(FactGraph.build(triples_of(file)), shipped_encoder().vectors, parse_reader=parse_reader)
        yield f"{folder.name}.{graph}", [turn for talk in own for turn in _turns(reader, folder.name, talk)]


def _turns(reader: QuestionReader, name: str, talk: dict[str, Any]) -> Iterator[Asked]:
    past: list[DialogueTurn] = []
    limit = GraphConfig().answer_from
    is_own = len(str(talk["questions"])) % 2 == 0
    for question, gold in zip(talk["questions"], talk["answers"], strict=True):
        analysis, every = reader.derivations(question, past, today=plain_graphs.TODAY)
        every = reader.with_reading(analysis, sorted(every, key=lambda one: one.cost)[:MOST], past)
        reading = reader.reading(question, analysis, every, past)
        numbers: dict[object, int] = {}
        for one in every:
            numbers.setdefault(one.answer, len(numbers))
        ok = {answer: _is_right(reader.graph, one, gold) for one in every if (answer := one.answer) in numbers}
        right = np.array([ok[one.answer] for one in every], dtype=bool)
        columns = len(FEATURES) + len(READ_FEATURES) * (reader.parse_reader is not None)
        before = reader.context(past)
        texts = [(before + reader.canonical(analysis, one.references), telling(one, reader.graph)) for one in every]
        yield Asked(
            name,
            np.array([one.evidence for one in every], dtype=np.float32).reshape(-1, columns),
            np.array([numbers[one.answer] for one in every], dtype=np.int64),
            right,
            gold is not None,
            bool(past) and past[-1].parse is None,
            np.array([trusted(one, past) for one in every], dtype=np.float32),
            np.array(texts, str).reshape(-1, 2),
        )
        best = next((one for one, own in zip(every, right, strict=True) if own), None)
        first = reading.parses[0] if reading.parses else None
        if is_own or best is None:
            best = first if reading.confidence >= limit else None
        confidence = reading.confidence if is_own else 1.0
        past.append(DialogueTurn(reading.canonical, reading.asks, best, reading.named, confidence, first))


def _is_right(graph: FactGraph, parse: Parse, gold: Sequence[str] | None) -> bool:
    answer = parse_answer(graph, parse)
    return gold is not None and plain_graphs.is_right(
        [str(one) for one in answer] if isinstance(answer, tuple) else [str(answer)], list(gold)
    )


def read(file: Path) -> list[Asked]:
    """The turns of a graph in a file that this script wrote."""
    return [Asked(**turn) for turn in pickle.loads(file.read_bytes())]


def main() -> None:
    """Collects the evidence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", nargs="+", choices=plain_graphs.SETS, required=True)
    parser.add_argument("--conversations", type=int, metavar="N", help="some conversations of a set, drawn by a hash")
    parser.add_argument("--read", action="store_true", help="with the reader of parses")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.set:
        for graph, turns in collected(plain_graphs.FOLDER / name, options.conversations, is_read=options.read):
            (options.folder / f"{graph}.pickle").write_bytes(pickle.dumps([vars(turn) for turn in turns]))
            print(graph, len(turns), flush=True)


if __name__ == "__main__":
    main()
