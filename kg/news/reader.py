"""Facts of a news document, each with its sentence and a confidence.

reading = read_news(document, directory)
reading.facts        # Fact("Orvane Semiconductor Corp.", "acquires", "Brightlane Photonics", ...)
reading.understood   # 3 of 5 sentences gave facts
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kg.investments import NewsDocument
from kg.news.facts import Fact
from kg.news.matching import facts_of, frame_matches
from kg.news.people import people_facts, with_predecessors
from kg.news.reported import ReportedEvent, management_events, reported_events
from kg.sentences import Directory, DocumentNames, Mention, Sentence, language
from kg.text import split_sentences

_BODIES = frozenset(
    [
        "Union",
        "Commission",
        "Authority",
        "Agency",
        "Office",
        "Court",
        "Ministry",
        "Board",
        "Administration",
        "Bureau",
        "Council",
        "Tribunal",
        "Department",
    ]
)
_TIMES = frozenset(("years", "months", "weeks", "days", "hours", "minutes", "quarters", "times"))


@dataclass(frozen=True)
class NewsReading:
    """The statements of a document.

    Attributes:
        facts: Its facts, in order.
        entities: Names with kind, full form and other names in the document.
        sentences: Its sentences.
        understood: The sentences that gave facts.
        events: The events of companies that it reports.
    """

    facts: tuple[Fact, ...]
    entities: tuple[tuple[str, str, tuple[str, ...]], ...]
    sentences: tuple[str, ...]
    understood: int
    events: tuple[ReportedEvent, ...] = ()


def sentences_of(text: str) -> list[str]:
    """Returns the sentences of a text, each on one line."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        found += split_sentences(" ".join(paragraph.split()))
    return found


def read_news(document: NewsDocument, directory: Directory) -> NewsReading:
    """Reads the facts of a document.

    Args:
        document: The document.
        directory: The names known before.
    """
    sentences = sentences_of(document.text)
    names = DocumentNames([*sentences, document.headline], directory, len(sentences))
    published = document.published.isoformat()
    mentions = [names.mentions(place, text, document.published) for place, text in enumerate(sentences)]
    headline = names.mentions(len(sentences), document.headline, document.published)
    main = _main([document.headline, *sentences], [headline, *mentions])
    topic, target, person = main, None, None
    ambiguous = False
    facts: list[Fact] = []
    events: list[ReportedEvent] = []
    understood = 0
    for text, found in zip(sentences, mentions, strict=True):
        sentence = Sentence(text, found, topic, main, target, ambiguous)
        matches = list(frame_matches(sentence))
        by_frames = list(facts_of(sentence, matches, document.name, published))
        events += reported_events(sentence, matches, by_frames, published)
        stated = [
            *(fact for _, fact in by_frames),
            *people_facts(sentence, document.name, published, person),
        ]
        person = next((fact for fact in reversed(stated) if fact.subject_kind == "person" and fact.role), person)
        stated += _tickers(sentence, document.name, published)
        stated += _based(sentence, document.name, published)
        stated += _counted(sentence, document.name, published, stated)
        understood += bool(stated)
        facts += stated
        target = next((fact.object for fact in stated if fact.relation in ("acquires", "completed_on")), target)
        topic, ambiguous = _topic(sentence, topic, ambiguous)
    facts = [_with_ticker(fact, facts, directory) for fact in facts]
    facts += _houses(facts)
    facts = with_predecessors(_moved(facts))
    distinct = {(fact.subject, fact.relation, fact.object): fact for fact in reversed(facts)}
    facts = list(reversed(distinct.values()))
    events = [*management_events(facts), *events]  # those of people, who are named, come first
    full = [replace(one, company=_full_name(one.company, facts, directory)) for one in events]
    return NewsReading(tuple(facts), _entities(names, facts), tuple(sentences), understood, tuple(full))


def _main(sentences: Sequence[str], mentions: Sequence[Sequence[Mention]]) -> str | None:
    """Returns the company that a document is about: the one named most, above all early and as a subject."""
    counted: Counter[str] = Counter()
    for place, (text, found) in enumerate(zip(sentences, mentions, strict=True)):
        for mention in found:
            if mention.kind == "company" and mention.value.split()[-1] not in _BODIES:
                plain = not re.search(r"\b(?:of|in|with|by|from|to|at|for|on|against|into) $", text[: mention.start])
                counted[mention.value] += (2 if plain else 1) + (2 if place == 0 and plain else 0)
    if not counted:
        return None
    most = max(counted.values())
    return next(name for name, count in counted.items() if count == most)


_PHRASE = re.compile(r"\b(?:of|in|with|by|from|to|at|for|on|against|into) (?:[a-z]+ )*$")
_OTHER_SUBJECT = re.compile(r"(?:^|, )(?P<word>[A-Z][\w&’'-]+) (?:\w+ly )?[a-z]+(?:s|ed|ld|ught) ")
"""A word with a capital and a verb after it, at the beginning of a sentence or of a clause."""


def _topic(sentence: Sentence, topic: str | None, ambiguous: bool) -> tuple[str | None, bool]:
    """Returns the company that "it" stands for in the next sentence, and whether another one may be meant.

    It is the subject of this sentence, the first company that follows no preposition. If the subject is a name that
    may be a company or not, there is none.
    """
    companies = [mention for mention in sentence.mentions if mention.kind == "company"]
    distinct = {mention.value for mention in companies}
    subject = next((m for m in companies if not _PHRASE.search(sentence.text[: m.start])), None)
    others = _OTHER_SUBJECT.finditer(sentence.text[: companies[0].start] if companies else "")
    if any(_may_be_name(sentence, other["word"], other.start("word")) for other in others):
        return None, True
    if subject is None:
        return topic, ambiguous or bool(distinct - {topic})
    return subject.value, len(distinct) > 1


def _may_be_name(sentence: Sentence, word: str, start: int) -> bool:
    """Whether a word with a capital at a place may be a name that is not known."""
    lists = language()
    noun = word.lower() in lists.organisation_nouns or word.endswith(("s", "maker"))
    known = word in lists.not_names or word in lists.demonyms or word in lists.regions
    named = any(m.start <= start < m.end and m.kind != "name" for m in sentence.mentions)
    return not (noun or known or named)


def _tickers(sentence: Sentence, document: str, published: str) -> list[Fact]:
    """Returns the symbols that the sentence states of companies."""
    found = []
    companies = [m for m in sentence.mentions if m.kind == "company"]
    for ticker in (m for m in sentence.mentions if m.kind == "ticker"):
        before = [m for m in companies if m.end <= ticker.start]
        bracketed = sentence.text[ticker.end : ticker.end + 1] == ")"
        name = before[-1].value if before else sentence.main
        if bracketed and before and ticker.start - before[-1].end > 30:
            name = sentence.main
        if name:
            found.append(Fact(name, "company", "ticker", ticker.value, "ticker", sentence.text, document, published))
    return found


def _based(sentence: Sentence, document: str, published: str) -> list[Fact]:
    """Returns the seats in "the Boise-based chipmaker", "Boise-based Orvane" and "the Hamburg firm"."""
    found = []
    nouns = "|".join(sorted({*language().anaphors, *language().organisation_nouns}, key=len, reverse=True))
    for place in (m for m in sentence.mentions if m.kind in ("place", "name")):
        after = sentence.text[place.end :]
        owner = next((m for m in sentence.mentions if m.kind == "company" and m.start > place.end), None)
        near = re.match(r"-based (?:[a-z][\w-]* ){0,5}$", sentence.text[place.end : owner.start]) if owner else None
        own = re.match(rf"(?:-based(?: [\w-]+){{0,2}}?|,)? (?:{nouns})\b", after)
        based = re.search(r"\b[Tt]he (?:[A-Z][\w.-]+, )?$", sentence.text[: place.start])
        name = owner.value if owner is not None and near else sentence.main if own and based else None
        beside = _of_place(sentence, place)
        name = name or beside
        town = [m for m in sentence.mentions if m.kind == "place" and sentence.text[m.end : place.start] == ", "]
        place = town[0] if town else place
        if name and (place.kind == "place" or near or beside):
            found.append(
                Fact(name, "company", "headquartered_in", place.value, "place", sentence.text, document, published, 0.7)
            )
    return found


def _of_place(sentence: Sentence, place: Mention) -> str | None:
    """Returns the company of "Orvane, of Boise, Idaho, said"."""
    after = re.match(r"(?:, [A-Z][\w.]*(?: [A-Z][\w.]*)*)?,", sentence.text[place.end :])
    owners = (m for m in sentence.mentions if m.kind == "company" and sentence.text[m.end : place.start] == ", of ")
    owner = next(owners, None) if after else None
    return owner.value if owner is not None else None


def _counted(sentence: Sentence, document: str, published: str, stated: Sequence[Fact]) -> list[Fact]:
    """Returns counts of things that no frame covers: "Bluehull operates 64 ships"."""
    used = {fact.object for fact in stated}
    found = []
    for count in (
        m
        for m in sentence.mentions
        if m.kind == "count" and m.noun and m.value not in used and m.noun.split()[-1] not in _TIMES
    ):
        before = [m for m in sentence.mentions if m.kind == "company" and m.end <= count.start]
        name = (
            before[0].value
            if before
            else sentence.topic
            if re.match(r"It\b|The \w+ (?:has|operates|runs)", sentence.text)
            else None
        )
        if name and re.search(
            r"\b(?:has|have|operates?|runs?|owns?|had|with|serves?|carried|carries|makes?|produces?|sold|sells?)\b",
            sentence.text[: count.start],
        ):
            found.append(
                Fact(
                    name,
                    "company",
                    f"number of {count.noun}",
                    count.value,
                    "count",
                    sentence.text,
                    document,
                    published,
                    0.6,
                )
            )
    return found


def _full_name(name: str, facts: Sequence[Fact], directory: Directory) -> str:
    """Returns a company for its symbol or alias."""
    tickers = {one.object: one.subject for one in facts if one.relation == "ticker"}
    known = directory.find(name)
    return tickers.get(name) or (known[1] if known is not None else name)


def _with_ticker(fact: Fact, facts: Sequence[Fact], directory: Directory) -> Fact:
    """Returns a fact with the company in place of its symbol."""
    changed = fact
    if fact.subject_kind == "ticker":
        changed = replace(changed, subject=_full_name(fact.subject, facts, directory), subject_kind="company")
    if fact.object_kind == "ticker" and fact.relation != "ticker":
        changed = replace(changed, object=_full_name(fact.object, facts, directory), object_kind="company")
    if fact.company.isupper():
        changed = replace(changed, company=_full_name(fact.company, facts, directory))
    return changed


def _houses(facts: Sequence[Fact]) -> list[Fact]:
    """Returns the employers of analysts who are named without theirs: the house that changed its rating."""
    houses = dict.fromkeys(fact.subject for fact in facts if fact.relation in ("downgrades", "upgrades"))
    employed = {fact.subject for fact in facts if fact.relation == "works_for"}
    analysts = [fact for fact in facts if (fact.relation, fact.object) == ("role", "analyst")]
    return [
        replace(fact, relation="works_for", object=house, object_kind="company", company=house, confidence=0.7)
        for fact in analysts
        for house in houses
        if fact.subject not in employed and len(houses) == 1
    ]


_DONE = re.compile(r"(?<!\bbe )(?<!\bbeing )\b(?:moved|relocated|shifted|transferred)\b")


def _moved(facts: Sequence[Fact]) -> list[Fact]:
    """Returns the facts with the new seat of a company that has moved, in place of the one that the sentence left."""
    done = {f.sentence: f for f in facts if f.relation == "moves_headquarters_to" and _DONE.search(f.sentence)}
    kept = [f for f in facts if f.relation != "headquartered_in" or f.sentence not in done]
    return [*kept, *(replace(f, relation="headquartered_in") for f in done.values())]


def _entities(names: DocumentNames, facts: Sequence[Fact]) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Returns the entities of a document with their other names."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for name, (kind, full) in names.kinds.items():
        if kind in ("company", "person", "place", "product", "name"):
            found.setdefault((kind, full), {})
            if name != full:
                found[kind, full][name] = None
    for fact in facts:
        if fact.relation == "ticker":
            found.setdefault(("company", fact.subject), {})[fact.object] = None
    return tuple((kind, full, tuple(aliases)) for (kind, full), aliases in found.items())
