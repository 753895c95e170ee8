"""A report as a world: the page with an identifier for every figure, calculations over them, and their cells.

world = ReportWorld(report, reader)
search = world.search(world.start(), "what was the change in net income?")
search.candidates[0].path       # 'subtract(IncomeStatement_2009 -> net_income -> 103102, ...)'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import dspy

from kg.calculations import (
    MEMORY,
    START,
    Candidate,
    DerivationConfig,
    DerivationScorer,
    ReportIndex,
    TurnSearch,
    WeightedHistory,
    fixed_history,
    search_turn,
)
from kg.calculations.confidence_features import confidence_features
from kg.encoders import TextEncoder
from kg.errors import ConfigError
from kg.graphs import EntityContext, GraphContext
from kg.reports import (
    Observation,
    Ontology,
    Report,
    ReportGraph,
    ReportWords,
    build_report_graph,
    is_large,
    lines_of,
    report_base,
)
from kg.search import Derivation, PastTurn, Reference, collapse
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution, agrees_with, is_same
from programs.lm import plain_text, probability_of, stated, tokens_of
from programs.turns import (
    AnyTurn,
    Failure,
    Kept,
    Resolution,
    State,
    Turn,
    history_records,
    read_histories,
    write_exactly,
)
from programs.wording import written_number
from programs.worlds.base import Search, World
from programs.worlds.page import (
    LinePrompt,
    PageFigures,
    PageText,
    Relevance,
    figure_weights,
    is_serious,
    likeliest_figures,
    merged,
    read_calculation,
    relevance_of,
    written_evidence,
    written_page,
    written_turns,
)
from signatures.understand import Understanding, UnderstandLines, UnderstandReport

KEPT_REPORTS = 32
"""Reports whose graph and index are kept, so that several conversations on one report build them once."""

KEPT_LARGE = 2
"""Large reports whose words are kept."""

NEAREST = 3
"""Figures that a turn without an answer names."""

_LEAST_REST = 1e-3
_LONGEST_SHOWN, _LONGEST_MEANING = 200, 600


class ReportReader:
    """Builds a report's graph and search index, once; safe to use from several threads.

    It is shared, not copied, when an optimizer copies the program that holds it: all it knows is frozen.

    Args:
        ontology: The ontology that the graphs are written in.
        scorer: The beam's weights.
    """

    def __init__(self, ontology: Ontology, scorer: DerivationScorer) -> None:
        self.ontology = ontology
        self.scorer = scorer
        self._words = lru_cache(KEPT_LARGE)(ReportWords)
        self._built = lru_cache(KEPT_REPORTS)(self._build)
        self._graphs: WeakKeyDictionary[ReportIndex, ReportGraph] = WeakKeyDictionary()

    def __copy__(self) -> ReportReader:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ReportReader:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.ontology.to_turtle(), self.scorer.to_json(), self.scorer.encoder))

    def read(
        self, report: Report, questions: Sequence[str] = (), past: Sequence[Derivation | None] = ()
    ) -> tuple[ReportGraph, ReportIndex]:
        """A report's frozen graph and the index compiled from it.

        Args:
            report: The report. Of a large one an excerpt is read, see :mod:`kg.reports.excerpts`.
            questions: The questions so far, by which the excerpt is made.
            past: The derivations of earlier answers, whose rows and sentences the excerpt has.
        """
        if is_large(report):
            names = (number.source or "" for one in past if one is not None for number in one.numbers)
            report = self._words(report).excerpt(questions, *lines_of(names))
        return self._built(report)

    def _build(self, report: Report) -> tuple[ReportGraph, ReportIndex]:
        graph = build_report_graph(report, self.ontology)
        index = ReportIndex(graph.observations, report.sentences, self.scorer.idf, kept_rows=report.kept_rows)
        self._graphs[index] = graph
        return graph, index

    def graph_of(self, index: ReportIndex) -> ReportGraph:
        """The graph that an index was compiled from.

        Raises:
            ConfigError: Another reader made the index.
        """
        graph = self._graphs.get(index)
        if graph is None:
            raise ConfigError("index must be one that this reader has read")
        return graph


def _restore(ontology: str, scorer: str, encoder: TextEncoder | None = None) -> Any:
    return ReportReader(Ontology.from_turtle(ontology), DerivationScorer.from_json(scorer, encoder))


@dataclass(frozen=True, eq=False)
class ReportWorld(World):
    """A report.

    Attributes:
        report: The report.
        reader: Reads it; the ontology and the scorer.
        config: The beam's settings.
    """

    report: Report
    reader: ReportReader
    config: DerivationConfig = field(default_factory=DerivationConfig)
    kind: ClassVar[str] = "report"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The report's id."""
        return self.report.id

    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> ReportState:
        """See :meth:`programs.worlds.base.World.start`.

        Raises:
            FinpathError: The report's graph cannot be built.
        """
        questions = [turn.question for turn in turns]
        if is_large(self.report) and not turns:  # search reads the excerpt that its question needs
            _, index = self.reader.read(Report(self.report.id, (), (), ()))
        else:
            _, index = self._read(questions, turns)
        if kept:
            histories = read_histories(kept, index, questions)
        else:
            histories = fixed_history(index, [turn.past() for turn in turns]) if turns else START
        return ReportState(self, tuple(turns), index=index, histories=histories)

    def search(self, state: ReportState, question: str) -> ReportSearch:
        """See :meth:`programs.worlds.base.World.search`."""
        return ReportSearch(self.narrowed(state, question), question)

    def narrowed(self, state: ReportState, question: str) -> ReportState:
        """The state for a question: of a large report, with the excerpt that the question needs."""
        if not is_large(self.report):
            return state
        questions = [turn.question for turn in state.turns]
        _, index = self._read([*questions, question], state.turns)
        histories = read_histories(state.kept(), index, questions) if state.turns else state.histories
        return replace(state, index=index, histories=histories)

    def added(
        self, state: ReportState, turn: Turn, histories: tuple[WeightedHistory, ...], *, alone: bool = False
    ) -> ReportState:
        """The state with one more turn, with the earlier turns and the entities that its calculation uses."""
        resolution = _resolution(turn, state.turns, alone=alone)
        turn = replace(turn, resolution=resolution, context=_context(turn, state.index, self.report.id))
        return replace(state, turns=(*state.turns, turn), histories=histories)

    def _read(self, questions: Sequence[str], turns: Sequence[AnyTurn]) -> tuple[ReportGraph, ReportIndex]:
        return self.reader.read(self.report, questions, [turn.derivation for turn in turns[-MEMORY:]])


@dataclass(frozen=True, kw_only=True)
class ReportState(State[ReportWorld]):
    """A conversation about a report after some turns.

    Attributes:
        index: The report's index.
        histories: The histories of own answers with their weights.
    """

    index: ReportIndex
    histories: tuple[WeightedHistory, ...] = START

    def after(self, turn: AnyTurn) -> ReportState:
        """See :meth:`programs.turns.conversation.State.after`: the histories continue as after a failure."""
        histories = tuple(history.after_failure() for history in self.histories)
        return replace(self, turns=(*self.turns, turn), histories=histories)

    def kept(self) -> list[dict[str, Any]]:
        """The histories."""
        return history_records(self.histories)


class ReportSearch(Search):
    """The search for one question about a report.

    Args:
        state: The conversation before it.
        question: The question.
    """

    signature = UnderstandReport
    attempts = 2
    samples = True

    def __init__(self, state: ReportState, question: str) -> None:
        self.state, self.question = state, question
        self.world, self.index = state.world, state.index
        self.past: tuple[PastTurn, ...] = tuple(turn.past() for turn in state.turns)
        self.questions = (*(turn.question for turn in self.past), question)
        self.found = self._search(self.questions, state.histories)
        self.candidates: tuple[Candidate, ...] = self.found.candidates

    def _search(self, questions: Sequence[str], histories: Sequence[WeightedHistory]) -> TurnSearch:
        return search_turn(self.index, questions, histories, self.world.reader.scorer, self.world.config)

    @property
    def report(self) -> Report:
        """The report, or the excerpt of it that was read."""
        return self.world.reader.graph_of(self.index).report

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:
        """Whether the language model's evidence counts, and the report has figures."""
        return plan.asks(lm) and any(not one.in_header for one in self.index.observations)

    # --- Understand: the page, and calculations over its figures ---

    def page(self, tokens: int) -> PageText:
        """The page within a budget of tokens."""

        def relevance() -> tuple[Relevance, Relevance]:
            last = relevance_of(self.found)
            first = last if len(self.questions) == 1 else relevance_of(self._search(self.questions[:1], START))
            return first, last

        return written_page(self.report, self.index, tokens, relevance)

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        page = self._page = self.page(config.page_tokens)
        return {
            "page": page.text,
            "history": written_turns(self.past),
            "question": plain_text(self.question),
            "note": page.more if page.more else "none",
        }

    def retry(self, prompt: dict[str, Any], reply: Any, reason: str) -> dict[str, Any]:
        """See :meth:`programs.worlds.base.Search.retry`."""
        wrong = plain_text(str(reply.calculation))[:_LONGEST_SHOWN]
        complaint = f"Your calculation {wrong} is refused: {reason}. Write another one, or none."
        return {**prompt, "note": f"{self._page.more}\n{complaint}" if self._page.more else complaint}

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        return Understanding(
            description=plain_text(str(getattr(reply, "meaning", self.question)))[:_LONGEST_MEANING],
            calculation=self.read(str(reply.calculation)),
            confidence=_confidence(reply),
            refused=list(refused),
        )

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`."""
        understanding = self.understanding(reply, refused)
        named = read_calculation(understanding.calculation, PageFigures(self.index), self.past, self.questions)
        if named is None:
            return Execution(understanding.model_copy(update={"says_none": True}))
        candidate = candidate_of(named.derivation, self.found, self.index)
        return Execution(understanding.model_copy(update={"answer": write_exactly(candidate.answer)}), candidate)

    def read(self, calculation: str) -> str:
        """The calculation of a reply over identifiers."""
        return calculation

    # --- Aggregate: candidates with evidence ---

    def combine(self, execution: Execution | None) -> None:
        """See :meth:`programs.worlds.base.Search.combine`: Aggregate compares the candidates."""

    def groups(self, candidates: Sequence[Candidate], named: int | None) -> list[tuple[int, ...]]:
        """The places of candidates of the same calculation, of the serious ones; the first represents its group."""
        groups = merged(candidates, self.past, named)
        index = self.index
        return [one for one in groups if named in one or is_serious(candidates[one[0]].derivation, index)]

    def options(self, candidates: Sequence[Candidate], meaning: str) -> dict[str, Any]:
        """The inputs of the signature that chooses among candidates."""
        return {
            "history": written_turns(self.past),
            "question": self.question,
            "meaning": meaning,
            "candidates": written_evidence(candidates, self.report, self.index, self.past),
        }

    @cached_property
    def _calibrated(self) -> float | None:
        fitted = self.world.reader.scorer.confidence
        return None if fitted is None else fitted.judge(confidence_features(self.found))

    @property
    def abstains(self) -> bool:
        """Whether the search itself has too little confidence in its best candidate."""
        fitted = self.world.reader.scorer.confidence
        return fitted is not None and self._calibrated is not None and self._calibrated < fitted.least_right

    # --- Answer ---

    nothing = "no derivation over the report's figures fits the question"

    def confidence(self, choice: Choice, pick: int) -> tuple[float, bool]:
        """The confidence in [0, 1] of a candidate, and whether the report does not seem to answer."""
        if choice.evidence is None and self._calibrated is not None:
            return self._calibrated, self.abstains
        return choice.scores.candidates[pick], False

    def nearest(self) -> str:
        """Why there is no answer, with the figures that come nearest."""
        paths = (number.path for one in self.candidates for number in one.derivation.numbers if number.path)
        shown = "; ".join(list(dict.fromkeys(paths))[:NEAREST])
        return f"the report does not say; the nearest figures are: {shown}" if shown else "the report does not say"

    def turn(self, choice: Choice, config: EvidenceConfig) -> Turn:
        """See :meth:`programs.worlds.base.Search.turn`."""
        about: dict[str, Any] = {"understanding": choice.understanding, "evidence": choice.evidence}
        if not choice.candidates:
            return Turn(self.question, failure="empty_beam", message=self.nothing, **about)
        about["candidates"] = choice.candidates
        if choice.refuses:
            failure: Failure = "picked_none"
            message = f"none of the candidates seems right (probability {choice.scores.none:.2f})"
            if choice.understanding is not None and choice.understanding.says_none:
                failure, message = "not_answered", self.nearest()
            return Turn(self.question, failure=failure, message=message, **about)
        pick = choice.scores.pick
        confidence, abstains = self.confidence(choice, pick)
        if abstains and config.answer == "confident":
            about = {"candidates": self.candidates, "confidence": confidence}
            return Turn(self.question, failure="not_answered", message=self.nearest(), **about)
        best = choice.candidates[pick]
        plan = config.plan_for(dspy.settings.lm)
        if plan.agreement and choice.understanding is not None:
            confidence = plan.agreed(confidence, agrees=agrees_with(choice.understanding, best.answer))
        about |= {"answer": best.answer, "derivation": best.derivation}
        return Turn(self.question, pick=pick, confidence=confidence, **about)

    def figures(self) -> tuple[Sequence[Observation], Report]:
        """See :meth:`programs.worlds.base.Search.figures`."""
        return self.index.observations, self.world.reader.graph_of(self.index).report

    def grounds(self, turn: Turn) -> dict[str, str]:
        """An answer's calculation with its results, and the place of each figure."""
        candidate = turn.candidates[turn.pick or 0]
        sources = written_evidence([candidate], self.report, self.index, self.past).splitlines()
        steps = f"{candidate.path} = {written_number(candidate.answer)}"
        return {"calculation": plain_text(steps), "facts": "\n".join(sources)}

    def after(self, turn: Turn, choice: Choice) -> ReportState:
        """See :meth:`programs.worlds.base.Search.after`."""
        alone = self.found.earlier is not None
        return self.world.added(self.state, turn, self._histories(turn, choice), alone=alone)

    def _histories(self, turn: Turn, choice: Choice) -> tuple[WeightedHistory, ...]:
        if choice.refuses:
            return tuple(history.after_failure() for history in self.state.histories)
        if choice.evidence is not None and turn.pick is not None:
            return fixed_history(self.index, (*self.past, turn.past()))
        return self.found.next_histories(self.world.config.histories)


class LinesSearch(ReportSearch):
    """A search whose prompt has a few figures by their names, in place of the page."""

    signature = UnderstandLines
    attempts = 1

    def __init__(self, search: ReportSearch) -> None:
        vars(self).update(vars(search))

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        figures = likeliest_figures(figure_weights(self.found), self.index.observations, self.past)
        self._lines = LinePrompt(figures, self.past, self.question)
        return self._lines.inputs

    def reply(self, predict: Any, **inputs: Any) -> Any:
        """Asks with the nearest demonstrations of the predictor's pool."""
        inputs.setdefault("config", {})
        return self._lines.ask(predict, self.world.reader.scorer.encoder, **inputs)

    def read(self, calculation: str) -> str:
        """The calculation over identifiers."""
        return self._lines.read(calculation)


def _resolution(turn: AnyTurn, past: Sequence[AnyTurn], *, alone: bool) -> Resolution | None:
    """The earlier turns whose answers a calculation uses, or that it was read alone; ``None`` for a first turn."""
    collapsed = collapse(turn.derivation, [one.derivation for one in past]) if turn.derivation is not None else None
    operands = collapsed.operands if collapsed is not None else ()
    turns = tuple(dict.fromkeys(operand.turn for operand in operands if isinstance(operand, Reference)))
    return Resolution(turn.question, turn.question, turns=turns, alone=alone and not turns) if past else None


def _context(turn: AnyTurn, index: ReportIndex, report: str) -> GraphContext:
    """The instances of the report whose figures a calculation uses, with these."""
    places = index.align(turn.derivation, turn.question) if turn.derivation is not None else ()
    used: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    for one in (index.observations[place] for place in places):
        used.setdefault((one.entity, one.entity_type), {})[one.property, one.quantity.text] = None
    base = report_base(report)
    return GraphContext(
        tuple(
            EntityContext(f"{base}#{entity}", entity.replace("_", " "), (kind,), tuple(figures))
            for (entity, kind), figures in used.items()
        )
    )


def _confidence(reply: Any) -> float:
    """The probability of the calculation by the model's tokens, or its stated confidence where it returns none."""
    known = probability_of(tokens_of(getattr(reply, "logprobs", None)), str(reply.calculation))
    return known if known is not None else stated(getattr(reply, "confidence", 0.5))


def candidate_of(derivation: Derivation, search: TurnSearch, index: ReportIndex) -> Candidate:
    """The calculation that a model named, with the search's probability of it in any reading of its percentages."""
    scores = [one.score for one in search.candidates if is_same(one.derivation, derivation)]
    rest = max(1.0 - sum(math.exp(one.score) for one in search.candidates), _LEAST_REST)
    score = max(scores, default=math.log(rest))
    sources = {one.id: one.source for one in index.observations}
    of_figures = tuple(sources[n.source] for n in derivation.numbers if n.source is not None and n.source in sources)
    return Candidate(derivation, derivation.execute(), score, derivation.path, of_figures)
