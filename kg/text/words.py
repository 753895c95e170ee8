"""Lower-case, lightly stemmed tokens, years and character n-grams of a text.

>>> tokens("What were the net revenues in 2008?")
['what', 'were', 'the', 'net', 'revenu', 'in', '2008']
>>> years("from 2008 to fiscal 2009")
(2008, 2009)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise

_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)?|&")
_YEAR = re.compile(r"(?<![\d.,$])(?:19[5-9]\d|20[0-4]\d)(?![\d,]|\.\d)")
_SHORT_YEAR = re.compile(r"\d{1,2}/\d{1,2}/(\d{4}|\d{2})(?!\d)")
_GLUED_YEAR = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?\d{1,2}((?:19[5-9]|20[0-4])\d)(?![\d,]|\.\d)",
    re.IGNORECASE,
)
_OFFERED = 5
"""Names that are suggested at the most."""

_LETTERS = str.maketrans({"ł": "l", "ı": "i", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ß": "ss", "æ": "ae", "œ": "oe"})
"""Latin letters that Unicode does not decompose (NFKD), each with its plain form; þ and ð follow by sound."""
_LETTERS |= str.maketrans({"þ": "th", "ð": "d"})


def folded(text: str) -> str:
    """A text in lower case without accents and punctuation."""
    split = unicodedata.normalize("NFKD", text)
    plain = "".join(letter for letter in split if not unicodedata.combining(letter)).lower().translate(_LETTERS)
    return " ".join(re.findall(r"['’]s\b|[^\W_]+(?:[.,]\d+)*", plain))


def spaced(name: str) -> str:
    """A local name as words: ``headOfState`` and ``head_of_state`` are ``head of state``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name).strip().lower()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its most frequent endings (``allocat`` of ``allocated`` and ``allocation``); short words as is."""
    word = singular(word)
    for ending in ("ing", "ion", "ed", "e"):
        if len(word) > len(ending) + 3 and word.endswith(ending) and not word.endswith("illion"):
            return word[: -len(ending)]
    return word


_IRREGULAR_TEXT = """
    men:man women:woman children:child mice:mouse feet:foot teeth:tooth geese:goose oxen:ox knives:knife wives:wife
    wolves:wolf shelves:shelf halves:half loaves:loaf thieves:thief calves:calf scarves:scarf buses:bus gases:gas
    shoes:shoe toes:toe foes:foe canoes:canoe hoes:hoe oboes:oboe
"""
_IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR_TEXT.split())


def singular(word: str) -> str:
    """A word without the ending of a plural; short words and numbers as is."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("oes"):
        return word[:-2]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def plural(word: str) -> str:
    """The regular plural of a word or of a phrase's last word: "delays", "losses", "deputies"."""
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "sh", "ch")) else "s")


def tokens(text: str) -> list[str]:
    """The stemmed words and numbers of a text, in order."""
    return [stem(word) for word in _TOKEN.findall(text.lower())]


STOPWORDS = frozenset(
    tokens(
        "a an and are as at be been being by did do does during each for from had has have how if in into is "
        "it its of on or per s so than that the their them then there these they this those to under was "
        "were what when which while who will with would much many value amount number company between over "
    )
)
"""Tokens without a meaning of their own in questions about figures."""


def content_tokens(text: str) -> list[str]:
    """The tokens of a text without stop words and years."""
    return [token for token in tokens(text) if token not in STOPWORDS and not _YEAR.fullmatch(token)]


def token_pairs(words: list[str]) -> list[str]:
    """Bigrams of tokens: ``["net", "revenue"]`` gives ``["net_revenue"]``."""
    return [f"{first}_{second}" for first, second in pairwise(words)]


def years(text: str) -> tuple[int, ...]:
    """The distinct years of a text, in order.

    Dates such as 12/31/04 count, and dates that lost a space, such as "december 312013".
    """
    found = [(match.start(), int(match[0])) for match in _YEAR.finditer(text)]
    found += [(match.start(1), _full_year(match[1])) for match in _SHORT_YEAR.finditer(text)]
    found += [(match.start(1), int(match[1])) for match in _GLUED_YEAR.finditer(text)]
    return tuple(dict.fromkeys(year for _, year in sorted(found)))


def _full_year(digits: str) -> int:
    """``04`` is 2004, ``98`` is 1998."""
    return int(digits) if len(digits) == 4 else (2000 if int(digits) < 50 else 1900) + int(digits)


def comparison(adjective: str) -> tuple[str, str]:
    """The comparative and the superlative by ending: "bigger", "biggest"; irregular ones are the caller's."""
    if adjective.endswith("e"):
        base = adjective[:-1]
    elif adjective.endswith("y"):
        base = adjective[:-1] + "i"
    elif re.search(r"[^aeiou][aeiou][bdgmnpt]$", adjective) and len(adjective) <= 4:
        base = adjective + adjective[-1]
    else:
        base = adjective
    return f"{base}er", f"{base}est"


def character_ngrams(text: str, size: int = 4) -> set[str]:
    """The character n-grams of a text's content words, with a space at both ends."""
    padded = f" {' '.join(content_tokens(text))} "
    return {padded[i : i + size] for i in range(max(len(padded) - size + 1, 0))}


def nearest(name: str, names: Iterable[str]) -> str:
    """The names most similar to one, as a phrase for an error message; the first few names if none is similar.

    >>> nearest("net_revenu", ["net_revenue", "net_income", "goodwill"])
    'the nearest are: net_revenue'
    """
    known = {other.lower(): other for other in sorted(set(names))}
    if not known:
        return "there are none"
    wanted = name.lower()
    holding = [other for other in known if wanted and wanted in other]
    close = list(dict.fromkeys([*holding, *get_close_matches(wanted, known, _OFFERED, cutoff=0.6)]))[:_OFFERED]
    if close:
        return "the nearest are: " + ", ".join(known[other] for other in close)
    more = f", and {len(known) - _OFFERED} more" if len(known) > _OFFERED else ""
    return "there are: " + ", ".join(list(known.values())[:_OFFERED]) + more
