"""Parsing of questions to queries over any graph: the beam's derivations, finished as answers and ranked by cost.

    >>> parses = parse(vocabulary, analyse("who runs the Valley Line?", vocabulary), today=date.today())
    >>> write(parses[0].query, graph)
    'Valley Line -> operated by -> chief executive'

A parse explains the words of the question by names, relations, classes and operations. What is left over, or said by no
word, is its cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from kg.algebra import Follow, Having, Members, NamedNodes, Query, sources
from kg.parsing.analysis import Analysis
from kg.parsing.derivation import QueryDerivation
from kg.parsing.evidence import ParseEvidence
from kg.parsing.forms import MISMATCH, Check, Form, Forms, checks
from kg.parsing.names import NodeMention
from kg.parsing.space import QuerySpace
from kg.parsing.vocabulary import Vocabulary
from kg.search import BeamConfig, beam_search

BEAM = BeamConfig(beam_width=12, max_depth=5, output_top_k=200, pool=400)

_LEFT = 0.5
"""The weight from which a word that a parse does not explain is left over."""


@dataclass(frozen=True)
class Parse:
    """A question read as a query.

    Attributes:
        query: The query.
        cost: Its improbability, at least 0.
        nodes: The nodes that answer the question, or that it counts.
        number: A count, an age or a difference.
        holds: Whether a question for yes or no is answered with yes.
        items: The relations and classes that it uses.
        final: The items that say what the nodes are.
        left: The words that it leaves over, as a bit mask.
        operation: What is done with the nodes: ``count``, ``check`` or an age; empty or ``choice`` if they answer.
        mentions: The names and references that it uses.
        words: The words that it explains fully, as a bit mask.
        evidence: Its features, as :data:`kg.parsing.evidence.FEATURES` names them.
        replaces: Whether it is an earlier question with something replaced.
    """

    query: Query
    cost: float
    nodes: tuple[int, ...]
    number: Decimal | None = None
    holds: bool | None = None
    items: tuple[int, ...] = ()
    final: tuple[int, ...] = ()
    left: int = 0
    operation: str = ""
    mentions: tuple[NodeMention, ...] = ()
    words: int = 0
    evidence: tuple[float, ...] = ()
    replaces: bool = False

    @property
    def mentioned(self) -> tuple[int, ...]:
        """The nodes of single names and references that it uses."""
        return tuple(one.nodes[0] for one in self.mentions if len(one.nodes) == 1)

    @property
    def references(self) -> tuple[NodeMention, ...]:
        """The references to earlier turns that it uses."""
        return tuple(one for one in self.mentions if one.is_reference)

    @property
    def is_empty(self) -> bool:
        """Whether it has no answer: no nodes, number, yes or no."""
        return not self.nodes and self.number is None and self.holds is None

    @property
    def answer(self) -> object:
        """The value that distinguishes its answer from others."""
        if self.holds is not None:
            return self.holds
        return self.number if self.number is not None else frozenset(self.nodes)


class Parser:
    """The parses of one question.

    Args:
        vocabulary: The names of the graph.
        analysis: The question.
        today: The day from which ages are counted.
        spoken: Nodes that "other" leaves out.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        analysis: Analysis,
        today: date,
        spoken: tuple[int, ...] = (),
    ) -> None:
        self.space = QuerySpace(vocabulary, analysis, spoken)
        self.forms = Forms(self.space, today)
        self.evidence = ParseEvidence(self.space)

    @property
    def analysis(self) -> Analysis:
        """The question."""
        return self.space.analysis

    def parses(self) -> list[Parse]:
        """The parses of all derivations that the search completes."""
        result = beam_search(self.space, BEAM)
        places = {int(path[-1]) for frontier in result.completed for path in frontier.choices}
        return self.finished([self.space.states[place] for place in sorted(places)])

    def finished(self, states: Sequence[QueryDerivation]) -> list[Parse]:
        """The parses that some derivations give."""
        return [one for state in states for one in self._finished(state)]

    def _others_of(self, state: QueryDerivation) -> QueryDerivation:
        """A derivation without the one that it speaks of: "who starred with him?" does not ask for him."""
        query = state.query
        own = {node for one in state.mentions if len(one.nodes) == 1 for node in one.nodes} & set(query.nodes)
        steps = sum(isinstance(part, Follow | Having) for part in sources(query))
        if not own or own >= set(query.nodes) or steps < 2:
            return state
        return replace(state, query=self.space.evaluator.without(query, tuple(own)))

    def _finished(self, state: QueryDerivation) -> Iterator[Parse]:
        if state.operation == "check":
            yield self._checked(state, Check(state.query, holds=bool(state.query.nodes)))
            return
        if self.analysis.asks == "yes or no":
            for check in checks(self.space, state):
                yield self._checked(state, check)
            if isinstance(state.query, Members):
                # A selection of nothing is no step of the search, but it answers "are there lakes above 3,000 m?".
                selections = self.space.selections
                for none in (*selections.bounded(state), *selections.counted(state)):
                    if not none.query.nodes:
                        yield self._checked(replace(none, words=0), Check(none.query, holds=False, words=none.words))
            return
        is_set = bool(state.items) and not state.mentions and self.analysis.asks == "count"
        if isinstance(state.query, NamedNodes) and not is_set:
            return  # names answer nothing, but "how many bridges and tunnels?" counts all of these
        state = self._others_of(state)
        if not state.query.nodes and self.analysis.asks != "count":
            return  # an earlier question with something replaced may find nothing
        for form in self.forms.of(state):
            yield self._parse(state, form)

    def _checked(self, state: QueryDerivation, check: Check) -> Parse:
        new = replace(
            state,
            query=check.query,
            words=state.words | check.words,
            items=(*state.items, *check.items),
            implied=(*state.implied, *(0.0 for _ in check.items)),
            cost=state.cost + check.cost,
        )
        # A statement that leaves out a name of the question is about something else.
        unsaid = any(one.cost == 0 and not one.words & new.words for one in self.analysis.mentions)
        mismatch = MISMATCH if unsaid else 0.0
        form = Form(state.query.nodes, mismatch=mismatch, operation="check", holds=check.holds)
        parse, choice = self._parse(new, form), check.choice
        if choice is None:
            return parse
        return replace(parse, query=choice, nodes=choice.nodes, holds=None, operation="choice")

    def _parse(self, state: QueryDerivation, form: Form) -> Parse:
        state = replace(state, words=state.words | form.words, cost=state.cost + form.mismatch + form.head)
        _, left = self.space.costs.supports(state)
        remaining = left * self.analysis.weights
        over = sum(1 << place for place, share in enumerate(remaining) if share >= _LEFT)
        cost = self.space.costs.total(state)
        return Parse(
            state.query, cost, form.nodes, form.number, form.holds, state.items, state.final, over, form.operation,
            state.mentions, state.words, self.evidence.of(state, form, cost), state.replaced,
        )  # fmt: skip
