"""The program for several questions: each is asked with the turns before it, its own answers among them.

>>> program = finpath.load("beam")
>>> [turn.answer for turn in program(report=report, questions=["revenues in 2008?", "and in 2007?"]).turns]
[Decimal('9362.2'), Decimal('9244.9')]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dspy

from kg.calculations import DerivationConfig, DerivationScorer
from kg.errors import ConfigError, FinpathError
from kg.reports import Ontology, Report
from programs.aggregate import EvidenceConfig
from programs.beam import BeamQA
from programs.turns import AnyTurn, Kept, Turn
from programs.worlds.base import World
from programs.worlds.documents import Document, History, as_questions, earlier_turns, prediction_of
from programs.worlds.report import ReportReader
from signatures.understand import UnderstandLines

if TYPE_CHECKING:
    from programs.worlds.graph import GraphConfig, GraphReader

PARTS = "fitted_parts"
"""The key of a state that has the hashes of the program's fitted parts."""

EVIDENCE = "evidence"
"""The key of a state that has the use of language models, with the weights that were fitted for each."""


class ConversationQA(dspy.Module):
    """Answers the questions of a conversation about one report.

    Args:
        program: The program for one question: a :class:`programs.beam.BeamQA`, or the tool agent.
    """

    def __init__(self, program: Any) -> None:
        super().__init__()
        self.kind = "beam" if isinstance(program, BeamQA) else "agent"
        setattr(self, self.kind, program)

    def __repr__(self) -> str:
        prompts = ", ".join(name for name, _ in self.named_predictors())
        return f"<{type(self).__name__} {self.kind}: prompts {prompts}; {self.config}>"

    @classmethod
    def unfitted(
        cls, ontology: Ontology, *, scorer: DerivationScorer | None = None, config: DerivationConfig | None = None
    ) -> ConversationQA:
        """The beam program over an ontology; without a scorer, with weights that are fitted to nothing."""
        weights = scorer if scorer is not None else DerivationScorer.untrained()
        return cls(BeamQA(ReportReader(ontology, weights), config))

    @classmethod
    def for_graphs(cls, config: GraphConfig | None = None, reader: GraphReader | None = None) -> ConversationQA:
        """The beam program for questions about any graph; without a reader, with weights that are fitted to nothing."""
        from programs.worlds.graph import GraphConfig, GraphReader
        from signatures.queries import UnderstandGraph

        reader = reader if reader is not None else GraphReader()
        return cls(BeamQA(reader, config if config is not None else GraphConfig(), signature=UnderstandGraph))

    @property
    def turn(self) -> Any:
        """The program for one question."""
        return getattr(self, self.kind)

    @property
    def ontology(self) -> Ontology:
        """The frozen ontology."""
        ontology: Ontology = self.turn.reader.ontology
        return ontology

    @property
    def scorer(self) -> Any:
        """The beam's weights; ``None`` for a program that does not search by them."""
        return self.turn.scorer

    @property
    def config(self) -> Any:
        """The settings of the program for one question."""
        return self.turn.config

    @property
    def evidence(self) -> EvidenceConfig | None:
        """The settings of the choice among candidates; ``None`` for a program that has none."""
        evidence: EvidenceConfig | None = self.turn.evidence
        return evidence

    @evidence.setter
    def evidence(self, evidence: EvidenceConfig) -> None:
        if self.turn.evidence is None:
            raise ConfigError("a program of kind 'agent' chooses among no candidates: evidence must not be set")
        self.turn.evidence = evidence

    @property
    def needs_lm(self) -> bool:
        """Whether it answers nothing without a language model."""
        needs_lm: bool = self.turn.needs_lm
        return needs_lm

    def load_state(self, state: Mapping[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:
        """Reads a saved state.

        Raises:
            ConfigError: The state was saved with another ontology, scorer or encoder, which a state does not hold.
        """
        parts = state.get(PARTS, {})
        changed = [name for name, value in self._parts().items() if parts.get(name, value) != value]
        if changed:
            raise ConfigError(
                f"the state is of a program with another {' and '.join(changed)}, which it does not hold; save whole "
                "programs by finpath.save(program, folder) or program.save(folder, save_program=True)"
            )
        if EVIDENCE in state and self.evidence is not None:
            # Abstention is a setting of the caller's task, and no state has it.
            self.evidence = replace(EvidenceConfig.from_dict(state[EVIDENCE]), answer=self.evidence.answer)
        if "beam.understand.lines" in state:
            self.turn.understand.lines = dspy.Predict(UnderstandLines)
        super().load_state({**super().dump_state(), **state}, allow_unsafe_lm_state=allow_unsafe_lm_state)

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """The prompts, the use of language models, and hashes of the other parts that compiling fits."""
        state: dict[str, Any] = super().dump_state(json_mode)
        if self.evidence is not None:
            record = self.evidence.to_dict()
            # Pairs, as MLflow logs keys as names of parameters, and a model's name has signs that they may not have.
            state[EVIDENCE] = {**record, "plans": [list(pair) for pair in record["plans"].items()]}
        return {**state, PARTS: self._parts()}

    def _parts(self) -> dict[str, str | None]:
        parts = {"ontology": getattr(self.turn.reader, "ontology", None), "scorer": self.scorer}
        # A scorer's hash counts its encoder in.
        return {name: part.sha256 for name, part in parts.items() if part is not None}

    def forward(
        self,
        report: Document | None = None,
        questions: Sequence[str] | None = None,
        *,
        question: str | None = None,
        history: History | None = None,
        graph: Any = None,
        texts: Any = None,
        topics: Sequence[str] = (),
    ) -> dspy.Prediction:
        """Answers a question, or all questions of a conversation in order.

        Args:
            report: The document; also a JSON object of one, or a path of a file.
            questions: The questions of a conversation.
            question: One question, in place of ``questions``.
            history: The turns before the first question.
            graph: A graph in place of a report; see :meth:`programs.beam.BeamQA.forward`.
            texts: A growing graph that has read texts, in place of a report.
            topics: The entities that questions about a graph are about.

        Returns:
            A prediction with ``turns``, one :class:`programs.turns.turn.Turn` a question, and with the last turn's
            ``answer``, ``derivation``, ``path``, ``confidence`` and ``sources``. A report that cannot be read makes
            every turn a failed one.

        Raises:
            ConfigError: Not exactly one of ``question`` and ``questions`` is given, or ``questions`` is a text.
            DataError: A path or an object is no report.
        """
        asked = as_questions(question, questions)
        before = earlier_turns(history)
        try:
            given = {"graph": graph, "texts": texts, "topics": tuple(topics) or None}
            others = {name: value for name, value in given.items() if value is not None}
            state = self.start(self.world(report, **others), before)
        except FinpathError as error:
            if not isinstance(report, Report):
                raise
            message = f"{type(error).__name__}: {error}"
            return prediction_of([Turn(one, failure="error", message=message) for one in asked])
        always = {"always": True} if isinstance(self.turn, BeamQA) else {}
        for one in asked:
            state = self.turn.ask(state, one, **always)
        return prediction_of(state.turns[len(before) :])

    async def aforward(self, *arguments: Any, **named: Any) -> dspy.Prediction:
        """Answers as :meth:`forward` does, in a thread of DSPy's: ``await program.acall(report=..., question=...)``."""
        return await dspy.asyncify(self.forward)(*arguments, **named)

    def world(self, report: Document | None = None, **about: Any) -> World:
        """The world that questions are about; see :meth:`programs.beam.BeamQA.world`."""
        world: World = self.turn.world(report=report, **about)
        return world

    def start(self, world: World, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> Any:
        """See :meth:`programs.worlds.base.World.start`."""
        return world.start(turns, kept)

    def ask(self, state: Any, question: str) -> Any:
        """The state after one more question, whose turn is the last of ``turns``; a failure is a turn too."""
        return self.turn.ask(state, question)
