"""The code of a logged model, which MLflow runs in place of a pickle: plain JSON in and out.

    $ mlflow models serve -m models:/m-... --env-manager local --port 5001
    $ curl http://127.0.0.1:5001/invocations -H 'Content-Type: application/json' -d '{"dataframe_records":
        [{"report": {"id": "r", "pre_text": [], "table": [["", "2008"], ["revenue", "5"]], "post_text": []},
          "questions": ["what was the revenue in 2008?"]}]}'
    {"predictions": {"answers": [{"question": "...", "answer": "5", "program": "5", ...}]}}

A program about graphs takes ``questions``, ``triples`` and maybe ``topics``. The process needs finpath and, in its
environment, the keys of language models; none is in the model.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import dspy
import mlflow

from experiments.lms import LMConfig, lm_settings
from experiments.pages import turn_figures
from experiments.saved import load_program
from kg.errors import ConfigError
from kg.graphs import GraphIndex
from kg.paths import QuestionGraph
from kg.reports import Report
from programs.turns import Conversation

# Requests of reports and of graphs have other types, so there is no schema.
warnings.filterwarnings("ignore", message=".*Add type hints to the `predict` method")


class ServedProgram(mlflow.pyfunc.PythonModel):
    """A saved program with the language model that it asks."""

    def load_context(self, context: Any) -> None:
        """Reads the program's folder and the settings of its language model."""
        self.program = load_program(context.artifacts["program"]).program
        lm = context.model_config["lm"]
        self.lm = LMConfig(**lm) if lm and lm["name"] != "none" else None

    # MLflow takes a type of the input for a schema of its own.
    def predict(self, context, model_input, params=None):  # type: ignore[no-untyped-def]  # noqa: ARG002
        """Returns ``answers``, one a question, to a request as a mapping or to a table with a request a row."""
        requests = [model_input] if isinstance(model_input, Mapping) else model_input.to_dict("records")
        # The model of DSPy's settings comes first, so that a user of the program can choose another.
        settings = lm_settings(self.lm) if dspy.settings.lm is None and self.lm is not None else {}
        with dspy.context(**settings):
            return {"answers": [answer for request in requests for answer in self._answers(request)]}

    def _answers(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        questions = list(map(str, request["questions"]))
        if "report" in request:
            world = self.program.world(report=Report.from_dict(request["report"]))
            conversation = Conversation(self.program, world)
            return [turn_figures(conversation.ask(question)) for question in questions]
        triples = request.get("triples")
        if not isinstance(triples, list):  # a table of several requests has no list for one without triples
            raise ConfigError("triples must be given to a program about graphs")
        graph = QuestionGraph.over(GraphIndex.from_triples((str(s), str(p), str(o)) for s, p, o in triples))
        topics = request.get("topics")
        names = tuple(map(str, topics)) if topics is not None and not isinstance(topics, float) else ()
        turns = (self.program(question=question, graph=graph, topics=names).turn for question in questions)
        return [turn_figures(turn) for turn in turns]


mlflow.models.set_model(ServedProgram())
