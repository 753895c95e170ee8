"""Words, years and sentences of a text, similar names, and lines of text by their words.

>>> tokens("What were the net revenues in 2008?")
['what', 'were', 'the', 'net', 'revenu', 'in', '2008']
>>> years("from 2008 to fiscal 2009")
(2008, 2009)
>>> split_sentences("Led by Capt. Ahab, she left. Élan plc paid $3 million.")
['Led by Capt. Ahab, she left.', 'Élan plc paid $3 million.']
>>> index = WordIndex([search_words("net sales of 2019"), search_words("net income"), search_words("goodwill")])
>>> index.best(search_words("What were the sales in 2019?"))
[0]
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)?|&")
_YEAR = re.compile(r"(?<![\d.,$])(?:19[5-9]\d|20[0-4]\d)(?![\d,]|\.\d)")
_SHORT_YEAR = re.compile(r"\d{1,2}/\d{1,2}/(\d{4}|\d{2})(?!\d)")
_GLUED_YEAR = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?\d{1,2}((?:19[5-9]|20[0-4])\d)(?![\d,]|\.\d)",
    re.IGNORECASE,
)
_OFFERED = 5
"""Names that are suggested at the most."""

_LETTERS = str.maketrans(dict(zip("łıøđħŧðßæœþ", [*"liodhtd", "ss", "ae", "oe", "th"], strict=True)))
"""Latin letters that Unicode does not decompose (NFKD), each with its plain form or by its sound."""


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


_UPPER = "A-Z" + "".join(chr(code) for code in range(0xC0, 0x250) if chr(code).isupper())
"""The capital letters of Latin alphabets, as part of a class of characters in a pattern."""

_ABBREVIATIONS = frozenset(
    """
    mr mrs ms mx dr prof capt cpt col cmdr gen lt maj sgt adm rev fr hon sen rep gov pres st ste mt ft cllr messrs
    inc corp ltd co bros no nos vol fig sec approx est dept univ vs cf
    jan feb mar apr jun jul aug sep sept oct nov dec
    """.split()  # noqa: SIM905
)
"""Words whose point ends no sentence; "inc." may end one, which cannot be told."""

_END = re.compile(rf"[.!?][\"”’')\]]*\s+(?=[\"“‘'(\[]?[{_UPPER}\d])")
_LAST_WORD = re.compile(r"([^\W\d_]+|\d+)\.$")


def split_sentences(text: str) -> list[str]:
    """Returns the sentences of a text; blanks between them go.

    A point behind an initial, an abbreviated title, month or legal form, or the number of an item ends none.

    Args:
        text: The text of one paragraph.
    """
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if _ends(text[start : match.start() + 1], text[match.end()]):
            found.append(text[start : match.end()].strip())
            start = match.end()
    return [one for one in (*found, text[start:].strip()) if one]


def _ends(before: str, following: str) -> bool:
    """Whether a text up to a point, and the first character after it, are a sentence and the begin of another."""
    word = _LAST_WORD.search(before)
    if word is None:
        return True
    if word[1].isdigit():  # "1. The bid"; "in 2019. The bid" ends
        return before.strip() != word[0] and not following.isdigit()
    is_initial = len(word[1]) == 1 and word[1].isupper()
    return not is_initial and word[1].lower() not in _ABBREVIATIONS


_SATURATION, _BY_LENGTH = 1.2, 0.75
"""BM25's k1 and b, at their usual values."""


def search_words(text: str) -> list[str]:
    """Returns the stemmed words of a text without stop words, then its years."""
    return [*content_tokens(text), *map(str, years(text))]


class WordIndex:
    """Lines by the words that they hold, the best first for a query (BM25).

    Args:
        lines: The words of each line; a word that occurs twice in a line counts twice.
    """

    def __init__(self, lines: Iterable[Iterable[str]]) -> None:
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        sizes: list[int] = []
        for place, words in enumerate(lines):
            counts = Counter(words)
            sizes.append(counts.total())
            for word, count in counts.items():
                self._counts[word][place] = count
        lengths = np.array(sizes, dtype=float)
        mean = lengths.mean() if lengths.any() else 1.0
        self._norms = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * lengths / mean)

    def scores(self, query: Iterable[str] | Mapping[str, float]) -> NDArray[np.float64]:
        """Returns the BM25 score of each line: 0 without a common word, otherwise above 0.

        Args:
            query: The words, or the words with their weights; a word that is given twice counts once.
        """
        scores = np.zeros(len(self._norms))
        weights = query if isinstance(query, Mapping) else dict.fromkeys(query, 1.0)
        for word, weight in weights.items():
            own = self._counts.get(word, {})
            places, counts = np.array([*own], dtype=int), np.array([*own.values()], dtype=float)
            rarity = math.log(1 + (len(scores) - len(places) + 0.5) / (len(places) + 0.5))
            scores[places] += weight * rarity * counts * (_SATURATION + 1) / (counts + self._norms[places])
        return scores

    def best(self, query: Iterable[str] | Mapping[str, float], most: int | None = None) -> list[int]:
        """Returns the places of the lines with a score above 0, best first; equal ones in the order of the lines.

        Args:
            query: The words, or the words with their weights.
            most: The most lines; without it, all.
        """
        scores = self.scores(query)
        order: list[int] = np.argsort(-scores, kind="stable")[: np.count_nonzero(scores)].tolist()
        return order[:most]
