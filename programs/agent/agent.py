"""The tool agent: a plan in words, then tools over the report's graph until the answer is found.

    >>> program = AgentQA(ReportReader(ontology, scorer))
    >>> turn = program(report=report, question="what was the change in net income from 2008 to 2009?").turn
    >>> turn.answer, str(turn.derivation), [call.tool for call in turn.tool_calls]
    (Decimal('-1119'), 'subtract(103102, 104221)', ['query_kg', 'query_kg', 'calculate', 'finish'])

The two phases and the four tools are those of a ConvFinQA agent on a graph; the loop is ``dspy.ReAct``. An answer must
be a figure of the graph or a calculation over such (:mod:`programs.agent.findings`), else the loop goes on and the
model gets the reason. The model sees the page as :mod:`programs.worlds.page` writes it, and may name figures by their
identifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dspy

from kg.candidates import START, DerivationConfig, WeightedHistory, search_turn
from kg.derivations import PastTurn
from kg.errors import ConfigError, QueryError
from kg.figures import ReportIndex
from programs.agent.loop import NONE, GroundedReAct
from programs.agent.tools import Session, session
from programs.lm import failure_of, metered, plain_text
from programs.turns import Failure, Turn
from programs.wording import written_number
from programs.worlds.documents import Document, History, as_report, earlier_turns, prediction_of
from programs.worlds.page import Relevance, relevance_of, written_page
from programs.worlds.reader import ReportReader
from programs.worlds.report import ReportState, ReportWorld
from signatures.agent import Plan, PlanAnswer

_NAMED = "Identifiers such as r3c2 and s7n1 name figures: calculate and finish take them, without a query before."


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

    @classmethod
    def from_saved(cls, settings: Mapping[str, Any]) -> AgentConfig:
        """Returns saved settings; earlier versions had a choice of what the model reads."""
        return cls(**{name: value for name, value in settings.items() if name != "reads"})


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
            now = Session(self.reader.tools_of(state.index), state.index, question, past)
            try:
                with session(now):
                    turn = self._answer(now, past, [*(one.question for one in past), question], state.histories)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                turn = _failed(now, *failure_of(error, measured))
        if turn.answer is not None and turn.derivation is not None:
            turn = replace(turn, words=world.words(turn.derivation, turn.answer, question, state.index))
        turn = replace(turn, usage=measured.usage, tool_calls=tuple(now.calls))
        return world.added(state, turn, tuple(history.after_failure() for history in state.histories))

    def _answer(
        self,
        now: Session,
        past: Sequence[PastTurn],
        questions: Sequence[str],
        histories: Sequence[WeightedHistory],
    ) -> Turn:
        if all(observation.in_header for observation in now.index.observations):
            return _failed(now, "empty_beam", "the report has no figures")
        inputs = {
            "concepts": self._page(now.index, questions, histories),
            "history": _history(past),
            "question": plain_text(now.question),
        }
        plan: Plan = self.plan(**inputs).plan
        reply = self.act(**inputs, plan=_line(plan))
        if now.answer is None:
            choice = str(reply.answer).strip()
            if now.found.is_empty:
                message = f"no figure was found in {len(now.calls)} calls of tools"
                return _failed(now, "no_valid_choice", message, plan)
            if choice.lower() == NONE:
                return _failed(now, "picked_none", "the model says that nothing it found is the answer", plan)
            try:
                now.answer = now.found.answered(choice, now.question)
            except QueryError as error:
                return _failed(now, "no_valid_choice", f"the answer is not grounded: {error}", plan)
        pick = now.answer
        return Turn(
            now.question,
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


def _failed(now: Session, failure: Failure, message: str, plan: Plan | None = None) -> Turn:
    return Turn(now.question, failure=failure, message=message, understanding=plan)


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
