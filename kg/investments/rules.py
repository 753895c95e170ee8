"""What news says, by rules: companies, institutions, events and what they affect, as updates of a growing graph.

    "Helixon Inc. (HLXN), a semiconductor company based in Germany, beat estimates for the third quarter of 2026."

    AddNode Company(Helixon Inc.) ticker HLXN, country Germany     AddEdge in_sector -> Sector(Semiconductor)
    AddNode Asset(HLXN)                                            AddEdge issued_by -> Company(Helixon Inc.)
    AddNode MarketEvent(Helixon Inc. beat estimates ...)           AddEdge affects -> Company, positive

The rules need no language model and say nothing that the text does not; what they do not know they leave out. A
sentence about "the company" or "it" is read as one about the company named last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kg.growing import AddEdge, AddNode, EdgeType, NodeKey, NodeType, SetProperty, Update
from kg.investments.documents import NewsDocument

_NAME = (
    r"[A-Z][\w&'-]*(?: (?:[A-Z][\w&'-]*|of(?= [A-Z])|plc\b))*"
    r"(?:(?:(?<=\bInc)|(?<=\bCorp)|(?<=\bLtd)|(?<=\bCo))\.)?"
)
"""A proper name, with the point of an abbreviated legal form."""
_COMPANY = re.compile(
    rf"(?P<name>{_NAME}) \((?P<ticker>[A-Z]{{2,6}})\), an? (?P<sector>[a-z]+(?: [a-z]+)?) company"
    rf"(?: based in (?P<country>{_NAME}))?"
)
_UNLISTED = re.compile(
    rf"(?P<name>{_NAME}), an? (?P<sector>[a-z]+(?: [a-z]+)?) company(?: based in (?P<country>{_NAME}))?"
)
_INSTITUTION = re.compile(
    rf"The (?P<name>{_NAME}) is an? (?P<type>central bank|regulator|stock exchange) in (?P<country>{_NAME})"
)
_SECTOR = re.compile(rf"The sector (?P<sector>{_NAME}) belongs to the asset class (?P<asset_class>{_NAME})")
_AFFECTED_CLASS = re.compile(rf"affects the asset class (?P<asset_class>{_NAME})")
_BETWEEN_COMPANIES = {
    "insured_by": re.compile(rf"(?P<first>{_NAME}) is insured by (?P<second>{_NAME})"),
    "competes_with": re.compile(rf"(?P<first>{_NAME}) competes with (?P<second>{_NAME})"),
}
_REGULATION = re.compile(rf"(?P<name>Rule \d+) of the (?P<institution>{_NAME}) restricts (?P<what>[a-z][\w ]*[a-z])")
_INSTITUTION_TYPES = {"central bank": "central_bank", "regulator": "regulator", "stock exchange": "exchange"}


@dataclass(frozen=True)
class EventRule:
    """A verb phrase that reports an event.

    Attributes:
        type: Of the event.
        direction: What it means for whom it happens to.
        phrase: From the verb to the end of what is said of the event.
        subject_affected: Whether it happens to the sentence's subject; else to the object of the phrase.
    """

    type: str
    direction: str
    phrase: re.Pattern[str]
    subject_affected: bool = True


def _rule(kind: str, direction: str, phrase: str, *, subject_affected: bool = True) -> EventRule:
    return EventRule(kind, direction, re.compile(phrase), subject_affected)


EVENTS = (
    _rule("earnings", "positive", r"beat estimates for [a-z0-9 ]+\d"),
    _rule("earnings", "negative", r"missed estimates for [a-z0-9 ]+\d"),
    _rule("guidance", "positive", r"raised its outlook for [a-z ]+"),
    _rule("guidance", "negative", r"cut its outlook for [a-z ]+"),
    _rule("lawsuit", "negative", rf"was fined by the {_NAME}"),
    _rule("lawsuit", "negative", rf"was sued by (?:the [a-z ]+ )?{_NAME}"),
    _rule("dividend", "positive", r"declared a dividend of [\d.]+ [a-z]+ a share"),
    _rule("product", "positive", r"won approval for its [a-z ]+ [A-Z]\w+"),
    _rule("management", "neutral", rf"named {_NAME} as [a-z ]+"),
    _rule("merger", "neutral", rf"agreed to buy {_NAME}"),
    _rule("rate_decision", "neutral", r"(?:cut|raised|held) its key rate (?:to|at) [\d.]+ percent"),
    _rule("rating", "positive", rf"upgraded (?P<object>{_NAME}) to [a-z]+", subject_affected=False),
    _rule("rating", "negative", rf"downgraded (?P<object>{_NAME}) to [a-z]+", subject_affected=False),
)
"""What is known of events."""

_NO_PROPERTIES: dict[str, object] = {"type": "object", "properties": {}}
FURTHER_TYPES: tuple[NodeType | EdgeType, ...] = (
    NodeType(
        "Regulation",
        "A standing rule of an authority that restricts what companies may do.",
        {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "summary": {"type": "string"}},
        },
        {"name": "Rule 7", "summary": "restricts late payment"},
        "agent",
        justification="A rule lasts, an event happens once.",
        labels=("rule",),
    ),
    EdgeType(
        "made_by",
        "A regulation was made by an institution.",
        _NO_PROPERTIES,
        created_by="agent",
        justification="No edge leads from a regulation to its author.",
        labels=("issued by", "author"),
        inverse_labels=("made", "makes", "issued"),
        source_types=("Regulation",),
        target_types=("Institution",),
    ),
    EdgeType(
        "insured_by",
        "A company's risks are covered by an insurer.",
        _NO_PROPERTIES,
        created_by="agent",
        justification="No edge joins two companies.",
        labels=("insurer",),
        inverse_labels=("insures",),
        source_types=("Company",),
        target_types=("Company",),
    ),
    EdgeType(
        "competes_with",
        "Two companies sell to the same customers.",
        _NO_PROPERTIES,
        created_by="agent",
        justification="No edge joins rivals.",
        labels=("competes", "competitor", "rival"),
        source_types=("Company",),
        target_types=("Company",),
        symmetric=True,
    ),
)
"""Types that the rules can fill and a graph does not begin with; nodes before the edges that use them."""


@dataclass(frozen=True)
class Reading:
    """What the rules read in a document.

    Attributes:
        updates: By the types that every graph about investments has.
        proposals: Types that the document needs besides.
        further: Updates by those types, to be applied if they are accepted.
    """

    updates: tuple[Update, ...]
    proposals: tuple[NodeType | EdgeType, ...] = ()
    further: tuple[Update, ...] = ()


class NewsRules:
    """Reads one document after the other; it remembers the companies that it has met, so that a name suffices later.

    Args:
        companies: Names that are known already.
        institutions: Names that are known already.
    """

    def __init__(self, companies: tuple[str, ...] = (), institutions: tuple[str, ...] = ()) -> None:
        self._companies = dict.fromkeys(companies)
        self._institutions = dict.fromkeys(institutions)

    def read(self, document: NewsDocument) -> Reading:
        """The updates that a document states: itself as news, what it mentions, what happened."""
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
        return Reading(tuple(updates), tuple(kind for kind in FURTHER_TYPES if kind.name in needed), tuple(further))

    def _introduced(self, sentence: str) -> Iterator[Update]:
        """The nodes that a sentence says something lasting of."""
        seen: set[str] = set()
        for pattern in (_COMPANY, _UNLISTED):
            for match in pattern.finditer(sentence):
                name = match["name"].removeprefix("The ")
                if name not in seen:
                    seen.add(name)
                    yield from self._company(name, match.groupdict())
        for match in _INSTITUTION.finditer(sentence):
            self._institutions[match["name"]] = None
            kind = _INSTITUTION_TYPES[match["type"]]
            yield AddNode("Institution", match["name"], {"type": kind, "country": match["country"]})
        for match in _SECTOR.finditer(sentence):
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
        """The known companies and institutions that a sentence names, in its order."""
        known = [NodeKey("Company", name) for name in self._companies]
        known += [NodeKey("Institution", name) for name in self._institutions]
        places = [(sentence.find(key.name), key) for key in known]
        return [key for place, key in sorted(places, key=lambda pair: (pair[0], -len(pair[1].name))) if place >= 0]

    def _events(self, sentence: str, before: NodeKey | None, published: str) -> Iterator[Update]:
        for rule in EVENTS:
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
        match = _AFFECTED_CLASS.search(sentence)
        if match is not None and before is not None:
            yield AddNode("AssetClass", match["asset_class"])
            yield AddEdge("affects", before, NodeKey("AssetClass", match["asset_class"]))

    def _further(self, sentence: str) -> Iterator[Update]:
        """What only types say that a graph does not begin with."""
        for kind, pattern in _BETWEEN_COMPANIES.items():
            for match in pattern.finditer(sentence):
                ends = (self._key(match["first"]), self._key(match["second"]))
                if ends[0] is not None and ends[1] is not None:
                    yield AddEdge(kind, ends[0], ends[1])
        for match in _REGULATION.finditer(sentence):
            yield AddNode("Regulation", match["name"], {"summary": f"restricts {match['what']}"})
            yield AddNode("Institution", match["institution"])
            yield AddEdge("made_by", NodeKey("Regulation", match["name"]), NodeKey("Institution", match["institution"]))

    def _subject(self, before_verb: str, last: NodeKey | None) -> NodeKey | None:
        """Whom the words before a verb name: a company or institution that is known, or the one named last."""
        named = self._named(before_verb)
        if named:
            return named[0]
        return last if re.search(r"(?:^|[.,] )(?:The company|It|The bank)\b", before_verb) else None

    def _key(self, name: str) -> NodeKey | None:
        found = self._named(name)
        return found[0] if found else None

    @staticmethod
    def _actor(before_verb: str) -> str | None:
        match = re.search(rf"({_NAME}) $", before_verb)
        return match[1] if match else None
