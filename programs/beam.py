"""The program for one question: Understand, the beam search, Aggregate, Answer.

    >>> program = BeamQA(ReportReader(ontology, scorer))
    >>> program(report=report, question="what were revenues in 2008?").turn.answer
    Decimal('9362.2')

A *world* is what the question is about: a report, a graph or a collection of texts (:mod:`programs.worlds.base`). Its
search proposes candidates with paths and asks no model. With a language model (``dspy.configure(lm=…)``) a turn takes
at most two calls, and a third where an expression is refused: *Understand* reads what the world shows and names an
expression, which is executed and joins the candidates; *Aggregate* chooses among them, unless the search's best one is
the same. *Answer* returns the choice with its path and sources, or abstains. So nothing outside the world can be said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dspy

from kg.candidates import DerivationConfig
from kg.errors import ConfigError
from kg.scoring import DerivationScorer
from programs.aggregate import Aggregate
from programs.answer import Answer
from programs.evidence import EvidenceConfig
from programs.lm import failure_of, metered
from programs.turns import Turn
from programs.understand import Understand
from programs.worlds.base import Execution, Search, World
from programs.worlds.documents import Document, History, as_report, earlier_turns, prediction_of
from programs.worlds.reader import ReportReader
from programs.worlds.report import ReportWorld


class BeamQA(dspy.Module):
    """Answers one question about a world.

    Args:
        reader: The ontology and the scorer, for questions about reports.
        config: The beam's settings.
        evidence: How language models help to choose.
        explain: Whether a language model explains each answer in a sentence.
    """

    needs_lm = False

    def __init__(
        self,
        reader: ReportReader,
        config: DerivationConfig | None = None,
        evidence: EvidenceConfig | None = None,
        *,
        explain: bool = False,
    ) -> None:
        super().__init__()
        self.reader = reader
        self.config = config if config is not None else DerivationConfig()
        self.evidence = evidence if evidence is not None else EvidenceConfig()
        self.understand = Understand()
        self.aggregate = Aggregate()
        self.answer = Answer(explain=explain)

    @property
    def scorer(self) -> DerivationScorer:
        """The beam's weights."""
        return self.reader.scorer

    def forward(self, *, question: str, report: Document | None = None, history: History = ()) -> dspy.Prediction:
        """Answers a question.

        Args:
            question: The question.
            report: The document.
            history: The turns before it, with the answers that were given.

        Returns:
            A prediction with ``turn`` (a :class:`programs.turns.turn.Turn`), ``answer``, ``derivation``, ``path``,
            ``confidence`` and ``sources``.
        """
        world = self.world(report=report)
        return prediction_of(self.ask(world.start(earlier_turns(history)), question).turns[-1:])

    def world(self, *, report: Document | None = None, **about: Any) -> World:
        """The world of a question; ``about`` are further fields of it.

        Raises:
            ConfigError: Nothing is given to ask about.
        """
        if report is None:
            raise ConfigError("report must be given")
        return ReportWorld(as_report(report), self.reader, self.config, **about)

    def ask(self, state: Any, question: str) -> Any:
        """The state after one more question; an error of the model or the data becomes a failed turn."""
        with metered() as measured:
            try:
                search = state.world.search(state, question)
                choice = self.aggregate(search, self.evidence, self._understood(search))
                after = search.after(self.answer(search, choice, self.evidence), choice)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                failure, message = failure_of(error, measured.meter)
                after = state.after(Turn(question, failure=failure, message=message))
        return replace(after, turns=(*after.turns[:-1], replace(after.turns[-1], usage=measured.usage)))

    def _understood(self, search: Search) -> Execution | None:
        plan = self.evidence.plan_for(dspy.settings.lm)
        asks = plan.prompt == "page" and plan.asks(dspy.settings.lm) and search.can_execute
        return self.understand(search, self.evidence) if asks else None
