"""Compiling of programs for questions about graphs: a fit of the relation scorer and the ranker of paths.

compiled = compile_graphs(source, load_questions("train.txt", "metaqa"), GraphCompileConfig(), out="my-kgqa")
find_program("my-kgqa").program
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import GraphSource, KGQuestion, LoadedQuestions, OneGraph, Triple
from experiments.lms import LMConfig
from experiments.saved import (
    SavedProgram,
    check_replaceable,
    load_program,
    log_model,
    path_reader,
    save_program,
    shipped_encoder,
)
from experiments.tracking import DataInput, Tracker, describe_environment, open_run, run_tags
from kg.errors import DataError, FinpathError
from kg.graphs import GraphIndex
from kg.paths import SEPARATOR, PathConfig
from optimize.relations import RelationExample, RelationTrainingConfig, fit_path_ranker, fit_relation_scorer
from programs.kgqa import KGQA


@dataclass(frozen=True)
class GraphCompileConfig:
    """Settings of a fit.

    Attributes:
        search: Settings of the beam.
        link: Whether topics are linked in the questions even where the file names them.
        seed: Seed of everything random.
        form: The questions' format, for the program's origin.
        ranked: Whether a ranker of whole paths is fitted, too.
    """

    search: PathConfig = field(default_factory=PathConfig)
    link: bool = False
    seed: int = 0
    form: str = ""
    ranked: bool = False


def compile_graphs(
    source: GraphSource,
    train: LoadedQuestions,
    config: GraphCompileConfig,
    *,
    out: str | Path,
    tracker: Tracker | None = None,
    run_name: str | None = None,
    figures: Mapping[str, Any] | None = None,
) -> tuple[SavedProgram, dict[str, Any]]:
    """Fits a program on questions, saves it and logs it as a run of the kind ``kgqa``.

    Args:
        source: The graph or graphs.
        train: The questions with their gold.
        config: Settings.
        out: The program's folder.
        tracker: The tracking store; ``None`` to log nothing.
        run_name: The run's name.
        figures: Figures of a cross-validation, for the run.

    Returns:
        The program, and the figures with ``train_seconds`` and ``train_questions``.

    Raises:
        ConfigError: ``out`` holds other files.
        DataError: There are no questions, or from none a path leads to its answers.
    """
    check_replaceable(Path(out))
    program, seconds = fit_program(source, train.questions, config)
    data = {"questions": train.name, "sha256": train.sha256, "format": config.form}
    origin = {
        "train": {**data, "count": len(train.questions), "graph": source.name, "graph_sha256": source.sha256},
        "seed": config.seed,
        "linked_topics": config.link,
        "python": describe_environment().python,
    }
    saved = load_program(save_program(program, out, origin))
    found = {
        **(figures or {}),
        "train_seconds": seconds,
        "train_questions": len(train.questions),
        "unreadable_questions": len(train.problems),
        "graph_problems": source.problem_count,
    }
    name = run_name if run_name is not None else f"kgqa {Path(out).name}"
    tags = {"finpath.scorer_sha256": saved.config["scorer_sha256"], **run_tags(config.seed)}
    with open_run(tracker, "kgqa", name, tags=tags) as run:
        settings = {f"settings.{key}": value for key, value in saved.config["settings"].items()}
        run.log_params({**settings, **saved.config["train"]})
        run.log_data(DataInput(train.name, train.sha256, "train", len(train.questions)))
        run.log_metrics(found)
        run.log_folder(saved.folder, "program")
        if tracker is not None:
            graph = source.graph if isinstance(source, OneGraph) else None
            run.log_tags({"finpath.model_uri": log_model(tracker, run, saved, LMConfig(), graph)})
    return saved, found


def fit_program(source: GraphSource, questions: Sequence[KGQuestion], config: GraphCompileConfig) -> tuple[KGQA, float]:
    """Returns a program fitted on questions, and the seconds of its fit."""
    start = time.perf_counter()
    asked = [dataclasses.replace(one, topics=()) for one in questions] if config.link else questions
    training = RelationTrainingConfig(max_hops=config.search.max_depth)
    program = fit_graphs(source, asked, training, config.search, config.seed, ranked=config.ranked)
    return program, time.perf_counter() - start


def fit_graphs(
    source: GraphSource,
    questions: Iterable[KGQuestion],
    config: RelationTrainingConfig,
    settings: PathConfig,
    seed: int,
    *,
    ranked: bool = False,
) -> KGQA:
    """Returns a program whose relation scorer is fitted on questions.

    Args:
        source: The graph or graphs; where each question has its own they are joined for the fit.
        questions: The questions with their gold.
        config: The fit's settings.
        settings: The beam's settings.
        seed: Of everything random.
        ranked: Whether a ranker of whole paths is fitted, too.

    Raises:
        DataError: There are no questions, or from none a path leads to its answers.
    """
    asked = list(questions)
    if not asked:
        raise DataError("there are no questions to learn from")
    index, topics = _joined(source, asked)
    examples = [example_of(index, one, found) for one, found in zip(asked, topics, strict=True)]
    scorer = fit_relation_scorer(index, examples, config, seed)
    if not ranked:
        return KGQA(scorer, settings)
    graphs = [index] * len(examples)
    ranker = fit_path_ranker(
        graphs, examples, shipped_encoder().vectors, scorer.rules, config.max_hops, reader=path_reader()
    )
    return KGQA(scorer, settings, ranker=ranker)


def _joined(source: GraphSource, questions: Sequence[KGQuestion]) -> tuple[GraphIndex, list[tuple[str, ...]]]:
    """Returns the graphs of several questions as one, and the topics of each; none where a graph cannot be read."""
    topics: list[tuple[str, ...]] = []

    def triples() -> Iterator[Triple]:
        for question in questions:
            try:
                graph = source.of(question)
            except FinpathError as error:
                source.problem(f"question {question.id!r}: {error}")
                topics.append(())
                continue
            topics.append(graph.topics(question.question, question.topics).entities)
            if not isinstance(source, OneGraph):
                yield from _triples(graph.index)

    joined = GraphIndex.from_triples(triples())
    return source.index if isinstance(source, OneGraph) else joined, topics


def _triples(index: GraphIndex) -> Iterator[Triple]:
    edges = index.edges(np.arange(len(index.entities), dtype=np.int32))
    forward = edges.relation < len(index.relations) // 2
    names = [index.name(number) for number in range(len(index.entities))]
    columns = (edges.place[forward].tolist(), edges.relation[forward].tolist(), edges.target[forward].tolist())
    for subject, relation, value in zip(*columns, strict=True):
        yield names[subject], index.relations[relation], names[value]


def example_of(index: GraphIndex, question: KGQuestion, topics: tuple[str, ...]) -> RelationExample:
    """Returns a question as an example to learn from, with its gold path if the graph has its relations."""
    parts = question.gold_paths[0].split(SEPARATOR) if question.gold_paths else []
    relations = tuple(parts[1::2])
    known = bool(relations) and topics[:1] == (parts[0],) and set(relations) <= set(index.relations)
    return RelationExample(question.question, topics, question.answers, relations if known else None)
