"""Possible answers in statements, and the names of their features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from kg.clauses import ParsedSentence, clause_of
from kg.comprehension.questions import Term
from kg.news import same_office
from kg.sentences import Mention, language
from kg.text import Period

FEATURES = (
    "kind", "weak kind", "noun", "no noun", "words", "context words", "best word", "missed words", "unknown words",
    "names", "names missing", "names near", "tree", "line", "role", "role opposed", "name role", "name role opposed",
    "same clause", "headline", "in period", "date in period", "out of period", "former", "former asked", "negated",
    "opposite words", "newest", "newest asked", "oldest asked", "length", "typed other", "title",
    "weekday", "typed", "kind conflict", "container", "leaving", "arriving", "words and names", "all words",
    "role and words", "converse", "weakest word", "superseded", "superseded asked", "superseding asked", "phrase",
    "region", "weakest context", "gone", "weakest name", "meaning", "meaning alone", "meaning lead",
    "own date", "other date", "predicate", "name within", "window", "clause", "window lead", "clause lead",
    "no person", "own span", "other span", "reader", "reader lead", "reader share", "reader first", "reader none",
    "reader mass",
    "other kind", "width", "document words", "document words lead", "document names", "document lead",
)  # fmt: skip

_BEFORE = r"an?|the|about|around|some|just|earlier|previous|its|view of|forecast of|estimate of|guidance of"
FORMER = re.compile(
    r"(?:\bfrom|\bagainst|\bcompared (?:with|to)|\bversus|\bthan|\bpreviously|\bformer|\(\d{4}:|\bup on|\bdown on)"
    rf" (?:(?:{_BEFORE}) ){{0,4}}$",
    re.I,
)
"""What stands before the value that something had before."""


_AROUND = 7
"""The most words of a window on each side."""

_BREAKS = frozenset((";", ":", "(", ")"))


@dataclass(frozen=True)
class SpanCandidate:
    """A possible answer.

    Attributes:
        value: It as an answer.
        kind: Its kind.
        mention: Where it is.
        statement: The sentence.
        features: Its features, by the names of :data:`FEATURES`.
    """

    value: str
    kind: str
    mention: Mention
    statement: ParsedSentence
    features: dict[str, float]

    @property
    def window(self) -> str:
        """The words around it, up to the next semicolon or colon."""
        tokens = self.statement.parse.tokens
        inside = self.statement.parse.inside(self.mention.start, self.mention.end)
        first, last = inside[0].place, inside[-1].place
        left = right = 0
        while left < _AROUND and first - left > 0 and tokens[first - left - 1].text not in _BREAKS:
            left += 1
        while right < _AROUND and last + right + 1 < len(tokens) and tokens[last + right + 1].text not in _BREAKS:
            right += 1
        return self.statement.parse.text[tokens[first - left].start : tokens[last + right].end]

    @property
    def clause(self) -> str:
        """The words of its clause."""
        parse = self.statement.parse
        head = parse.head_of(self.mention.start, self.mention.end)
        own = clause_of(parse, head.place if head is not None else 0)
        return " ".join(token.text for token in parse.tokens if clause_of(parse, token.place) == own)

    @property
    def day(self) -> date:
        """The day of its document."""
        return self.statement.passage.published


@dataclass(frozen=True)
class TermMatch:
    """The word of a statement that is nearest to a word of a question.

    Attributes:
        term: The question's word.
        place: The statement's word, or -1.
        similarity: In [-1, 1].
    """

    term: Term
    place: int
    similarity: float

    @property
    def strength(self) -> float:
        """The similarity, by the weight of the question's word."""
        return self.similarity * self.term.weight


def is_in(value: str, first: str, last: str) -> bool:
    """Whether a day, month or year overlaps a period."""
    return first[: len(value)] <= value <= last[: len(value)]


_FROM_TITLE = 30
"""The most characters between a title and its holder."""

_TO_DATE = 40
"""The most characters between a value and the day after it."""


def _may_hold(mention: Mention) -> bool:
    """Whether a name may be a person's; a recogniser takes some of two words for companies."""
    words = mention.text.split()
    organised = words[-1] in language().organisation_words or words[-1].lower() in language().organisation_nouns
    return mention.kind in ("person", "name") or (mention.kind == "company" and len(words) == 2 and not organised)


def holder(statement: ParsedSentence, role: Mention) -> Mention | None:
    """Returns the person next to a title: "finance director Hanne Sorby", "Hanne Sorby, the finance director"."""
    best: tuple[int, Mention] | None = None
    for one in statement.mentions:
        if not _may_hold(one):
            continue
        gap = statement.parse.text[min(one.end, role.end) : max(one.start, role.start)]
        if len(gap) >= _FROM_TITLE or re.search(r"[.;]", gap):
            continue
        apart = len(gap) + (10 if one.start > role.end and "," in gap else 0)
        if best is None or apart < best[0]:
            best = apart, one
    return best[1] if best is not None else None


def own_date(statement: ParsedSentence, mention: Mention, period: Period | None) -> dict[str, float]:
    """Compares the day that a value stands with, "$283 million in 2025 and $259 million in 2024", with a period."""
    if period is None or mention.kind == "date":
        return {}
    same = [one for one in statement.mentions if one.kind == mention.kind and one != mention]
    after = min((one.start for one in same if one.start > mention.end), default=len(statement.parse.text))
    before = max((one.end for one in same if one.end < mention.start), default=0)
    dates = [one for one in statement.mentions if one.kind == "date"]
    own = next((one for one in dates if mention.end <= one.start < min(after, mention.end + _TO_DATE)), None)
    if own is None:
        own = next((one for one in reversed(dates) if before <= one.end <= mention.start), None)
    if own is None:
        return {}
    inside = is_in(own.value, period.first.isoformat(), period.last.isoformat())
    return {"own date": float(inside), "other date": float(not inside)}


_SPANS = (
    re.compile(r"\b(?:first|1st)[ -]quarter|\bQ1\b|\bfirst three months", re.I),
    re.compile(r"\b(?:second|2nd)[ -]quarter|\bQ2\b", re.I),
    re.compile(r"\b(?:third|3rd)[ -]quarter|\bQ3\b", re.I),
    re.compile(r"\b(?:fourth|4th|last|final)[ -]quarter|\bQ4\b|\b(?:last|final) three months", re.I),
    re.compile(r"\b(?:half[ -]year|(?:first|second)[ -]half|six months)|\bH[12]\b", re.I),
    re.compile(r"\bnine[ -]months?|\bfirst three quarters", re.I),
    re.compile(r"\b(?:full|whole|entire)[ -]year|\bfor (?:the year|20\d\d)\b|\bannual(?:ly)?\b|\bfor all of", re.I),
)
"""The stretches of time that reports have figures of."""


def own_span(statement: ParsedSentence, mention: Mention, question: str) -> dict[str, float]:
    """Compares the quarter, half or year of a value with that of a question; nothing where the question has none."""
    wanted = {number for number, pattern in enumerate(_SPANS) if pattern.search(question)}
    if not wanted or mention.kind not in ("money", "percent", "count"):
        return {}
    text = statement.parse.text
    found = [(match.start(), number) for number, pattern in enumerate(_SPANS) for match in pattern.finditer(text)]
    before = [one for one in found if one[0] <= mention.start]
    own = max(before)[1] if before else min(found)[1] if found else None
    if own is None:
        return {}
    return {"own span": float(own in wanted), "other span": float(own not in wanted)}


def in_period(
    statement: ParsedSentence, document: Sequence[ParsedSentence], first: date, last: date
) -> dict[str, float]:
    """Returns the features of a statement that a period of the question gives."""
    bounds = first.isoformat(), last.isoformat()
    published = first <= statement.passage.published <= last
    dated = any(
        one.kind == "date" and one.value[:4] <= bounds[1] and is_in(one.value, *bounds) for one in statement.mentions
    )
    near = any(one.kind == "date" and is_in(one.value, *bounds) for other in document for one in other.mentions)
    return {
        "in period": float(published),
        "date in period": float(dated),
        "out of period": float(not published and not dated and not near),
    }


def is_container(statement: ParsedSentence, mention: Mention) -> bool:
    """Returns whether a place is the region after a town: "Phoenix, Arizona"."""
    return any(
        other.kind == "place" and statement.parse.text[other.end : mention.start] == ", "
        for other in statement.mentions
        if other.end < mention.start
    )


def title_fit(statement: ParsedSentence, mention: Mention, titles: Sequence[str]) -> float:
    """Returns 1 if a person has the first of some titles, -1 for another title, and 0 without one."""
    if not titles or not _may_hold(mention):
        return 0.0
    held = [one.value for one in statement.mentions if one.kind == "role" and holder(statement, one) == mention]
    if not held:
        return 0.0
    return 1.0 if any(same_office(title, titles[0]) for title in held) else -1.0
