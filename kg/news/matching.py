"""Frames in a sentence: triggers, participants at their positions, and the facts that follow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from kg.news.facts import Fact, number_of
from kg.sentences import Frame, Mention, Role, Sentence, Trigger, frames, inflected

_PREVIOUS = re.compile(
    r"(?:\bfrom (?:an? )?(?:earlier |previous |prior )?(?:view of |forecast of |estimate of )?(?:about )?|\bagainst (?:an? )?(?:earlier )?(?:forecast of |view of )?"  # noqa: E501
    r"|\bcompared (?:with|to) (?:the )?|\bversus |\bwas previously |\(\d{4}: ?)$"
)
_AGREED = re.compile(
    r"\b(?:agree[ds]?|to (?:buy|acquire|sell|take over|merge)|plan(?:s|ned)?|will|would|offer(?:s|ed)?)\b", re.I
)


def facts_of(sentence: Sentence, document: str, published: str) -> Iterator[Fact]:
    """Yields the facts that a sentence states by the table of frames.

    Args:
        sentence: The sentence with its mentions.
        document: The document's name.
        published: Its day.
    """
    seen: set[tuple[str, str, str]] = set()
    for frame in frames().frames:
        if frame.needs and not any(_said(sentence, word) for word in frame.needs):
            continue
        if any(_said(sentence, word) for word in frame.without):
            continue
        for trigger in sentence.triggers(frame.verbs, frame.nouns):
            if not trigger.noun and _NEGATED.search(sentence.lower[: trigger.start]):
                continue
            for fact in _frame_facts(frame, sentence, trigger, document, published):
                key = (fact.subject, fact.relation, fact.object)
                if key not in seen:
                    seen.add(key)
                    yield fact


def _said(sentence: Sentence, word: str) -> bool:
    return sentence.has(word)


def _frame_facts(frame: Frame, sentence: Sentence, trigger: Trigger, document: str, published: str) -> Iterator[Fact]:
    filled = _filled(frame.roles, sentence, trigger)
    if frame.near and not _is_near(frame, sentence, trigger, filled):
        return
    if any(role not in filled for role in frame.required):
        return
    announced = published if _AGREED.search(sentence.text) else None
    for first, relation, second in frame.facts:
        given = {"@published": published, "@announced": announced}.get(second)
        found = Mention("date", given, 0, 0, given) if given else filled.get(second)
        subject = filled.get(first)
        if subject is None or found is None:
            continue
        found = _whole_price(sentence, found, relation)
        for one in (found, *_coordinated(sentence, found, trigger)):
            if (one.kind, one.value) != (subject.kind, subject.value):
                yield _fact(sentence, trigger, subject, relation, one, document, published)


def _whole_price(sentence: Sentence, found: Mention, relation: str) -> Mention:
    """Returns the price of the whole in place of the one of a share: "$19 a share, or $800 million"."""
    if relation not in ("bid_value", "deal_value") or "share" not in found.text:
        return found
    whole = [m for m in sentence.mentions if m.kind == "money" and "share" not in m.text]
    return whole[0] if whole else found


def _coordinated(sentence: Sentence, found: Mention, trigger: Trigger) -> Iterator[Mention]:
    """Yields the second of two names that a conjunction joins: Bluehull of "into Ostrander and Bluehull"."""
    for other in sentence.mentions:
        gap = sentence.text[found.end : other.start] if found.start >= 0 and other.start > found.end else ""
        joined = re.fullmatch(r",? and (?:rival |the |[a-z]+ )?", gap) is not None
        if other.kind == found.kind and other.kind in ("company", "person") and joined and found.start >= trigger.end:
            yield other


def _fact(
    sentence: Sentence, trigger: Trigger, subject: Mention, relation: str, found: Mention, document: str, published: str
) -> Fact:
    value = _value(found, relation, sentence, trigger)
    previous = _previous(sentence, found)
    return Fact(
        subject.value or subject.text,
        subject.kind,
        relation,
        value,
        found.kind,
        sentence.text,
        document,
        published,
        confidence=round(
            (0.9 if subject.start >= 0 else 0.7) * (0.9 if not trigger.noun else 1.0) * _certainty(sentence, trigger), 2
        ),
        direction=_direction(sentence, found, value, previous),
        previous=previous,
    )


_NEGATED = re.compile(r"(?:\b(?:not|never|no longer|cannot|nor)|n['’]t)(?: be| been| have| yet| \w+ly)* $")
_HEDGED = re.compile(
    r"\b(?:may|might|could|consider\w*|weigh\w*|mulls?|mulling|mulled|explor\w+|in talks|rumou?red|reportedly"
    r"|speculation|possible|potential|denied|denies)\b"
)


def _certainty(sentence: Sentence, trigger: Trigger) -> float:
    """Returns the share of the confidence that remains where the words before a trigger make it uncertain."""
    return 0.6 if _HEDGED.search(sentence.lower[max(0, trigger.start - 40) : trigger.start]) else 1.0


def _is_near(frame: Frame, sentence: Sentence, trigger: Trigger, filled: Mapping[str, Mention]) -> bool:
    """Whether one of the frame's words, or its first role, stands near the trigger."""
    around = sentence.lower[max(0, trigger.start - 50) : trigger.end + 20]
    first = filled.get(next(iter(frame.roles)))
    gap = sentence.text[first.end : trigger.start] if first is not None and first.start >= 0 else "-" * 99
    return bool(re.search(rf"\b(?:{'|'.join(frame.near)})\b", around)) or bool(
        re.fullmatch(r"(?: \([^)]*\)|\))?,?(?: \w+ly| also| then| had| has)? ?", gap)
    )


def _filled(roles: Mapping[str, Role], sentence: Sentence, trigger: Trigger) -> dict[str, Mention]:
    """Returns the mention of each role that has one; a mention fills one role only."""
    filled: dict[str, Mention] = {}
    for name, role in roles.items():
        for position in role.at:
            if position == "none":
                continue
            found = next(
                (
                    mention
                    for mention in sentence.find(position, role.types, trigger)
                    if _free(mention, filled.values()) and not _is_previous(sentence, mention, position)
                ),
                None,
            )
            if found is not None:
                filled[name] = found
                break
    return filled


def _free(mention: Mention, taken: object) -> bool:
    names = ("company", "person", "product", "name", "place")
    for other in taken:  # type: ignore[attr-defined]
        if mention.start >= 0 and (mention.start, mention.end) == (other.start, other.end):
            return False
        if mention.kind in names and mention.value == other.value:
            return False
    return True


def _is_previous(sentence: Sentence, mention: Mention, position: str) -> bool:
    """Whether an amount is the value before a change, which no role takes."""
    if mention.kind not in ("money", "percent", "count", "rating") or "from" in position:
        return False
    return _PREVIOUS.search(sentence.text[: mention.start].rstrip("\"“'‘")) is not None


def _previous(sentence: Sentence, found: Mention) -> str:
    if found.kind not in ("money", "count", "percent", "rating"):
        return ""
    alike = [mention for mention in sentence.mentions if mention.kind == found.kind]
    for place, mention in enumerate(alike):
        before = sentence.text[: mention.start].rstrip("\"“'‘")
        if mention.start != found.start and _PREVIOUS.search(before) and _owner(sentence, alike, place) == found:
            return mention.value or mention.text
    return ""


def _owner(sentence: Sentence, alike: Sequence[Mention], place: int) -> Mention | None:
    """Returns the amount that the earlier value at a place belongs to: the one before it, else the one behind it."""
    if place and not re.search(r"\b(?:and|while|but)\b|;", sentence.text[alike[place - 1].end : alike[place].start]):
        return alike[place - 1]
    return alike[place + 1] if place + 1 < len(alike) else None


def _value(found: Mention, relation: str, sentence: Sentence, trigger: Trigger) -> str:
    if found.kind == "ticker":
        return found.value
    if found.kind == "count":
        return found.value
    if relation == "share_change":
        down = _direction_word(sentence.text[max(0, trigger.start - 1) : found.end]) == "down"
        down = down or _direction_word(sentence.text[found.start : found.end + 12]) == "down"
        return f"-{found.value.lstrip('+-')}" if down else found.value.lstrip("+-")
    return found.value or found.text


@cache
def _moves() -> dict[str, str]:
    table = frames()
    words = {form: "up" for word in table.up for form in (inflected(word) if " " not in word else {word})}
    return words | {form: "down" for word in table.down for form in (inflected(word) if " " not in word else {word})}


def _direction_word(text: str) -> str:
    found = [_moves()[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _moves()]
    return found[-1] if found else ""


def _direction(sentence: Sentence, found: Mention, value: str, previous: str) -> str:
    if found.kind not in ("money", "count", "percent"):
        return ""
    if previous:
        now, before = number_of(value), number_of(previous)
        if now is not None and before is not None and _unit(value) == _unit(previous) and now != before:
            return "up" if now > before else "down"
    return _direction_word(sentence.text[: max(found.start, 0)][-60:])


def _unit(text: str) -> str:
    return re.sub(r"[\d.,\s]|million|billion", "", text.lower()) if " to " not in text else text[:1].strip("0123456789")
