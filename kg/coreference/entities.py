"""Coreference of questions about graphs: a follow-up rewritten by the graph, without a language model.

    >>> past = [PastQuestion("Which countries border Germany?", (GERMANY,), (AUSTRIA, ...), (BORDERS,))]
    >>> resolve(graph, graph.lexicon.question("What is its capital?"), past, context).canonical
    "What is Germany's capital?"

Four kinds of reference are known. *Possessive*: a pronoun ("its", "their", "that country", "there"). *Ellipsis*: a new
name in an earlier question ("What about France?"). *Implicit*: a property or set without an owner ("And the area?",
"How many are there?"). *Comparative*: a comparison whose set, standard or measure is left out ("Which is larger?").

A single referent is the most salient entity of the graph context that has the property which is asked for; the context
is ranked by :func:`kg.graphs.context.salience`. A set is that of the latest turn that had one, or the entities that
the last turns asked the same about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kg.coreference.pronouns import PLURAL, SINGULAR, Pronouns
from kg.coreference.referents import PastQuestion, Referents, is_plural
from kg.coreference.resolution import ReferenceKind, Resolution
from kg.discourse import LEAD
from kg.graphs import GraphContext
from kg.questions import (
    AUXILIARIES,
    ORDINALS,
    QUESTION_WORDS,
    DegreeTag,
    EntityGraph,
    Question,
    Tag,
    known_entities,
    unknown_name,
)

_AND = frozenset(("and", "or", "both", "the", "between"))


def asked_properties(question: Question) -> list[str]:
    """Returns the properties that a question names or that its adjectives measure; salience is weighted by them."""
    found: list[str] = []
    for tag in question.tags:
        found += tag.properties[:1]
        found += tag.degree.properties[:1] if tag.degree is not None else ()
    return list(dict.fromkeys(found))


def resolve(graph: EntityGraph, question: Question, past: Sequence[PastQuestion], context: GraphContext) -> Resolution:
    """Rewrites a question into one that refers to nothing outside itself.

    Args:
        graph: The graph with its lexicon.
        question: The question as asked, with its tags.
        past: The answered turns before it, in order.
        context: The entities in play, the most salient first.
    """
    return _Resolver(graph, question.text, question.tags, past, context).resolve()


@dataclass
class _Resolver:
    """One question while its references are sought."""

    graph: EntityGraph
    question: str
    tags: Sequence[Tag]
    past: Sequence[PastQuestion]
    context: GraphContext

    def __post_init__(self) -> None:
        lead = LEAD.match(self.question)
        self.body = self.question[lead.end() if lead else 0 :].strip()
        self.led = bool(lead and lead.end())
        if self.body != self.question:
            self.tags = self.graph.lexicon.tags(self.body)
        self.words = [tag.word for tag in self.tags]
        self.who = Referents(self.graph, self.past, self.context, known_entities(self.tags))
        self.pronouns = Pronouns(self.who)

    def resolve(self) -> Resolution:
        """The question standing alone."""
        if not self.past or not self.tags or unknown_name(self.tags) is not None:
            return Resolution(self.question, self.question)
        found = self._fragment() if self._is_fragment() else None
        if found is None:
            found = self._full_question()
        kind, canonical = found
        if kind == "none":
            return Resolution(self.question, self.question)
        canonical = canonical[:1].upper() + canonical[1:]
        return Resolution(
            self.question,
            canonical,
            kind,
            tuple(dict.fromkeys(self.who.found)),
            tuple(sorted(set(self.who.turns))),
        )

    # Pieces of a question

    def _is_fragment(self) -> bool:
        """Whether there is no verb or question word of its own: "And Spain?", "Currency?"."""
        return not (set(self.words) & (AUXILIARIES | QUESTION_WORDS - {"in", "on"})) or (
            self.led and not set(self.words) & (AUXILIARIES | {"which", "what", "who", "how", "when", "where"})
        )

    def _fragment(self) -> tuple[ReferenceKind, str] | None:
        names = known_entities(self.tags)
        if set(self.words) & (SINGULAR - {"that"}) or "their" in self.words:
            return "possessive", self.pronouns.replaced(f"What is {self._sentence(self.body)}?")
        properties = [tag for tag in self.tags if tag.properties and not tag.entities]
        degrees = [tag for tag in self.tags if tag.degree is not None]
        if names and not properties and not degrees:
            return self._other_names(names)
        if degrees and not names:
            return self._other_degree(degrees[0], properties)
        if properties and not names:
            if "by" in self.words:
                return self._other_measure(properties[0])
            return self._other_property(properties[0], len(properties))
        return None

    def _other_names(self, names: list[str]) -> tuple[ReferenceKind, str] | None:
        """Puts the names into the latest question that has names of their classes."""
        for turn in reversed(self.past):
            template = turn.canonical
            groups = [
                group
                for group in _groups(self.graph.lexicon.tags(template))
                if all(self.who.alike(names[0], node) for node in known_entities(group))
            ]
            if not groups:
                continue
            group = self._group_for(groups, names)
            self.who.turns.append(turn.turn)
            start, end = group[0].start, group[-1].end
            return "ellipsis", template[:start] + self.who.listed(names) + template[end:]
        return None

    def _group_for(self, groups: list[list[Tag]], names: list[str]) -> list[Tag]:
        if "than" in self.words:
            return groups[-1]
        sized = [group for group in groups if len(known_entities(group)) == len(names)]
        return sized[0] if sized else groups[0]

    def _other_degree(self, degree: Tag, properties: list[Tag]) -> tuple[ReferenceKind, str] | None:
        """Puts "and the largest?" into the latest question with an adjective, or asks it of the latest set."""
        start = max(self.tags.index(degree) - 1, 0)
        first = self.tags[start] if self.tags[start].word in ORDINALS else degree
        phrase = self.body[first.start : degree.end]
        for turn in reversed(self.past):
            tags = self.graph.lexicon.tags(turn.canonical)
            spot = next((i for i, tag in enumerate(tags) if tag.degree is not None and not tag.entities), None)
            if spot is None:
                continue
            begin = tags[spot - 1] if spot and tags[spot - 1].word in ORDINALS else tags[spot]
            self.who.turns.append(turn.turn)
            canonical = turn.canonical[: begin.start] + phrase + turn.canonical[tags[spot].end :]
            if properties:
                canonical = self._with_measure(canonical, properties[0].text)
            return "ellipsis", canonical
        group = self.who.latest_set()
        if group is None:
            return None
        return "comparative", f"Which of {self.who.listed(group)} is {self._sentence(self.body)}?"

    def _other_measure(self, measure: Tag) -> tuple[ReferenceKind, str] | None:
        for turn in reversed(self.past):
            if any(tag.degree is not None for tag in self.graph.lexicon.tags(turn.canonical)):
                self.who.turns.append(turn.turn)
                return "ellipsis", self._with_measure(turn.canonical, measure.text)
        return None

    def _with_measure(self, question: str, measure: str) -> str:
        """A question with an adjective, made to measure something else."""
        tags = self.graph.lexicon.tags(question)
        spot = next(i for i, tag in enumerate(tags) if tag.degree is not None and not tag.entities)
        for tag in tags[spot + 1 :]:
            if tag.properties and not tag.entities and self.graph.lexicon.properties[tag.properties[0]].literal:
                return question[: tag.start] + measure + question[tag.end :]
        return f"{self._sentence(question)} by {measure}?"

    def _other_property(self, asked: Tag, count: int) -> tuple[ReferenceKind, str]:
        """Asks "and the area?" of what the latest turn was about, or of its results if that does not have it."""
        if is_plural(asked.text) and len(self.past[-1].results) > 1:
            owners = self.who.having(list(self.past[-1].results), asked.properties[0])
            if len(owners) > 1:
                self.who.refer(owners, self.past[-1].turn)
                return "implicit", f"What is the {asked.text} of {self.who.listed(owners)}?"
        owner = self.who.single(asked.properties[:1])
        if owner is None:
            return "none", self.question
        if count > 1:  # "and the capital's population?"
            body = re.sub(r"^the\s+", "", self._sentence(self.body), flags=re.IGNORECASE)
            return "implicit", f"What is {self.graph.lexicon.label(owner)}'s {body}?"
        return "implicit", f"What is the {asked.text} of {self.graph.lexicon.label(owner)}?"

    # Whole questions

    def _full_question(self) -> tuple[ReferenceKind, str]:
        names = known_entities(self.tags)
        canonical = self.pronouns.replaced(self.body)
        changed = canonical != self.body
        completed = self._completed(canonical)
        if completed is not None:
            return "comparative", completed
        if changed:
            compares = any(tag.degree is not None for tag in self.tags)
            return ("comparative" if compares and self._is_set_reference() else "possessive"), canonical
        if names:
            return "none", self.question
        return self._without_owner()

    def _is_set_reference(self) -> bool:
        return bool(set(self.words) & (PLURAL | {"it"}))

    def _completed(self, text: str) -> str | None:
        """A comparison with its set, standard and measure filled in; ``None`` where nothing is missing."""
        tags = self.graph.lexicon.tags(text)
        names = known_entities(tags)
        words = [tag.word for tag in tags]
        degree = next((tag for tag in tags if tag.degree is not None and not tag.entities), None)
        result = text
        if {"difference", "ratio"} & set(words) and not names:
            return self._between(text, tags)
        if degree is None or degree.degree is None:
            return None
        if not names and self._lacks_set(tags):
            group = self.who.latest_set()
            if group is None:
                return None
            self.who.refer(group, None)
            result = f"{text[: tags[0].end]} of {self.who.listed(group)}{text[tags[0].end :]}"
        elif (
            len(names) == 1 and degree.degree.level == 1 and "than" not in words and words[0] in (AUXILIARIES | {"how"})
        ):
            other = self.who.single(degree.degree.properties[:1], exclude=names)
            if other is None:
                return None
            result = f"{self._sentence(text)} than {self.graph.lexicon.label(other)}?"
        measured = self._measured(result)
        return measured if measured != text else None

    def _lacks_set(self, tags: Sequence[Tag]) -> bool:
        """Whether the question asks "which" without saying of what: "Which is larger?", "Which has fewer?"."""
        return tags[0].word in ("which", "who") and len(tags) > 1 and tags[1].word in AUXILIARIES

    def _between(self, text: str, tags: Sequence[Tag]) -> str | None:
        pair = self.who.pair()
        if pair is None:
            return None
        self.who.refer(pair, None)
        literal = [
            prop
            for prop in (*(tag.properties[0] for tag in tags if tag.properties), *reversed(self.past[-1].properties))
            if self.graph.lexicon.properties[prop].literal
        ]
        if not literal:
            return None
        word = "difference" if "difference" in text.lower() else "ratio"
        first, second = map(self.graph.lexicon.label, pair)
        return f"What is the {word} between the {self.graph.lexicon.label(literal[0])} of {first} and {second}?"

    def _measured(self, text: str) -> str:
        """Says what an adjective measures where the last turns asked for one of its properties."""
        tags = self.graph.lexicon.tags(text)
        degree = next((tag.degree for tag in tags if tag.degree is not None and not tag.entities), None)
        named = any(
            tag.properties and not tag.entities and self.graph.lexicon.properties[tag.properties[0]].literal
            for tag in tags
        )
        if degree is None or named:
            return text
        asked = [prop for turn in reversed(self.past[-2:]) for prop in reversed(turn.properties)]
        fitting = next((prop for prop in asked if self._can_measure(degree, prop)), None)
        if fitting is None or fitting == next(iter(degree.properties), None):
            return text
        return f"{self._sentence(text)} by {self.graph.lexicon.label(fitting)}?"

    def _can_measure(self, degree: DegreeTag, prop: str) -> bool:
        words = self.graph.lexicon.properties.get(prop)
        return words is not None and words.literal and (prop in degree.properties or not degree.properties)

    def _without_owner(self) -> tuple[ReferenceKind, str]:
        """A whole question that names no entity: it stands alone if it names a class, else something is left out."""
        properties = [tag for tag in self.tags if tag.properties]
        kinds = [tag for tag in self.tags if tag.classes]
        words = set(self.words)
        if words & {"total", "combined", "sum", "together", "average", "mean"} and properties and not kinds:
            group = self.who.latest_set()
            if group is not None:
                self.who.refer(group, None)
                return "implicit", f"{self._sentence(self.body)} of {self.who.listed(group)}?"
        if "other" in words and kinds:
            return self._others(kinds[0])
        if self.words[:2] == ["how", "many"] and not properties and not kinds:
            return self._counted()
        if not properties or (kinds and not any(not tag.classes for tag in properties)):
            return "none", self.question
        if any(tag.degree is not None for tag in self.tags) and kinds:
            return "none", self.question
        owner = self.who.single([tag.properties[0] for tag in properties])
        if owner is None:
            return "none", self.question
        label = self.graph.lexicon.label(owner)
        body = re.sub(r"\s+(?:is|are|was|were)\s+there$", "", self._sentence(self.body), flags=re.IGNORECASE)
        return "implicit", f"{body} of {label}?"

    def _counted(self) -> tuple[ReferenceKind, str]:
        """Asks "how many are there?" of the members of the latest set."""
        for turn in reversed(self.past):
            if len(turn.results) != 1:
                self.who.turns.append(turn.turn)
                first = re.match(r"(?:which|what|name|list|who)\b(?:\s+the\b)?", turn.canonical, re.IGNORECASE)
                if first is not None:
                    return "implicit", "How many" + turn.canonical[first.end() :]
        return "none", self.question

    def _others(self, kind: Tag) -> tuple[ReferenceKind, str]:
        """Asks "which other cities are there?" of those linked to an entity in play, without those spoken of."""
        spoken_of = [
            n for turn in self.past for n in (*turn.subjects, *turn.results) if self.graph.is_a(n, kind.classes[0])
        ]
        for owner in self.who.in_play() if spoken_of else ():
            linked = self.graph.linked(owner, kind.classes[0])[1]
            if len(linked) > 1 and not self.graph.is_a(owner, kind.classes[0]):
                self.who.refer([owner], None)
                label = self.graph.lexicon.label(owner)
                return (
                    "implicit",
                    f"Which {kind.text} other than {self.who.listed(list(dict.fromkeys(spoken_of)))} are in {label}?",
                )
        return "none", self.question

    # Referents

    @staticmethod
    def _sentence(text: str) -> str:
        return text.strip().rstrip("?.! ")


def _groups(tags: Sequence[Tag]) -> list[list[Tag]]:
    """The runs of names in a question: "France and Spain" is one."""
    groups: list[list[Tag]] = []
    joined = False
    for tag in tags:
        if tag.entities:
            if joined and groups:
                groups[-1].append(tag)
            else:
                groups.append([tag])
            joined = True
        elif tag.word not in _AND:
            joined = False
    return groups
