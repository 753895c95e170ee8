"""Graphs of any size: typed facts of small ones; of large ones an index of named triples, which is kept in a file.

    >>> graph = read_graph([Path("wikidata.nt")], triples)
    >>> graph.topics("who directed Alien?")
    Topics(entities=('Alien',), label='Alien', unknown=())

Typed facts need an object for each node, and their parser the words of all names. An index needs neither. It is
written to ``graphs`` in the cache by the hash of the files, and mapped into memory from there the next time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from kg.arrays import read_arrays
from kg.errors import DataError
from kg.files import cache_folder, replacing
from kg.graphs import FactGraph, GraphIndex, NameTable, Postings, Triple, named_index
from kg.paths.linking import QuestionGraph
from kg.paths.name_words import KNOWN, NameWords

MOST_TYPED = 200_000
"""Triples of a graph of typed facts."""

_FORMAT, _LEAST_BYTES = 1, 1_000_000
"""The format of the files of indexes, and the bytes of triples from which there is one."""


def read_graph(
    files: Sequence[Path], triples: Iterator[Triple], problems: Sequence[str] = ()
) -> FactGraph | QuestionGraph:
    """A graph of triples: typed facts, or above :data:`MOST_TYPED` triples an index of named ones.

    Args:
        files: The files that hold the triples, for the index on disk; none where they are elsewhere.
        triples: The triples, which are read where there is no such index.
        problems: Grows with statements that are not valid; if it does, no index is written.
    """
    stored = _stored(files)
    if stored is not None and stored.is_file():
        with suppress(DataError):
            return _read(stored)
    first = list(islice(triples, MOST_TYPED + 1))
    if len(first) <= MOST_TYPED:
        return FactGraph.build(first)
    graph = QuestionGraph.over(*named_index(chain(first, triples)))
    if stored is not None and not problems:
        with suppress(DataError):  # a cache that cannot be written
            _write(graph, stored)
    return graph


def _stored(files: Sequence[Path]) -> Path | None:
    with suppress(OSError):  # whoever reads the triples reports it
        if sum(file.stat().st_size for file in files) >= _LEAST_BYTES:
            digest = hashlib.sha256()
            for path in files:
                with path.open("rb") as file:
                    digest.update(path.suffix.encode() + hashlib.file_digest(file, "sha256").digest())
            return cache_folder() / "graphs" / f"{digest.hexdigest()[:32]}-{_FORMAT}.npz"
    return None


def _write(graph: QuestionGraph, path: Path) -> None:
    names, words = graph.index.entities, NameWords.of(graph.index)
    head = np.frombuffer(json.dumps([graph.longest, *graph.index.relations]).encode(), dtype=np.uint8)
    arrays: tuple[Any, ...] = (*words.holders, *words.forms, words.totals, *graph.labels, *graph.index.rows)
    with replacing(path) as file:
        np.savez(file, head, names.text, names.starts, names.lengths, *names.numbers, *arrays)


def _read(path: Path) -> QuestionGraph:
    arrays = read_arrays(path, mapped=True)
    head, text, starts, lengths, keys, numbers, *rest = (arrays[f"arr_{place}"] for place in range(len(arrays)))
    longest, *relations = json.loads(head.tobytes())
    index = GraphIndex(NameTable(text, starts, lengths, Postings(keys, numbers)), relations, *rest[7:])
    KNOWN[index] = NameWords(Postings(*rest[:2]), rest[4], Postings(*rest[2:4]))
    return QuestionGraph(index, Postings(*rest[5:7]), longest)
