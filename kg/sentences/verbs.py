"""The nouns around a verb: its object after it, or its subject before it.

>>> has_object(" its full-year sales forecast on Monday", ("forecast",))
True
>>> has_subject("its full-year sales forecast was ", ("forecast",))
True
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from kg.text import plural

_ENDS = r"(?:to|by|in|at|for|with|after|before|from|on|as|and|but|or|that|which|who|while|when|since|because|despite)"
_WORD = rf"(?!{_ENDS}\b)(?:[\w$€£%'’&-]|[.,](?=\d)|\.(?= ))+"


@cache
def _patterns(nouns: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    forms = {form for noun in nouns for form in (noun, plural(noun))}
    words = "|".join(sorted(map(re.escape, forms), key=len, reverse=True))
    after = re.compile(rf"^(?: (?:on|of) (?=(?:a|an|the|its)\b))?(?: {_WORD}){{0,6}}? (?:{words})(?![\w-])")
    between = rf"(?: (?:of|in|at|for|on|to) {_WORD}(?: {_WORD}){{0,3}})?(?:,? (?:which|that))?(?: {_WORD}){{0,3}}"
    return after, re.compile(rf"(?<![\w-])(?:{words})(?:['’]s)?{between} ?$")


def has_object(after: str, nouns: Sequence[str]) -> bool:
    """Whether the object of a verb is one of some nouns: one follows before any clause or phrase of place and time.

    Args:
        after: The words after the verb, in lower case.
        nouns: The nouns in the singular; their plurals count too.
    """
    return _patterns(tuple(nouns))[0].search(after) is not None


def has_subject(before: str, nouns: Sequence[str]) -> bool:
    """Whether one of some nouns precedes a verb, with at most a phrase and some words between.

    Args:
        before: The words before the verb, in lower case.
        nouns: The nouns in the singular; their plurals count too.
    """
    return _patterns(tuple(nouns))[1].search(before) is not None
