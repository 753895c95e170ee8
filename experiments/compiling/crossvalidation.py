"""Cross-validation of programs for questions about graphs, with parts by topic, by question or by relation.

figures = crossvalidate(source, load_questions("PQ-2H.txt", "pathquestion"), config, count=5, split_by="relation")
figures["hit_at_1"]         # of questions whose last relation no question to learn from has

With a journal the scores of each part are kept, so a run that was stopped continues with the parts that are left.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from experiments.compiling.graphs import GraphCompileConfig, example_of, fit_program
from experiments.console import say
from experiments.data import GraphSource, KGQuestion, LoadedQuestions
from experiments.engines import Engine, LocalEngine, map_items
from experiments.evaluation import EvaluationConfig, Journal, evaluate
from experiments.saved import SavedProgram
from experiments.tasks import KGQuestions
from kg.errors import ConfigError
from kg.paths import TopicRules
from optimize.metrics import KGQAScore, summarise_kgqa
from optimize.relations import locate

SplitBy = Literal["topic", "question", "relation"]


def crossvalidate(
    source: GraphSource,
    loaded: LoadedQuestions,
    config: GraphCompileConfig,
    *,
    count: int,
    split_by: SplitBy,
    engine: Engine | None = None,
    journal: Path | None = None,
) -> dict[str, Any]:
    """Returns figures over all questions, each answered by a program that was fitted without its part.

    Args:
        source: The graph or graphs.
        loaded: The questions with their gold.
        config: Settings of the fits.
        count: The number of parts.
        split_by: ``topic`` puts questions about the same topics into one part; ``question`` splits at random;
            ``relation`` puts questions with the same last relation into one part, and leaves every question with a
            relation of that part out of its fit.
        engine: The engine that fits and scores the parts; by default this process, one part after another.
        journal: Keeps the scores of each part; a run with the same file continues with the other parts.

    Raises:
        ConfigError: There are fewer topics, questions or relations than parts, or fewer than two parts; or the journal
            is of another cross-validation.
    """
    relations = relations_of(source, loaded.questions, config) if split_by == "relation" else {}
    parts = folds(loaded.questions, count, split_by, config.seed, relations)
    say(f"* {len(parts)} parts of about {len(parts[0])} questions to score, each by a fit on the others")
    kept = _KeptParts(journal, _identity(source, loaded, config, parts))
    work = _Part(source, loaded, config, tuple(map(tuple, parts)), relations)
    left = [number for number in range(count) if number not in kept.done]
    map_items(engine if engine is not None else LocalEngine(), work, left, kept.keep)
    scores = [score for number in range(count) for score in kept.done[number].scores]
    summary: dict[str, Any] = {**kept.done[count - 1].figures, **summarise_kgqa(scores, seed=config.seed)}
    summary |= {"folds": count, "split_by": split_by, "seed": config.seed, "program": None, "scorer_sha256": None}
    summary |= {"unreadable_questions": len(loaded.problems), "graph_problems": source.problem_count}
    summary["failed_questions"] = summary["unanswered_questions"] + len(loaded.problems)
    return summary


def relations_of(
    source: GraphSource, questions: Sequence[KGQuestion], config: GraphCompileConfig, *, directed: bool = False
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Returns the relations of each question's paths by its id, the best path first, with or without their direction.

    The paths are the gold ones; without any, those that match the answers best.
    """
    found = {}
    for question in questions:
        graph = source.of(question)
        topics = () if config.link else question.topics
        example = example_of(graph.index, question, graph.topics(question.question, topics).entities)
        located = locate(graph.index, example, TopicRules(may_return=True, may_answer=True), config.search.max_depth)
        names = graph.index.relations
        found[question.id] = tuple(
            tuple(names[relation].removeprefix("" if directed else "^") for relation in path[1:])
            for path in located.paths
        )
    return found


def folds(
    questions: Sequence[KGQuestion],
    count: int,
    split_by: SplitBy,
    seed: int,
    relations: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> list[list[KGQuestion]]:
    """Returns questions in parts of about the same size, with those together that share a topic or a last relation.

    Args:
        questions: The questions.
        count: The number of parts.
        split_by: What stays together.
        seed: Of the order of the groups.
        relations: For ``relation`` the paths of each question by its id, the best first.

    Raises:
        ConfigError: There are fewer topics, questions or relations than parts, or fewer than two parts.
    """
    groups: dict[object, list[KGQuestion]] = {}
    for question in questions:
        key: object = question.id
        if split_by == "topic":
            key = question.topics or question.id
        elif split_by == "relation" and relations is not None and relations[question.id]:
            key = relations[question.id][0][-1]
        groups.setdefault(key, []).append(question)
    if not 2 <= count <= len(groups):
        raise ConfigError(f"folds must be from 2 to the {len(groups)} groups of questions, got {count}")
    order = list(groups.values())
    random.Random(seed).shuffle(order)
    if split_by == "relation":  # some relations have a large share of the questions
        order.sort(key=len, reverse=True)
    parts: list[list[KGQuestion]] = [[] for _ in range(count)]
    for group in order:
        min(parts, key=len).extend(group)
    return parts


@dataclass(frozen=True)
class _Scored:
    """The figures and the scores of a part."""

    figures: Mapping[str, Any]
    scores: tuple[KGQAScore, ...]


@dataclass(frozen=True)
class _Part:
    """The fit without a part of the questions, and the scores on it; an engine may send it to other processes."""

    source: GraphSource
    loaded: LoadedQuestions
    config: GraphCompileConfig
    parts: tuple[tuple[KGQuestion, ...], ...]
    relations: Mapping[str, Sequence[Sequence[str]]]

    def __call__(self, number: int) -> tuple[int, _Scored]:
        part = self.parts[number]
        unseen = {paths[0][-1] for one in part if (paths := self.relations.get(one.id))}
        rest = [
            question
            for place, other in enumerate(self.parts)
            for question in other
            if place != number and not any(unseen.intersection(path) for path in self.relations.get(question.id, ()))
        ]
        program, _ = fit_program(self.source, rest, self.config)
        task = KGQuestions(
            self.source, dataclasses.replace(self.loaded, questions=part, problems=()), link=self.config.link
        )
        found = evaluate(SavedProgram(program, "fold", Path()), task, EvaluationConfig(seed=self.config.seed))
        return number, _Scored(found.figures, tuple(found.scores))


class _KeptParts:
    """The parts that are done, in memory and in a journal.

    Args:
        path: The journal; ``None`` for none.
        identity: Hash of the data, the settings and the parts.
    """

    def __init__(self, path: Path | None, identity: str) -> None:
        self._journal = Journal(path)
        self.done: dict[int, _Scored] = {}
        lines = self._journal.read()
        if not lines:
            self._journal.append({"crossvalidation": identity})
        elif lines[0].get("crossvalidation") != identity:
            raise ConfigError(f"the journal {path} is of another cross-validation: remove it, or name another file")
        for line in lines[1:]:
            scores = (KGQAScore(**{**score, "gold": tuple(score["gold"])}) for score in line["scores"])
            self.done[line["part"]] = _Scored(line["figures"], tuple(scores))
        if self.done:
            say(f"* parts that the journal has: {len(self.done)}")

    def keep(self, result: tuple[int, _Scored]) -> None:
        """Keeps a part's scores."""
        number, scored = result
        self.done[number] = scored
        scores = [dataclasses.asdict(score) for score in scored.scores]
        self._journal.append({"part": number, "figures": scored.figures, "scores": scores})
        say(f"* part {number + 1}: hit_at_1 {scored.figures['hit_at_1']:.3f} of {len(scores)} questions")


def _identity(
    source: GraphSource, loaded: LoadedQuestions, config: GraphCompileConfig, parts: Sequence[Sequence[KGQuestion]]
) -> str:
    ids = [[question.id for question in part] for part in parts]
    record = [source.sha256, loaded.sha256, dataclasses.asdict(config), ids]
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
