"""A sentence with its mentions, and the positions that participants of a frame may have in it.

"Halloran Pierce downgraded ORVN to hold"      trigger "downgraded"
subject Halloran Pierce, object ORVN, after:to hold
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from kg.sentences.amounts import Mention
from kg.sentences.language import inflected, language
from kg.text import plural

_CLAUSE = re.compile(
    r"[;:\"“”]| - |,? \b(?:while|after|because|although|when|but|as|since|if|before|citing|blaming)\b|, and (?=[A-Z]|it\b|the\b|its\b)"  # noqa: E501
)
_PREPOSITION = re.compile(
    r"\b(?:of|in|with|by|from|to|at|for|on|against|into|over|than|under|via|near|between)\b (?:(?:the|its|a|an|rival|\w+maker|"  # noqa: E501
    r"[a-z]+-based) )*$"
)
_PARTICIPLE = re.compile(
    r"(?:^|[,;:(–—-] ?|\b(?:am|is|are|was|were|be|been|being|not|and|or|but|by|after|before|while|when|since|without"
    r"|upon|on|in|from|of|for|about|at|to|with|than|as|including|start\w*|began|begins?|stop\w*|keeps?|kept|consider\w*"
    r"|plans?|\w+ly)) ?$",
    re.IGNORECASE,
)
"""What stands before a form in -ing that is a verb."""

_STAFF = re.compile(r"\b(?:analysts?|economists?|brokers?|strategists?|researchers?) (?:at|with|from) $", re.IGNORECASE)
_RELATIVE = re.compile(
    r"^(?P<before>.*?),? (?:which|that|who)(?: (?:now|also|currently|already|still|\w+ly))* $", re.DOTALL
)
_MODIFIERS = r"(?:[a-z][\w-]*,? |[A-Z][a-z]+(?:an|ish|ese|ch|sh) |(?:[A-Z][a-z]+ )?[A-Z][a-z]+['’]s |[A-Z][a-z]+-based ){0,3}[\"“'‘(]?"  # noqa: E501


@dataclass(frozen=True)
class Trigger:
    """A verb or noun that evokes a frame.

    Attributes:
        start: The offset of its first character.
        end: The offset after its last character.
        passive: Whether the verb is passive.
        noun: Whether it is a noun.
    """

    start: int
    end: int
    passive: bool
    noun: bool


@cache
def _verb(verb: str) -> re.Pattern[str]:
    first, _, rest = verb.partition(" ")
    forms = "|".join(sorted(map(re.escape, inflected(first)), key=len, reverse=True))
    tail = rf"(?: \w+)? {re.escape(rest)}" if rest else ""
    return re.compile(rf"(?<![\w-])(?:{forms}){tail}(?![\w-])", re.IGNORECASE)


@cache
def _noun(noun: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{re.escape(noun)}|{re.escape(plural(noun))})(?!\w)", re.IGNORECASE)


@cache
def _anaphors() -> str:
    return "|".join(sorted(language().anaphors, key=len, reverse=True))


@cache
def _organisations() -> str:
    return "|".join(sorted({*language().organisation_nouns, *language().anaphors}, key=len, reverse=True))


class Sentence:
    """A sentence.

    Args:
        text: Its text.
        mentions: Its mentions, in order.
        topic: The company that "it" and "the company" stand for.
        main: The company that the document is about.
        target: The company that is bought, if the document told before.
        ambiguous: Whether the sentence before names other companies too, so that "it" may be one of these.
    """

    def __init__(
        self,
        text: str,
        mentions: Sequence[Mention],
        topic: str | None,
        main: str | None,
        target: str | None,
        ambiguous: bool = False,
    ) -> None:
        self.text, self.mentions = text, list(mentions)
        self.topic, self.main, self.target = topic, main, target
        self.ambiguous = ambiguous
        self.lower = text.lower()

    def is_doubtful(self, mention: Mention) -> bool:
        """Whether a mention is what "it" or "its" stands for, and another company may be meant."""
        pronoun = mention.start < 0 and mention.value == self.topic
        return self.ambiguous and pronoun and re.search(r"\b(?:it|its)\b", self.lower) is not None

    def has(self, phrase: str) -> bool:
        """Whether a word or phrase occurs; ``@kind`` is a mention of a kind."""
        if phrase.startswith("@"):
            return any(mention.kind == phrase[1:] for mention in self.mentions)
        return re.search(rf"(?<![\w-]){re.escape(phrase)}(?![\w])", self.lower) is not None

    def triggers(self, verbs: Sequence[str], nouns: Sequence[str]) -> Iterator[Trigger]:
        """Yields the places where verbs or nouns occur outside names."""
        for words, pattern, noun in ((verbs, _verb, False), (nouns, _noun, True)):
            for word in words:
                for match in pattern(word).finditer(self.text):
                    names = (m for m in self.mentions if m.kind in ("company", "person", "place", "product", "name"))
                    of_name = noun and re.match(r" of [A-Z]", self.text[match.end() :]) and word in ("sales", "revenue")
                    outside = not any(match.start() < m.end and m.start < match.end() for m in names)
                    verbal = noun or not (self._attribute(match) or self._determined(match, word))
                    if not of_name and outside and verbal:
                        yield Trigger(match.start(), match.end(), not noun and self._passive(match), noun)

    def _attribute(self, match: re.Match[str]) -> bool:
        """Whether a form in -ing stands before a noun as an adjective does: "makes cutting machines"."""
        form = match[0].split(" ")[0].lower()
        verbal = _PARTICIPLE.search(self.text[: match.start()]) or re.match(r" of\b", self.text[match.end() :])
        return form.endswith("ing") and verbal is None

    def _determined(self, match: re.Match[str], verb: str) -> bool:
        """Whether a verb in its base form follows an article, and is a noun: "the fire destroyed a shop"."""
        article = re.search(r"\b(?:the|an?) $", self.text[: match.start()], re.IGNORECASE)
        return article is not None and match[0].lower() == verb

    def _passive(self, match: re.Match[str]) -> bool:
        form = match[0].split(" ")[0].lower()
        if not re.search(r"(?:ed|t|n|d|ld|ut)$", form) or form.endswith("ing"):
            return False
        before = self.text[: match.start()]
        if re.search(
            r"\b(?:is|are|was|were|be|been|being)(?: (?:not|also|now|then|later|since|already|\w+ly))* $", before
        ):
            return True
        after = self.text[match.end() :]
        if re.match(r" (?:in \d{4} )?by (?:[a-z]+ ){0,2}[A-Z]", after):
            return True
        return re.search(r", $|^$", before) is not None and bool(re.match(r" (?:by|in \d{4})\b", after))

    def find(self, position: str, kinds: Sequence[str], trigger: Trigger) -> Iterator[Mention]:
        """Yields mentions at a position, the likeliest first."""
        name, _, argument = position.partition(":")
        found = [m for m in self.mentions if _fits(m, kinds)]
        right = [m for m in found if m.start >= trigger.end]
        left = [m for m in found if m.end <= trigger.start][::-1]
        if name == "subject":
            yield from self._agent(right, trigger.end) if trigger.passive else self._subject(left, kinds, trigger)
        elif name == "object":
            if "company" in kinds and re.match(rf" (?:the|its|a) (?:{_anaphors()})\b", self.text[trigger.end :]):
                yield from self._referred(self.main)
            yield from self._subject(left, kinds, trigger) if trigger.passive else self._near(right, trigger)
        elif name in ("right", "object_any"):
            yield from right
        elif name == "left":
            yield from left
        elif name in ("any", "other"):
            yield from sorted(found, key=lambda m: min(abs(m.start - trigger.end), abs(trigger.start - m.end)))
        elif name == "after":
            wanted = re.compile(rf"\b(?:{argument}) {_MODIFIERS}$")
            yield from (m for m in (*right, *left) if wanted.search(self.text[: m.start]) and m.noun != "weekday")
            if "company" in kinds and re.search(rf"\b(?:{argument}) (?:the|its own) (?:{_anaphors()})\b", self.text):
                yield from self._referred(self.main)
        elif name == "right_of":
            place = re.search(rf"\b(?:{argument})\b", self.lower)
            yield from (m for m in found if place and m.start >= place.end())
        else:
            yield from self._special(name, found, left, kinds)

    def _special(
        self, name: str, found: Sequence[Mention], left: Sequence[Mention], kinds: Sequence[str]
    ) -> Iterator[Mention]:
        if name in ("topic", "topic_local") and "company" in kinds and not self._foreign():
            yield from self._referred(self.topic if re.search(r"\b(?:it|its)\b", self.lower) else self.main)
        elif name == "weekday":
            yield from (m for m in found if m.noun == "weekday" or m.text in ("today", "yesterday"))
        elif name == "main":
            yield from self._referred(self.main)
        elif name == "topic_target":
            yield from self._referred(self.target)
        elif name == "poss":
            yield from (m for m in left if re.match(r"['’]s?\b", self.text[m.end :]))
            if re.search(r"\bits\b", self.lower):
                yield from self._referred(self.topic)
        elif name == "any_day":
            yield from (m for m in found if len(m.value) == 10 and m.noun != "weekday")
        elif name == "site":
            nouns = r" (?:[a-z-]+ ){0,1}(?:plant|factory|base|mill|site|works|office|branch|smelter|mine|refinery|yard|hub|depot|warehouse)"  # noqa: E501
            yield from (m for m in self.mentions if m.kind in ("place", "name") and re.match(nouns, self.text[m.end :]))
        elif name == "place_before_hq":
            nouns = r"(?:['’]s)? (?:headquarters|head office|home|base|offices)"
            yield from (m for m in found if re.match(nouns, self.text[m.end :]))

    def _foreign(self) -> bool:
        """Whether the sentence is about "the regulator" or another party, not about the document's company."""
        return (
            re.match(r"(?:The|A|An) (?:regulator|broker|court|union|watchdog|mayor|minister|pilots)\b", self.text)
            is not None
        )

    def _referred(self, name: str | None) -> Iterator[Mention]:
        if name is not None:
            yield Mention("company", "", -1, -1, name)

    def _agent(self, right: Sequence[Mention], start: int) -> Iterator[Mention]:
        wanted = re.compile(rf"\bby {_MODIFIERS}$")
        names = (m for m in self.mentions if m.kind == "name" and m.start >= start)
        yield from (m for m in (*right, *names) if wanted.search(self.text[: m.start]))

    def _near(self, right: Sequence[Mention], trigger: Trigger) -> Iterator[Mention]:
        for mention in right:
            if not re.search(r"[;]|\bwhile\b", self.text[trigger.end : mention.start]):
                yield mention

    def _subject(self, left: Sequence[Mention], kinds: Sequence[str], trigger: Trigger) -> Iterator[Mention]:
        """Yields the subject of a verb: a name before it, or what a pronoun there stands for."""
        relative = _RELATIVE.match(self.text[: trigger.start]) if not trigger.noun else None
        if relative is not None:
            before = relative["before"]
            beside = [m for m in left if m.end == len(before)]
            noun = re.search(rf"\bthe (?:[\w-]+ )?(?:{_organisations()})$", before)
            if beside or (noun is not None and self.target is not None and noun.start() > 0):
                yield from beside or self._referred(self.target)
                return
        bounds = [match.end() for match in _CLAUSE.finditer(self.text[: trigger.start])]
        bound = bounds[-1] if bounds else 0
        clause = self.text[bound : trigger.start]
        plain = [m for m in left if self._plain(m)]
        plain = self._coordinated(plain)
        if trigger.noun:
            plain = [m for m in plain if m.start < bound] + [m for m in reversed(plain) if m.start >= bound]
        yield from (m for m in plain if m.start >= bound)
        if not self.text[: trigger.start].strip():
            yield from (m for m in self.mentions if _fits(m, kinds) and self.text[: m.start].endswith(", "))
        if "company" in kinds:
            yield from self._pronoun(clause)
        yield from (m for m in reversed(plain) if m.start < bound)
        if "company" in kinds and bound:
            yield from self._pronoun(self.text[: trigger.start])
        if trigger.noun:
            yield from left

    def _plain(self, mention: Mention) -> bool:
        """Whether no preposition stands before a name; "analysts at Corbel" stand for Corbel."""
        before = self.text[: mention.start]
        return _PREPOSITION.search(before) is None or _STAFF.search(before) is not None

    def _coordinated(self, left: list[Mention]) -> list[Mention]:
        """Returns mentions before a verb, the nearest first; of "X and Y" the first one."""
        if len(left) > 1:
            gap = self.text[left[1].end : left[0].start]
            if re.fullmatch(r"(?: \([^)]*\))?,? and (?:[a-z][\w-]* |[A-Z][a-z]+(?:an|ish|ese|ch) ){0,3}", gap):
                return [left[1], left[0], *left[2:]]
        return left

    def _pronoun(self, clause: str) -> Iterator[Mention]:
        pronoun = re.search(r"\b(?:[Ii]t|[Ii]ts)\b", clause)
        if pronoun:
            start = self.text.find(clause) + pronoun.start()
            own = [m for m in self.mentions if m.kind == "company" and m.end <= start and self._plain(m)]
            yield from own[:1] or self._referred(self.topic)
        nouns = _anaphors()
        if re.search(
            rf"\b(?:[Tt]he|[Oo]ur|[Ii]ts|[Bb]oth)(?: [\w-]+)?? (?:{nouns})\b", clause, re.IGNORECASE
        ) or re.search(r"\b[Ww]e\b", clause):
            yield from self._referred(self.main)


def _fits(mention: Mention, kinds: Sequence[str]) -> bool:
    for kind in kinds:
        name, _, nouns = kind.partition(":")
        named = name == "company" and mention.kind == "name" and " " in mention.text
        if (mention.kind == name or named) and (not nouns or set(nouns.split(",")) & set(mention.noun.lower().split())):
            return True
    return False
