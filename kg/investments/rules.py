"""Extraction of companies, institutions and events from news by rules, as updates of a growing graph.

    "Helixon Inc. (HLXN), a semiconductor company based in Germany, beat estimates for the third quarter of 2026."

    AddNode Company(Helixon Inc.) ticker HLXN, country Germany     AddEdge in_sector -> Sector(Semiconductor)
    AddNode Asset(HLXN)                                            AddEdge issued_by -> Company(Helixon Inc.)
    AddNode MarketEvent(Helixon Inc. beat estimates ...)           AddEdge affects -> Company, positive

The rules are data (:class:`NewsRules`): patterns for the types of :func:`kg.investments.schema.investment_schema`. They
need no language model and leave out what they do not cover. In a sentence, "the company" and "it" refer to the company
named last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from kg.errors import DataError
from kg.growing import AddEdge, AddNode, EdgeType, GrowingGraph, NodeKey, NodeType, SetProperty, Update
from kg.investments.documents import NewsDocument
from kg.investments.schema import types_of

NAME = (
    r"[A-Z][\w&'-]*(?: (?:[A-Z][\w&'-]*|of(?= [A-Z])|plc\b))*"
    r"(?:(?:(?<=\bInc)|(?<=\bCorp)|(?<=\bLtd)|(?<=\bCo))\.)?"
)
"""The pattern of a proper name, with the point of an abbreviated legal form."""

Pattern = Annotated[re.Pattern[str], BeforeValidator(lambda text: str(text).replace("{NAME}", NAME))]
"""A regular expression; ``{NAME}`` is a proper name."""


class EventRule(BaseModel):
    """A verb phrase that reports an event.

    Attributes:
        type: Of the event.
        direction: Its effect on the affected entity.
        phrase: From the verb to the end of the report; a group ``object`` if the object is affected.
        subject_affected: Whether the sentence's subject is affected; else the object of the phrase.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    direction: Literal["positive", "negative", "neutral"]
    phrase: Pattern
    subject_affected: bool = True


class NewsRules(BaseModel):
    """The patterns of a collection of news, with named groups for the parts that become nodes.

    Attributes:
        about: The collection.
        companies: Introductions of companies: ``name``, ``sector`` and, if stated, ``ticker`` and ``country``.
        institutions: Introductions of institutions: ``name``, ``type``, ``country``.
        institution_types: The schema's word for each such type.
        sectors: ``sector`` and ``asset_class`` that it belongs to.
        asset_classes: ``asset_class`` that the institution named before affects.
        events: Reports of events.
        relations: Edges between companies, ``first`` to ``second``, by edge type.
        regulations: ``name``, ``institution`` and ``what`` it restricts.
        node_types: Node types that the rules fill and the schema lacks.
        edge_types: Edge types that the rules fill and the schema lacks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str = ""
    companies: tuple[Pattern, ...] = ()
    institutions: tuple[Pattern, ...] = ()
    institution_types: Mapping[str, str] = {}
    sectors: tuple[Pattern, ...] = ()
    asset_classes: tuple[Pattern, ...] = ()
    events: tuple[EventRule, ...] = ()
    relations: Mapping[str, Pattern] = {}
    regulations: tuple[Pattern, ...] = ()
    node_types: tuple[dict[str, Any], ...] = ()
    edge_types: tuple[dict[str, Any], ...] = ()

    @property
    def types(self) -> list[NodeType | EdgeType]:
        """The types that the schema lacks; nodes before the edges that use them."""
        return types_of({"node_types": self.node_types, "edge_types": self.edge_types}, "agent")


def load_rules(path: Path) -> NewsRules:
    """Reads rules from a JSON file.

    Raises:
        DataError: The file cannot be read, or breaks the schema of :class:`NewsRules`.
    """
    try:
        return NewsRules.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError, re.error) as error:
        raise DataError(f"cannot be read as rules for news: {error}", file=str(path)) from error


@dataclass(frozen=True)
class DocumentReading:
    """The updates that a document states.

    Attributes:
        updates: By types of the schema.
        proposals: Types that the document needs in addition.
        further: Updates by these types, to be applied if they are accepted.
        spans: For each of the updates the passage of the document that states it, where the reader knows it.
        sentences: The count of the document's sentences, where the reader counts them.
        understood: The count of those that gave facts.
    """

    updates: tuple[Update, ...]
    proposals: tuple[NodeType | EdgeType, ...] = ()
    further: tuple[Update, ...] = ()
    spans: tuple[str, ...] = ()
    sentences: int = 0
    understood: int = 0


class RuleReader:
    """A reader of one document after the other, which remembers the names that it has met.

    Args:
        graph: A graph whose companies and institutions are known from the beginning.
        rules: The patterns.
    """

    name = "rules"

    def __init__(self, graph: GrowingGraph, rules: NewsRules) -> None:
        self._rules = rules
        self._companies = dict.fromkeys(node.key.name for node in graph.nodes("Company"))
        self._institutions = dict.fromkeys(node.key.name for node in graph.nodes("Institution"))

    def read(self, document: NewsDocument) -> DocumentReading:
        """Returns the updates that a document states: itself as news, the entities it mentions, the events."""
        news = NodeKey("News", document.headline)
        published = document.published.isoformat()
        updates: list[Update] = [AddNode("News", news.name, {"source": document.source, "published_at": published})]
        sentences = document.sentences
        for sentence in sentences:
            updates += self._introduced(sentence)
        mentioned: dict[NodeKey, None] = {}
        subject: NodeKey | None = None
        for sentence in sentences:
            named = self._named(sentence)
            events = list(self._events(sentence, subject, published))
            updates += events
            mentioned.update(dict.fromkeys([*named, *(update.key for update in events if isinstance(update, AddNode))]))
            subject = named[0] if named else subject
        updates += [AddEdge("mentions", news, key) for key in mentioned]
        further = [update for sentence in sentences for update in self._further(sentence)]
        needed = {update.type for update in further if not isinstance(update, SetProperty)}
        return DocumentReading(
            tuple(updates), tuple(kind for kind in self._rules.types if kind.name in needed), tuple(further)
        )

    def _introduced(self, sentence: str) -> Iterator[Update]:
        """Yields the nodes that a sentence introduces."""
        seen: set[str] = set()
        for match in _matches(self._rules.companies, sentence):
            name = match["name"].removeprefix("The ")
            if name not in seen:
                seen.add(name)
                yield from self._company(name, match.groupdict())
        for match in _matches(self._rules.institutions, sentence):
            self._institutions[match["name"]] = None
            kind = self._rules.institution_types[match["type"]]
            yield AddNode("Institution", match["name"], {"type": kind, "country": match["country"]})
        for match in _matches(self._rules.sectors, sentence):
            yield AddNode("Sector", match["sector"])
            yield AddNode("AssetClass", match["asset_class"])
            yield AddEdge("belongs_to", NodeKey("Sector", match["sector"]), NodeKey("AssetClass", match["asset_class"]))

    def _company(self, name: str, said: dict[str, str | None]) -> Iterator[Update]:
        self._companies[name] = None
        company, sector = NodeKey("Company", name), NodeKey("Sector", str(said["sector"]).capitalize())
        yield AddNode("Company", name, {"ticker": said.get("ticker"), "country": said["country"]})
        yield AddNode("Sector", sector.name)
        yield AddEdge("in_sector", company, sector)
        if said.get("ticker"):
            asset = NodeKey("Asset", str(said["ticker"]))
            yield AddNode("Asset", asset.name, {"type": "stock"})
            yield AddEdge("issued_by", asset, company)

    def _named(self, sentence: str) -> list[NodeKey]:
        """Returns the known companies and institutions that a sentence names, in order."""
        known = [NodeKey("Company", name) for name in self._companies]
        known += [NodeKey("Institution", name) for name in self._institutions]
        places = [(sentence.find(key.name), key) for key in known]
        return [key for place, key in sorted(places, key=lambda pair: (pair[0], -len(pair[1].name))) if place >= 0]

    def _events(self, sentence: str, before: NodeKey | None, published: str) -> Iterator[Update]:
        for rule in self._rules.events:
            match = rule.phrase.search(sentence)
            if match is None:
                continue
            subject = self._subject(sentence[: match.start()], before)
            affected = subject if rule.subject_affected else self._key(match["object"])
            actor = subject.name if subject is not None else self._actor(sentence[: match.start()])
            if affected is None or actor is None:
                continue
            summary = f"{actor} {match[0].strip()}"
            yield AddNode("MarketEvent", summary, {"type": rule.type, "summary": summary, "occurred_at": published})
            event = NodeKey("MarketEvent", summary)
            yield AddEdge("affects", event, affected, {"direction": rule.direction})
        for match in _matches(self._rules.asset_classes, sentence):
            if before is not None:
                yield AddNode("AssetClass", match["asset_class"])
                yield AddEdge("affects", before, NodeKey("AssetClass", match["asset_class"]))

    def _further(self, sentence: str) -> Iterator[Update]:
        """Yields the updates by types that the schema lacks."""
        for kind, pattern in self._rules.relations.items():
            for match in pattern.finditer(sentence):
                ends = (self._key(match["first"]), self._key(match["second"]))
                if ends[0] is not None and ends[1] is not None:
                    yield AddEdge(kind, ends[0], ends[1])
        for match in _matches(self._rules.regulations, sentence):
            yield AddNode("Regulation", match["name"], {"summary": f"restricts {match['what']}"})
            yield AddNode("Institution", match["institution"])
            yield AddEdge("made_by", NodeKey("Regulation", match["name"]), NodeKey("Institution", match["institution"]))

    def _subject(self, before_verb: str, last: NodeKey | None) -> NodeKey | None:
        """Returns the subject of a verb: a known company or institution before it, or the one named last."""
        named = self._named(before_verb)
        if named:
            return named[0]
        return last if re.search(r"(?:^|[.,] )(?:The company|It|The bank)\b", before_verb) else None

    def _key(self, name: str) -> NodeKey | None:
        found = self._named(name)
        return found[0] if found else None

    @staticmethod
    def _actor(before_verb: str) -> str | None:
        match = re.search(rf"({NAME}) $", before_verb)
        return match[1] if match else None


def _matches(patterns: tuple[re.Pattern[str], ...], sentence: str) -> Iterator[re.Match[str]]:
    return (match for pattern in patterns for match in pattern.finditer(sentence))
