"""The tool agent: a plan in words, then tools over the report's graph until the answer is found.

    >>> program = ConversationQA(AgentQA(ReportReader(ontology, DerivationScorer.untrained())))
    >>> turn = program(report=report, questions=["what was the change in net income from 2008 to 2009?"]).turns[0]
    >>> turn.answer, str(turn.derivation), [call.tool for call in turn.tool_calls]
    (Decimal('-1119'), 'subtract(103102, 104221)', ['query_kg', 'query_kg', 'calculate', 'finish'])

The two phases and the four tools are those of a ConvFinQA agent on a graph; the loop is ``dspy.ReAct``. Two things are
stricter. An answer must be a figure of the graph or a calculation over such (:mod:`programs.reports.findings`), else
the loop goes on and the model gets the reason. A language model that can be held to a grammar can only write names that
the graph has. Any other sees the page as :mod:`programs.worlds.page` writes it, and names figures by their identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

import dspy
from pydantic import Field, WithJsonSchema, create_model

from kg.candidates import START, DerivationConfig, WeightedHistory, search_turn
from kg.derivations import CalculatorOperation, PastTurn
from kg.errors import ConfigError, QueryError
from kg.figures import ReportIndex
from programs.lm import ALL_CHOICES, failure_of, is_embedded, metered, plain_text
from programs.worlds.page import Relevance, relevance_of, written_page
from programs.reports.agent_loop import GroundedReAct
from programs.reports.agent_tools import Session, current, recorded_tools, session
from programs.reports.findings import CONSTANTS
from programs.worlds.reader import ReportReader
from programs.worlds.report import ReportState, ReportWorld
from programs.turns import Failure, Turn
from programs.wording import written_number
from programs.worlds.documents import Document, History, as_report, earlier_turns, prediction_of
from signatures.agent import STEPS, AnswerWithTools, ChooseFound, Plan, PlanAnswer

NONE = "none"
_TOOLS = ("query_kg", "calculate", "list_entities", "introspect_ontology", "finish")
_MOST_PROPERTIES = 40
_NAMED = "Identifiers such as r3c2 and s7n1 name figures: calculate and finish take them, without a query before."


@dataclass(frozen=True)
class AgentConfig:
    """The agent's settings.

    Attributes:
        max_iterations: The limit of tool calls a turn, ``finish`` included. The plan is one more call, and so is the
            choice among the findings where the agent did not finish by itself.
        reads: What the model sees of the report, the ``labels`` of its graph or the ``page``; ``auto`` for the page
            unless the model runs in this process.
        page_tokens: The page's budget of tokens.
    """

    max_iterations: int = 7
    reads: Literal["auto", "labels", "page"] = "auto"
    page_tokens: int = 3000

    def __post_init__(self) -> None:
        if self.reads not in ("auto", "labels", "page"):
            raise ConfigError(f"reads must be auto, labels or page, got {self.reads!r}")
        if self.page_tokens < 1:
            raise ConfigError(f"page_tokens must be at least 1, got {self.page_tokens}")
        if self.max_iterations < 1:
            raise ConfigError(f"max_iterations must be at least 1, got {self.max_iterations}")


class HeldStep(dspy.Module):
    """One step of the loop: a thought, a tool and its arguments; held to the graph's names where that is possible.

    Args:
        predict: The predictor.
    """

    def __init__(self, predict: dspy.Predict) -> None:
        super().__init__()
        self.predict = predict

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """The next step."""
        return self.predict(**inputs, **_held(self.predict, step_signature))


class Choose(dspy.Module):
    """The name of the answer where the agent did not ``finish``: a choice among what was found."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(ChooseFound)

    def forward(self, question: str, history: str, **_: Any) -> dspy.Prediction:
        """The name, or ``none``."""
        if (known := _known()) is not None:
            return known
        inputs = {"question": question, "history": history, "found": current().found.lines()}
        return self.predict(**inputs, **_held(self.predict, choice_signature))


def _known() -> dspy.Prediction | None:
    """Returns an answer without a call where there is no choice."""
    if current().answer is not None or current().found.is_empty:
        return dspy.Prediction(answer=NONE)
    return None


def _held(predict: dspy.Predict, narrow: Any) -> dict[str, Any]:
    """The signature narrowed to the names that there are, for a language model that can be held to it."""
    lm = predict.lm if predict.lm is not None else dspy.settings.lm
    if not is_embedded(lm):
        return {}
    return {"signature": narrow(predict.signature, current())}


def step_signature(signature: Any, now: Session) -> Any:
    """A step whose tool and arguments are such as the graph, and what was found so far, allow."""
    names = now.found.names
    allowed: dict[str, list[dict[str, Any]]] = {
        "query_kg": _queries(now),
        "list_entities": _lists(now, "list_entities", {}),
        "introspect_ontology": _lists(now, "introspect_ontology", {"action": {"const": "get_properties"}}),
    }
    if names:
        values = {"type": "array", "items": {"enum": [*names, *CONSTANTS]}, "minItems": 1}
        allowed["calculate"] = [{"operation": {"enum": list(get_args(CalculatorOperation))}, "values": values}]
        allowed["finish"] = [{"answer": {"enum": names}}]
    allowed = {name: forms for name, forms in allowed.items() if forms}
    arguments = {"anyOf": [_object(fields) for forms in allowed.values() for fields in forms]}
    thought = {"type": "string", "maxLength": 160}
    name = {"type": "string", "enum": list(allowed), ALL_CHOICES: list(_TOOLS)}
    return (
        signature.with_updated_fields("next_thought", Annotated[str, WithJsonSchema(thought)])
        .with_updated_fields("next_tool_name", Annotated[str, WithJsonSchema(name)])
        .with_updated_fields("next_tool_args", Annotated[dict[str, Any], WithJsonSchema(arguments)])
    )


def _queries(now: Session) -> list[dict[str, Any]]:
    """Returns the arguments of every query with a new finding: each property of each type, with its own years."""
    years: dict[tuple[str, str], dict[str | None, None]] = {}
    for one in now.index.reported():
        if not one.in_header:
            known = years.setdefault((one.entity_type, one.property), {})
            if one.period is not None:
                known.setdefault(one.period)
            known.setdefault(None)
    for call in now.calls:
        if call.tool == "query_kg" and not call.failed:
            filters = call.arguments.get("filters") or {}
            key = (str(call.arguments.get("entity_type")), str(call.arguments.get("property")))
            years.get(key, {}).pop(filters.get("year"), None)
    return [
        # In the order of a spoken question: the type follows where only one has the property and the year.
        {
            "property": {"const": name},
            "filters": _object({"year": {"enum": sorted(known, key=lambda year: (year is None, year or ""))}}),
            "entity_type": {"const": kind},
        }
        for (kind, name), known in years.items()
        if known
    ]


def _lists(now: Session, tool: str, fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the arguments of a tool that lists facts of an entity type, for types not listed yet."""
    listed = {call.arguments.get("entity_type") for call in now.calls if call.tool == tool and not call.failed}
    types = [kind for kind in now.tools.introspect_ontology("list_types") if kind not in listed]
    return [{**fields, "entity_type": {"enum": types}}] if types else []


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields)}


def choice_signature(signature: Any, now: Session) -> Any:
    """A choice among what was found, or none of it."""
    return signature.with_updated_fields("answer", _one_of([*now.found.names, NONE]))


def plan_signature(signature: Any, now: Session) -> Any:
    """A plan that names only concepts that the graph has."""
    types = now.tools.introspect_ontology("list_types")
    names = [*types, *(name for kind in types for name in now.tools.introspect_ontology("get_properties", kind))]
    about = Plan.model_fields["concepts"].description
    of_graph: Any = list[_one_of(list(dict.fromkeys(names)))]  # type: ignore[misc]
    short: Any = Annotated[list[str], WithJsonSchema({"type": "array", "items": {"type": "string"}, "maxItems": 4})]
    steps = (short, Field(description=Plan.model_fields["steps"].description))
    narrowed = create_model("Plan", __base__=Plan, concepts=(of_graph, Field(description=about)), steps=steps)
    return signature.with_updated_fields("plan", narrowed)


def _one_of(names: Sequence[str]) -> Any:
    return Literal[tuple(names)]


class AgentQA(dspy.Module):
    """Answers one question about a report.

    Args:
        reader: The ontology; its scorer is not asked.
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
        tools = recorded_tools()
        self.act = GroundedReAct(AnswerWithTools, tools=list(tools), max_iters=self.config.max_iterations)
        self.act.tools["finish"] = tools[-1]
        self.act.react.signature = self.act.react.signature.with_instructions(STEPS)
        self.act.react = HeldStep(self.act.react)
        self.act.extract = Choose()

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
        state = state.world.narrowed(state, question)
        past = tuple(turn.past() for turn in state.turns)
        with metered() as measured:
            now = Session(self.reader.tools_of(state.index), state.index, question, past)
            try:
                with session(now):
                    turn = self._answer(now, past, [*(one.question for one in past), question], state.histories)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                turn = _failed(now, *failure_of(error, measured.meter))
        if turn.answer is not None and turn.derivation is not None:
            turn = replace(turn, words=state.world.words(turn.derivation, turn.answer, question, state.index))
        turn = replace(turn, usage=measured.usage, tool_calls=tuple(now.calls))
        return state.world.added(state, turn, tuple(history.after_failure() for history in state.histories))

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
            "concepts": self._shown(now.index, questions, histories),
            "history": written_named_history(past),
            "question": plain_text(now.question),
        }
        plan: Plan = self.plan(**inputs, **_held(self.plan, plan_signature)).plan
        reply = self.act(**inputs, plan=written_plan(plan))
        if now.answer is None:
            chosen = str(reply.answer).strip()
            if now.found.is_empty:
                message = f"no figure was found in {len(now.calls)} calls of tools"
                return _failed(now, "no_valid_choice", message, plan)
            if chosen.lower() == NONE:
                return _failed(now, "picked_none", "the model says that nothing it found is the answer", plan)
            try:
                now.answer = now.found.answered(chosen, now.question)
            except QueryError as error:
                return _failed(now, "no_valid_choice", f"the answer is not grounded: {error}", plan)
        picked = now.answer
        return Turn(
            now.question,
            answer=picked.answer,
            derivation=picked.derivation,
            candidates=(picked,),
            pick=0,
            understanding=plan,
        )

    def _shown(self, index: ReportIndex, questions: Sequence[str], histories: Sequence[WeightedHistory]) -> str:
        """The report as the model sees it: its page, or the names of its graph."""
        held = is_embedded(dspy.settings.lm)
        if self.config.reads == "labels" or (self.config.reads == "auto" and held):
            return written_concepts(index)

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


def written_concepts(index: ReportIndex) -> str:
    """One line an entity type, that of the table first: its years and its properties in the report's order."""
    seen: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for observation in index.reported():
        if observation.in_header:
            continue
        years, properties = seen.setdefault(observation.entity_type, ({}, {}))
        properties.setdefault(observation.property)
        if observation.period is not None:
            years.setdefault(plain_text(observation.period))
    lines = []
    for kind, (years, properties) in seen.items():
        shown = list(properties)[:_MOST_PROPERTIES]
        more = [f"and {len(properties) - len(shown)} more"] if len(shown) < len(properties) else []
        lines.append(f"{kind} ({', '.join(years) if years else 'no years'}): {', '.join([*shown, *more])}")
    return "\n".join(lines) if lines else NONE


def written_named_history(past: Sequence[PastTurn]) -> str:
    """One line a question and answer, with the name by which calculations can use it."""
    lines = []
    for number, turn in enumerate(past, start=1):
        known = f"a{number} = {written_number(turn.answer)}" if turn.answer is not None else "not answered"
        lines.append(f"Q{number}: {plain_text(turn.question)} -> {known}")
    return "\n".join(lines) if lines else NONE


def written_plan(plan: Plan) -> str:
    """The plan on one line."""
    steps = "; ".join(f"{number}. {plain_text(step)}" for number, step in enumerate(plan.steps, start=1))
    concepts = ", ".join(map(plain_text, plan.concepts))
    return f"{plain_text(plan.understanding)} | {concepts or NONE} | {steps or NONE}"
