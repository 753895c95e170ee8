"""Knowledge Graph of Thoughts: the graph grows until it can answer a question, then a query retrieves the answer.

    >>> program = KnowledgeGraphOfThoughts(tools, folder=Path("ports"), reader_of=question_reader)
    >>> thoughts = program(question="who insures the Port of Varna?", graph=graph).thoughts
    >>> thoughts.answer, thoughts.iterations, thoughts.applied.nodes
    ('Meridian Re', 1, 5)

The rows and sentences of files are there before anything is asked. *Retrieve* is :class:`programs.beam.BeamQA` over
both. Where it finds no answer, *insert* calls tools and writes what they return. The question itself never enters the
graph. After Besta et al. 2025, arXiv:2504.02670; no code that a model writes is run.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from copy import copy
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import dspy

from kg.growing import GrowingGraph, Schema, TypeMeaning, TypeProposals
from programs.thoughts.insert import Insert
from programs.thoughts.retrieve import ReaderOf, Retrieve
from programs.thoughts.sources import Sources
from programs.thoughts.work import TYPE_TOOLS, ThoughtsConfig, Work
from programs.tools import FILE_TOOLS, ToolManager, ToolSettings, load_tools


class KnowledgeGraphOfThoughts(dspy.Module):
    """Answers a question from a graph that it lets grow.

    Args:
        tools: The tools.
        config: The loop's settings.
        meaning: The comparison of new types with the present ones by meaning, where new types are allowed.
        folder: Files that are read before anything is asked.
        reader_of: Makes the reader of questions about the graph; without it sentences alone are asked.
        report: Takes each step as it begins, in words.
        types: The types of an empty graph, for questions with files of their own.
    """

    needs_lm, kind = True, "thoughts"

    def __init__(
        self,
        tools: ToolManager,
        config: ThoughtsConfig | None = None,
        meaning: TypeMeaning | None = None,
        *,
        folder: Path | None = None,
        reader_of: ReaderOf | None = None,
        report: Callable[[str], object] = str,
        types: Schema | None = None,
    ) -> None:
        super().__init__()
        self.tools, self.meaning, self.folder, self.report, self.types = tools, meaning, folder, report, types
        self.config = config if config is not None else ThoughtsConfig()
        self.retrieve = Retrieve(reader_of)
        self.insert = Insert()

    def forward(
        self,
        question: str,
        graph: GrowingGraph | None = None,
        today: date | None = None,
        files: Sequence[str] = (),
    ) -> dspy.Prediction:
        """Answers a question.

        Args:
            question: The question.
            graph: The graph, which grows; pass a copy of one that is to stay as it is. By default it is an empty one.
            today: The date by which freshness is judged; by default the day it is.
            files: The question's own files, in place of the folder.

        Returns:
            A prediction with ``thoughts`` (a :class:`Thoughts`) and ``answer``.

        Raises:
            FinpathError: The language model failed.
        """
        if graph is None:
            with TemporaryDirectory() as temporary, GrowingGraph(None, self.types) as graph:
                own = copy(self)  # with the same prompts
                if files:
                    own.folder = Path(temporary)
                    own.tools = load_tools(FILE_TOOLS, ToolSettings(folder=own.folder))
                for file in files:
                    shutil.copy(file, temporary)
                answered: dspy.Prediction = own(question=question, graph=graph, today=today)
                return answered
        day = today if today is not None else datetime.now(UTC).date()
        work = Work(question, graph, day, self.config, self.report)
        work.step("read the files" if self.folder is not None else "read the graph")
        sources = Sources.read(self.folder, graph, day)
        work.applied += sources.applied
        work.refused += sources.problems
        work.step(f"{sources.applied.nodes} rows of tables, {len(sources.passages)} sentences")
        self._answer(work, sources)
        thoughts = work.result()
        return dspy.Prediction(thoughts=thoughts, answer=thoughts.answer)

    def _answer(self, work: Work, sources: Sources) -> None:
        """Retrieves, and inserts what is missing, until there is an answer or nothing is left to try."""
        names = TYPE_TOOLS if self.config.types != "never" else ()
        proposals = TypeProposals(work.graph, self.config.types, self.meaning)
        type_tools = load_tools(names, ToolSettings(types=proposals))
        while True:
            work.iterations += 1
            missing: str | None = self.retrieve(work=work, sources=sources).missing
            # Tools over files that were shown as a whole have nothing to add.
            can_add = set(self.tools.names) - set(FILE_TOOLS if sources.are_short else ())
            is_last = work.iterations >= self.config.max_iterations or dspy.settings.lm is None
            if missing is None or not can_add or is_last:
                return
            if not self.insert(work, sources, self.tools, type_tools, missing).calls:
                return
