"""The day on which an event took place, where its sentence states an earlier one than its document's.

"The watchdog fined Quorate Devices $640,000 in 2023."     document of 13 November 2026
2023-01-01
"""

from __future__ import annotations

import re

from kg.news.matching import FrameMatch
from kg.sentences import Mention, Sentence

_REPORTED = frozenset(("earnings", "guidance", "dividend", "share_price", "price_change", "rate_decision"))
"""Kinds of events whose dates are those of a period or of a payment."""

_OTHER_ACT = re.compile(
    r"[;:]|,(?!\d)|\b(?:and|but|which|who|that|after|before|when|while|since|than|against|compared|first"
    r"|announced|agreed|dated|ended|ending|filed|founded|made|opened|produced|published|signed)\b"
)
"""What stands between an act and a date that is of another act: "the offer announced on 5 October"."""

_AT = re.compile(r"\b(?:on|in|during)(?: (?:the )?(?:early|late|mid))?[ -]$", re.IGNORECASE)
_FIRST = re.compile(r"(?:(?:on|in|during) (?:(?:early|late) )?)?", re.IGNORECASE)


def stated_day(sentence: Sentence, match: FrameMatch, published: str) -> str:
    """Returns the first day of the earlier time that a sentence states of an act, or an empty text.

    Args:
        sentence: The sentence.
        match: The frame of the act.
        published: The document's day.
    """
    if match.frame.event in _REPORTED or match.status in ("pending", "possible"):
        return ""
    for mention in sentence.mentions:
        is_past = mention.kind == "date" and mention.value < published[: len(mention.value)]
        if is_past and mention.noun != "weekday" and _is_of(sentence.text, match, mention):
            return (mention.value + "-01-01")[:10]
    return ""


def _is_of(text: str, match: FrameMatch, mention: Mention) -> bool:
    """Whether a date is of the act: after it with "on" or "in", or at the beginning of the sentence."""
    stated = _AT.search(text[: mention.start]) or mention.text.lower().startswith(("last ", "yesterday"))
    if mention.start >= match.trigger.end:
        return bool(stated) and _OTHER_ACT.search(text[match.trigger.end : mention.start]) is None
    between = text[mention.end : match.trigger.start].removeprefix(",")
    return _FIRST.fullmatch(text[: mention.start]) is not None and _OTHER_ACT.search(between) is None
