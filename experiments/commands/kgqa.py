"""What ``finpath kgqa`` does: train, evaluate, cross-validate, ask, index."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.commands.options import lm_config_of, tracker_of
from experiments.compiling.graphs import GraphCompileConfig, compile_graphs, crossvalidate
from experiments.console import format_table, say, show, write_json
from experiments.data.graphs import GraphSource, OneGraph, open_graph
from experiments.data.questions import KGQuestion, LoadedQuestions, join_questions, load_questions
from experiments.evaluation.evaluate import evaluate
from experiments.evaluation.log import run_tags
from experiments.evaluation.records import EvaluationConfig
from experiments.files import SAMPLE_FOLDER
from experiments.lms.config import LMConfig, reach_lm
from experiments.saved.graphs import with_graph_settings
from experiments.saved.programs import SavedProgram, check_replaceable, find_program
from experiments.tasks.kgqa import KGQuestions, check_lm, figures_table, log_crossvalidation
from experiments.tracking.tracker import open_run
from kg.errors import ConfigError, DataError
from kg.paths import PathConfig
from programs.turns import PathDetail

_SAMPLES = {"sample:graph": "graph.txt", "sample:train": "train.txt", "sample:dev": "dev.txt"}
_SAID = 5


def run_train(options: argparse.Namespace) -> int:
    """``finpath kgqa train``."""
    check_replaceable(Path(options.out))
    config = _compile_config(options)
    with _opened(options) as (source, loaded):
        figures: dict[str, Any] = {}
        if options.folds:
            figures = crossvalidate(source, loaded, config, count=options.folds, split_by=options.split_by)
            show(figures_table([_folds_title(options)], [figures]))
        tracker, name = tracker_of(options), options.run_name
        _, figures = compile_graphs(
            source, loaded, config, out=options.out, tracker=tracker, run_name=name, figures=figures
        )
    count, seconds = len(loaded.questions), figures["train_seconds"]
    say(f"* fitted on {count} questions in {seconds:.1f} s; saved in {options.out}")
    if options.json:
        write_json(options.json, figures)
    return 0


def run_evaluate(options: argparse.Namespace) -> int:
    """``finpath kgqa evaluate``; the exit code is 1 when no question at all has an answer."""
    saved = _program(options)
    config = EvaluationConfig(
        lm=lm_config_of(options), limit=options.limit, seed=options.seed, threads=options.threads, traces="none"
    )
    predictions = Path(options.predictions) if options.predictions else None
    with _opened(options, saved.program.config.max_depth) as (source, loaded):
        task = KGQuestions(source, loaded, link=options.link, predictions=predictions)
        tracker, name = tracker_of(options), options.run_name
        evaluation = evaluate(saved, task, config, tracker=tracker, run_name=name, journal=task.journal)
    show(figures_table([evaluation.name], [evaluation.figures]))
    if evaluation.run_id is not None:
        show(f"\nrun {evaluation.run_id}")
    if options.json:
        write_json(options.json, evaluation.figures)
    if all(score.failure is not None for score in evaluation.scores):
        say(f"finpath: no question has an answer; the first: {evaluation.scores[0].message}")
        return 1
    return 0


def run_crossvalidate(options: argparse.Namespace) -> int:
    """``finpath kgqa crossvalidate``."""
    if options.folds < 2:
        raise ConfigError(f"folds must be at least 2, got {options.folds}")
    with _opened(options) as (source, loaded):
        figures = crossvalidate(
            source, loaded, _compile_config(options), count=options.folds, split_by=options.split_by
        )
    show(figures_table([_folds_title(options)], [figures]))
    name = options.run_name or f"kgqa {options.folds} folds of {loaded.name}"
    with open_run(tracker_of(options), "kgqa", name, tags=run_tags(options.seed)) as run:
        log_crossvalidation(run, figures)
    if options.json:
        write_json(options.json, {**figures, "run_id": run.id})
    return 0


def run_ask(options: argparse.Namespace) -> int:
    """``finpath kgqa ask``; the exit code is 1 when there is no answer."""
    import dspy

    saved = _program(options)
    lm: LMConfig = lm_config_of(options)
    check_lm(saved.program, lm)
    settings = reach_lm(lm)
    question = KGQuestion("asked", options.question, tuple(options.topic), ())
    with _graph(options.graph, saved.program.config.max_depth) as source, dspy.context(**settings):
        graph = source.of(question)
        turn = saved.program(question=question.question, graph=graph, topics=question.topics).turn
    detail = turn.detail or PathDetail()
    if options.json:
        told = {"question": turn.question, "failure": turn.failure, "message": turn.message}
        write_json(options.json, {**told, **dataclasses.asdict(detail), "usage": dataclasses.asdict(turn.usage)})
    if options.json != "-":
        topics = detail.topics
        if topics.linked is not None and topics.linked.is_ambiguous:
            say(f"{topics.linked.label!r} is ambiguous, all are taken: {'; '.join(topics.entities)}")
        paths = [text.split("\n")[1] for text in detail.predictions]
        chosen = set(detail.chosen)
        rows = [
            [name, f"{100 * confidence:.0f}%", path]
            for (name, confidence), path in zip(detail.answers, paths, strict=True)
            if name in chosen
        ]
        show(format_table(["answer", "", "path"], rows) if rows else f"no answer: {turn.message}")
    return 0 if turn.failure is None else 1


def run_index(options: argparse.Namespace) -> int:
    """``finpath kgqa index``."""
    if not options.out.endswith(".npz"):
        raise ConfigError(f"out must end with .npz, got {options.out!r}")
    with _graph(options.graph) as source:
        if not isinstance(source, OneGraph):
            raise ConfigError("graph must be one that can be read whole, not an endpoint")
        if source.graph.other_names:
            say("* an index keeps the names of entities, not what they are also called")
        source.index.save(options.out)
        figures = {
            "triples": len(source.index),
            "entities": len(source.index.entities),
            "relations": len(source.index.relations) // 2,
            "bytes": source.index.bytes,
            "graph_problems": source.problem_count,
        }
    show(format_table(["", options.out], [[key, str(value)] for key, value in figures.items()], right={1}))
    if options.json:
        write_json(options.json, figures)
    return 0


def _compile_config(options: argparse.Namespace) -> GraphCompileConfig:
    return GraphCompileConfig(PathConfig(**_search(options)), options.link, options.seed, options.format)


def _program(options: argparse.Namespace) -> SavedProgram:
    saved = find_program(options.program)
    return with_graph_settings(saved, options.aggregate, _search(options), by_lm=options.scorer == "lm")


def _search(options: argparse.Namespace) -> dict[str, int]:
    named = {"beam_width": options.beam_width, "max_depth": options.max_depth, "output_top_k": options.top_k}
    return {name: value for name, value in named.items() if value is not None}


@contextlib.contextmanager
def _opened(options: argparse.Namespace, depth: int | None = None) -> Iterator[tuple[GraphSource, LoadedQuestions]]:
    """The graph and the questions, after what could not be read has been said."""
    if options.graph is None and options.format != "rog":
        raise ConfigError(f"graph must be given, as questions of the format {options.format} have none of their own")
    loaded = join_questions([load_questions(_path(name), options.format) for name in options.questions])
    _tell(loaded.problems, len(loaded.problems))
    with _graph(options.graph, depth if depth is not None else options.max_depth) as source:
        yield source, dataclasses.replace(loaded, questions=loaded.questions[: options.limit])


def _graph(name: str | None, depth: int | None = None) -> GraphSource:
    source = open_graph(_path(name) if name is not None else None, depth=depth or PathConfig().max_depth)
    _tell(source.problems, source.problem_count)
    return source


def _path(name: str) -> str:
    if name.startswith("sample:") and name not in _SAMPLES:
        raise DataError(f"there are {', '.join(_SAMPLES)}", file=name)
    return str(SAMPLE_FOLDER / "kgqa" / _SAMPLES[name]) if name in _SAMPLES else name


def _tell(problems: Sequence[str], count: int) -> None:
    for problem in problems[:_SAID]:
        say(f"left out: {problem}")
    if count > _SAID:
        say(f"... and {count - _SAID} more lines")


def _folds_title(options: argparse.Namespace) -> str:
    return f"{options.folds} folds by {options.split_by}"
