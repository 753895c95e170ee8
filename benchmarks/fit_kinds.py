"""The fit of the kinds of classes, by nouns with their kinds and by the classes of the development graphs.

    python benchmarks/fit_kinds.py

A class is told by its name and its members' names, a noun by itself. Each kind has a logistic regression.
"""

from __future__ import annotations

import numpy as np
from plain_graphs import FILES, FOLDER, SETS, talks_of
from question_sets import unpacked
from sklearn.linear_model import LogisticRegression

from experiments.facade import triples_of
from experiments.readers import shipped_encoder
from kg.graphs import FactGraph
from kg.parsing.vocabulary import KINDS, KINDS_FILE, class_vectors


def main() -> None:
    """Fits the kinds and writes them."""
    files = {kind: unpacked("nouns") / f"{kind}.txt" for kind in (*KINDS, "other")}
    kinds = {noun: kind for kind, file in files.items() for noun in file.read_text(encoding="utf-8").splitlines()}
    encoder, classes, rows = shipped_encoder(), list[str](), list[np.ndarray]()
    for name in SETS:
        talks = talks_of(FOLDER / name, "dev")
        for file in dict.fromkeys(talk.get("file") or FILES[talk["graph"]] for talk in talks):
            graph = FactGraph.build(triples_of(str(FOLDER / name / file)))
            rows += list(class_vectors(graph, encoder.vectors)) if graph.classes else []
            classes += [one.names[0] for one in graph.classes]
    nouns = [noun for noun in kinds if noun not in classes]
    every = np.concatenate([np.stack(rows), np.pad(encoder.vectors(nouns), ((0, 0), (0, len(rows[0]) // 2)))])
    own = np.array([kinds.get(name, "other") for name in (*classes, *nouns)])
    weights = np.repeat([1.0, 0.3], [len(classes), len(nouns)])
    fits = [LogisticRegression(C=30, max_iter=1000).fit(every, own == kind, weights) for kind in KINDS]
    columns = np.concatenate([fit.coef_ for fit in fits]).T
    np.savez_compressed(KINDS_FILE, weights=columns.astype(np.float16), bias=[fit.intercept_[0] for fit in fits])


if __name__ == "__main__":
    main()
