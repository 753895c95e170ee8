"""The status of an act by the words of its verb group: it happened, it is pending or possible, or it failed.

>>> status_of("Calderstone plc agreed on Monday to acquire Derby Group", 35, 42)
'pending'
>>> status_of("Calderstone plc failed to buy Derby Group", 26, 29)
'failed'

The words are data (``modality.json``). A verb in the infinitive has the status that its governor gives: ``agreed``,
``failed``, ``a deal``. A wish alone, as ``hopes``, makes it possible. Governors have a status of their own: "did not
agree to buy" failed, "may agree to buy" is possible. A noun such as "takeover" has the status that the verb before it,
its adjectives and the verb after it give.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from kg.sentences.language import inflected
from kg.text import plural

Status = Literal["", "pending", "possible", "failed"]
"""The empty text is what happened, as far as its sentence tells."""

_GROUP = r"(?:\w+ly|also|now|then|later|since|already|soon|again|still|yet|just|together|first|jointly|formally)"
_AUXILIARY = r"(?:be|been|being|is|are|was|were|am|has|have|had|having|do|does|did|get|got)"
BOUND = re.compile(
    r"[;:“”\"]|,? \b(?:while|although|but|because|after|before|when|since|that)\b |, and | - |(?<=[a-z])\. "
)
_LEAST_CERTAIN: tuple[Status, ...] = ("failed", "possible", "pending")

WORD = r"(?!(?:and|or|but|who|which|that|while|after|as)\b)(?:[\w$€£%.'’-]|,(?=\d))+"
"""A word that does not begin another clause."""

DETERMINER = r"(?:a|an|the|its|their|this|that|any|his|her|all)"
PREPOSITION = r"with|in|at|by|of|on|for|from|to|into|over|against"
_DEPTH = 3
"""Governors above a verb that are looked at: "plans to seek to buy"."""


@cache
def _table() -> Mapping[str, Sequence[str]]:
    found = json.loads(Path(__file__).with_name("modality.json").read_text(encoding="utf-8"))
    return {name: tuple(words) for name, words in found.items() if name != "about"}


def _alternatives(found: set[str]) -> str:
    return "|".join(sorted(map(re.escape, found), key=len, reverse=True))


@cache
def verbs(name: str) -> str:
    """Returns the forms of the verbs of a list of ``modality.json``, as alternatives of a regular expression."""
    forms = set()
    for verb in _table()[name]:
        first, _, rest = verb.partition(" ")
        forms |= {f"{form} {rest}".rstrip() for form in inflected(first)}
    return _alternatives(forms)


@cache
def words(name: str) -> str:
    """Returns the words of a list, as alternatives of a regular expression."""
    return _alternatives(set(_table()[name]))


@cache
def _nouns_of(name: str) -> frozenset[str]:
    return frozenset(form for noun in _table()[name] for form in (noun, plural(noun)))


@cache
def nouns(name: str) -> str:
    """Returns the nouns of a list and their plurals, as alternatives of a regular expression."""
    return _alternatives(set(_nouns_of(name)))


_GOVERNORS: tuple[tuple[str, str, Status], ...] = (
    ("failing", "failures", "failed"),
    ("doubting", "doubts", "possible"),
    ("intending", "intentions", "pending"),
    ("achieving", "", ""),
)


@cache
def _governor() -> re.Pattern[str]:
    """Returns the pattern of governors; each group is named after its list."""
    lists = [(name, verbs(name)) for name, _, _ in _GOVERNORS]
    lists += [(name, nouns(name)) for _, name, _ in _GOVERNORS if name]
    return re.compile(r"\b(?:" + "|".join(f"(?P<{name}>{words})" for name, words in lists) + r")\b", re.IGNORECASE)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    possible, negations = words("possible"), words("negations")
    adjectives = "|".join(words(f"{status}_adjectives") for status in _LEAST_CERTAIN)
    between = rf"(?: (?:{_GROUP}|{_AUXILIARY}))*"
    made = {
        "negated": rf"(?:\b(?:{negations})(?! only\b)|n['’]t){between} $",
        "possible": rf"\b(?:{possible}){between} $",
        "future": rf"(?:\b(?:will|would|shall)|['’]ll){between} $",
        "infinitive": rf"\bto{between} $",
        "is to": rf"\b(?:is|are|was|were) (?:{_GROUP} )?(?:not )?$",
        "progressive": rf"\b(?:is|are|was|were|be) (?:{_GROUP} )*$",
        "conditional": rf"\b(?:{words('conditions')}) [^,]*$",
        "doubtful": rf"\b(?:{words('doubtful_adverbs')}) (?:\w+ ){{0,2}}$",
        "after": rf"^(?: {WORD})*? (?:{verbs('collapsing')}|(?:is|was|were|be|been|being) (?:{verbs('failing')}))\b",
        "no noun": rf"(?:\b(?:not|never|without)|n['’]t)(?: (?:{DETERMINER}|under|in|facing|subject|part|of|to))* $",
        "denied": rf"\b(?:{verbs('failing')})(?: {WORD}){{0,3}},? that $",
        "determined": rf"\b{DETERMINER}(?: (?:{adjectives}))* $",
        "object": rf" ?(?: {WORD}){{0,7}} ?",
        "gerund": rf"(?: (?:on|of|about|over|with|in|its?))* ?|(?: {WORD}){{0,4}} from ?",
        "proposal": rf"^(?: {WORD})?? (?:{nouns('proposals')})\b",
        "adjectives": rf"((?:{WORD} ){{0,3}})$",
        "governor": rf"(?P<found>{_governor().pattern})(?: (?:on|of|about|over|for|in|to|from|into))?"
        rf" (?:{DETERMINER} )?(?:(?!(?:{PREPOSITION})\b){WORD} ){{0,3}}$",
    }
    return {name: re.compile(text, re.IGNORECASE) for name, text in made.items()}


def status_of(text: str, start: int, end: int, noun: bool = False) -> Status:
    """Returns the status of an act.

    Args:
        text: The sentence.
        start: The offset of the verb or noun that names the act.
        end: The offset after it.
        noun: Whether it is a noun.
    """
    before = text[:start]
    bounds = [match.end() for match in BOUND.finditer(before)]
    clause = before[bounds[-1] if bounds else 0 :]
    if bounds and _patterns()["denied"].search(before[: bounds[-1]]):
        return "failed"
    verbal = any(_patterns()[name].search(clause) for name in ("possible", "future", "infinitive"))
    if (noun and not verbal) or _patterns()["determined"].search(clause):
        return _of_noun(clause, text[end:])
    return _of_verb(clause, text[start:end], text[end:], _DEPTH)


def is_proposal(word: str) -> bool:
    """Whether a word names an offer of an act, and not the act: "bid", "offered"."""
    return word.lower() in _nouns_of("proposals") or re.fullmatch(verbs("proposals"), word, re.IGNORECASE) is not None


def asks_of_plans(question: str) -> bool:
    """Whether a question asks for what is planned or possible: "Is X buying Y?", "Which company may X sell?"."""
    modal = rf"\b(?:will|would|shall|{words('possible')})\b|\b(?:is|are|be) (?:[\w'’.-]+ )*?\w+ing\b"
    governors = {match.lastgroup for match in _governor().finditer(question)}
    planned = governors & {"intending", "intentions", "doubting", "doubts"}
    return bool(planned) or re.search(modal, question, re.IGNORECASE) is not None


def _of_verb(clause: str, verb: str, after: str, depth: int) -> Status:
    """Returns the status of a verb by the words before it in its clause."""
    pattern = _patterns()
    if pattern["negated"].search(clause):
        return "failed"
    if any(pattern[name].search(clause) for name in ("conditional", "doubtful", "possible")):
        return "possible"
    if pattern["future"].search(clause):
        return "pending"
    if (infinitive := pattern["infinitive"].search(clause)) is not None:
        before = clause[: infinitive.start()]
        if pattern["is to"].search(before):
            return "failed" if re.search(r"\bnot $", before) else "pending"
        return _governed(before, after, "object", "pending", depth)
    if verb.split(" ")[0].lower().endswith("ing"):
        return "pending" if pattern["progressive"].search(clause) else _governed(clause, after, "gerund", "", depth)
    return ""


def _governed(before: str, after: str, between: str, alone: Status, depth: int) -> Status:
    """Returns the status that the governor of an infinitive or of a form in -ing gives.

    Args:
        before: The words of the clause before it.
        after: The words after it.
        between: The pattern of the words between them.
        alone: The status without a governor.
        depth: Governors that may still be looked at.
    """
    found = list(_governor().finditer(before))
    if not found or _patterns()[between].fullmatch(before[found[-1].end() :]) is None:
        return alone
    above, given = before[: found[-1].start()], _given(found[-1])
    if depth == 0:
        return given
    as_verb = _of_verb(above, found[-1][0], "", depth - 1)
    as_noun = _of_noun(above, after if found[-1][0].lower() in _nouns_of("intentions") else "", depth - 1)
    return _combined(as_verb, as_noun, given)


def _given(governor: re.Match[str]) -> Status:
    return next(status for name, noun, status in _GOVERNORS if governor.lastgroup in (name, noun))


def _combined(*found: Status) -> Status:
    """Returns the least certain of some statuses."""
    return next((status for status in _LEAST_CERTAIN if status in found), "")


def _of_noun(clause: str, after: str, depth: int = _DEPTH) -> Status:
    """Returns the status of an act that a noun names: "its planned takeover of", "called off the merger"."""
    pattern = _patterns()
    if pattern["no noun"].search(clause) or (after and pattern["after"].search(after)):
        return "failed"
    adjectives = pattern["adjectives"].search(clause)
    own = set(adjectives[1].lower().split()) if adjectives is not None else set()
    found = [status for status in _LEAST_CERTAIN if own & set(_table()[f"{status}_adjectives"])]
    if pattern["proposal"].search(after):
        found.append("pending")  # "its takeover bid", "an acquisition proposal"
    governor = pattern["governor"].search(clause)
    if governor is not None and depth:
        inner = _governor().search(clause, governor.start())
        assert inner is not None
        found += [_given(inner), _of_verb(clause[: governor.start()], governor["found"], "", depth - 1)]
    return _combined(*found)
