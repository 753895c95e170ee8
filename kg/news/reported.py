"""Events of companies that a document reports, by the frames of its sentences.

    "Calderstone plc cut its full-year forecast and will shed 300 jobs."
    ReportedEvent("Calderstone plc", "guidance", "negative", ...)
    ReportedEvent("Calderstone plc", "layoff", "negative", ..., value="300", measure="cuts_jobs")

An event has a kind and the direction for the company that its frame names. What is only possible is no event. An act
that was given up or delayed has the opposite direction: a withdrawn bid is bad for its target.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kg.news.event_days import stated_day
from kg.news.facts import Fact
from kg.news.matching import FrameMatch
from kg.sentences import Mention, Sentence, is_ending

_AMOUNTS = ("money", "count", "percent")
_CHANGING = frozenset(("earnings", "guidance", "dividend", "contract", "offering", "buyback", "other"))
"""Kinds of events whose figure is good for the company if it is higher than before."""

_ENDING = frozenset(
    ("merger", "offering", "buyback", "dividend", "contract", "layoff", "site", "lawsuit", "investigation")
)  # fmt: skip
"""Kinds of events that can be given up or delayed."""

_TURNED = {"positive": "negative", "negative": "positive"}
_PEOPLE = frozenset(("appointed_at", "departs"))


@dataclass(frozen=True)
class ReportedEvent:
    """An event of a company.

    Attributes:
        company: The company that it affects.
        kind: Its kind: layoff, earnings and others.
        direction: positive, negative or neutral for the company.
        sentence: The sentence that reports it.
        value: The figure that it is about, as written.
        measure: The relation that the figure is a value of.
        party: Who else takes part.
        ended: Whether it was given up or delayed.
        day: When it took place, where the sentence states an earlier day than the document's.
    """

    company: str
    kind: str
    direction: str
    sentence: str
    value: str = ""
    measure: str = ""
    party: str = ""
    ended: bool = False
    day: str = ""


def reported_events(
    sentence: Sentence, matches: Iterable[FrameMatch], facts: Sequence[tuple[FrameMatch, Fact]], published: str
) -> Iterator[ReportedEvent]:
    """Yields the events of a sentence: one for each company and kind.

    Args:
        sentence: The sentence.
        matches: Its frames.
        facts: The facts of these frames; a frame that states facts reports an event only if it gave one.
        published: The document's day.
    """
    found: dict[tuple[str, str], ReportedEvent] = {}
    for match in matches:
        own = [fact for other, fact in facts if other is match]
        for event in _ended(sentence, match) if match.end else _held(sentence, match, own):
            known = found.get((event.company, event.kind))
            told = known is not None and (known.direction != "neutral" or event.direction == "neutral")
            if not told or (known is not None and event.ended and not known.ended):
                found[event.company, event.kind] = replace(event, day=stated_day(sentence, match, published))
    yield from found.values()


def _held(sentence: Sentence, match: FrameMatch, own: Sequence[Fact]) -> Iterator[ReportedEvent]:
    """Yields the event of an act that happened or is planned, if it is one."""
    frame = match.frame
    company = _company(sentence, match, frame.affected or next(iter(frame.roles)))
    if not frame.event or match.status == "possible" or not company or (frame.facts and not own):
        return
    if frame.ends and frame.event == "merger" and not _in_clause(sentence, match):
        return
    figure = next((fact for fact in own if fact.object_kind in _AMOUNTS), None)
    direction: str = frame.direction
    if figure is not None and frame.event in _CHANGING:
        direction = _with_change(direction, figure.direction)
    yield ReportedEvent(
        company,
        frame.event,
        direction,
        sentence.text,
        figure.object if figure is not None else _amount(match),
        figure.relation if figure is not None else frame.event,
        _party(match.filled.get(frame.party), company),
        ended=frame.ends and is_ending(sentence.text[match.trigger.start : match.trigger.end]),
    )


def _in_clause(sentence: Sentence, match: FrameMatch) -> bool:
    """Whether the first participant is in the clause of the verb: not X of "X raised its bid after Y refused it"."""
    first = match.filled[next(iter(match.frame.roles))]
    gap = sentence.lower[first.end : match.trigger.start] if first.start >= 0 else ""
    return re.search(r"\b(?:after|before|when|while|because|as|since)\b(?!.*\bit\b)", gap) is None


def _ended(sentence: Sentence, match: FrameMatch) -> Iterator[ReportedEvent]:
    """Yields the events of an act that was given up or delayed: the direction is turned, and a bid's target loses."""
    frame = match.frame
    if frame.event not in _ENDING or frame.ends:
        return
    first = next(iter(frame.roles))
    affected = _company(sentence, match, frame.affected or first)
    target = _target(sentence, match) if frame.event == "merger" else ""
    if affected and affected != target and frame.affected != "target":
        party = target or _party(match.filled.get(frame.party), affected)
        direction = _TURNED.get(frame.direction, frame.direction)
        yield ReportedEvent(affected, frame.event, direction, sentence.text, _amount(match), frame.event, party, True)
    if target:
        party = _party(match.filled.get(first), target)
        yield ReportedEvent(target, frame.event, "negative", sentence.text, _amount(match), frame.event, party, True)


def _target(sentence: Sentence, match: FrameMatch) -> str:
    """Returns the company that was to be bought: the one of its role, else the only other company of the sentence."""
    if "target" not in match.frame.roles:
        return ""
    mention, start = match.filled.get("target"), match.trigger.end
    gap = sentence.text[start : mention.start] if mention is not None and mention.start >= start else ""
    near = mention is not None and mention.start >= 0 and not re.search(r"[,;]|\band\b", gap)
    if near:
        return _company(sentence, match, "target")
    buyer = _company(sentence, match, next(iter(match.frame.roles)))
    others = {m.value or m.text for m in sentence.mentions if m.kind == "company"} - {buyer}
    return others.pop() if buyer and len(others) == 1 else ""


def _company(sentence: Sentence, match: FrameMatch, role: str) -> str:
    """Returns the company that fills a role; an empty text without one, or if it is not known which one is meant."""
    mention = match.filled.get(role)
    if mention is None or mention.kind not in ("company", "ticker") or sentence.is_doubtful(mention):
        return ""
    return mention.value or mention.text


def management_events(facts: Iterable[Fact]) -> Iterator[ReportedEvent]:
    """Yields the appointments and departures among some facts, as events of the company."""
    for fact in facts:
        if fact.relation in _PEOPLE and fact.company and fact.status != "possible":
            yield ReportedEvent(fact.company, "management", "neutral", fact.sentence, party=fact.subject)


def _with_change(direction: str, change: str) -> str:
    """Returns the direction of an event whose figure has changed: a lower dividend is bad, more jobs cut no better."""
    if change == "down" and direction != "negative":
        return "negative"
    return "positive" if change == "up" and direction == "neutral" else direction


def _amount(match: FrameMatch) -> str:
    amounts = (mention for mention in match.filled.values() if mention.kind in _AMOUNTS)
    return next((mention.value or mention.text for mention in amounts), "")


def _party(mention: Mention | None, company: str) -> str:
    name = (mention.value or mention.text) if mention is not None else ""
    return name if name != company else ""
