"""The sentences of a text in English.

>>> split_sentences("Led by Capt. Ahab, she left. Élan plc paid $3 million.")
['Led by Capt. Ahab, she left.', 'Élan plc paid $3 million.']
"""

from __future__ import annotations

import re

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
