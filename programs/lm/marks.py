"""Texts of reports without the marks that a chat format or a prompt would read as its own."""

from __future__ import annotations

import re
import unicodedata

_SPECIAL = re.compile(
    r"<\s*[|｜]\s*/?\s*([^<>|｜]{0,60}?)\s*[|｜]\s*>|<\s*/?\s*(s|bos|eos|start_of_turn|end_of_turn)\s*>"
    r"|<<\s*/?\s*(SYS)\s*>>|\[\s*/?\s*(INST)\s*\]"
)
"""Tokens by which chat formats divide messages: ``<|im_end|>``, ``</s>``, ``<start_of_turn>``, ``[INST]``."""

_TAG = re.compile(r"<\s*/?\s*([a-z_]{1,24})\s*>", re.IGNORECASE)
_FIELD = re.compile(r"\[\[\s*##\s*([\w ]{0,40}?)\s*##\s*\]\]")
"""The marks of DSPy's chat layout."""

_FENCE = re.compile(r"`{3,}|~{3,}|^#+\s|-{4,}|={4,}|(?<=\[)\[\s*##|##\s*\](?=\])")


def without_special_tokens(text: str) -> str:
    """A text in which nothing reads as a token that divides the messages of a chat; all else is as it was."""
    return _without(_SPECIAL, text)


def plain_text(text: str) -> str:
    """Words of a report on one line, without marks that a chat format or a prompt would take for its own."""
    # Format characters are removed, not spaced: they may hide within a mark.
    seen = "".join(" " if unicodedata.category(one) in ("Cc", "Zl", "Zp") else one for one in text)
    seen = "".join(one for one in seen if unicodedata.category(one) != "Cf")
    seen = _without(_FIELD, _without(_TAG, without_special_tokens(" ".join(seen.split()))))
    return " ".join(_FENCE.sub(" ", seen).split())


def _without(marks: re.Pattern[str], text: str) -> str:
    """Returns a text with its marks replaced by words in parentheses, so the texts around a mark stay separate."""
    previous = None
    while previous != text:
        previous = text
        text = marks.sub(lambda match: f"({next((part for part in match.groups() if part), '')})", text)
    return text
