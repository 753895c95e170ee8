"""Programs about graphs as MLflow serves them: the graph is in the model, questions come as JSON.

    $ mlflow models serve -m models:/m-... --env-manager local --port 5001
    $ curl http://127.0.0.1:5001/invocations -H 'Content-Type: application/json' -d
        '{"dataframe_records": [{"questions": ["who directed Alien?"]}]}'
    {"predictions": {"answers": [{"question": "...", "answers": ["Ridley Scott"], "abstained": false, ...}]}}

As with :class:`experiments.saved.serving.ServedProgram`, the process needs finpath and
``MLFLOW_ALLOW_PICKLE_DESERIALIZATION=true``, and keys of language models are in its environment alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, ClassVar

import dspy

from experiments.lms import LMConfig, lm_settings
from experiments.saved.references import question_reader
from kg.errors import ConfigError
from kg.graphs import GraphIndex
from kg.growing import GrowingGraph
from kg.paths import QuestionGraph
from programs.advisor import Answers, GraphAnswers, ModelAnswers, TypedAnswers
from programs.kgqa import KGQA
from programs.turns import PathDetail

MOST_TRIPLES = 2_000_000
"""Triples of a graph that a model holds; a request to a model of a larger graph has triples of its own."""


class ServedAnswers(dspy.Prediction):
    """The answers to questions about a graph; as a mapping, JSON."""

    def toDict(self) -> dict[str, Any]:  # noqa: N802 - DSPy's name
        """``answers``: one mapping a question."""
        return {"answers": list(self.rows)}


class ServedGraphProgram(dspy.Module):
    """A program for questions about a graph, with the graph and the language model that it asks.

    Args:
        program: The program.
        graph: The graph; ``None`` or one with more than :data:`MOST_TRIPLES` for none.
        lm: The language model.

    Attributes:
        example: A request, which the logged model shows.
    """

    example: ClassVar[dict[str, Any]] = {"questions": ["who directed Alien?"]}

    def __init__(self, program: KGQA, graph: QuestionGraph | None, lm: LMConfig) -> None:
        super().__init__()
        self.program = program
        self.graph = graph if graph is not None and len(graph.index) <= MOST_TRIPLES else None
        self.lm_config = lm

    def forward(
        self,
        questions: Sequence[str],
        topics: Sequence[str] = (),
        triples: Sequence[Sequence[str]] | None = None,
    ) -> ServedAnswers:
        """Answers questions, each by itself.

        Args:
            questions: The questions.
            topics: Their topic entities; without any, the entities that a question names are linked.
            triples: Subject, predicate and object of each fact, in place of the model's graph.

        Raises:
            ConfigError: The model holds no graph and no triples are given.
        """
        graph = self.graph
        if triples is not None:
            graph = QuestionGraph(GraphIndex.from_triples((str(s), str(p), str(o)) for s, p, o in triples))
        if graph is None:
            raise ConfigError("triples must be given, because the model holds no graph")
        # The model of DSPy's settings comes first, so that a user of the program can choose another.
        settings = {} if dspy.settings.lm is not None else lm_settings(self.lm_config)
        with dspy.context(**settings):
            turns = [self.program(question=one, graph=graph, topics=tuple(topics)).turn for one in questions]
        return ServedAnswers(
            rows=[
                {
                    "question": turn.question,
                    "answers": list(turn.answer or ()),
                    "abstained": turn.answer is None,
                    "paths": list((turn.detail or PathDetail()).predictions),
                    "message": turn.message,
                }
                for turn in turns
            ]
        )


class ServedAdvisor(dspy.Module):
    """The advisor's answers from a growing graph as it was when the model was logged.

    Args:
        graph: The graph, as :meth:`kg.growing.GrowingGraph.serialized` writes it.
        lm: The language model; with none, the statements and the lexicon of the graph answer.

    Attributes:
        example: A request, which the logged model shows.
    """

    example: ClassVar[dict[str, Any]] = {"questions": ["where is Helixon based?"]}

    def __init__(self, graph: bytes, lm: LMConfig) -> None:
        super().__init__()
        self.graph, self.lm_config = graph, lm

    def forward(self, questions: Sequence[str]) -> ServedAnswers:
        """Answers questions, each by itself."""
        settings = {} if dspy.settings.lm is not None else lm_settings(self.lm_config)
        with GrowingGraph.restored(self.graph) as graph, dspy.context(**settings):
            lm, today = dspy.settings.lm, datetime.now(UTC).date()
            typed = TypedAnswers(question_reader)
            answering = GraphAnswers(graph, typed) if lm is None else ModelAnswers(graph, lm, today, typed=typed)
            return ServedAnswers(rows=[self._row(answering.answer(question), question) for question in questions])

    def _row(self, found: Answers, question: str) -> dict[str, Any]:
        values, facts = list(found.values), list(found.facts)
        return {
            "question": question,
            "answers": values,
            "abstained": not values,
            "facts": facts,
            "inserted": [asdict(one) for one in found.retrieved],
            "message": found.why,
        }
