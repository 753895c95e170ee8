"""Suggestions of similar names, for error messages.

>>> nearest("net_revenu", ["net_revenue", "net_income", "goodwill"])
'the nearest are: net_revenue'
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_OFFERED = 5
_LIKE = 0.5


def nearest(name: str, names: Iterable[str]) -> str:
    """The names most similar to one, as a phrase; the first few names if none is similar."""
    known = sorted(set(names))
    if not known:
        return "there are none"
    wanted = name.lower()

    def likeness(other: str) -> float:
        if wanted and wanted in other.lower():
            return 1.0
        matcher = SequenceMatcher(None, wanted, other.lower(), autojunk=False)
        return matcher.ratio() if matcher.quick_ratio() > _LIKE else 0.0

    scored = sorted(((likeness(other), other) for other in known), key=lambda pair: (-pair[0], pair[1]))
    close = [other for score, other in scored[:_OFFERED] if score > _LIKE]
    if close:
        return "the nearest are: " + ", ".join(close)
    more = f", and {len(known) - _OFFERED} more" if len(known) > _OFFERED else ""
    return "there are: " + ", ".join(known[:_OFFERED]) + more
