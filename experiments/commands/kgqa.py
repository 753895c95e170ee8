"""What ``finpath kgqa`` does: train, evaluate, cross-validate, ask, index."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.commands.options import lm_config_of, tracker_of
from experiments.console import format_table, say, show, write_json
from experiments.data.graphs import GraphSource, OneGraph, open_graph
from experiments.data.questions import KGQuestion, LoadedQuestions, join_questions, load_questions
from experiments.files import SAMPLE_FOLDER
from experiments.lms.config import LMConfig, reach_lm
from experiments.saved.kgqa import SavedKGQA, fit_kgqa, open_kgqa, save_kgqa
from experiments.saved.programs import check_replaceable
from experiments.tasks.kgqa import KGQAConfig, KGQAEvaluation, check_lm, evaluate_kgqa, figures_table
from experiments.tasks.kgqa_tracking import track_evaluation, track_training
from experiments.tracking.environment import describe_environment
from kg.errors import ConfigError, DataError
from kg.paths import PathConfig
from optimize.metrics import KGQAScore, summarise_kgqa
from optimize.scorers import RelationTrainingConfig
from programs.graphs import KGQA
from programs.turns import PathDetail

_SAMPLES = {"sample:graph": "graph.txt", "sample:train": "train.txt", "sample:dev": "dev.txt"}
_SAID = 5


def run_train(options: argparse.Namespace) -> int:
    """``finpath kgqa train``."""
    check_replaceable(Path(options.out))
    with _opened(options) as (source, loaded):
        figures: dict[str, Any] = {}
        if options.folds:
            figures = crossvalidate(source, loaded, options)
            show(figures_table([_folds_title(options)], [figures]))
        program, seconds = _fit(source, loaded.questions, options)
        origin = _origin(source, loaded, options)
        save_kgqa(program, options.out, origin)
    figures |= {"train_seconds": seconds, "train_questions": len(loaded.questions), **_problems(source, loaded)}
    track_training(tracker_of(options), options.run_name or f"kgqa {Path(options.out).name}", options.out, figures)
    say(f"* fitted on {len(loaded.questions)} questions in {seconds:.1f} s; saved in {options.out}")
    if options.json:
        write_json(options.json, figures)
    return 0


def run_evaluate(options: argparse.Namespace) -> int:
    """``finpath kgqa evaluate``; the exit code is 1 when no question at all has an answer."""
    saved = _program(options)
    config = KGQAConfig(
        lm=lm_config_of(options),
        limit=options.limit,
        seed=options.seed,
        link=options.link,
        predictions=Path(options.predictions) if options.predictions else None,
        threads=options.threads,
    )
    with _opened(options, saved.program.config.max_depth) as (source, loaded):
        start = time.perf_counter()
        evaluation = evaluate_kgqa(saved, source, loaded, config)
    figures = {**evaluation.figures, "seconds": time.perf_counter() - start, "seed": options.seed}
    evaluation = dataclasses.replace(evaluation, figures=figures)
    show(figures_table([evaluation.name], [figures]))
    run_id = track_evaluation(tracker_of(options), options.run_name or evaluation.name, evaluation)
    if run_id is not None:
        show(f"\nrun {run_id}")
    if options.json:
        write_json(options.json, {**figures, "run_id": run_id})
    return _exit_code(evaluation)


def run_crossvalidate(options: argparse.Namespace) -> int:
    """``finpath kgqa crossvalidate``."""
    if options.folds < 2:
        raise ConfigError(f"folds must be at least 2, got {options.folds}")
    with _opened(options) as (source, loaded):
        figures = crossvalidate(source, loaded, options)
    show(figures_table([_folds_title(options)], [figures]))
    name = options.run_name or f"kgqa {options.folds} folds of {loaded.name}"
    run_id = track_evaluation(tracker_of(options), name, KGQAEvaluation(name, figures, ()))
    if options.json:
        write_json(options.json, {**figures, "run_id": run_id})
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


def crossvalidate(source: GraphSource, loaded: LoadedQuestions, options: argparse.Namespace) -> dict[str, Any]:
    """Figures over all questions, each answered by a program that was fitted without its part."""
    parts = folds(loaded.questions, options.folds, options.split_by, options.seed)
    config = KGQAConfig(seed=options.seed, link=options.link)
    scores: list[KGQAScore] = []
    figures: Mapping[str, Any] = {}
    for number, part in enumerate(parts):
        rest = [question for other in parts if other is not part for question in other]
        say(f"* part {number + 1} of {len(parts)}: {len(rest)} questions to fit, {len(part)} to score")
        program, _ = _fit(source, rest, options)
        held_out = dataclasses.replace(loaded, questions=tuple(part), problems=())
        evaluation = evaluate_kgqa(SavedKGQA(program, "fold", {}), source, held_out, config)
        scores += evaluation.scores
        figures = evaluation.figures
    summary: dict[str, Any] = {**figures, **summarise_kgqa(scores, seed=options.seed)}
    problems = _problems(source, loaded)
    summary |= {"folds": options.folds, "split_by": options.split_by, "seed": options.seed, "program": None} | problems
    summary["scorer_sha256"] = None
    summary["failed_questions"] = summary["unanswered_questions"] + len(loaded.problems)
    return summary


def folds(questions: Sequence[KGQuestion], count: int, split_by: str, seed: int) -> list[list[KGQuestion]]:
    """Questions in parts of about the same size, those about the same topics together if they are split by topic.

    Raises:
        ConfigError: There are fewer topics or questions than parts, or fewer than two parts.
    """
    groups: dict[object, list[KGQuestion]] = {}
    for question in questions:
        key = (question.topics or question.id) if split_by == "topic" else question.id
        groups.setdefault(key, []).append(question)
    if not 2 <= count <= len(groups):
        raise ConfigError(f"folds must be from 2 to the {len(groups)} groups of questions, got {count}")
    order = list(groups.values())
    random.Random(seed).shuffle(order)
    parts: list[list[KGQuestion]] = [[] for _ in range(count)]
    for group in order:
        min(parts, key=len).extend(group)
    return parts


def _fit(source: GraphSource, questions: Sequence[KGQuestion], options: argparse.Namespace) -> tuple[KGQA, float]:
    settings = PathConfig(**_search(options))
    config = RelationTrainingConfig(max_hops=settings.max_depth)
    start = time.perf_counter()
    asked = [dataclasses.replace(one, topics=()) for one in questions] if options.link else questions
    return fit_kgqa(source, asked, config, settings, options.seed), time.perf_counter() - start


def _program(options: argparse.Namespace) -> SavedKGQA:
    return open_kgqa(options.program, options.aggregate, _search(options), by_lm=options.scorer == "lm")


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


def _problems(source: GraphSource, loaded: LoadedQuestions) -> dict[str, int]:
    return {"unreadable_questions": len(loaded.problems), "graph_problems": source.problem_count}


def _origin(source: GraphSource, loaded: LoadedQuestions, options: argparse.Namespace) -> dict[str, Any]:
    train = {"questions": loaded.name, "sha256": loaded.sha256, "format": options.format}
    return {
        "train": {**train, "count": len(loaded.questions), "graph": source.name, "graph_sha256": source.sha256},
        "seed": options.seed,
        "linked_topics": options.link,
        "python": describe_environment().python,
    }


def _folds_title(options: argparse.Namespace) -> str:
    return f"{options.folds} folds by {options.split_by}"


def _exit_code(evaluation: KGQAEvaluation) -> int:
    if all(score.failure is not None for score in evaluation.scores):
        say(f"finpath: no question has an answer; the first: {evaluation.scores[0].message}")
        return 1
    return 0
