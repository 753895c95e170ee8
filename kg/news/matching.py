"""Frames in a sentence: triggers, participants at their positions, and the facts that follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from kg.news.facts import Fact, number_of, unit_of
from kg.sentences import (
    End,
    Frame,
    Mention,
    Role,
    Sentence,
    Status,
    Trigger,
    end_of,
    event_frames,
    frames,
    inflected,
    is_nominal,
    status_of,
)
from kg.sentences.verbs import has_object, has_subject

_PREVIOUS = re.compile(
    r"(?:\bfrom (?:an? )?(?:earlier |previous |prior )?(?:view of |forecast of |estimate of )?(?:about )?|\bagainst (?:an? )?(?:earlier )?(?:forecast of |view of )?"  # noqa: E501
    r"|\bcompared (?:with|to) (?:the )?|\bversus |\bwas previously |\(\d{4}: ?)$"
)
_AGREED = re.compile(
    r"\b(?:agree[ds]?|to (?:buy|acquire|sell|take over|merge)|plan(?:s|ned)?|will|would|offer(?:s|ed)?)\b", re.I
)


@dataclass(frozen=True)
class FrameMatch:
    """A frame in a sentence.

    Attributes:
        frame: The frame.
        trigger: The verb or noun that evokes it.
        filled: The mention of each role that has one.
        status: Whether the act happened, is pending or is possible, or failed.
        end: Whether it was given up or delayed; an act that failed in another way is no match.
    """

    frame: Frame
    trigger: Trigger
    filled: Mapping[str, Mention]
    status: Status
    end: End = ""


def frame_matches(sentence: Sentence) -> Iterator[FrameMatch]:
    """Yields the frames of a sentence with their participants; an act that is denied is none.

    Args:
        sentence: The sentence with its mentions.
    """
    for frame in (*frames().frames, *event_frames()):
        if frame.needs and not any(sentence.has(word) for word in frame.needs):
            continue
        if any(sentence.has(word) for word in frame.without):
            continue
        for trigger in sentence.triggers(frame.verbs, frame.nouns):
            noun = trigger.noun or is_nominal(sentence.text, trigger.start, trigger.end)
            status = status_of(sentence.text, trigger.start, trigger.end, noun)
            end = end_of(sentence.text, trigger.start, trigger.end, noun)
            if (status == "failed" and not end) or not _governs(frame, sentence, trigger):
                continue
            filled = _filled(frame.roles, sentence, trigger)
            near = not frame.near or _is_near(frame, sentence, trigger, filled)
            if near and all(role in filled for role in frame.required):
                yield FrameMatch(frame, trigger, filled, "failed" if end == "ended" else status, end)


def _governs(frame: Frame, sentence: Sentence, trigger: Trigger) -> bool:
    """Whether the verb has one of the frame's nouns as its object or subject, where the frame needs one."""
    before, after = sentence.lower[: trigger.start], sentence.lower[trigger.end :]
    if frame.objects:
        left = trigger.passive or trigger.noun
        return has_subject(before, frame.objects) if left else has_object(after, frame.objects)
    return not frame.subjects or has_subject(before, frame.subjects)


def facts_of(
    sentence: Sentence, matches: Iterable[FrameMatch], document: str, published: str
) -> Iterator[tuple[FrameMatch, Fact]]:
    """Yields the facts that the frames of a sentence state, each with its frame; an act that failed states none.

    Args:
        sentence: The sentence with its mentions.
        matches: Its frames.
        document: The document's name.
        published: Its day.
    """
    seen: set[tuple[str, str, str]] = set()
    for match in matches:
        if match.status == "failed":
            continue
        for fact in _frame_facts(match, sentence, document, published):
            key = (fact.subject, fact.relation, fact.object)
            if key not in seen:
                seen.add(key)
                yield match, fact


def _frame_facts(match: FrameMatch, sentence: Sentence, document: str, published: str) -> Iterator[Fact]:
    announced = published if _AGREED.search(sentence.text) else None
    for first, relation, second in match.frame.facts:
        given = {"@published": published, "@announced": announced}.get(second)
        found = Mention("date", given, 0, 0, given) if given else match.filled.get(second)
        subject = match.filled.get(first)
        if subject is None or found is None:
            continue
        if second == "@announced" and match.status == "possible":
            continue
        found = _whole_price(sentence, found, relation)
        for one in (found, *_coordinated(sentence, found, match.trigger)):
            if (one.kind, one.value) != (subject.kind, subject.value):
                fact = _fact(sentence, match, subject, relation, one, document, published)
                yield replace(fact, status="") if second == "@announced" else fact


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
    sentence: Sentence,
    match: FrameMatch,
    subject: Mention,
    relation: str,
    found: Mention,
    document: str,
    published: str,
) -> Fact:
    value = _value(found, relation, sentence, match.trigger)
    previous = _previous(sentence, found)
    confidence = (0.9 if subject.start >= 0 else 0.7) * (0.9 if not match.trigger.noun else 1.0)
    if match.status == "possible":
        confidence *= _POSSIBLE
    if sentence.is_doubtful(subject) or sentence.is_doubtful(found):
        confidence *= _DOUBTFUL
    return Fact(
        subject.value or subject.text,
        subject.kind,
        relation,
        value,
        found.kind,
        sentence.text,
        document,
        published,
        confidence=round(confidence, 2),
        direction=_direction(sentence, found, value, previous),
        previous=previous,
        status=match.status,
    )


_POSSIBLE = 0.6
"""The share of the confidence that remains for an act that is only possible."""

_DOUBTFUL = 0.6
"""The share that remains where a pronoun may stand for either of two companies."""


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
        down = direction_word(sentence.text[max(0, trigger.start - 1) : found.end]) == "down"
        down = down or direction_word(sentence.text[found.start : found.end + 12]) == "down"
        return f"-{found.value.lstrip('+-')}" if down else found.value.lstrip("+-")
    return found.value or found.text


@cache
def _moves() -> dict[str, str]:
    table = frames()
    words = {form: "up" for word in table.up for form in (inflected(word) if " " not in word else {word})}
    return words | {form: "down" for word in table.down for form in (inflected(word) if " " not in word else {word})}


def direction_word(text: str) -> str:
    """Returns ``up`` or ``down`` by the last word of change in a text; empty if it has none."""
    found = [_moves()[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _moves()]
    return found[-1] if found else ""


def _direction(sentence: Sentence, found: Mention, value: str, previous: str) -> str:
    if found.kind not in ("money", "count", "percent"):
        return ""
    if previous:
        now, before = number_of(value), number_of(previous)
        if now is not None and before is not None and unit_of(value) == unit_of(previous) and now != before:
            return "up" if now > before else "down"
    return direction_word(sentence.text[: max(found.start, 0)][-60:])
