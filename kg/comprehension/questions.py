"""Questions as clauses with a gap: the wanted kind of answer, its role, names, dates and the words that remain.

>>> asked = parse_question("Who downgraded ORVN?", library, parser)
>>> asked.kinds, asked.gap, [term.lemma for term in asked.terms]
(('person', 'company'), 'agent', ['downgrade'])
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kg.clauses import (
    AGENT,
    CONTENT,
    EQUAL,
    OTHER,
    PATIENT,
    Library,
    SentenceParser,
    SyntaxToken,
    SyntaxTree,
    is_word,
    role_of,
    with_particle,
)
from kg.comprehension.wanted import wanted_kinds
from kg.news import NewsQuestion
from kg.news import parse_question as parse_words
from kg.sentences import Entity, language
from kg.text import Period, singular, spelled_periods

ELSEWHERE = -1
"""The number of the word of a name that is in another part of the question."""

_WH = frozenset(("who", "whom", "whose", "what", "which", "where", "when", "how", "why"))
_EMPTY = frozenset(
    [
        "about",
        "accord",
        "according",
        "actually",
        "amount",
        "announce",
        "be",
        "before",
        "can",
        "could",
        "current",
        "currently",
        "date",
        "day",
        "do",
        "earlier",
        "else",
        "end",
        "exactly",
        "far",
        "final",
        "finally",
        "first",
        "formerly",
        "have",
        "information",
        "initially",
        "just",
        "last",
        "latest",
        "many",
        "moment",
        "month",
        "more",
        "most",
        "much",
        "name",
        "news",
        "now",
        "number",
        "original",
        "originally",
        "other",
        "percent",
        "percentage",
        "present",
        "previously",
        "recent",
        "recently",
        "report",
        "say",
        "size",
        "so",
        "still",
        "symbol",
        "tell",
        "there",
        "ticker",
        "time",
        "today",
        "will",
        "would",
        "year",
        "yet",
    ]
)
"""Words without a part in what a question asks for."""

_LIGHT = frozenset(
    [
        "agree",
        "aim",
        "become",
        "come",
        "company",
        "decide",
        "firm",
        "get",
        "give",
        "go",
        "group",
        "happen",
        "hold",
        "hope",
        "intend",
        "keep",
        "know",
        "let",
        "make",
        "need",
        "part",
        "people",
        "place",
        "plan",
        "put",
        "seem",
        "set",
        "take",
        "thing",
        "think",
        "try",
        "want",
    ]
)
"""Words of little meaning of their own."""

_EARLIER = re.compile(
    r"\b(?:before|previous(?:ly)?|formerly|former|original(?:ly)?|initial(?:ly)?|at first|earlier|prior|used to|old"
    r"|a year ago|same \w+ last year|the year before)\b",
    re.I,
)
_FIRST = re.compile(r"\b(?:original(?:ly)?|initial(?:ly)?|at first|first)\b", re.I)
_LATEST = re.compile(
    r"\b(?:now|current(?:ly)?|latest|at present|today|at the moment|final(?:ly)?|in the end|still|by now)\b", re.I
)


@dataclass(frozen=True)
class Term:
    """A word of a question that a statement should have.

    Attributes:
        lemma: The word.
        long: The verb with its particle, or the word.
        place: Its number in the question.
        weight: Its weight.
        title: The title of a person that it names, or ``""``.
    """

    lemma: str
    long: str
    place: int
    weight: float
    title: str = ""


@dataclass(frozen=True)
class Asked:
    """A question.

    Attributes:
        text: As asked.
        parse: Its tree.
        words: Its parts by patterns.
        kinds: The kinds that its answer may have.
        noun: The noun that the answer is one of: "broker" of "which broker".
        plural: Whether it asks for several.
        entities: The names with the number of their word, or :data:`ELSEWHERE`.
        terms: Its other words.
        predicate: The number of the word that the gap belongs to, or ``None``.
        gap: The role of the gap.
        period: The days that it names.
        earlier: Whether it asks for a former value.
        first: Whether it asks for the first value.
        latest: Whether it asks for the newest value.
        unknown: Capitalised words that occur in no document.
    """

    text: str
    parse: SyntaxTree
    words: NewsQuestion
    kinds: tuple[str, ...]
    noun: str
    plural: bool
    entities: tuple[tuple[Entity, int], ...]
    terms: tuple[Term, ...]
    predicate: int | None
    gap: str
    period: Period | None
    earlier: bool
    first: bool
    latest: bool
    unknown: tuple[str, ...]


def parse_question(text: str, library: Library, parser: SentenceParser) -> Asked:
    """Parses a question.

    Args:
        text: The question.
        library: The documents that it is asked about.
        parser: The parser.
    """
    text = spelled_periods(text, library.has_word)
    words = parse_words(text, library.directory)
    spans = [(*_span(text, entity, start, library), entity) for entity, start in words.entities]
    spans = [(start, end, entity) for start, end, entity in spans if end > start and not is_word(text[start:end])]
    cased = text
    for start, end, _ in spans:
        if cased[start:end].islower():
            cased = cased[:start] + cased[start:end].title() + cased[end:]
    parse = parser.parse([cased[:1].upper() + cased[1:]])[0]
    gap, phrase = _gap(parse)
    predicate, role = _predicate(parse, gap)
    roles = [(m.start(), m.end(), language().role_of(m[0])) for m in language().role_pattern.finditer(text)]
    entities = tuple((entity, _head(parse, start, end)) for start, end, entity in spans)
    taken = [(start, end) for start, end, _ in spans]
    kinds, noun = wanted_kinds(parse, phrase, words)
    if words.polar and not roles and _LEADS.search(text) and any(entity[0] == "person" for _, _, entity in spans):
        roles = [(*_leading(text), "chief executive")]
    if words.role and not roles:
        roles = [(*_leading(text), words.role)]
    terms = _terms(parse, phrase, taken, roles, library, noun if kinds[:1] != ("count",) else "")
    noun = "" if roles and kinds == ("person", "company") else noun
    before = _EARLIER.search(text)
    return Asked(
        text,
        parse,
        words,
        kinds,
        noun,
        _asks_for_several(text, parse, phrase, words.plural, kinds),
        entities,
        terms,
        predicate,
        role,
        words.period,
        before is not None,
        _FIRST.search(text) is not None,
        _LATEST.search(text) is not None,
        tuple(_unknown(parse, taken, library)),
    )


def _asks_for_several(
    text: str, parse: SyntaxTree, phrase: frozenset[int], plural: bool, kinds: tuple[str, ...]
) -> bool:
    """Whether a question asks for several names: "which actors", "name the investors"; "what were sales" does not."""
    if kinds[:1] and kinds[0] in _AMOUNTS and len(kinds) < 5:
        return False
    if plural or re.match(r"(?:who (?:are|were)|name|list)\b", text, re.I):
        return True
    last = parse.tokens[max(phrase)] if len(phrase) > 1 else None
    if last is None or last.part != "NOUN":
        return False
    return last.lemma != last.text.lower() and singular(last.text.lower()) == last.lemma


_AMOUNTS = frozenset(("money", "percent", "count", "duration", "measure", "rating"))


_LEADS = re.compile(
    r"\b(?:is |are )?(?:runs?|ran|running|leads?|led|leading|heads?|headed|heading|in charge(?: of| at)?"
    r"|at the helm(?: of)?|at the top(?: of)?|chairs?|chaired|boss(?:es)?)\b",
    re.I,
)


def _leading(text: str) -> tuple[int, int]:
    """Returns the span of the words that ask for the head of a company without a title."""
    found = _LEADS.search(text)
    return found.span() if found is not None else (0, 0)


def _span(text: str, entity: Entity, start: int, library: Library) -> tuple[int, int]:
    """Returns the longest span from an offset that names an entity."""
    ends = [match.end() for match in re.finditer(r"[\w&.'’-]*[\w.]", text[start:])][:7]
    for end in reversed(ends):
        name = re.sub(r"['’]s?$", "", text[start : start + end].rstrip(".?, "))
        if library.directory.find(name) == entity:
            return start, start + len(name)
    return start, start


def _head(parse: SyntaxTree, start: int, end: int) -> int:
    token = parse.head_of(start, end)
    return token.place if token is not None else 0


def _gap(parse: SyntaxTree) -> tuple[int | None, frozenset[int]]:
    """Returns the head of the question phrase, and the phrase's words."""
    first = next((token for token in parse.tokens if token.lemma in _WH or token.text.lower() in _WH), None)
    if first is None:
        return None, frozenset()
    phrase, current = {first.place}, first
    while current.relation in ("det", "advmod", "amod", "poss", "nummod") and current.head != current.place:
        head = parse.tokens[current.head]
        if head.part in ("VERB", "AUX") or head.place < first.place:
            break
        if current.relation == "advmod" and head.part not in ("ADJ", "ADV", "NOUN", "DET", "PRON"):
            break
        current = head
        phrase.add(current.place)
    return current.place, frozenset(phrase)


def _predicate(parse: SyntaxTree, gap: int | None) -> tuple[int | None, str]:
    """Returns the word that the gap belongs to, and the gap's role; of "tried to buy" it is "buy"."""
    place, role = _governor(parse, gap)
    while place is not None and parse.tokens[place].part == "VERB":
        deeper = [child for child in parse.children[place] if parse.tokens[child].relation == "xcomp"]
        if not deeper or parse.tokens[deeper[0]].part != "VERB":
            break
        place = deeper[0]
    return place, role


def _governor(parse: SyntaxTree, gap: int | None) -> tuple[int | None, str]:
    if gap is None:
        return None, OTHER
    token = parse.tokens[gap]
    if token.head == gap:
        return None, OTHER
    head = parse.tokens[token.head]
    if head.lemma == "do":
        verb = next((one for one in parse.tokens[head.place + 1 :] if one.part == "VERB"), None)
        if verb is not None:
            between = parse.tokens[head.place + 1 : verb.place]
            named = any(one.part in ("NOUN", "PROPN", "PRON") for one in between)
            return verb.place, PATIENT if named else AGENT
    if head.part == "ADP" and head.head != head.place:
        return head.head, head.lemma
    if head.lemma == "be":
        others = [parse.tokens[child] for child in parse.children[head.place] if child != gap]
        nouns = [one for one in others if one.relation in ("nsubj", "attr", "acomp", "csubj")]
        if nouns and token.relation in ("nsubj", "attr", "acomp", "advmod"):
            return nouns[0].place, EQUAL
        return head.place, role_of(parse, gap, head.place)
    if token.lemma in ("where", "when"):
        return head.place, token.lemma
    return head.place, role_of(parse, gap, head.place)


def _terms(
    parse: SyntaxTree,
    phrase: frozenset[int],
    taken: list[tuple[int, int]],
    roles: list[tuple[int, int, str]],
    library: Library,
    noun: str,
) -> tuple[Term, ...]:
    found: list[Term] = []
    for start, end, title in roles:
        if not any(start < last and first < end for first, last in taken):
            found.append(Term(title, title, _head(parse, start, end), 1.0, title))
    for token in parse.tokens:
        in_role = any(start <= token.start < end for start, end, _ in roles)
        in_name = any(start <= token.start < end for start, end in taken)
        if in_role or in_name or not _is_content(token, phrase, noun):
            continue
        light = token.part in ("ADJ", "ADV") or token.lemma in _LIGHT
        weight = library.weight(token.lemma) * (0.5 if light else 1.0)
        found.append(Term(token.lemma, with_particle(parse, token), token.place, max(weight, 0.2)))
    return tuple(found)


def _is_content(token: SyntaxToken, phrase: frozenset[int], noun: str) -> bool:
    if token.part == "NUM" and not re.search(r"[A-Za-z]", token.text):
        return False
    if token.part not in CONTENT or token.lemma in _EMPTY or token.label in ("DATE", "TIME"):
        return False
    if not re.search(r"\w\w", token.text) or token.lemma in _WH:
        return False
    return not (token.place in phrase and noun and token.text.lower() == noun)


def _unknown(parse: SyntaxTree, taken: list[tuple[int, int]], library: Library) -> list[str]:
    return [
        token.text
        for token in parse.tokens[1:]
        if token.part == "PROPN"
        and token.text[:1].isupper()
        and not any(start <= token.start < end for start, end in taken)
        and not library.has_word(token.lemma)
        and token.label not in ("DATE", "TIME")
        and language().role_pattern.fullmatch(token.text) is None
    ]
