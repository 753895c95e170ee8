"""A question about news as its parts: the wanted kind of answer, names, dates, titles and the words that remain.

>>> parse_question("how many jobs is kestrel cutting", directory).kinds
('count',)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from kg.news.kinds import ANY, kind_of
from kg.sentences import Directory, Entity, frames, inflected, language
from kg.text import Period, periods, stem, year

_WH = {"who": ("person", "company"), "whom": ("person", "company"), "where": ("place",), "when": ("date",)}
_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "with",
        "by",
        "as",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "will",
        "would",
        "can",
        "could",
        "shall",
        "should",
        "may",
        "might",
        "it",
        "its",
        "his",
        "her",
        "their",
        "there",
        "this",
        "that",
        "these",
        "those",
        "he",
        "she",
        "they",
        "who",
        "whom",
        "whose",
        "what",
        "which",
        "where",
        "when",
        "how",
        "much",
        "many",
        "now",
        "currently",
        "current",
        "latest",
        "moment",
        "present",
        "still",
        "ever",
        "then",
        "than",
        "into",
        "out",
        "up",
        "down",
        "so",
        "far",
        "already",
        "just",
        "yet",
        "also",
        "any",
        "some",
        "all",
        "each",
        "one",
        "ones",
        "name",
        "tell",
        "me",
        "please",
        "give",
        "list",
        "most",
        "according",
        "news",
        "end",
        "last",
        "finally",
        "eventually",
        "about",
        "after",
        "before",
        "previously",
        "former",
        "formerly",
        "earlier",
        "late",
        "later",
        "new",
        "first",
        "final",
        "until",
        "by",
        "due",
        "supposed",
        "exactly",
        "today",
        "big",
        "large",
        "high",
        "long",
        "old",
        "far",
        "s",
        "t",
        "not",
        "no",
        "yes",
        "per",
        "did",
        "get",
        "got",
        "because",
        "'s",
    ]
)
_NOW = re.compile(
    r"\b(?:now|currently|at the moment|at present|these days|today|by now|in the end|latest|so far|still)\b",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\b(?:in charge(?: of| at)?|chairs|chaired|runs?|running|ran|at the helm(?: of)?|leads?|leading|heads?(?! offices?| quarters?| of)|led|top job(?: at)?|boss of|in the top job)\b",  # noqa: E501
    re.IGNORECASE,
)


@dataclass
class NewsQuestion:
    """A question.

    Attributes:
        text: As asked.
        kinds: The kinds that its answer may have.
        noun: The noun after "which", "what" or "how many".
        plural: Whether it asks for several.
        entities: The named entities, each with the offset of its name.
        period: The days that it names.
        now: Whether it asks for the present.
        role: The title that it names.
        words: The base forms of the words that remain, each with its offset.
        polar: Whether it asks for yes or no.
        extreme: 1 for the most, -1 for the least, 0 for neither.
        unknown: A name that is none of the graph's.
    """

    text: str
    kinds: tuple[str, ...] = ()
    noun: str = ""
    plural: bool = False
    entities: list[tuple[Entity, int]] = field(default_factory=list)
    period: Period | None = None
    now: bool = False
    role: str = ""
    words: list[tuple[str, int]] = field(default_factory=list)
    polar: bool = False
    extreme: int = 0
    unknown: str = ""

    @property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()


@cache
def _bases() -> dict[str, str]:
    """Returns for each form of a word of the table its base form."""
    table = frames()
    words = [
        w for r in table.relations.values() for group in (r.words, r.also, r.needs, r.subject, r.object) for w in group
    ]
    words += [*table.up, *table.down, *(verb for frame in table.frames for verb in frame.verbs)]
    singles = dict.fromkeys(
        part for word in words for part in re.findall(r"[a-z-]+", word.lower()) if part not in _STOP
    )
    return {form: base for base in reversed(list(singles)) for form in (base, *inflected(base))}


@cache
def base(word: str) -> str:
    """Returns the base form of a word of the table, or the stem of another word."""
    lower = word.lower()
    known = _bases()
    if lower in known:
        return stem(known[lower])
    for ending in ("s", "es"):
        if lower.endswith(ending) and lower[: -len(ending)] in known:
            return stem(known[lower[: -len(ending)]])
    return stem(lower)


def base_words(text: str) -> frozenset[str]:
    """Returns the base forms of a text's words."""
    return frozenset(base(word) for word in re.findall(r"[A-Za-zÀ-ž]+(?:-[A-Za-zÀ-ž]+)*", text)) | frozenset(
        base(word) for word in re.findall(r"[A-Za-zÀ-ž]+", text)
    )


def parts_of(question: str) -> list[str]:
    """Returns the questions that one question asks: "whom did it buy, and for how much?" asks two."""
    found = re.split(
        r",? and (?=(?:(?:for|by|to|in|on|at|from|with|of|since) )?(?:how|who|whom|when|where|what|which)\b)", question
    )
    return [part.strip() for part in found if part.strip(" ,?")]


def parse_question(text: str, directory: Directory) -> NewsQuestion:
    """Parses a question.

    Args:
        text: The question.
        directory: The known names.
    """
    asked = NewsQuestion(text, now=_NOW.search(text) is not None)
    rest = text
    for start, end, period in periods(text)[:1]:
        asked.period = period
        rest = _blank(rest, start, end)
    rest = _entities(asked, rest, directory)
    rest = _years(asked, rest)
    role = language().role_pattern.search(rest)
    if role is not None and role[0].lower() not in ("founder", "co-founder", "partner", "spokesman"):
        asked.role = language().role_of(role[0])
        rest = _blank(rest, *role.span())
    elif (runs := _RUNS.search(rest)) is not None and re.search(r"\bwho", text.lower()):
        left = re.findall(r"[a-z-]{3,}", _blank(rest, *runs.span()).lower())
        if all(word in _STOP for word in left):
            asked.role = "chairman" if runs[0].startswith("chair") else "chief executive"
            rest = _blank(rest, *runs.span())
    _kind(asked, rest)
    extreme = re.search(
        r"\b(?:(?:the )?(most|highest|largest|biggest|steepest|greatest|longest)|(?:the )?(least|lowest|smallest|cheapest|fewest))\b",  # noqa: E501
        rest,
        re.I,
    )
    if extreme is not None:
        asked.extreme = 1 if extreme[1] else -1
        rest = _blank(rest, *extreme.span())
    words = [(match[0], match.start()) for match in re.finditer(r"[A-Za-zÀ-ž]+(?:-[A-Za-zÀ-ž]+)*", rest)]
    asked.words = [(base(word), place) for word, place in words if word.lower() not in _STOP and len(word) > 1]
    if asked.noun and not {"money", "count"} & set(asked.kinds):
        asked.words = [(word, place) for word, place in asked.words if word != base(asked.noun)]
    return asked


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _years(asked: NewsQuestion, rest: str) -> str:
    for match in re.finditer(r"\b(?:19|20)\d\d\b", rest):
        if asked.period is None:
            asked.period = year(int(match[0]))
        rest = _blank(rest, *match.span())
    return re.sub(r"\b[Qq][1-4]\b", "  ", rest)


def _entities(asked: NewsQuestion, rest: str, directory: Directory) -> str:
    """Finds the longest names of the graph; a capitalised word that is none is noted."""
    tokens = [(m.start(), m.end()) for m in re.finditer(r"(?:[A-Z]\.)|[\w&]+(?:['’](?!s\b)\w+)?", rest)]
    place = 0
    while place < len(tokens):
        for size in range(min(7, len(tokens) - place), 0, -1):
            start, end = tokens[place][0], tokens[place + size - 1][1]
            found = directory.find(rest[start:end]) if _may_name(rest, start, end, size) else None
            if found is not None:
                asked.entities.append((found, start))
                rest = _blank(rest, start, end)
                place += size
                break
        else:
            start, end = tokens[place]
            word = rest[start:end]
            plain = (
                word.lower() in _STOP or language().role_pattern.fullmatch(word) or word.lower() in language().months
            )
            if place and word[:1].isupper() and not plain and not asked.unknown and word not in language().demonyms:
                asked.unknown = word
            place += 1
    return rest


def _may_name(text: str, start: int, end: int, size: int) -> bool:
    words = text[start:end]
    if "," in words or "?" in words or not re.search(r"\w", words):
        return False
    if size == 1 and (
        words.lower() in _STOP or (words.islower() and (words in _bases() or language().role_pattern.fullmatch(words)))
    ):
        return False
    return not (size > 1 and (words.split()[0].lower() in _STOP - {"the"} or words.split()[-1].lower() in _STOP))


def _kind(asked: NewsQuestion, rest: str) -> None:
    """Sets the kinds of the answer from the question word."""
    lower = " ".join(rest.lower().split())
    asked.polar = re.match(r"(?:is|are|was|were|did|does|do|has|have|had|will|can)\b", lower) is not None
    if re.search(r"\bhow many\b", lower):
        asked.kinds = ("count",)
        found = re.search(r"\bhow many (?:of (?:the )?)?([a-z-]+)", lower)
        asked.noun = found[1] if found else ""
    elif re.search(r"\bby how much\b|\bhow (?:far|steeply)\b|what percent", lower):
        asked.kinds = ("percent", "money")
    elif re.search(r"\bhow (?:much|big|large|high|expensive)\b", lower):
        asked.kinds = ("money", "percent", "rating")
        found = re.search(r"\bhow much (?:of )?([a-z-]+)", lower)
        asked.noun = found[1] if found else ""
    elif re.search(r"\bhow (?:long|tall|wide|deep|heavy)\b", lower) and not re.search(r"\bhow long ago\b", lower):
        asked.kinds = ("duration", "measure")
    elif re.search(r"\bhow old\b|\bsince when\b|\bhow long\b", lower):
        asked.kinds = ("date",)
    else:
        _named_kind(asked, lower)


def _named_kind(asked: NewsQuestion, lower: str) -> None:
    word = re.search(r"\b(who|whom|whose|where|when)\b", lower)
    which = re.search(r"\b(?:which|what)\b ?(?:of )?(?:the )?((?:[a-z-]+ ?){0,4})", lower)
    if word is not None and (which is None or word.start() < which.start()):
        asked.kinds = _WH.get(word[1], ())
        return
    if which is not None:
        for noun in which[1].split():
            if kind := kind_of(noun):
                asked.kinds = ("product", "name", "company") if kind == "product" else (kind,)
                asked.noun = noun
                asked.plural = noun.endswith("s") and not noun.endswith("ss")
                return
            if noun in _STOP - {"is", "was", "are", "were", "s", "the", "new", "final", "first", "latest", "current"}:
                break
        asked.kinds = ANY
    elif not asked.polar:
        _bare_kind(asked, lower)


def _bare_kind(asked: NewsQuestion, lower: str) -> None:
    """Sets the kinds of the answer of words without a question word to those of their head, "offer price per share"."""
    if asked.role:
        asked.kinds = _WH["who"]
        return
    asked.kinds = (*ANY, "person", "date")
    head = re.split(r",| (?:per|for|of|in|at|to|on|by|from|with)\b", lower)[0]
    for noun in reversed(re.findall(r"[a-z-]+", head)):
        if kind := kind_of(noun):
            asked.kinds, asked.noun = (kind,), noun
            return
