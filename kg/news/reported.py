"""Events of companies that a document reports, by the frames of its sentences.

    "Calderstone plc cut its full-year forecast and will shed 300 jobs."
    ReportedEvent("Calderstone plc", "guidance", "negative", ...)
    ReportedEvent("Calderstone plc", "layoff", "negative", ..., value="300", measure="cuts_jobs")

An event has a kind and the direction for the company that its frame names. What is only possible is no event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kg.news.facts import Fact
from kg.news.matching import FrameMatch
from kg.sentences import Mention, Sentence

_AMOUNTS = ("money", "count", "percent")
_CHANGING = frozenset(("earnings", "guidance", "dividend", "contract", "offering", "buyback", "other"))
"""Kinds of events whose figure is good for the company if it is higher than before."""

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
    """

    company: str
    kind: str
    direction: str
    sentence: str
    value: str = ""
    measure: str = ""
    party: str = ""


def reported_events(
    sentence: Sentence, matches: Iterable[FrameMatch], facts: Sequence[tuple[FrameMatch, Fact]]
) -> Iterator[ReportedEvent]:
    """Yields the events of a sentence: one for each company and kind.

    Args:
        sentence: The sentence.
        matches: Its frames.
        facts: The facts of these frames; a frame that states facts reports an event only if it gave one.
    """
    found: dict[tuple[str, str], ReportedEvent] = {}
    for match in matches:
        frame = match.frame
        own = [fact for other, fact in facts if other is match]
        affected = match.filled.get(frame.affected or next(iter(frame.roles)))
        if not frame.event or match.status == "possible" or affected is None or (frame.facts and not own):
            continue
        if affected.kind not in ("company", "ticker") or sentence.is_doubtful(affected):
            continue
        company = affected.value or affected.text
        figure = next((fact for fact in own if fact.object_kind in _AMOUNTS), None)
        direction: str = frame.direction
        if figure is not None and frame.event in _CHANGING:
            direction = _with_change(direction, figure.direction)
        event = ReportedEvent(
            company,
            frame.event,
            direction,
            sentence.text,
            figure.object if figure is not None else _amount(match),
            figure.relation if figure is not None else frame.event,
            _party(match.filled.get(frame.party), company),
        )
        known = found.get((company, event.kind))
        if known is None or (known.direction == "neutral" and direction != "neutral"):
            found[company, event.kind] = event
    yield from found.values()


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
