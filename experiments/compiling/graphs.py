"""Compiles of programs for questions about graphs: a fit of the relation scorer and the ranker of paths.

job = graph_job(source, load_questions("train.txt", "metaqa"))
compile_program(job, out="my-kgqa")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from experiments.compiling.compile import CompileJob, Fit
from experiments.data import GraphSource, KGQuestion, LoadedQuestions, OneGraph, Triple
from experiments.lms import LMConfig
from experiments.saved import parse_reader, shipped_encoder
from experiments.tracking import DataInput
from kg.errors import DataError, FinpathError
from kg.graphs import GraphIndex
from kg.paths import SEPARATOR, PathConfig
from optimize.relations import RelationExample, RelationTrainingConfig, fit_path_ranker, fit_relation_scorer
from programs.kgqa import KGQA

ANY_PATHS = PathConfig()


def graph_job(
    source: GraphSource,
    train: LoadedQuestions,
    search: PathConfig = ANY_PATHS,
    *,
    form: str = "",
    link: bool = False,
    ranked: bool = False,
    seed: int = 0,
) -> CompileJob:
    """Returns the compile of a program for questions about graphs.

    Args:
        source: The graph or graphs.
        train: The questions with their gold.
        search: Settings of the beam.
        form: The questions' format, for the program's origin.
        link: As for :func:`fit_graphs`.
        ranked: As for :func:`fit_graphs`.
        seed: Of everything random.
    """
    data = {"questions": train.name, "sha256": train.sha256, "format": form, "count": len(train.questions)}
    learned = {**data, "graph": source.name, "graph_sha256": source.sha256}
    counts = {"train_questions": len(train.questions), "unreadable_questions": len(train.problems)}
    counts["graph_problems"] = source.problem_count
    return CompileJob(
        name=f"kgqa {train.name}",
        data=[DataInput(train.name, train.sha256, "train", len(train.questions))],
        origin={"train": learned, "seed": seed, "linked_topics": link},
        params={**{f"settings.{key}": value for key, value in dataclasses.asdict(search).items()}, **learned},
        fit=lambda *_: Fit(fit_graphs(source, train.questions, search, link=link, ranked=ranked, seed=seed), counts),
        lm=LMConfig(),
        graph=source.graph if isinstance(source, OneGraph) else None,
        kind="kgqa",
        seed=seed,
    )


def fit_graphs(
    source: GraphSource,
    questions: Sequence[KGQuestion],
    search: PathConfig = ANY_PATHS,
    *,
    link: bool = False,
    ranked: bool = False,
    seed: int = 0,
) -> KGQA:
    """Returns a program that is fitted on questions.

    Args:
        source: The graph or graphs; where each question has its own they are joined for the fit.
        questions: The questions with their gold.
        search: Settings of the beam.
        link: Whether topics are linked in the questions even where the file names them.
        ranked: Whether a ranker of whole paths is fitted, too.
        seed: Of everything random.

    Raises:
        DataError: There are no questions, or from none a path leads to its answers.
    """
    if not questions:
        raise DataError("there are no questions to learn from")
    if link:
        questions = [dataclasses.replace(question, topics=()) for question in questions]
    index, topics = _joined(source, questions)
    examples = [_example(index, question, named) for question, named in zip(questions, topics, strict=True)]
    training = RelationTrainingConfig(max_hops=search.max_depth)
    scorer = fit_relation_scorer(index, examples, training, seed)
    if not ranked:
        return KGQA(scorer, search)
    graphs, vectors, reader = [index] * len(examples), shipped_encoder().vectors, parse_reader()
    scores = reader.scores if reader is not None else None
    ranker = fit_path_ranker(graphs, examples, vectors, scorer.rules, training.max_hops, reader=scores)
    return KGQA(scorer, search, ranker=ranker)


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


def _example(index: GraphIndex, question: KGQuestion, topics: tuple[str, ...]) -> RelationExample:
    """Returns a question as an example to learn from, with its gold path if the graph has its relations."""
    parts = question.gold_paths[0].split(SEPARATOR) if question.gold_paths else []
    relations = tuple(parts[1::2])
    known = bool(relations) and topics[:1] == (parts[0],) and set(relations) <= set(index.relations)
    return RelationExample(question.question, topics, question.answers, relations if known else None)
