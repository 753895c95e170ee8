"""People in a sentence: their titles, employers, appointments and departures.

"Ms Haddadi joins from Caldera Renewables, where she was finance director."
Leila Haddadi departs Caldera Renewables
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from kg.news.facts import Fact
from kg.sentences import Mention, Sentence, inflected, status_of


def _forms(*verbs: str) -> str:
    return "|".join(sorted({form for verb in verbs for form in inflected(verb)}, key=len, reverse=True))


_APPOINT = re.compile(
    rf"\b(?:{_forms('appoint', 'name', 'elect', 'hire', 'promote', 'choose', 're-appoint', 'reappoint', 'recruit')}"
    rf"|appointment of|(?:{_forms('become', 'join', 'succeed', 'replace')})|(?:{_forms('take')}) (?:over|up|charge|the helm)"  # noqa: E501
    r"|will (?:act|serve|lead|head|run|step up)|(?:acts|serves|acting|serving) as|steps? up|stepped up|in succession to)\b",  # noqa: E501
    re.IGNORECASE,
)
_DEPART = re.compile(
    rf"\b(?:{_forms('resign', 'retire', 'leave', 'depart', 'quit')}|(?:{_forms('step', 'stand')}) (?:down|aside)"
    r"|(?:is|was|has been) (?:fired|dismissed|ousted|removed)|fired|ousted|dismissed|departure of|resignation of|retirement of|outgoing|former)\b",  # noqa: E501
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:said|says|told|tells|added|adds|announced|announces|warned|warns|predicted|hinted|confirmed|insisted"
    r"|argued|noted|promised|pledged)\b(?!.*\b(?:he|she|they|his|her|their)\b)",
    re.IGNORECASE,
)
"""A verb of speech after which another one acts: "Chief executive X told the Courier the company would hire"."""

_HIRES = re.compile(
    rf"(?:{_forms('appoint', 'name', 'elect', 'hire', 'promote', 'choose', 're-appoint', 'reappoint', 'recruit')})$",
    re.IGNORECASE,
)
_HIRED = re.compile(
    r"(?:\b(?:is|was|were|are|be|been|being|gets|got)(?: (?:\w+ly|also|now|today|then|later))? |, (?:\w+ly )?|^ )$"
)
"""What stands before a verb of which the person is the object: "was named"."""

_NEVER = re.compile(r"(?!)")
_ACTS = frozenset(("appointed_at", "departs", "start_date", "end_date"))
_PREDECESSOR = re.compile(
    r"\b(?:took over from|taking over from|takes over from|succeeds|succeeding|succeeded(?! by)|replaces|replacing"
    r"|replaced(?! by)|in succession to|successor to|to succeed|will succeed|will replace|take over from|to replace)"
    r" (?:\w+\.? ){0,3}$"
)


def people_facts(sentence: Sentence, document: str, published: str, last: Fact | None = None) -> Iterator[Fact]:
    """Yields the facts of a sentence about people.

    Args:
        sentence: The sentence with its mentions.
        document: The document's name.
        published: Its day.
        last: The last fact about a person with a title, for "he" and "she".
    """
    people = [m for m in sentence.mentions if m.kind == "person"]
    if last is not None:
        yield from _of_pronoun(sentence, people, last)
    for person in people:
        yield from _person_facts(sentence, person, people, document, published)


def with_predecessors(facts: Sequence[Fact]) -> list[Fact]:
    """Returns facts with the office of each person who leaves and is succeeded by the holder of a known one."""
    held = {(f.subject, f.company): f.role for f in facts if f.role and f.relation != "departs"}
    result = []
    for fact in facts:
        if fact.relation == "departs" and not fact.role and _succeeded(fact):
            colleagues = [(name, role) for (name, company), role in held.items() if company == fact.company]
            roles = {role for name, role in colleagues if name != fact.subject and name.split()[-1] in fact.sentence}
            fact = replace(fact, role=roles.pop()) if len(roles) == 1 else fact
        result.append(fact)
    return result


def _succeeded(fact: Fact) -> bool:
    """Whether the sentence of a departure says that somebody takes over."""
    name = re.search(rf"\b(?:{re.escape(fact.subject)}|{re.escape(fact.subject.split()[-1])})\b", fact.sentence)
    return name is not None and _PREDECESSOR.search(fact.sentence[: name.start()]) is not None


def _of_pronoun(sentence: Sentence, people: list[Mention], last: Fact) -> Iterator[Fact]:
    """Yields what a sentence states of the person named before: "He will start on 1 September", "to succeed him"."""
    text = sentence.text
    given: dict[str, Any] = {**last.__dict__, "sentence": sentence.text, "valid_from": "", "valid_to": ""}
    company: dict[str, Any] = {"object": last.company, "object_kind": "company"}
    pronoun = re.match(r"(?:He|She|They)\b", text)
    if pronoun and re.match(
        r"(?:He|She|They) (?:will |is to |is due to )?(?:starts?|begins?|joins?|takes? (?:up|over))\b", text
    ):
        day = _day(sentence, Mention("person", "", 0, 2))
        if day:
            yield Fact(**{**given, **company, "relation": "appointed_at", "valid_from": day})
            yield Fact(**{**given, "relation": "start_date", "object": day, "object_kind": "date", "valid_from": day})
    elif pronoun and (match := _DEPART.search(text)) and match.start() < min([60, *(p.start for p in people)]):
        yield Fact(**{**given, **company, "relation": "departs", "valid_to": _day(sentence, Mention("", "", 0, 2))})
    for person in people:
        heir = re.search(
            r"\b(?:[Hh]e|[Ss]he) (?:will be|is|was|is being|has been) (?:replaced|succeeded) by (?:[a-z]+ )*$",
            text[: person.start],
        )
        succeeds = re.search(r"\b(?:succeed|replace)s? (?:him|her)\b", text[person.end :])
        if heir or succeeds:
            day = _day(sentence, person)
            base: dict[str, Any] = {**given, "subject": person.value, "valid_from": day}
            yield Fact(**{**base, "relation": "role", "object": last.role, "object_kind": "role"})
            yield Fact(**{**base, **company, "relation": "appointed_at"})


def _person_facts(
    sentence: Sentence, person: Mention, people: list[Mention], document: str, published: str
) -> Iterator[Fact]:
    role = _role(sentence, person, people)
    company = _company(sentence, person, role)
    status = _status(sentence, person, people, role)
    title = role.value if role is not None else ""
    act = {"departed": _DEPART, "appointed": _APPOINT}.get(status, _NEVER).search(sentence.text, person.end)
    modality = status_of(sentence.text, act.start(), act.end()) if act is not None else ""
    if modality == "failed":
        status = ""

    def fact(relation: str, value: str, kind: str, start: str = "", end: str = "") -> Fact:
        confidence = 0.9 if role is not None and abs(role.start - person.end) < 40 else 0.75
        return Fact(
            person.value, "person", relation, value, kind, sentence.text, document, published, confidence,
            role=title, company=company or "", valid_from=start, valid_to=end,
            status=modality if relation in _ACTS and modality == "possible" else "",
        )  # fmt: skip

    if role is not None and title not in ("founder",):
        yield fact("role", title, "role")
    if status == "appointed" and company:
        day = _day(sentence, role or person)
        yield fact("appointed_at", company, "company", start=day)
        if len(day) == 10:
            yield fact("start_date", day, "date", start=day)
    elif status == "departed" and company:
        day = _day(sentence, person)
        if not day and re.search(r"\bimmediate effect\b|\btoday\b", sentence.lower):
            day = published
        yield fact("departs", company, "company", end=day or published)
        if len(day) == 10:
            yield fact("end_date", day, "date", end=day)
    elif company and (role is not None or status == "works"):
        yield fact("works_for", company, "company")
    yield from _former(sentence, person, fact)


def _former(sentence: Sentence, person: Mention, fact: object) -> Iterator[Fact]:
    """Yields the departure from a former employer: "joins from Caldera Renewables"."""
    wanted = re.compile(
        r"\b(?:joins?|joined|joining|comes?|came|arrives?|hired|recruited|poached|moves?)(?: [\w]+){0,2} from (?:[a-z]+ )*$|\bformerly (?:of|at|with) $"  # noqa: E501
        r"|\b(?:previously|formerly) (?:ran|led|headed|worked (?:for|at)|was [\w ]+ (?:at|of)|[\w ]+ (?:at|of)) (?:[a-z]+ )*$"  # noqa: E501
    )
    for mention in sentence.mentions:
        hired = re.search(r"\b(?:hired|poached|recruited|lured) (?:[\w ]+ )?$", sentence.text[: person.start])
        gap = sentence.text[person.end : max(person.end, mention.start)]
        if (
            hired
            and mention.kind in ("company", "name")
            and re.fullmatch(r"(?: as [\w ,'-]{2,50})? from (?:[a-z]+ )*", gap)
        ):
            yield Fact(**{**fact("departs", mention.value, "company").__dict__, "role": "", "company": mention.value})  # type: ignore[operator]
        if mention.kind == "company" and mention.start > person.end and wanted.search(sentence.text[: mention.start]):
            made: Fact = fact("departs", mention.value, "company")  # type: ignore[operator]
            yield Fact(**{**made.__dict__, "role": "", "company": mention.value})


def _role(sentence: Sentence, person: Mention, people: list[Mention]) -> Mention | None:
    """Returns the title that belongs to a person: directly before, in apposition, or after a verb of appointment."""
    text = sentence.text
    roles = [m for m in sentence.mentions if m.kind == "role"]
    found: list[tuple[int, Mention]] = []
    for role in roles:
        if role.end <= person.start:
            gap = text[role.end : person.start]
            if re.fullmatch(r",? (?:(?:Mr|Ms|Mrs|Dr|Sir|Dame)\.? )?", gap):
                found.append((0, role))
        elif role.start >= person.end:
            gap = text[person.end : role.start]
            if re.fullmatch(
                r", (?:(?:the|its|their|a|an|currently|former|[\w’' -]+?['’]s|new|his|her)(?: [\w-]+){0,2} )?", gap
            ):
                found.append((1, role))
            elif (
                not any(person.end < other.start < role.start for other in people)
                and re.search(
                    r"\b(?:as|president|appointed|named|elected|become|becomes|be|is|was|became|decision to retire)\b",
                    gap,
                )
            ) or re.fullmatch(r" (?:to the post of|to|will be|takes over as) (?:the |its )?", gap):
                found.append((2, role))
    found = [(rank, role) for rank, role in found if not _taken(text, role, person, people, rank)]
    offices = [(rank, role) for rank, role in found if role.value != "founder"]
    appointed = [(rank, role) for rank, role in offices if rank == 2]
    found = appointed if appointed and _APPOINT.search(text[person.end :]) else offices or found
    best = min(found, key=lambda pair: (pair[0], abs(pair[1].start - person.end)), default=None)
    if best is not None and best[1].value == "founder":
        nearby = [r for r in roles if 0 < r.start - best[1].end <= 6 or 0 < best[1].start - r.end <= 6]
        return nearby[0] if nearby else best[1]
    return best[1] if best is not None else None


def _taken(text: str, role: Mention, person: Mention, people: list[Mention], rank: int) -> bool:
    """Whether a title stands directly before another person."""
    return rank > 0 and any(
        other.start != person.start
        and 0 <= other.start - role.end <= 2
        and text[role.end : other.start].strip(" ,") == ""
        for other in people
    )


def _company(sentence: Sentence, person: Mention, role: Mention | None) -> str | None:
    """Returns the company of a person: named with the title, or the one that the document is about."""
    text = sentence.text
    companies = [m for m in sentence.mentions if m.kind in ("company", "ticker")]
    for mention in companies:
        before = text[: mention.start]
        near_role = role is not None and (
            (
                0 <= role.start - mention.end <= 14
                and re.fullmatch(r"(?:['’]s)?(?: [\w-]+)?,? ?", text[mention.end : role.start])
            )
            or (
                0 <= mention.start - role.end <= 12
                and re.fullmatch(r" (?:of|at|for) (?:the |rival )?", text[role.end : mention.start])
            )
        )
        works = re.search(
            r"\b(?:works? for|working for|joins|joined|joining|employed by|of|at) (?:[a-z]+ ){0,2}$", before
        )
        if near_role or (works and mention.start > person.end and "from" not in works[0]):
            return mention.value
    if role is not None and role.value in ("analyst", "economist"):
        return None
    before_person = [m for m in companies if m.end <= person.start and m.kind == "company"]
    if before_person and re.search(
        rf"\b(?:{_forms('appoint', 'name', 'hire', 'elect', 'announce')})\b", text[before_person[0].end : person.start]
    ):
        return before_person[0].value
    if role is not None and role.value in ("mayor", "minister", "senator", "governor", "founder"):
        return None
    return sentence.main


def _status(sentence: Sentence, person: Mention, people: list[Mention], role: Mention | None) -> str:
    text = sentence.text
    before, after = text[: person.start], text[person.end :]
    others = [p.start for p in people if p.start > person.end]
    own = after[: (others[0] - person.end) if others else len(after)]
    if _PREDECESSOR.search(before) and re.search(r"from|in succession|ucceed|eplac|uccessor", before[-40:]):
        return "departed"
    match = _DEPART.search(own)
    speaks = match is not None and _REPORTS.search(own[: match.start()]) is not None
    if (
        match
        and not speaks
        and match.start() < 110
        and not _APPOINT.search(own[: match.start()])
        and match[0].lower() != "former"
    ):
        return "departed"
    if re.search(r"\b(?:former|outgoing|ex-)(?: [\w-]+){0,4} $", before):
        return "departed"
    match = _APPOINT.search(own)
    if match and (_REPORTS.search(own[: match.start()]) or _is_employer(own, match)):
        match = None  # the person speaks, or hires others
    if (
        match
        and match.start() < 60
        and (role is not None or "succe" in match[0].lower() or "joins" in match[0].lower())
    ):
        return "appointed"
    lead = before[-110:]
    if re.search(
        r"\b(?:ousted|fired|dismissed|sacked|removed|(?:resignation|departure|retirement|exit) of)(?: [\w,’'-]+){0,7} $",  # noqa: E501
        lead,
    ):
        return "departed"
    if re.search(rf"(?:{_APPOINT.pattern})(?: [\w,’'-]+){{0,7}} $", lead, re.IGNORECASE) and not _PREDECESSOR.search(
        before
    ):
        return "appointed"
    if re.search(
        r"\b[Nn]ew (?:[a-z -]+)?$", before[: role.start] if role is not None and role.end <= person.start else ""
    ):
        return "appointed"
    return "works" if re.search(r"\bworks? (?:now )?(?:for|at)\b|\bnow works\b", own) else ""


def _is_employer(own: str, match: re.Match[str]) -> bool:
    """Whether a person is the one who hires: "X hired 60 apprentices", but not "X was hired" or "X named chairman"."""
    if _HIRES.search(match[0]) is None:
        return False
    others = re.match(r" (?:\d|about|some|more|hundreds|dozens|new staff|people|workers|staff)", own[match.end() :])
    return others is not None or _HIRED.search(own[: match.start()]) is None


def _day(sentence: Sentence, near: Mention) -> str:
    """Returns the day from which an office is held or left."""
    dates = [m for m in sentence.mentions if m.kind == "date" and m.start > near.end]
    wanted = re.compile(
        r"\b(?:from|effective|on|as of|starting|starting on|beginning|since|in|until|at the end of|by|effective from) $"
    )
    for mention in dates:
        if wanted.search(sentence.text[: mention.start]) and not mention.text.endswith("day"):
            return mention.value
    return ""
