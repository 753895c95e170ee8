"""The programs: Understand, the beam search, Aggregate, Answer, for one question or for those of a conversation.

    >>> program = BeamQA(ReportReader(ontology, scorer))
    >>> program(report=report, question="what were revenues in 2008?").turn.answer
    Decimal('9362.2')
    >>> program = finpath.load("beam")      # a ConversationQA: each question is asked with the turns before it
    >>> [turn.answer for turn in program(report=report, questions=["revenues in 2008?", "and in 2007?"]).turns]
    [Decimal('9362.2'), Decimal('9244.9')]

A *world* is what the question is about: a report, a graph or a collection of texts (:mod:`programs.worlds.base`). Its
search proposes candidates with paths and asks no model. With a language model (``dspy.configure(lm=…)``) a turn takes
at most two calls, and a third where an expression is refused: *Understand* reads what the world shows and names an
expression, which is executed over the world alone and joins the candidates; *Aggregate* (:mod:`programs.aggregate`)
chooses among them, unless the search's best one is the same. *Answer* returns the choice with its path and sources, or
abstains. So nothing outside the world can be an answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dspy

from kg.calculations import DerivationConfig, DerivationScorer
from kg.errors import ConfigError, FinpathError, ProgramError, QueryError
from kg.reports import Ontology, Report, Unmapped
from programs.aggregate import Aggregate, Choice, EvidenceConfig, Execution, name_of
from programs.lm import plain_text, sampling
from programs.turns import LONGEST_MESSAGE, AnyTurn, Kept, Turn, failure_of, metered
from programs.wording import is_grounded
from programs.worlds import graph_world, texts_world
from programs.worlds.base import Search, World
from programs.worlds.documents import Document, History, as_questions, as_report, earlier_turns, prediction_of
from programs.worlds.page import shortened
from programs.worlds.report import ReportReader, ReportWorld
from signatures.answer import Answer as ExplainAnswer
from signatures.understand import UnderstandReport

if TYPE_CHECKING:
    from programs.worlds.graph import GraphConfig

PARTS = "fitted_parts"
"""The key of a state that has the hashes of the program's fitted parts."""

EVIDENCE = "evidence"
"""The key of a state that has the use of language models, with the weights that were fitted for each."""

EARLIER_NAMES = {
    "turn.read_page": "beam.understand.predict",
    "turn.aggregate": "beam.aggregate.predict",
    "parser.predict": "beam.understand.predict",
    "turn.plan": "agent.plan",
    "turn.act.react.predict": "agent.act.react",
    "turn.act.extract.predict": "agent.act.extract",
}
"""The names of predictors in programs of earlier revisions, and theirs now; others are gone."""


class Understand(dspy.Module):
    """Names the expression that answers a question: a calculation over a page, a query over a graph, a quotation.

    Args:
        signature: The signature of the world that is asked about. About any other world the program asks with that
            world's own signature, which nothing is compiled for.
    """

    def __init__(self, signature: Any = UnderstandReport) -> None:
        super().__init__()
        self.signature = signature
        self.predict = dspy.Predict(signature)

    def forward(self, search: Search, config: EvidenceConfig) -> Execution:
        """Asks for the expression of a question, and executes it.

        Args:
            search: The question, with what its world shows.
            config: The budget of the prompt.
        """
        is_own = self.signature is search.signature
        predict = self.predict if is_own else dspy.Predict(search.signature)
        prompt = search.prompt(config, predict)
        settings = {**_demonstrations(predict), "config": sampling(dspy.settings.lm)} if search.samples else {}
        refused: list[str] = []
        for _ in range(search.attempts):
            reply = search.reply(predict, **prompt, **settings)
            try:
                return search.execute(reply, refused)
            except (ProgramError, QueryError) as error:
                refused.append(plain_text(str(error)))
                if len(refused) < search.attempts:
                    prompt = search.retry(prompt, reply, refused[-1])
        return Execution(search.understanding(reply, refused))


def _demonstrations(predict: Any) -> dict[str, Sequence[Any]]:
    """The demonstrations of a page with only the lines that they use."""
    if not any("page" in one for one in predict.demos):
        return {}
    return {"demos": [shortened(one) for one in predict.demos]}


class Answer(dspy.Module):
    """Makes the turn of a choice: the typed answer with words, path and sources, or an abstention.

    An explanation is one sentence whose numbers and names must be those of the question, the derivation and its
    sources; any other sentence is refused.

    Args:
        explain: Whether a language model explains the answer, in one call.
    """

    def __init__(self, *, explain: bool = False) -> None:
        super().__init__()
        self.explain = explain
        if explain:
            self.predict = dspy.Predict(ExplainAnswer)

    def forward(self, search: Search, choice: Choice, config: EvidenceConfig) -> Turn[Any, Any]:
        """Answers, or abstains.

        Args:
            search: The question, with its candidates.
            choice: Their probabilities.
            config: Whether a turn may abstain.
        """
        turn = search.turn(choice, config)
        explains = self.explain and turn.answer is not None and dspy.settings.lm is not None
        return self._explained(search, turn) if explains else turn

    def _explained(self, search: Search, turn: Turn[Any, Any]) -> Turn[Any, Any]:
        meaning = turn.understanding.description if turn.understanding is not None else "none"
        facts = {"question": plain_text(search.question), "answer": turn.words, **search.grounds(turn)}
        sentence = " ".join(str(self.predict(meaning=meaning, **facts).sentence).split())
        shown = " ".join(facts.values()).replace("_", " ")  # a model wrote the meaning, which proves nothing
        return replace(turn, explanation=sentence) if is_grounded(sentence, shown, facts["question"]) else turn


class BeamQA(dspy.Module):
    """Answers one question about a world.

    Args:
        reader: The ontology and the scorer, for questions about reports.
        config: The beam's settings for reports, or the settings of questions about a graph.
        evidence: How language models help to choose.
        signature: The signature of Understand, by the world that questions are about.
        explain: Whether a language model explains each answer in a sentence.
    """

    needs_lm = False

    def __init__(
        self,
        reader: ReportReader | None = None,
        config: Any = None,
        evidence: EvidenceConfig | None = None,
        *,
        signature: Any = UnderstandReport,
        explain: bool = False,
    ) -> None:
        super().__init__()
        self.reader: Any = reader
        self.config: Any = config if config is not None else DerivationConfig()
        self.evidence = evidence if evidence is not None else EvidenceConfig()
        self.understand = Understand(signature)
        self.aggregate = Aggregate(compares=signature is UnderstandReport)
        self.answer = Answer(explain=explain)

    @property
    def scorer(self) -> DerivationScorer | None:
        """The beam's weights for reports."""
        return self.reader.scorer if self.reader is not None else None

    def forward(
        self,
        *,
        question: str,
        report: Document | None = None,
        graph: Any = None,
        texts: Any = None,
        history: History = (),
    ) -> dspy.Prediction:
        """Answers a question about one of three worlds.

        Args:
            question: The question.
            report: A document.
            graph: A graph: a :class:`kg.parsing.QuestionReader`.
            texts: A growing graph that has read texts.
            history: The turns before it, with the answers that were given.

        Returns:
            A prediction with ``turn`` (a :class:`programs.turns.turn.Turn`), ``answer``, ``derivation``, ``path``,
            ``confidence`` and ``sources``.
        """
        world = self.world(report=report, graph=graph, texts=texts)
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
            return graph_world(graph, self.config, **about)
        if texts is not None:
            return texts_world(texts, **about)
        if report is None or self.reader is None:
            raise ConfigError("questions about reports need a program with a reader: finpath.load('beam')")
        read = report if isinstance(report, Report) else as_report(report)
        return ReportWorld(read, self.reader, self.config, **about)

    def start(self, world: World, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> Any:
        """See :meth:`programs.worlds.base.World.start`."""
        return world.start(turns, kept)

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
                search = state.world.search(state, question)
                choice = self.aggregate(search, evidence, self._understood(search, evidence))
                after = search.after(self.answer(search, choice, evidence), choice)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                failure, message = failure_of(error, measured)
                after = state.after(Turn(question, failure=failure, message=message))
        return replace(after, turns=(*after.turns[:-1], replace(after.turns[-1], usage=measured.usage)))

    def evidence_for(self, lm: Any, *, always: bool = False) -> EvidenceConfig:
        """The use of a language model: weights that were fitted with other prompts than the program's do not count."""
        plan = self.evidence.plans.get(name_of(lm)) if lm is not None else None
        if plan is None or (plan.prompts == self.prompts and (plan.asks(lm) or not always)):
            return self.evidence
        plans = {name: plan for name, plan in self.evidence.plans.items() if name != name_of(lm)}
        return replace(self.evidence, plans=plans)

    @property
    def prompts(self) -> str:
        """A hash of the prompts that were compiled; empty where all are as the signatures write them."""
        written = BeamQA(signature=self.understand.signature, explain=self.answer.explain).named_predictors()
        instructions = {name: predict.signature.instructions for name, predict in written}
        compiled = [
            (name, predict.signature.instructions, [dict(demo) for demo in predict.demos])
            for name, predict in self.named_predictors()
            if predict.demos or predict.signature.instructions != instructions.get(name)
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


class ConversationQA(dspy.Module):
    """Answers the questions of a conversation about one report.

    Args:
        program: The program for one question: a :class:`programs.beam.BeamQA`, or the tool agent.
    """

    def __init__(self, program: Any) -> None:
        super().__init__()
        self.kind = "beam" if isinstance(program, BeamQA) else "agent"
        setattr(self, self.kind, program)

    @classmethod
    def unfitted(
        cls, ontology: Ontology, *, scorer: DerivationScorer | None = None, config: DerivationConfig | None = None
    ) -> ConversationQA:
        """The beam program over an ontology; without a scorer, with weights that are fitted to nothing."""
        weights = scorer if scorer is not None else DerivationScorer.untrained()
        return cls(BeamQA(ReportReader(ontology, weights), config))

    @classmethod
    def for_graphs(cls, config: GraphConfig | None = None) -> ConversationQA:
        """The beam program for questions about any graph."""
        from programs.worlds.graph import GraphConfig
        from signatures.queries import UnderstandGraph

        return cls(BeamQA(config=config if config is not None else GraphConfig(), signature=UnderstandGraph))

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
    def unmapped(self) -> Unmapped:
        """The treatment of line items outside the ontology."""
        treatment: Unmapped = self.turn.reader.unmapped
        return treatment

    def with_unmapped(self, unmapped: Unmapped) -> ConversationQA:
        """A copy with another treatment of line items outside the ontology."""
        changed: ConversationQA = self.deepcopy()
        own = self.turn.reader
        changed.turn.reader = ReportReader(own.ontology, own.scorer, unmapped)
        return changed

    @property
    def scorer(self) -> DerivationScorer | None:
        """The beam's weights; ``None`` for a program that does not search by them."""
        scorer: DerivationScorer | None = self.turn.scorer
        return scorer

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
        """Reads a saved state; predictors of earlier revisions have other names, and some are gone.

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
        renamed = {
            EARLIER_NAMES.get(
                name, name.replace("turn.", f"{self.kind}.", 1) if name.startswith("turn.") else name
            ): value
            for name, value in state.items()
        }
        super().load_state({**super().dump_state(), **renamed}, allow_unsafe_lm_state=allow_unsafe_lm_state)

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """The prompts, the use of language models, and hashes of the other parts that compiling fits."""
        state: dict[str, Any] = super().dump_state(json_mode)
        if self.evidence is not None:
            record = self.evidence.to_dict()
            # Pairs, as MLflow logs keys as names of parameters, and a model's name has signs that they may not have.
            state[EVIDENCE] = {**record, "plans": [list(pair) for pair in record["plans"].items()]}
        return {**state, PARTS: self._parts()}

    def _parts(self) -> dict[str, str | None]:
        if self.turn.reader is None:
            return {}
        scorer = self.scorer
        # A scorer's hash counts its encoder in.
        return {"ontology": self.ontology.sha256, "scorer": scorer.sha256 if scorer is not None else None}

    def forward(
        self,
        report: Document | None = None,
        questions: Sequence[str] | None = None,
        *,
        question: str | None = None,
        history: History | None = None,
        graph: Any = None,
        texts: Any = None,
    ) -> dspy.Prediction:
        """Answers a question, or all questions of a conversation in order.

        Args:
            report: The document; also a JSON object of one, or a path of a file.
            questions: The questions of a conversation.
            question: One question, in place of ``questions``.
            history: The turns before the first question.
            graph: A graph in place of a report; see :meth:`programs.beam.BeamQA.forward`.
            texts: A growing graph that has read texts, in place of a report.

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
            others = {name: given for name, given in (("graph", graph), ("texts", texts)) if given is not None}
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
