"""The program for a conversation about a report: its questions in order, each with the program's own earlier answers.

>>> program = create_program("beam", ontology=ontology, scorer=scorer)
>>> [turn.answer for turn in program(report=report, questions=["revenues in 2008?", "and in 2007?"]).turns]
[Decimal('9362.2'), Decimal('9244.9')]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import dspy

from kg.candidates import MEMORY, START, fixed_history
from kg.derivations import PastTurn
from kg.errors import ConfigError, FinpathError
from kg.figures import ReportIndex
from kg.ontology import Ontology
from kg.report_graphs import ReportGraph, Unmapped
from kg.reports import Report, is_large
from kg.scoring import DerivationScorer
from programs.evidence import EvidenceConfig
from programs.reports.calls import Document, History, as_questions, as_report, past_turns, prediction_of
from programs.reports.question import TurnAnswerer, TurnOutcome
from programs.reports.reader import ReportReader
from programs.reports.world import ConversationState, ReportContext, ReportWorld
from programs.turns import AnyTurn, Failure, Kept, Turn, read_histories
from programs.wording import currency_sign, spoken_answer

LATER_PREDICTORS = ("turn.read_page",)
"""Predictors that programs of earlier revisions were saved without."""

RENAMED_PREDICTORS = {"turn.act.react.predict": "turn.act.react", "turn.act.extract.predict": "turn.act.extract"}
"""Predictors that programs of earlier revisions have under other names."""

PARTS = "fitted_parts"
"""The key of a state that has the hashes of the program's fitted parts."""

EVIDENCE = "evidence"
"""The key of a state that has the use of language models, with the weights that were fitted for each."""


class ConversationQA(dspy.Module):
    """Answers the questions of a conversation about one report.

    Args:
        turn: The program for one question.
        kind: The name under which :mod:`programs.registry` makes such a program.
    """

    def __init__(self, turn: TurnAnswerer, kind: str = "beam") -> None:
        super().__init__()
        self.turn = turn
        self.kind = kind

    @property
    def ontology(self) -> Ontology:
        """The frozen ontology."""
        return self.turn.reader.ontology

    @property
    def unmapped(self) -> Unmapped:
        """The treatment of line items outside the ontology."""
        treatment: Unmapped = self.turn.reader.unmapped
        return treatment

    def with_unmapped(self, unmapped: Unmapped) -> ConversationQA:
        """A copy with another treatment of line items outside the ontology."""
        changed: ConversationQA = self.deepcopy()
        own = self.turn.reader
        reader = ReportReader(own.ontology, own.scorer, unmapped)
        for _, module in changed.named_sub_modules():
            if hasattr(module, "reader"):
                module.reader = reader
        return changed

    @property
    def scorer(self) -> DerivationScorer | None:
        """The beam's weights; ``None`` for a program that does not search by them."""
        return self.turn.scorer

    @property
    def config(self) -> Any:
        """The settings of the program for one question."""
        return self.turn.config

    @property
    def evidence(self) -> EvidenceConfig | None:
        """The settings of the choice among candidates; ``None`` for a program that has none."""
        return self.turn.evidence

    @evidence.setter
    def evidence(self, evidence: EvidenceConfig) -> None:
        self.turn.set_evidence(evidence)

    @property
    def needs_lm(self) -> bool:
        """Whether it answers nothing without a language model."""
        return self.turn.needs_lm

    def load_state(self, state: Mapping[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:
        """Reads a saved state; a predictor that the program did not have when it was saved stays as it is.

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
        known = {name: value for name, value in self.dump_state().items() if name in LATER_PREDICTORS}
        given = {RENAMED_PREDICTORS.get(name, name): value for name, value in state.items()}
        super().load_state({**known, **given}, allow_unsafe_lm_state=allow_unsafe_lm_state)

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """The prompts, the use of language models, and hashes of the other parts that compiling fits."""
        state: dict[str, Any] = super().dump_state(json_mode)
        evidence = {EVIDENCE: self.evidence.to_dict()} if self.evidence is not None else {}
        return {**state, **evidence, PARTS: self._parts()}

    def _parts(self) -> dict[str, str | None]:
        scorer = self.scorer
        # A scorer's hash counts its encoder in.
        return {"ontology": self.ontology.sha256, "scorer": scorer.sha256 if scorer is not None else None}

    def forward(
        self,
        report: Document,
        questions: Sequence[str] | None = None,
        past: Sequence[PastTurn] | None = None,
        *,
        question: str | None = None,
        history: History | None = None,
    ) -> dspy.Prediction:
        """Answers a question, or all questions of a conversation in order.

        Args:
            report: The document; also a JSON object of one, or a path of a file.
            questions: The questions of a conversation.
            past: Answers for the earlier questions in place of the program's own; question ``i`` then sees
                ``past[:i]``. For diagnosis only.
            question: One question, in place of ``questions``.
            history: The turns before the first question.

        Returns:
            A prediction with ``turns``, one :class:`programs.turns.turn.Turn` a question, and with the last turn's
            ``answer``, ``derivation``, ``path``, ``confidence`` and ``sources``. A report that cannot be read makes
            every turn a failed one.

        Raises:
            ConfigError: Not exactly one of ``question`` and ``questions`` is given, or ``questions`` is a text.
            DataError: A path or an object is no report.
        """
        asked = as_questions(question, questions)
        before = past_turns(history)
        try:
            state = self.start(ReportWorld(as_report(report)))
        except FinpathError as error:
            if not isinstance(report, Report):
                raise
            message = f"{type(error).__name__}: {error}"
            return prediction_of([Turn(one, failure="error", message=message) for one in asked])
        if before:
            state = replace(state, turns=tuple(map(_answered, before)), histories=fixed_history(state.index, before))
        for place, one in enumerate(asked):
            known = None if past is None else past[:place]
            state = self.ask(state, one, known)
        return prediction_of(state.turns[len(before) :])

    def start(self, world: ReportWorld, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> ConversationState:
        """See :class:`programs.turns.program.TurnProgram`.

        Raises:
            FinpathError: The report's graph cannot be built.
        """
        questions = [turn.question for turn in turns]
        graph, index = self._read(world.report, questions, turns)
        entities = ReportContext(graph, world.context) if world.references is not None else None
        histories = read_histories(kept, index, questions) if kept else START
        return ConversationState(world, tuple(turns), index=index, histories=histories, entities=entities)

    def _read(
        self, report: Report, questions: Sequence[str], turns: Sequence[AnyTurn]
    ) -> tuple[ReportGraph, ReportIndex]:
        """A report's graph, and its index with what the turns read from its text."""
        graph, index = self.turn.reader.read(report, questions, [turn.derivation for turn in turns[-MEMORY:]])
        for turn in turns:
            if turn.reading is not None and turn.reading.inserted:
                index = self.turn.reader.enlarged(index, turn.reading.inserted)
        return graph, index

    def _narrowed(self, state: ConversationState, question: str) -> ConversationState:
        """A conversation about a large report, with the excerpt of it that a question needs."""
        asked = [turn.question for turn in state.turns]
        graph, index = self._read(state.world.report, [*asked, question], state.turns)
        entities = ReportContext(graph, state.world.context) if state.entities is not None else None
        histories = read_histories(state.kept(), index, asked) if state.turns else state.histories
        return replace(state, index=index, histories=histories, entities=entities)

    def ask(self, state: ConversationState, question: str, past: Sequence[PastTurn] | None = None) -> ConversationState:
        """See :class:`programs.turns.program.TurnProgram`; ``past`` as in :meth:`forward`."""
        if is_large(state.world.report):
            state = self._narrowed(state, question)
        known = tuple(turn.past() for turn in state.turns) if past is None else tuple(past)
        histories = state.histories if past is None else fixed_history(state.index, past)
        questions = [*(turn.question for turn in known), question]
        answered = self.turn.answer(state.index, questions, histories, known)
        after = replace(
            state,
            turns=(*state.turns, answered.turn),
            histories=answered.histories,
            index=answered.index if answered.index is not None else state.index,
        )
        turn = replace(answered.turn, words=self._words(after, answered))
        if state.world.references is not None and state.entities is not None:
            from kg.coreference import resolve_report

            canonicals = [one.canonical for one in state.turns]
            resolution = resolve_report(question, known, canonicals, state.index, state.world.references)
            turn = replace(turn, resolution=resolution, context=state.entities.of(after.turns, after.index))
        return replace(after, turns=(*state.turns, turn))

    def _words(self, state: ConversationState, answered: TurnOutcome) -> str:
        """Returns a turn's answer in words."""
        turn, index = answered.turn, state.index
        if turn.answer is None or turn.derivation is None:
            return ""
        sign = currency_sign(self.turn.reader.graph_of(index).report)
        return spoken_answer(turn.derivation, turn.answer, turn.question, index.observations, sign)


def _answered(past: PastTurn) -> Turn:
    """An earlier turn of which only the answer is known."""
    failure: Failure | None = "not_answered" if past.answer is None else None
    return Turn(past.question, past.answer, past.derivation, confidence=past.confidence, failure=failure)
