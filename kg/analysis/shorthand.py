"""Shorthand of notes and messages, written out before a question is analysed.

>>> written_out("any w/o a broker, n who drives 'em?")
"any without a broker, and who drives 'em?"
"""

from __future__ import annotations

import re

_WORDS = {
    "avg": "average", "diff": "difference", "thru": "through", "pls": "please", "plz": "please", "ppl": "people",
    "approx": "about", "ur": "your",
}  # fmt: skip
_LETTERS = {"w": "with", "n": "and", "u": "you"}
"""What a letter stands for between words; after a number it may be a unit: "60 w"."""

_ALONE = r"(?<![\w/.&'’-])", r"(?![/.&'’-]\w)"
_PATTERN = re.compile(
    rf"{_ALONE[0]}(?:(?P<without>w/o\b)|(?P<slash>w/ ?(?=\w))|(?<!\d )(?P<letter>[{''.join(_LETTERS)}])(?= [a-z])"
    rf"|(?P<word>{'|'.join(_WORDS)})\b{_ALONE[1]})"
)


def written_out(question: str) -> str:
    """A question with its shorthand in lower case written out; initials and units stay."""
    return _PATTERN.sub(_long, question)


def _long(found: re.Match[str]) -> str:
    if found["slash"]:
        return "with "
    return "without" if found["without"] else _LETTERS.get(found[0]) or _WORDS[found[0]]
