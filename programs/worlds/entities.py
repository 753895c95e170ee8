"""A graph in finpath's lexicon vocabulary as a world: references are resolved, then a grammar parses the question.

    >>> questions = ["Which countries border Germany?", "What is its capital?"]
    >>> turns = ConversationQA(BeamQA())(graph=graph, questions=questions).turns
    >>> turns[1].canonical, turns[1].answer
    ("What is Germany's capital?", ('Berlin',))

Without a language model the graph resolves the references (:mod:`kg.coreference.entities`). A model rewrites a
follow-up question with names from the graph context; where its reply names another one, the graph's resolution holds.
The answer always comes from the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.coreference import PastQuestion, Resolution, asked_properties, resolve
from kg.derivations import Answer
from kg.errors import DataError, LMError, QueryError
from kg.graphs import ContextConfig, GraphContext, GraphContextRetriever, TurnEntities
from kg.questions import EntityAnswer, EntityGraph, PropertyValue, answer_entities, folded, known_entities, plain
from programs.evidence import Choice, EvidenceConfig, EvidencePlan, ScoredCandidates
from programs.turns import AnyTurn, EntityDetail, Kept, State, Turn
from programs.worlds.base import Execution, Search, World
from signatures.coreference import ResolvedQuestion, UnderstandReferences
from signatures.understand import Understanding

_MIDNIGHT = "T00:00:00Z"
"""The end of a day that is stored as a moment."""

EntityTurn = Turn[Answer | tuple[str, ...], EntityDetail]
"""A turn about a graph of entities: a number, yes or no, or names."""


@dataclass(frozen=True, eq=False)
class EntityWorld(World):
    """A graph of entities.

    Attributes:
        graph: The graph.
        name: Its name.
        context: The limits of a turn's graph context.
    """

    graph: EntityGraph
    name: str = ""
    context: ContextConfig | None = None
    kind: ClassVar[str] = "graph"

    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> EntityState:  # noqa: ARG002
        """See :meth:`programs.worlds.base.World.start`; the turns are all that the next question needs."""
        return EntityState(self, tuple(turns), retriever=GraphContextRetriever(self.graph.store, self.context))

    def search(self, state: EntityState, question: str) -> EntitySearch:
        """See :meth:`programs.worlds.base.World.search`."""
        return EntitySearch(state, question)

    def answered(self, question: str) -> EntityTurn:
        """The turn of one question without a language model."""
        search = self.search(self.start(), question)
        return search.turn(search.combine(None))


@dataclass(frozen=True, kw_only=True)
class EntityState(State[EntityWorld]):
    """A conversation about a graph after some turns, with the lookup of its graph context."""

    retriever: GraphContextRetriever


class EntitySearch(Search):
    """The resolution of one question about a graph of entities.

    Args:
        state: The conversation before it.
        question: The question.
    """

    signature = UnderstandReferences
    tolerated = (AdapterParseError, DSPyLMError, LMError)

    def __init__(self, state: EntityState, question: str) -> None:
        self.state, self.question = state, question
        self.graph = state.world.graph
        self.past = past_questions(state.turns)
        self._asked = self.graph.lexicon.question(question)
        turns = [TurnEntities(turn.subjects, turn.results) for turn in self.past]
        if self._asked.entities:
            turns.append(TurnEntities(self._asked.entities))
        self.context: GraphContext = state.retriever.for_turns(turns, asked_properties(self._asked))
        self.candidates: tuple[Resolution, ...] = (resolve(self.graph, self._asked, self.past, self.context),)

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether a language model resolves the references: there may be some."""
        return lm is not None and bool(self.past)

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        label = self.graph.lexicon.label
        lines = [
            f"Q{turn.turn + 1}: {turn.canonical} -> {', '.join(map(label, turn.results)) or 'a value'}"
            for turn in self.past
        ]
        history = "\n".join(lines) or "none"
        return {"context": self.context.to_text(), "history": history, "question": self.question}

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        text = reply.resolved.canonical if reply is not None else self.question
        return Understanding(description=text, refused=list(refused))

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`."""
        resolved: ResolvedQuestion = reply.resolved
        stranger = self._stranger(resolved)
        if stranger is not None:
            raise QueryError(f"the model named {stranger!r}, which is not in play")
        tags = self.graph.lexicon.tags
        nodes = [node for name in resolved.referents for node in known_entities(tags(name))[:1]]
        turns = [turn.turn for turn in self.past if set(nodes) & {*turn.subjects, *turn.results}]
        canonical, kind = resolved.canonical, resolved.kind
        found = Resolution(self.question, canonical, kind, tuple(nodes), tuple(turns[-1:]), by="language model")
        return Execution(self.understanding(reply, refused), found)

    def _stranger(self, resolved: ResolvedQuestion) -> str | None:
        """A name in the reply that is neither in the context nor in the conversation."""
        label, tags = self.graph.lexicon.label, self.graph.lexicon.tags
        nodes = {node for turn in self.past for node in (*turn.subjects, *turn.results)}
        nodes |= {entity.node for entity in self.context.entities}
        nodes |= {other.node for entity in self.context.entities for other in entity.neighbours}
        nodes |= set(known_entities(tags(self.question)))
        allowed = {folded(label(node)) for node in nodes}
        names = (name for name in resolved.referents if folded(name) not in allowed)
        others = (label(node) for node in known_entities(tags(resolved.canonical)) if node not in nodes)
        return next(names, None) or next(others, None)

    def combine(self, execution: Execution | None) -> Choice:
        """The model's resolution, or the graph's with the reason why the model's was refused."""
        [resolution] = self.candidates
        if execution is not None and execution.candidate is not None:
            resolution = execution.candidate
        elif execution is not None:
            resolution = replace(resolution, problem="; ".join(execution.understanding.refused))
        understanding = execution.understanding if execution is not None else None
        return Choice((resolution,), ScoredCandidates((1.0,), 0.0), understanding=understanding)

    def turn(self, choice: Choice, config: EvidenceConfig | None = None) -> EntityTurn:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.turn`."""
        detail = EntityDetail(named=self._asked.entities)
        about: dict[str, Any] = {"resolution": choice.candidates[0], "understanding": choice.understanding}
        turn = EntityTurn(self.question, context=self.context, detail=detail, **about)
        is_same = turn.canonical == self._asked.text
        try:
            found = answer_entities(self.graph, self._asked if is_same else turn.canonical)
        except QueryError as error:
            return replace(turn, failure="not_answered", message=str(error))
        except DataError as error:
            return replace(turn, failure="error", message=str(error))
        labels = tuple(self.graph.lexicon.label(node) for node in found.entities)
        answer = found.answer if found.answer is not None else labels or tuple(str(one.value) for one in found.values)
        detail = replace(detail, found=found, labels=labels)
        return replace(turn, answer=answer, detail=detail, words=written(self.graph, found))

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        found = (turn.detail or EntityDetail()).found
        return {"calculation": "none", "facts": "\n".join(found.facts) if found is not None else "none"}


def past_questions(turns: Sequence[EntityTurn]) -> list[PastQuestion]:
    """The possible referents of a question: turns that have an answer, and the entities that others named."""
    past = []
    for place, turn in enumerate(turns):
        detail = turn.detail or EntityDetail()
        found, named = detail.found, detail.named
        if found is None:
            if named:
                past.append(PastQuestion("", named, turn=place))
            continue
        # A set that was meant as one ("which of them") is not what the question is about: its answer is.
        subjects = found.subjects if len(found.subjects) <= 2 else ()
        results = found.entities or tuple(
            dict.fromkeys(one.entity for one in found.values if one.entity not in subjects)
        )
        past.append(PastQuestion(turn.canonical, subjects, results, found.properties, place))
    return past


def written(graph: EntityGraph, found: EntityAnswer) -> str:
    """Returns an answer in words: names, numbers with their unit and date, or yes and no."""
    if isinstance(found.answer, str):
        return found.answer
    if found.answer is not None and not found.values:
        return _grouped(found.answer)
    if found.answer is not None:
        return _number(graph, found.answer, found.values)
    if found.values:
        return "; ".join(f"{graph.lexicon.label(one.entity)}: {_value(graph, one)}" for one in found.values)
    return ", ".join(graph.lexicon.label(node) for node in found.entities)


def _value(graph: EntityGraph, one: PropertyValue) -> str:
    if isinstance(one.value, str):
        is_time = graph.lexicon.properties[one.property].temporal
        return one.value.removesuffix(_MIDNIGHT) if is_time else one.value
    return _number(graph, one.value, [one])


def _number(graph: EntityGraph, number: Decimal, values: Sequence[PropertyValue]) -> str:
    """A number with the unit of its property; with the date too, if it is a value as the graph has it."""
    words = graph.lexicon.properties[values[0].property]
    if len(values) > 1 or values[0].value != number:
        same_kind = number == sum(one.value for one in values if not isinstance(one.value, str))
        return f"{_grouped(number)} {words.unit}" if same_kind and words.unit else _grouped(number)
    dates = graph.texts(values[0].entity, words.dated) if words.dated else []
    text = _grouped(number, is_year=not words.unit and not words.dated)
    return text + (f" {words.unit}" if words.unit else "") + (f" ({dates[0]})" if dates else "")


def _grouped(number: Decimal, *, is_year: bool = False) -> str:
    """A number with commas between its thousands, unless it may be a year."""
    text = plain(number)
    whole, point, rest = text.partition(".")
    return text if is_year and len(whole) <= 4 else f"{int(whole):,}{point}{rest}"
