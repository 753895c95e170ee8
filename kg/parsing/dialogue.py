"""Questions of a conversation about any graph: each is read with the turns before it.

>>> reader = QuestionReader(graph, encoder.vectors)
>>> reading = reader.read("who runs it?", past, today=date.today())
>>> reading.canonical, reading.confidence
('who runs Valley Line?', 0.93)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from kg.facts import FactGraph
from kg.parsing.algebra import write
from kg.parsing.confidence import Confidence, features
from kg.parsing.derivation import Weights
from kg.parsing.ellipsis import replaced
from kg.parsing.parser import Parse, Parser
from kg.parsing.question import Analysis, analyse
from kg.parsing.references import PastTurn, confidence_in, references
from kg.vocabulary import Mention, Similarity, Thesaurus, Vectors, Vocabulary

_GRAND = re.compile(
    r"\bgrand(?:(child(?:ren)?|kids?|sons?|daughters?)|(parents?|mothers?|fathers?|mums?|dads?))\b", re.IGNORECASE
)
_SPOKEN = 4
"""Turns whose nodes "other" leaves out."""

_WH = frozenset(("who", "what", "which", "when", "where", "how", "whose", "whats", "whos"))


@dataclass(frozen=True)
class Reading:
    """A question with its parses.

    Attributes:
        question: As asked.
        canonical: The same with references replaced by names.
        parses: The parses, best first, one for each answer.
        confidence: The probability in [0, 1] that the first is right.
        referents: The nodes that it refers to without naming them.
        named: The nodes of each name in it, in order.
        asks: What it asks for.
        unknown: The words that no parse explains.
        features: The values that the confidence depends on; empty without a parse.
    """

    question: str
    canonical: str
    parses: tuple[Parse, ...]
    confidence: float
    referents: tuple[int, ...] = ()
    named: tuple[tuple[int, ...], ...] = ()
    asks: str = "set"
    unknown: tuple[str, ...] = ()
    features: Mapping[str, float] = field(default_factory=dict)


class QuestionReader:
    """Reads questions about one graph.

    Args:
        graph: The graph.
        vectors: The vectors of texts, by which words that are not in the graph are compared.
        thesaurus: The likeness of words in meaning.
        weights: The costs of derivations.
        confidence: The calibration.
    """

    def __init__(
        self,
        graph: FactGraph,
        vectors: Vectors | None = None,
        thesaurus: Thesaurus | None = None,
        weights: Weights | None = None,
        confidence: Confidence | None = None,
    ) -> None:
        self.graph = graph
        self.vocabulary = Vocabulary(graph, Similarity(vectors, thesaurus))
        self.weights = weights if weights is not None else Weights()
        self.confidence = confidence if confidence is not None else Confidence.shipped()

    def read(self, question: str, past: Sequence[PastTurn] = (), *, today: date) -> Reading:
        """Reads a question.

        Args:
            question: The question.
            past: The turns before it, in order.
            today: The day from which ages are counted.
        """
        before = past[-1].items if past else ()
        analysis = analyse(self._spelled_out(question), self.vocabulary, before)
        found = references(analysis, self.vocabulary, past)
        analysis.references[:] = found
        spoken = tuple(node for turn in past[-_SPOKEN:] for node in _spoken(turn))
        parser = Parser(self.vocabulary, analysis, today, spoken, self.weights)
        parses = parser.parses()
        parses = _merged(parses, self._replaced(parser, past))
        parses = [one for one in parses if not self._repeats(one, analysis)]
        used = _references_used(parses[0], found) if parses else ()
        found_features = features(parses, used, follows_abstention=bool(past) and past[-1].parse is None)
        return Reading(
            question,
            self._canonical(analysis, used),
            tuple(parses[:10]),
            self.confidence.of(found_features) * min((confidence_in(one.nodes, past) for one in used), default=1.0),
            tuple(dict.fromkeys(node for one in used for node in one.nodes)),
            _named(analysis),
            analysis.asks,
            _unknown(analysis, parser, parses),
            found_features,
        )

    def _spelled_out(self, question: str) -> str:
        """A question with "grandchildren" as "child's children", unless the graph has a relation of that name."""
        if any("grand" in name.lower() for one in self.graph.relations for name in one.names):
            return question
        return _GRAND.sub(lambda found: f"{'child' if found[1] else 'parent'}'s {found[1] or found[2]}", question)

    def path(self, parse: Parse) -> str:
        """A parse as a path of names and operations."""
        return write(parse.query, self.graph) + (f" ({parse.operation})" if parse.operation else "")

    def _replaced(self, parser: Parser, past: Sequence[PastTurn]) -> list[Parse]:
        """The parses that replace something in an earlier question, which says what is asked for."""
        states = list(replaced(parser.space, past))
        if not states:
            return []
        analysis = parser.analysis
        if not any(word.low in _WH for word in analysis.words) or analysis.text.lower().startswith(
            ("what about", "how about")
        ):
            parser.analysis = replace(analysis, asks=past[-1].asks, head=0)  # type: ignore[arg-type]
        found = parser.finished(states)
        parser.analysis = analysis
        return found

    def _repeats(self, parse: Parse, analysis: Analysis) -> bool:
        """Whether a parse answers with just what the question names or refers to."""
        if parse.number is not None or parse.holds is not None or analysis.degrees or analysis.negations:
            return False
        named = [one for one in analysis.mentions if one.cost == 0]
        named += [one for one in analysis.references if len(one.nodes) == 1 and one in parse.mentions]
        return any(set(parse.nodes) == set(one.nodes) for one in named)

    def _canonical(self, analysis: Analysis, used: Sequence[Mention]) -> str:
        text = analysis.text
        for one in sorted(used, key=lambda mention: -mention.words):
            places = [place for place in range(len(analysis.words)) if one.words >> place & 1]
            if not places:
                continue
            first, last = analysis.words[places[0]], analysis.words[places[-1]]
            names = ", ".join(self.graph.name(node) for node in one.nodes[:8])
            is_owner = first.low in ("its", "his", "her", "their") and last.end < len(text) - 1
            text = text[: first.start] + names + ("'s" if is_owner else "") + text[last.end :]
        return text


def _spoken(turn: PastTurn) -> tuple[int, ...]:
    named = tuple(node for nodes in turn.named for node in nodes)
    return named if turn.parse is None else (*turn.parse.nodes, *named, *turn.parse.mentioned)


def _named(analysis: Analysis) -> tuple[tuple[int, ...], ...]:
    """The nodes of the names that are not within a longer one, in order."""
    whole = [
        one
        for one in analysis.mentions
        if not any(other is not one and one.words & other.words == one.words for other in analysis.mentions)
    ]
    return tuple(one.nodes for one in sorted(whole, key=lambda one: one.words & -one.words))


def _merged(parses: Sequence[Parse], others: Sequence[Parse]) -> list[Parse]:
    best: dict[object, Parse] = {}
    for one in (*parses, *others):
        known = best.get(one.answer)
        if known is None or one.cost < known.cost:
            best[one.answer] = one
    return sorted(best.values(), key=lambda one: one.cost)


def _references_used(parse: Parse, found: Sequence[Mention]) -> tuple[Mention, ...]:
    return tuple(one for one in found if one in parse.mentions)


def _unknown(analysis: Analysis, parser: Parser, parses: Sequence[Parse]) -> tuple[str, ...]:
    if not parses:
        return tuple(word.text for word, weight in zip(analysis.words, analysis.weights, strict=True) if weight >= 1)
    return tuple(analysis.words[place].text for place in parser.left_over(parses[0]))
