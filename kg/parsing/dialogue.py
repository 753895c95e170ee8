"""Questions of a conversation about any graph: each is read with the turns before it.

>>> reader = QuestionReader(graph, encoder.vectors)
>>> reading = reader.read("who runs it?", past, today=date.today())
>>> reading.canonical, reading.confidence
('who runs Valley Line?', 0.93)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from kg.algebra import Extreme, sources, write
from kg.graphs import FactGraph
from kg.parsing.analysis import Analysis, analyse
from kg.parsing.names import NodeMention, places
from kg.parsing.parser import Parse, Parser
from kg.parsing.ranking import ParseReader, Ranker, WordEncoder, answer_of, features, telling, with_reading
from kg.parsing.references import DialogueTurn, asks_for_all, confidence_in, references, replaced
from kg.parsing.vocabulary import Similarity, Vectors, Vocabulary

_SPOKEN = 4
"""Turns whose nodes "other" leaves out."""

_READ_TURNS = 2
"""Turns that are read before a question."""

_SHOWN = 10
"""Parses of a reading."""

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
        parse_reader: Reads the question together with the parses that rank first, which are then ranked again.
    """

    def __init__(
        self, graph: FactGraph, vectors: Vectors | None = None, parse_reader: ParseReader | None = None
    ) -> None:
        self.graph = graph
        words = WordEncoder.load() if parse_reader is not None else None
        self.vocabulary = Vocabulary(graph, Similarity(vectors, None if words is None else words.vectors))
        self.parse_reader = parse_reader
        self.ranker = Ranker.shipped()
        self.second_ranker = Ranker.shipped(read=True) if parse_reader is not None else self.ranker

    def read(self, question: str, past: Sequence[DialogueTurn] = (), *, today: date) -> Reading:
        """Reads a question.

        Args:
            question: The question.
            past: The turns before it, in order.
            today: The day from which ages are counted.
        """
        analysis, every = self.derivations(question, past, today=today)
        return self.reading(question, analysis, self.with_reading(analysis, every, past), past)

    def reading(
        self, question: str, analysis: Analysis, every: Sequence[Parse], past: Sequence[DialogueTurn]
    ) -> Reading:
        """The reading of a question whose parses :meth:`with_reading` gives."""
        ranked = self.second_ranker.ranked(every)
        parses = tuple(one.parse for one in ranked[:_SHOWN])
        used = parses[0].references if parses else ()
        values = features(
            ranked,
            follows_abstention=bool(past) and past[-1].parse is None,
            trusted=trusted(parses[0], past) if parses else 1.0,
        )
        return Reading(
            question,
            self.canonical(analysis, used),
            parses,
            self.second_ranker.confidence_in(values),
            tuple(dict.fromkeys(node for one in used for node in one.nodes)),
            analysis.named,
            analysis.asks,
            _unknown(analysis, parses),
            values,
        )

    def with_reading(self, analysis: Analysis, every: Sequence[Parse], past: Sequence[DialogueTurn]) -> Sequence[Parse]:
        """The parses with the features of reading the likeliest ones; the same parses without a reader."""
        if self.parse_reader is None or not every:
            return every
        before = self.context(past)
        return with_reading(
            every,
            lambda one: before + self.canonical(analysis, one.references),
            self.ranker.scores(every),
            self.graph,
            self.parse_reader,
        )

    def derivations(
        self, question: str, past: Sequence[DialogueTurn] = (), *, today: date
    ) -> tuple[Analysis, list[Parse]]:
        """A question as it is prepared for :meth:`read`, and the parses of all its derivations, in no order."""
        analysis = analyse(question, self.vocabulary, past[-1].items if past else ())
        analysis.references[:] = references(analysis, self.vocabulary, past)
        spoken = tuple(node for turn in past[-_SPOKEN:] for node in _spoken(turn))
        parser = Parser(self.vocabulary, analysis, today, spoken)
        every = [*parser.parses(), *self._replaced(parser, past)]
        return analysis, [one for one in every if not self._repeats(one, analysis)]

    def path(self, parse: Parse) -> str:
        """A parse as a path of names and operations."""
        return write(parse.query, self.graph) + (f" ({parse.operation})" if parse.operation else "")

    def _replaced(self, parser: Parser, past: Sequence[DialogueTurn]) -> list[Parse]:
        """The parses that replace something in an earlier question, which says what is asked for."""
        states = list(replaced(parser.space, past))
        if not states:
            return []
        analysis = parser.analysis
        if asks_for_all(analysis):
            parser.space.analysis = replace(analysis, asks="set", head=0)
        elif not any(word.low in _WH for word in analysis.words) or analysis.text.lower().startswith(
            ("what about", "how about")
        ):
            parser.space.analysis = replace(analysis, asks=past[-1].asks, head=0)  # type: ignore[arg-type]
        found = parser.finished(states)
        parser.space.analysis = analysis
        return found

    def _repeats(self, parse: Parse, analysis: Analysis) -> bool:
        """Whether a parse answers with just what the question names or refers to."""
        is_value = parse.number is not None or parse.holds is not None or parse.operation == "choice"
        if is_value or analysis.degrees or analysis.negations:
            return False
        if parse.replaces and any(isinstance(part, Extreme) for part in sources(parse.query)):
            return False  # "and of Ely and York?" asks which of these
        named = [one for one in analysis.mentions if one.cost == 0]
        named += [one for one in analysis.references if len(one.nodes) == 1 and one in parse.mentions]
        return any(set(parse.nodes) == set(one.nodes) for one in named)

    def context(self, past: Sequence[DialogueTurn]) -> str:
        """The text before a question: the last two turns, with their answers, and of the last how it was read."""
        said = []
        for turn in past[-_READ_TURNS:]:
            told = telling(turn.likely, self.graph) if turn.likely is not None else ""
            told = told if turn is past[-1] else answer_of(told)
            doubt = "perhaps " if turn.parse is None and told else ""
            said.append(f"{turn.text} {doubt}{told} | ")
        return "".join(said)

    def canonical(self, analysis: Analysis, used: Sequence[NodeMention]) -> str:
        """A question with names in the place of some references."""
        text = analysis.text
        for one in sorted(used, key=lambda mention: -mention.words):
            inside = places(one.words)
            if not inside:
                continue
            first, last = analysis.words[inside[0]], analysis.words[inside[-1]]
            names = ", ".join(self.graph.name(node) for node in one.nodes[:8])
            is_owner = first.low in ("its", "his", "her", "their") and last.end < len(text) - 1
            text = text[: first.start] + names + ("'s" if is_owner else "") + text[last.end :]
        return text


def trusted(parse: Parse, past: Sequence[DialogueTurn]) -> float:
    """The least confidence of the earlier answers that a parse depends on, in [0, 1]; 1 if it depends on none."""
    found = [confidence_in(one.nodes, past) for one in parse.references]
    return min([*found, past[-1].confidence] if parse.replaces else found, default=1.0)


def _spoken(turn: DialogueTurn) -> tuple[int, ...]:
    named = tuple(node for nodes in turn.named for node in nodes)
    return named if turn.parse is None else (*turn.parse.nodes, *named, *turn.parse.mentioned)


def _unknown(analysis: Analysis, parses: Sequence[Parse]) -> tuple[str, ...]:
    """The words that the best parse does not explain, or all that must be explained."""
    left = parses[0].left if parses else sum(1 << place for place, one in enumerate(analysis.weights) if one >= 1)
    return tuple(analysis.words[place].text for place in places(left))
