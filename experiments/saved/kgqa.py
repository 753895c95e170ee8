"""Saved programs for questions about graphs: a folder of readable files, without the graph they were fitted on.

    NAME/config.json       settings, and how it came to be (questions, graph, seed, versions)
    NAME/relations.json    the weights of the relation scorer, a line a feature of a question
    NAME/program.json      DSPy's state: instructions and demonstrations

A program that was fitted on one graph answers over another whose relations are named alike: the weights are those of
relations' names and of the words in them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data.graphs import GraphSource, OneGraph
from experiments.data.questions import KGQuestion, Triple
from experiments.saved.programs import CONFIG, STATE, check_files, replace_folder
from experiments.tracking.environment import describe_environment
from kg.errors import DataError, FinpathError, TrackingError
from kg.graphs import GraphIndex
from kg.paths import SEPARATOR, LearnedRelationScorer, PathConfig
from optimize.scorers import RelationExample, RelationTrainingConfig, fit_relation_scorer
from programs.graphs import KGQA, Aggregation

FORMAT = 1
KIND = "kgqa"
RELATIONS = "relations.json"
UNTRAINED = "untrained"
"""The name of the program that knows relations only by the words that their names share with the question."""


@dataclass(frozen=True)
class SavedKGQA:
    """A program and where it was loaded from.

    Attributes:
        program: Ready to be called.
        name: As the user named it.
        config: What ``config.json`` holds.
    """

    program: KGQA
    name: str
    config: Mapping[str, Any] = field(default_factory=dict)


def save_kgqa(program: KGQA, folder: str | Path, origin: Mapping[str, Any]) -> Path:
    """Writes a program's folder, whole or not at all; a saved program that was there is replaced.

    Args:
        program: With a learned scorer.
        folder: Where.
        origin: How it came to be.

    Raises:
        ConfigError: ``folder`` holds something else.
    """
    return replace_folder(Path(folder), lambda new: _write(program, new, origin))


def _write(program: KGQA, folder: Path, origin: Mapping[str, Any]) -> None:
    scorer = program.scorer
    assert isinstance(scorer, LearnedRelationScorer)
    (folder / RELATIONS).write_text(scorer.to_json(), encoding="utf-8")
    program.save(str(folder / STATE))
    environment = describe_environment()
    config = {
        "format": FORMAT,
        "kind": KIND,
        "settings": dataclasses.asdict(program.config),
        "aggregation": program.aggregation,
        **origin,
        "scorer_sha256": scorer.sha256,
        "finpath": environment.finpath,
        "git_revision": environment.git_revision,
        "packages": environment.packages,
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())},
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def open_kgqa(
    reference: str,
    aggregation: Aggregation | None = None,
    changes: Mapping[str, int] | None = None,
    *,
    by_lm: bool = False,
) -> SavedKGQA:
    """A saved program, or :data:`UNTRAINED`, with some settings changed.

    Args:
        reference: A folder, or ``untrained``.
        aggregation: How it settles on answers, in place of what was saved.
        changes: Settings of the beam in place of those that were saved.
        by_lm: Whether a language model rates the relations; the program's own scorer then chooses which it is shown.

    Raises:
        TrackingError: The folder is not there, is of another kind, or a file in it is missing or broken.
        ConfigError: A changed setting is out of its range.
    """
    if reference == UNTRAINED:
        scorer = LearnedRelationScorer.untrained()
        settings = PathConfig(**(changes or {}))
        saved = SavedKGQA(KGQA(scorer, settings, aggregation or "score"), UNTRAINED, {"scorer_sha256": scorer.sha256})
    else:
        saved = load_kgqa(reference, aggregation, changes)
    if by_lm:
        from programs.graphs import LMRelationScorer

        own = saved.program.scorer
        saved.program.scorer = LMRelationScorer(own.rules, narrowing=own)
    return saved


def load_kgqa(
    folder: str | Path, aggregation: Aggregation | None = None, changes: Mapping[str, int] | None = None
) -> SavedKGQA:
    """Reads a program's folder.

    Args:
        folder: What :func:`save_kgqa` wrote.
        aggregation: How it settles on answers, in place of what was saved.
        changes: Settings of the beam in place of those that were saved.

    Raises:
        TrackingError: The folder is not there, is of another kind, or a file in it is missing or broken.
        ConfigError: A changed setting is out of its range.
    """
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        what = "is not a saved program (it has no config.json)" if folder.is_dir() else "is not there"
        raise TrackingError(f"{folder} {what}")
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        if (config["kind"], config["format"]) != (KIND, FORMAT):
            found = f"kind {config['kind']!r} and format {config['format']}"
            raise TrackingError(f"{folder}: is of {found}; finpath kgqa reads kind {KIND!r} and format {FORMAT}")
        check_files(folder, config["files"])
        scorer = LearnedRelationScorer.from_json((folder / RELATIONS).read_text(encoding="utf-8"))
        settings = {**config["settings"], **(changes or {})}
        program = KGQA(scorer, PathConfig.from_saved(settings), aggregation or config["aggregation"])
        # dspy's own load warns of every other version of Python; the versions stand in config.json.
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        program.load_state({key: value for key, value in state.items() if key != "metadata"})
    except FinpathError:
        raise
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise TrackingError(f"{folder}: the saved program cannot be read: {error!r}") from error
    return SavedKGQA(program, folder.resolve().name, config)


def fit_kgqa(
    source: GraphSource,
    questions: Iterable[KGQuestion],
    config: RelationTrainingConfig,
    settings: PathConfig,
    seed: int,
) -> KGQA:
    """A program whose relation scorer is fitted on questions.

    Args:
        source: The graph or graphs; where each question has its own they are joined for the fit.
        questions: The questions with their gold.
        config: The fit's settings.
        settings: The beam's settings.
        seed: Of everything random.

    Raises:
        DataError: There are no questions, or from none a path leads to its answers.
    """
    asked = list(questions)
    if not asked:
        raise DataError("there are no questions to learn from")
    index, topics = _joined(source, asked)
    examples = [_example(index, one, found) for one, found in zip(asked, topics, strict=True)]
    return KGQA(fit_relation_scorer(index, examples, config, seed), settings)


def _joined(source: GraphSource, questions: Sequence[KGQuestion]) -> tuple[GraphIndex, list[tuple[str, ...]]]:
    """The graphs of several questions as one, and the topics of each; none where its graph cannot be had."""
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
    parts = question.gold_paths[0].split(SEPARATOR) if question.gold_paths else []
    relations = tuple(parts[1::2])
    known = bool(relations) and topics[:1] == (parts[0],) and set(relations) <= set(index.relations)
    return RelationExample(question.question, topics, question.answers, relations if known else None)
