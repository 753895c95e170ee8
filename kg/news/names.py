"""Names in the forms in which they are compared, and in a text.

>>> plain_name("The Helixon Semiconductors Inc.")
'helixon semiconductors'
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_ARTICLES = ("the", "a", "an")
_LEGAL_FORMS = frozenset(
    re.findall(
        r"\w+",
        "inc corp corporation co ltd limited llc lp plc as aps oy srl sarl bhd ltda ag se sa nv bv ab asa oyj spa gmbh "
        "kg kk pty holdings holding",
    )
)
_TITLES = frozenset(("Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "Professor", "Sir", "Dame", "Lord", "Lady"))


@cache
def plain_name(name: str) -> str:
    """Returns a name in lower case without accents, punctuation, article, title and legal form."""
    split = unicodedata.normalize("NFKD", name)
    text = "".join(letter for letter in split if not unicodedata.combining(letter))
    text = re.sub(r"['’]s\b", "", text).replace("S.p.A", "SpA").replace("A/S", "AS")
    words = re.findall(r"[\w&]+(?:-\w+)*", re.sub(r"\b([A-Z])\.([A-Z])\.?(?!\w)", r"\1\2", text))
    while len(words) > 1 and words[-1].lower() in _LEGAL_FORMS:
        words = words[:-1]
    while len(words) > 1 and (words[0].lower() in _ARTICLES or words[0] in _TITLES):
        words = words[1:]
    return " ".join(words).lower()


@cache
def name_pattern(name: str) -> re.Pattern[str]:
    """Returns what matches a name in a text, with or without its article; one of several words matches in any case."""
    words = name.split()
    if len(words) > 1 and words[0].lower() in _ARTICLES:
        words = words[1:]
    several = len(name.split()) > 1
    before = r"(?:(?:[Tt]he|[Aa]n?)\s+)?" if several else ""
    body = r"\s+".join(map(re.escape, words))
    return re.compile(rf"(?<![\w-]){before}{body}(?![\w-])", re.IGNORECASE if several else 0)
