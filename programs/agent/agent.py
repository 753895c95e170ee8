"""The tool agent: a plan in words, then tools over the report's graph until the answer is found.

    >>> program = AgentQA(ReportReader(ontology, scorer))
    >>> turn = program(report=report, question="what was the change in net income from 2008 to 2009?").turn
    >>> turn.answer, str(turn.derivation), [call.tool for call in turn.tool_calls]
    (Decimal('-1119'), 'subtract(103102, 104221)', ['query_kg', 'query_kg', 'calculate', 'finish'])

The two phases and the tools are those of a ConvFinQA agent on a graph; the loop is ``dspy.ReAct``. An answer must be a
figure of the graph or a calculation over such (:mod:`programs.agent.tools`), else the loop goes on and the model gets
the reason. The model sees the page as :mod:`programs.worlds.page` writes it, and may name figures by their identifiers.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import dspy
from dspy.utils.exceptions import ContextWindowExceededError

from kg.calculations import START, DerivationConfig, ReportIndex, WeightedHistory, search_turn
from kg.errors import ConfigError, ProgramError, QueryError
from kg.search import PastTurn
from programs.agent.tools import TOOLS, Session
from programs.answer import currency_sign, spoken_answer
from programs.lm import plain_text
from programs.turns import Failure, Turn, failure_of, metered
from programs.wording import written_number
from programs.worlds.documents import Document, History, as_report, earlier_turns, prediction_of
from programs.worlds.page import Relevance, relevance_of, written_page
from programs.worlds.report import ReportReader, ReportState, ReportWorld
from signatures.agent import STEPS, AnswerWithTools, ChooseFound, Plan, PlanAnswer

NONE = "none"
_NAMED = "Identifiers such as r3c2 and s7n1 name figures: calculate and finish take them, without a query before."
_logger = logging.getLogger(__name__)


class GroundedReAct(dspy.ReAct):
    """DSPy's ReAct, which an answer that is not grounded does not end: the model gets the reason as an observation.

    Args:
        max_iters: The limit of calls of tools.
    """

    def __init__(self, max_iters: int) -> None:
        super().__init__(AnswerWithTools, tools=[getattr(Session, name) for name in TOOLS], max_iters=max_iters)
        self.react.signature = self.react.signature.with_instructions(STEPS)
        self.extract = dspy.Predict(ChooseFound)

    def forward(self, session: Session, **inputs: Any) -> dspy.Prediction:
        """Calls tools until one gives the answer, or the iterations end; then asks for a choice among the findings."""
        trajectory: dict[str, Any] = {}
        for place in range(self.max_iters):
            try:
                step = self._call_with_potential_trajectory_truncation(self.react, trajectory, **inputs)
            except (ContextWindowExceededError, ValueError) as error:
                _logger.warning("the agent's steps end: %s", type(error).__name__)
                break
            trajectory[f"thought_{place}"] = step.next_thought
            trajectory[f"tool_name_{place}"] = step.next_tool_name
            trajectory[f"tool_args_{place}"] = step.next_tool_args
            trajectory[f"observation_{place}"] = session.call(step.next_tool_name, step.next_tool_args)
            if session.answer is not None:
                break
        if session.answer is not None or not session.findings:
            return dspy.Prediction(trajectory=trajectory, answer=NONE)
        choice = self.extract(question=inputs["question"], history=inputs["history"], found=session.lines())
        return dspy.Prediction(trajectory=trajectory, answer=choice.answer)


@dataclass(frozen=True)
class AgentConfig:
    """The agent's settings.

    Attributes:
        max_iterations: The limit of tool calls a turn, ``finish`` included. The plan is one more call, and so is the
            choice among the findings where the agent did not finish by itself.
        page_tokens: The page's budget of tokens.
    """

    max_iterations: int = 7
    page_tokens: int = 3000

    def __post_init__(self) -> None:
        for name in ("max_iterations", "page_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")


class AgentQA(dspy.Module):
    """Answers one question about a report.

    Args:
        reader: The ontology; its scorer only orders the lines of a page that is too long.
        config: The agent's settings.
    """

    needs_lm = True
    scorer = None
    evidence = None

    def __init__(self, reader: ReportReader, config: AgentConfig | None = None) -> None:
        super().__init__()
        self.reader = reader
        self.config = config if config is not None else AgentConfig()
        self.plan = dspy.Predict(PlanAnswer)
        self.act = GroundedReAct(self.config.max_iterations)

    def forward(self, *, question: str, report: Document, history: History = ()) -> dspy.Prediction:
        """Answers a question.

        Args:
            question: The question.
            report: The document.
            history: The turns before it, with the answers that were given.
        """
        world = self.world(report=report)
        return prediction_of(self.ask(world.start(earlier_turns(history)), question).turns[-1:])

    def world(self, *, report: Document, **about: Any) -> ReportWorld:
        """The world of a report; ``about`` are further fields of it."""
        return ReportWorld(as_report(report), self.reader, **about)

    def ask(self, state: ReportState, question: str) -> ReportState:
        """The state after one more question; what goes wrong becomes a turn that failed.

        Raises:
            ConfigError: No language model is set.
        """
        if dspy.settings.lm is None:
            raise ConfigError("the agent asks a language model: set one (lm), got none")
        world = state.world
        state = world.narrowed(state, question)
        past = tuple(turn.past() for turn in state.turns)
        with metered() as measured:
            session = Session(state.index, self.reader.ontology, question, past)
            try:
                turn = self._answer(session, [*(turn.question for turn in past), question], state.histories)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                turn = _failed(session, *failure_of(error, measured))
        if turn.answer is not None and turn.derivation is not None:
            sign = currency_sign(self.reader.graph_of(state.index).report)
            words = spoken_answer(turn.derivation, turn.answer, state.index.observations, sign)
            turn = replace(turn, words=words)
        turn = replace(turn, usage=measured.usage, tool_calls=tuple(session.calls))
        return world.added(state, turn, tuple(history.after_failure() for history in state.histories))

    def _answer(self, session: Session, questions: Sequence[str], histories: Sequence[WeightedHistory]) -> Turn:
        if all(observation.in_header for observation in session.index.observations):
            return _failed(session, "empty_beam", "the report has no figures")
        inputs = {
            "concepts": self._page(session.index, questions, histories),
            "history": _history(session.past),
            "question": plain_text(session.question),
        }
        plan: Plan = self.plan(**inputs).plan
        reply = self.act(session=session, **inputs, plan=_line(plan))
        if session.answer is None:
            choice = str(reply.answer).strip()
            if not session.findings:
                message = f"no figure was found in {len(session.calls)} calls of tools"
                return _failed(session, "no_valid_choice", message, plan)
            if choice.lower() == NONE:
                return _failed(session, "picked_none", "the model says that nothing it found is the answer", plan)
            try:
                session.answer = session.candidate(choice)
            except (ProgramError, QueryError) as error:
                return _failed(session, "no_valid_choice", f"the answer is not grounded: {error}", plan)
        pick = session.answer
        return Turn(
            session.question,
            answer=pick.answer,
            derivation=pick.derivation,
            candidates=(pick,),
            pick=0,
            understanding=plan,
        )

    def _page(self, index: ReportIndex, questions: Sequence[str], histories: Sequence[WeightedHistory]) -> str:
        def relevance() -> tuple[Relevance, Relevance]:
            scorer, config = self.reader.scorer, DerivationConfig()
            last = relevance_of(search_turn(index, questions, histories, scorer, config))
            if len(questions) == 1:
                return last, last
            return relevance_of(search_turn(index, questions[:1], START, scorer, config)), last

        report = self.reader.graph_of(index).report
        page = written_page(report, index, self.config.page_tokens, relevance)
        return "\n".join([_NAMED, page.text, *([f"Further lines:\n{page.more}"] if page.more else [])])


def _failed(session: Session, failure: Failure, message: str, plan: Plan | None = None) -> Turn:
    return Turn(session.question, failure=failure, message=message, understanding=plan)


def _history(past: Sequence[PastTurn]) -> str:
    """Returns one line a question and answer, with the name by which calculations can use it."""
    lines = []
    for number, turn in enumerate(past, start=1):
        known = f"a{number} = {written_number(turn.answer)}" if turn.answer is not None else "not answered"
        lines.append(f"Q{number}: {plain_text(turn.question)} -> {known}")
    return "\n".join(lines) if lines else NONE


def _line(plan: Plan) -> str:
    """Returns a plan on one line."""
    steps = "; ".join(f"{number}. {plain_text(step)}" for number, step in enumerate(plan.steps, start=1))
    concepts = ", ".join(map(plain_text, plan.concepts))
    return f"{plain_text(plan.understanding)} | {concepts or NONE} | {steps or NONE}"
