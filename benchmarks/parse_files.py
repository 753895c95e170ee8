"""Turns with the evidence for their derivations, and their files, which ``collect_parses.py`` writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kg.parsing import read_features


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
        removed: Whether a relation of the answer was taken out of the graph.
        texts: The question and the parse in words, for each derivation; shape ``(derivations, 2)``.
    """

    graph: str
    evidence: np.ndarray
    answers: np.ndarray
    right: np.ndarray
    has_answer: bool
    after: bool
    removed: bool
    texts: np.ndarray


def written(turns: Sequence[Asked], file: Path) -> None:
    """Writes the turns of a graph."""
    lengths = [len(one.answers) for one in turns]
    np.savez_compressed(
        file,
        evidence=np.concatenate([one.evidence for one in turns]),
        answers=np.concatenate([one.answers for one in turns]),
        right=np.concatenate([one.right for one in turns]),
        texts=np.concatenate([one.texts for one in turns]),
        lengths=np.array(lengths),
        flags=np.array([(one.has_answer, one.after, one.removed) for one in turns]),
    )


def read(file: Path) -> list[Asked]:
    """The turns of a file."""
    stored = dict(np.load(file))
    ends = np.cumsum(stored["lengths"])
    turns = []
    for end, length, flags in zip(ends, stored["lengths"], stored["flags"], strict=True):
        part = np.arange(int(end - length), int(end))
        evidence, answers, right, texts = (stored[name][part] for name in ("evidence", "answers", "right", "texts"))
        turns.append(Asked(file.name.removesuffix(".npz"), evidence, answers, right, *map(bool, flags), texts))
    return turns


def with_scores(turns: Sequence[Asked], scores: Mapping[str, np.ndarray]) -> list[Asked]:
    """The turns with the features of reading, of the scores of each graph that ``fit_parse_reader.py`` wrote."""
    places: defaultdict[str, int] = defaultdict(int)
    found = []
    for turn in turns:
        begin, count = places[turn.graph], len(turn.answers)
        own = scores[turn.graph][begin : begin + count]
        places[turn.graph] += count
        read_ones = {place: float(own[place]) for place in np.flatnonzero(~np.isnan(own)).tolist()}
        added = read_features(read_ones, [tuple(pair) for pair in turn.texts.tolist()])
        found.append(replace(turn, evidence=np.concatenate([turn.evidence, added], axis=1)))
    return found
