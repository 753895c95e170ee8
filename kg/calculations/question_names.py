"""The demands of a question on names: their number, their order, a rank, bounds.

    >>> read_names("rank the years by revenue, best first").every
    True
    >>> read_names("which segments were above 450 million?").bounds
    Bounds('above', (Quantity(450, scale=10**6),))

The words are those of English grammar for ranks, bounds and time. Whether "mildest" asks for the largest or the
smallest figure is for the learned weights of the search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kg.text import Quantity, find_number_words, find_quantities

_COUNTS = {word: number for number, word in enumerate(("two", "three", "four", "five", "six"), start=2)}
_SUPERLATIVE = (
    r"(?:most|least|top|bottom"
    r"|(?!(?:inter|inv|rein|reinv|harv|requ|for|prot|cont|sugg|man|mod|hon|dig|cr|r|t|w|n|gu|qu)est\b)\w+est)"
)
_COUNTED = re.compile(
    rf"\b(?:top|bottom|first|last)\s+({'|'.join(_COUNTS)}|[2-6])\b|\b({'|'.join(_COUNTS)}|[2-6])\s+{_SUPERLATIVE}\b",
    re.IGNORECASE,
)
_ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
_RANKED = re.compile(rf"\b({'|'.join(_ORDINALS)})[\s-]+{_SUPERLATIVE}\b|\b(runner[\s-]?up)\b", re.IGNORECASE)
_EVERY = re.compile(
    r"\b(?:rank|ranking|sort|arrange|order)\b|\bfrom (?:high|low|top|large|small|big|best|worst)\w*\b"
    rf"|\b(?:high|low|large|small|big) to \w+|\b{_SUPERLATIVE} first\b|\bin (?:\w+ )?order\b",
    re.IGNORECASE,
)
_EXTREME = re.compile(rf"\b{_SUPERLATIVE}\b|\bpeak", re.IGNORECASE)
_TIMES = ("year", "quarter", "month", "date", "period", "day", "week")
_TIME = re.compile(rf"\b(when|{'|'.join(_TIMES)})s?\b", re.IGNORECASE)
_TIME_ASKED = re.compile(
    rf"\bwhen\b|\b(?:which|what)\b(?:\s+(?!the\b|was\b|were\b|is\b|did\b|had\b)[\w-]+){{0,3}}?\s+(?:{'|'.join(_TIMES)})s?\b",
    re.IGNORECASE,
)
_TIME_DEMANDED = re.compile(
    r"^\W*(?:(?:and|so|then|but|also|in|at|on|by|as|of|for|until|since|during|from|through)\s+)*"
    r"(?:when\s+(?:is|are|was|were|did|do|does|will|would|has|have|had|can|could|should|must)\b"
    r"|(?:which|what)\s+(?:(?!(?:about|the|was|were|is|are|did|had)\b)[\w-]+\s+){0,2}?"
    rf"(?:{'|'.join(_TIMES)})s?\b(?!['-]))",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?P<at_least>at least|no (?:less|fewer) than|or more)\b|\b(?P<at_most>at most|no more than|or less|up to)\b"
    r"|\b(?P<above>above|over|exceed(?:s|ed|ing)?|(?:more|greater|higher|larger|bigger|better) than|north of|beyond)\b"
    r"|\b(?P<below>below|under|(?:less|fewer|lower|smaller|worse) than|short of)\b|\b(?P<between>between)\b",
    re.IGNORECASE,
)
_REACH = 30
MOST_OPTIONS = 6
_EXCEPT = re.compile(
    r"\b(?:exclud(?:e|es|ed|ing)|except|besides|apart from|aside|leaving|without|not counting|ignoring|other than)\b",
    re.IGNORECASE,
)

_WH = r"(?:which|what|who|whose|when|where|did|does|do|was|were|is|are|has|have|had|rank|list|name|by)"
_PAUSE = re.compile(r"\s*[,;:?]\s*|\s+[-\u2013\u2014]\s+")
_JOINED = (re.compile(r"\s+(?:or|vs\.?|versus)\s+", re.IGNORECASE), re.compile(r"\s+and\s+", re.IGNORECASE))
_LEADING = re.compile(r"^(?:(?:and|or|of|between|among|from|the|its|their|either|both)\s+)+", re.IGNORECASE)
_PLURAL = re.compile(
    r"\b(?:which|what)\s+(?:(?!(?:of|the|is|are|was|were|did|had|has|have)\b)(?!\w+ed\b)[\w-]+\s+){0,2}?"
    r"(?!(?:is|was|has|this|its|does)\b)\w+[^\Ws]s\b(?!\s+(?:is|was|has|does|the|an?|its|their|in|up|down)\b)",
    re.IGNORECASE,
)
_FALL = re.compile(
    r"\b(?:cut|reduc|decreas|declin|drop|fell|fall|los[et]|loss|shr[aiu]nk|offset|hurt|drag|took"
    r"|(?:pull|bring|push)\w*(?: \w+)? down)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Bounds:
    """Figures between which the asked ones are.

    Attributes:
        operation: ``above``, ``at_least``, ``below``, ``at_most`` or ``between``.
        figures: One, or two for ``between``.
    """

    operation: str
    figures: tuple[Quantity, ...]


@dataclass(frozen=True)
class AskedNames:
    """The demands of a question on names.

    Attributes:
        count: How many names, at least 1.
        rank: The rank of the one name; 1 for the first.
        every: Whether all names are asked for in order.
        extreme: Whether it has a superlative.
        time: The unit of time that it asks for, ``when``, or empty: the question asks for no time.
        names_time: Whether it has any word of time.
        either: Whether it has an "or".
        excepts: Whether it leaves something out.
        bounds: The bounds, if it names any.
        demands_time: Whether it begins by asking for a time, so that its answer is one.
        options: The things that it names for a choice: "fixed" and "variable".
        plural: Whether it asks for several names: "which years".
        falls: Whether it has a word for a loss or a decrease.
    """

    count: int
    rank: int
    every: bool
    extreme: bool
    time: str
    names_time: bool
    either: bool
    excepts: bool
    bounds: Bounds | None
    demands_time: bool = False
    options: tuple[str, ...] = ()
    plural: bool = False
    falls: bool = False


def read_names(question: str) -> AskedNames:
    """Reads a question."""
    ranked = _RANKED.search(question)
    rank = 1 if ranked is None else _ORDINALS.get((ranked[1] or "").lower(), 2)
    asked, named = _TIME_ASKED.search(question), _TIME.search(question)
    time = ""
    if asked is not None:
        found = _TIME.findall(asked[0])
        time = found[-1].lower() if found else "when"
    return AskedNames(
        count=asked_count(question),
        rank=rank,
        every=_EVERY.search(question) is not None and rank == 1,
        extreme=_EXTREME.search(question) is not None,
        time=time,
        names_time=named is not None,
        either=re.search(r"\bor\b", question, re.IGNORECASE) is not None,
        excepts=_EXCEPT.search(question) is not None,
        bounds=_bounds(question),
        demands_time=_TIME_DEMANDED.match(question) is not None,
        options=_options(question),
        plural=_PLURAL.search(question) is not None,
        falls=_FALL.search(question) is not None,
    )


def _options(question: str) -> tuple[str, ...]:
    """The parts of the clause of a question that has no verb of its own: "a, b or c"."""
    parts = [part for part in _PAUSE.split(question.strip()) if part]
    plain = [re.search(rf"\b{_WH}\b", part, re.IGNORECASE) is None for part in parts]
    for joined in _JOINED:
        for place, part in enumerate(parts):
            if not plain[place] or not joined.search(part):
                continue
            start = place
            while start and plain[start - 1]:
                start -= 1
            names = [name for one in parts[start : place + 1] for name in joined.split(one)]
            found = [name for name in (_LEADING.sub("", one).strip() for one in names) if name]
            return tuple(found) if 2 <= len(found) <= MOST_OPTIONS else ()
    return ()


def asked_count(question: str) -> int:
    """The number of names that a question asks for, in order: 3 for "the three largest" and "the top three", else 1."""
    match = _COUNTED.search(question)
    if match is None:
        return 1
    word = (match[1] or match[2]).lower()
    return _COUNTS.get(word) or int(word)


def _bounds(question: str) -> Bounds | None:
    quantities = [one for one in (*find_quantities(question), *find_number_words(question)) if not _is_year(one)]
    quantities.sort(key=lambda one: one.start)
    for match in _BOUND.finditer(question):
        operation = match.lastgroup
        assert operation is not None
        near = [one for one in quantities if 0 <= one.start - match.end() <= _REACH]
        if match[0].lower() in ("or more", "or less"):
            near = [one for one in reversed(quantities) if 0 <= match.start() - one.end <= 2]
        wanted = 2 if operation == "between" else 1
        if len(near) >= wanted:
            return Bounds(operation, tuple(near[:wanted]))
    return None


def _is_year(one: Quantity) -> bool:
    return one.scale == 1 and one.unit == "plain" and one.value == int(one.value) and 1950 <= one.value <= 2049
