"""Headlines in title case, in which every word may look like a part of a name, and lines of place and day.

>>> is_title_case("Norvane Foods Reports Third Quarter Results")
True
>>> names_in_title("Norvane Foods Reports Third Quarter Results", (0, 43), {"Norvane Foods": True})
[(0, 13)]
>>> without_dateline("LONDON, Oct 26 - Tarrow raised its offer.")
'Tarrow raised its offer.'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kg.sentences.language import language

_TITLED = 0.7
"""The share of capitalised words from which a headline is in title case."""

_WHOLE = 5
"""Words from which a part of a headline is not a name as a whole."""

_LONG, _FEWEST = 3, 3
"""Letters up to which a word does not count, and the least number of words that count."""


_DAY = r"(?:[A-Z][a-z]{2,8}\.? \d{1,2}(?:,? \d{4})?|\d{1,2} [A-Z][a-z]{2,8},? \d{4})"
DATELINE = re.compile(rf"[A-Z][\w.,'’ -]{{0,60}}?\b{_DAY}(?: ?[(/][\w .&'-]{{2,40}}[)/])? ?(?:--?|[–—:]) ?(?=[A-Z\"“])")
"""The place and the day at the beginning of a document: "LONDON, Oct 26 - "."""


def without_dateline(sentence: str) -> str:
    """Returns a sentence without the place and the day before it."""
    match = DATELINE.match(sentence)
    return sentence[match.end() :] if match is not None else sentence


def is_title_case(headline: str) -> bool:
    """Whether a headline has capitals for most words of more than three letters, at least three of them."""
    long = [word for word in re.findall(r"[A-Za-z][\w&-]*", headline) if len(word) > _LONG]
    return len(long) >= _FEWEST and sum(word[0].isupper() for word in long) >= _TITLED * len(long)


def names_in_title(headline: str, span: tuple[int, int], names: Mapping[str, bool]) -> list[tuple[int, int]]:
    """Returns the spans of a document's names in a part of its headline, or the part itself if it has none.

    Words of organisations and legal forms after a name are part of it: "Norvane Group".

    Args:
        headline: The headline, in title case or in capitals.
        span: The part that looks like one name.
        names: The names of the text below, each with whether it is one wherever it is found: a word that only begins
            sentences is a name only where the part begins with it.
    """
    start, end = span
    found: list[tuple[int, int]] = []
    for name in sorted(names, key=len, reverse=True):
        pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        for match in re.finditer(pattern, headline[start:end], re.IGNORECASE):
            first, last = start + match.start(), start + match.end()
            if (first == start or names[name]) and not any(first < b and a < last for a, b in found):
                found.append((first, last))
    words = len(headline[start:end].split())
    if words < _WHOLE and not any(" " in headline[first:last] for first, last in found):
        return [span]  # "Palomar Systems", of which the text may have "Palomar" alone
    return [(first, _extended(headline, last, end)) for first, last in sorted(found)] or [span]


def body_names(names: Iterable[tuple[str, bool]]) -> dict[str, bool]:
    """Returns the names of a text for :func:`names_in_title`.

    Args:
        names: Each occurrence of a name, with whether other words go before it in its sentence.
    """
    found: dict[str, bool] = {}
    for name, is_inner in names:
        found[name] = found.get(name, False) or is_inner or " " in name
    return found


def _extended(headline: str, last: int, end: int) -> int:
    """Returns the end of a name with the words of organisations and the legal forms that follow it."""
    lists = language()
    forms = {form.strip(".").lower() for form in lists.legal_forms} | {
        word.lower() for word in lists.organisation_words
    }
    while (word := re.match(r",? ([\w&]+)", headline[last:end])) is not None and word[1].lower() in forms:
        last += word.end()
    return last
