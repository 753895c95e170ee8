"""A question as tags: names of the graph, adjectives, numbers, dates and other words, in order.

    >>> question = lexicon.question("Which countries border France?")
    >>> [tag.text for tag in question.tags if tag.known], question.entities
    (['countries', 'border', 'France'], ('https://w3id.org/finpath/geography#France',))

Texts are compared without case, accents, articles and endings of words; :func:`folded` and :func:`stemmed` say how.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property

from kg.text import SCALES, Period, last_periods, periods, stem

MOST_WORDS = 24
"""Words of the longest name that is sought in a question: names of events are sentences."""

_WORD = re.compile(r"\d+(?:[,.]\d+)*|[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*|['’]s\b")
_LETTERS = str.maketrans({"ł": "l", "ı": "i", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ß": "ss", "æ": "ae", "œ": "oe"})
"""Latin letters that Unicode does not decompose (NFKD), each with its plain form; þ and ð follow by sound."""
_LETTERS |= str.maketrans({"þ": "th", "ð": "d"})


@dataclass(frozen=True)
class DegreeTag:
    """An adjective in a question.

    Attributes:
        level: 0 for "large", 1 for "larger", 2 for "largest".
        sign: 1 for more, -1 for less.
        properties: The properties that the adjective measures in this graph, in order of preference; empty for words
            such as "highest", which name no measure.
    """

    level: int
    sign: int
    properties: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tag:
    """A piece of a question: a name or adjective of the graph, a number, a date or another word.

    Attributes:
        text: As written.
        start: The offset of its first character.
        end: The offset after its last character.
        word: The text in lower case without accents.
        entities: The entities of that name.
        properties: The properties of that name.
        classes: The classes of that name.
        degree: The adjective.
        number: The value of a number.
        inverses: The relations of that name from object to subject.
        values: Texts that are values in the graph, each with its property.
        period: The days of a date.
    """

    text: str
    start: int
    end: int
    word: str
    entities: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    degree: DegreeTag | None = None
    number: Decimal | None = None
    inverses: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    period: Period | None = None

    @property
    def known(self) -> bool:
        """Whether it names an entity, a property or a class of the graph."""
        return bool(self.entities or self.properties or self.classes)

    @property
    def named(self) -> bool:
        """Whether it is any word of the graph, a value or a date."""
        return self.known or bool(self.inverses or self.values or self.period)


@dataclass(frozen=True)
class Question:
    """A question with its tags, which are computed once.

    Attributes:
        text: As asked.
        tags: Its words and names, in order.
    """

    text: str
    tags: tuple[Tag, ...]

    @cached_property
    def entities(self) -> tuple[str, ...]:
        """The entities that the question names, in order."""
        return tuple(known_entities(self.tags))


def tagged(text: str, named: Callable[[str, int, int], Tag | None], newest: str = "") -> list[Tag]:
    """Returns the tags of a question: the longest names first, from left to right.

    Args:
        text: The question.
        named: Returns the tag of a name between two offsets, or ``None`` if the graph has no such name.
        newest: The day from which a month or day without a year is counted back, ``2026-05-12``; empty for none.
    """
    words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    dated = {start: (end, period) for start, end, period in periods(text)}
    without_year = last_periods(text, date.fromisoformat(newest)) if newest else []
    recurring = {start: (end, period) for start, end, period in without_year}
    tags: list[Tag] = []
    place = 0
    while place < len(words):
        start = words[place][0]
        if start in dated:
            end, period = dated[start]
            tags.append(Tag(text[start:end], start, end, folded(text[start:end]), period=period))
            place = next((i for i in range(place, len(words)) if words[i][0] >= end), len(words))
            continue
        count, tag = _longest(text, words[place : place + MOST_WORDS], named)
        if start in recurring and not tag.known:
            end, period = recurring[start]
            count = sum(1 for first, _ in words[place:] if first < end)
            tag = Tag(text[start:end], start, end, folded(text[start:end]), period=period)
        tags.append(tag)
        place += count
    return _scaled(tags)


def _longest(
    text: str, words: Sequence[tuple[int, int]], named: Callable[[str, int, int], Tag | None]
) -> tuple[int, Tag]:
    start = words[0][0]
    for count in range(len(words), 0, -1):
        end = words[count - 1][1]
        if count > 1 and any(mark in text[start:end] for mark in ",;:?!"):
            continue
        tag = named(text[start:end], start, end)
        if tag is not None:
            return count, tag
    word, end = text[start : words[0][1]], words[0][1]
    number = Decimal(word.replace(",", "")) if re.fullmatch(r"\d+(?:,\d{3})*(?:\.\d+)?", word) else None
    return 1, Tag(word, start, end, folded(word), number=number)


def _scaled(tags: list[Tag]) -> list[Tag]:
    """Joins a number with the scale after it: "70 million"."""
    result: list[Tag] = []
    for tag in tags:
        before = result[-1] if result else None
        if before is not None and before.number is not None and tag.word.removesuffix("s") in SCALES:
            number = before.number * SCALES[tag.word.removesuffix("s")]
            text = f"{before.text} {tag.text}"
            result[-1] = Tag(text, before.start, tag.end, f"{before.word} {tag.word}", number=number)
        else:
            result.append(tag)
    return result


def folded(text: str) -> str:
    """Returns a text in lower case without accents and punctuation."""
    split = unicodedata.normalize("NFKD", text)
    plain = "".join(letter for letter in split if not unicodedata.combining(letter)).lower().translate(_LETTERS)
    return " ".join(re.findall(r"['’]s\b|[^\W_]+(?:[.,]\d+)*", plain))


def stemmed(text: str) -> str:
    """Returns a text's words without endings: the common part of the forms of a name."""
    return " ".join(_stem(word) for word in folded(text).split())


def _stem(word: str) -> str:
    """Returns a stem that "movie" and "movies", "country" and "countries" share."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-2]
    found = stem(stem(word))  # twice: "mentioned", "mention" and "mentions" share a stem
    return found[:-1] + "i" if found.endswith("y") and len(found) > 3 else found


def spaced(name: str) -> str:
    """Returns a local name as words: ``headOfState`` and ``head_of_state`` are ``head of state``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name).strip().lower()


def known_entities(tags: Iterable[Tag]) -> list[str]:
    """Returns the entities that are named, in order; of several with one name the first."""
    return list(dict.fromkeys(tag.entities[0] for tag in tags if tag.entities))
