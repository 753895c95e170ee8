"""The program for one question: Understand, the beam search, Aggregate, Answer.

    >>> program = BeamQA(ReportReader(ontology, scorer))
    >>> program(report=report, question="what were revenues in 2008?").turn.answer
    Decimal('9362.2')

A *world* is what the question is about: a report, a graph or a collection of texts (:mod:`programs.worlds.base`). Its
search proposes candidates with paths and asks no model. With a language model (``dspy.configure(lm=…)``) a turn takes
at most two calls, and a third where an expression is refused: *Understand* reads what the world shows and names an
expression, which is executed over the world alone and joins the candidates; *Aggregate* chooses among them, unless the
search's best one is the same. *Answer* returns the choice with its path and sources, or abstains. So nothing outside
the world can be an answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dspy

from kg.calculations import DerivationConfig
from kg.errors import ConfigError
from kg.reports import Report
from programs.aggregate import MODEL_DECIDES, Aggregate, EvidenceConfig, EvidencePlan, Execution, name_of
from programs.answer import Answer
from programs.turns import LONGEST_MESSAGE, Turn, failure_of, metered, plain
from programs.understand import Understand
from programs.worlds import graph_world, texts_world
from programs.worlds.base import Search, World
from programs.worlds.documents import Document, History, as_report, earlier_turns, prediction_of
from programs.worlds.report import ReportReader, ReportWorld
from signatures.understand import UnderstandReport


class BeamQA(dspy.Module):
    """Answers one question about a world.

    Args:
        reader: The ontology and the scorer for questions about reports, or the scorer of paths in graphs.
        config: The beam's settings for reports, or those of questions about a graph.
        evidence: How language models help to choose.
        signature: The signature of Understand, by the world that questions are about.
        explain: Whether a language model explains each answer in a sentence.
    """

    needs_lm = False

    def __init__(
        self,
        reader: Any = None,
        config: Any = None,
        evidence: EvidenceConfig | None = None,
        *,
        signature: Any = UnderstandReport,
        explain: bool = False,
    ) -> None:
        super().__init__()
        self.reader = reader
        self.config: Any = config if config is not None else DerivationConfig()
        self.evidence = evidence if evidence is not None else EvidenceConfig()
        self.understand = Understand(signature)
        self.aggregate = Aggregate(compares=signature is UnderstandReport)
        self.answer = Answer(explain=explain)

    @property
    def scorer(self) -> Any:
        """The beam's weights."""
        return self.reader.scorer if self.reader is not None else None

    def forward(
        self,
        *,
        question: str,
        report: Document | None = None,
        graph: Any = None,
        texts: Any = None,
        history: History = (),
        topics: Sequence[str] = (),
    ) -> dspy.Prediction:
        """Answers a question about one of three worlds.

        Args:
            question: The question.
            report: A document.
            graph: A graph: a :class:`kg.parsing.QuestionReader` of typed facts, or an index of named triples.
            texts: A growing graph that has read texts.
            history: The turns before it, with the answers that were given.
            topics: The entities that a question about a graph is about; without any, those that it names.

        Returns:
            A prediction with ``turn`` (a :class:`programs.turns.turn.Turn`), ``answer``, ``derivation``, ``path``,
            ``confidence`` and ``sources``; about a graph also with ``question``, ``predictions``, ``answers``,
            ``reasoning_trace`` and ``raw_paths`` as in the record of AGC-Agent.
        """
        about = {"topics": tuple(topics)} if topics else {}
        world = self.world(report=report, graph=graph, texts=texts, **about)
        state = self.ask(world.start(earlier_turns(history)), question, always=True)
        return prediction_of(state.turns[-1:])

    def world(self, *, report: Document | None = None, graph: Any = None, texts: Any = None, **about: Any) -> World:
        """The world of a question; ``about`` are further fields of it.

        Raises:
            ConfigError: Not exactly one thing is given to ask about, or reports need a reader.
        """
        if sum(one is not None for one in (report, graph, texts)) != 1:
            raise ConfigError("one of report, graph and texts must be given")
        if graph is not None:
            return graph_world(graph, self.config, self.reader, **about)
        if texts is not None:
            return texts_world(texts, **about)
        if report is None or not isinstance(self.reader, ReportReader):
            raise ConfigError("questions about reports need a program with a reader: finpath.load('beam')")
        read = report if isinstance(report, Report) else as_report(report)
        return ReportWorld(read, self.reader, self.config, **about)

    def ask(self, state: Any, question: str, *, always: bool = False) -> Any:
        """The state after one more question; an error of the model or the data becomes a failed turn.

        Args:
            state: The conversation before it.
            question: The question.
            always: Whether a model is asked whose evidence has no weight, as any call of the module does: an optimizer
                must see its replies.
        """
        evidence = self.evidence_for(dspy.settings.lm, always=always)
        with metered() as measured:
            try:
                search = _search(state.world, state, question)
                choice = self.aggregate(search, evidence, self._understood(search, evidence))
                after = search.after(self.answer(search, choice, evidence), choice)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                failure, message = failure_of(error, measured)
                after = state.after(Turn(question, failure=failure, message=message))
        return replace(after, turns=(*after.turns[:-1], replace(after.turns[-1], usage=measured.usage)))

    def evidence_for(self, lm: Any, *, always: bool = False) -> EvidenceConfig:
        """The use of a language model: weights that were fitted with other prompts than the program's do not count."""
        plan = self.evidence.plans.get(name_of(lm)) if lm is not None else None
        if plan is None or (plan.prompts == self.prompts_for(plan) and (plan.asks(lm) or not always)):
            return self.evidence
        decides = replace(MODEL_DECIDES, lines=plan.lines)
        return replace(self.evidence, plans={**self.evidence.plans, name_of(lm): decides})

    def prompts_for(self, plan: EvidencePlan) -> str:
        """A hash of the compiled prompts that a plan asks; empty where all are as the signatures write them."""
        written = BeamQA(signature=self.understand.signature, explain=self.answer.explain).named_predictors()
        instructions = {name: predict.signature.instructions for name, predict in written}
        compiled = [
            (name, predict.signature.instructions, [plain(dict(demo)) for demo in predict.demos])
            for name, predict in self.named_predictors()
            if (name == "understand.lines") == plan.lines
            and (predict.demos or predict.signature.instructions != instructions.get(name))
        ]
        return hashlib.sha256(repr(compiled).encode()).hexdigest()[:16] if compiled else ""

    def _understood(self, search: Search, evidence: EvidenceConfig) -> Execution | None:
        lm = dspy.settings.lm
        if not search.asks(evidence.plan_for(lm), lm):
            return None
        try:
            execution: Execution = self.understand(search, evidence)
        except search.tolerated as error:
            return Execution(search.understanding(None, [f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]]))
        return execution


@dspy.utils.with_callbacks  # type: ignore[untyped-decorator]
def _search(world: World, state: Any, question: str) -> Search:
    """The search of a world, which DSPy's callbacks see as the call of a module."""
    return world.search(state, question)
