"""Amounts, shares, counts and dates in a sentence, as mentions with their values.

>>> [(m.kind, m.text) for m in amounts("It paid $340 million for 420 staff on May 5, 2026.", date(2026, 5, 6))]
[('money', '$340 million'), ('count', '420'), ('date', 'May 5, 2026')]
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from kg.sentences.language import language


@dataclass(frozen=True)
class Mention:
    """A piece of a sentence with a kind.

    Attributes:
        kind: company, person, place, product, name, role, ticker, money, percent, count, date or rating.
        text: As written.
        start: The offset of its first character.
        end: The offset after its last character.
        value: Its normal form: a full name, a title, a day, an amount.
        noun: The counted noun.
    """

    kind: str
    text: str
    start: int
    end: int
    value: str = ""
    noun: str = ""


_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_SCALE = r"(?:thousand|million|billion|trillion|mn|bn|m\b|k\b)"
_MONTHS = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"  # noqa: E501
_PER = r"(?: (?:per|a|each) (?:share|piece|unit)| apiece)?"


@cache
def _money() -> re.Pattern[str]:
    signs: list[str] = []
    names: list[str] = []
    for word in language().currency_of:
        (signs if not word[-1].isalpha() else names).append(re.escape(word))
    named = "|".join(sorted((name for name in names if len(name) > 1), key=len, reverse=True))
    sign = rf"(?:US|A|C|HK|S)?(?:{'|'.join(sorted(signs, key=len, reverse=True))})"
    codes = "|".join(name.upper() for name in names if len(name) == 3)
    sign = rf"(?:{sign}|(?-i:\b(?:{codes}) ))"
    one = rf"(?:{sign} ?{_NUMBER}(?:[ -]?{_SCALE})?|{_NUMBER}(?:[ -]?{_SCALE})?[ -](?:{named}))"
    bare = rf"{_NUMBER}(?:[ -]?{_SCALE})?"
    return re.compile(
        rf"(?<![\w.])(?P<range>(?:between (?:{one}|{bare}) and|(?:{one}|{bare}) to) {one}|between {one} and {bare}"
        rf"|{one} to {bare}"
        rf"|{sign} ?{_NUMBER}(?:[-–]{_NUMBER})[ -]?{_SCALE})(?!\w)|(?<![\w.])(?P<one>{one}{_PER})(?!\w)",
        re.IGNORECASE,
    )


_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)\b"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<mon>{_MONTHS})\b\.?(?:,? (?P<y>(?:19|20)\d\d))?", re.I
    ),
    re.compile(
        rf"\b(?P<mon>{_MONTHS})\b\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,\d)(?:,? (?P<y>(?:19|20)\d\d)\b)?", re.I
    ),
    re.compile(rf"\b(?P<mon>{_MONTHS})\b\.?,? (?P<y>(?:19|20)\d\d)\b", re.I),
    re.compile(r"\b(?P<mon>January|February|March|April|May|June|July|August|September|October|November|December)\b"),
    re.compile(r"(?<![\d$€£.,])\b(?P<y>(?:19|20)\d\d)\b(?![\d,.]\d|%)"),
)
_RELATIVE = re.compile(
    r"\b(?P<day>today|yesterday|tomorrow)\b|\b(?:(?P<last>last|next|this) )?(?P<week>Monday|Tuesday|Wednesday|Thursday"
    r"|Friday|Saturday|Sunday)\b|\b(?P<rel>next|last|this) (?P<unit>year|month)\b"
)
_COUNT = re.compile(
    rf"(?<![\w$€£.,])(?P<n>{_NUMBER}(?:k\b| (?:hundred|thousand|million))?)(?![\d%]|\.\d| ?per ?cent)(?=[\s,.;)-]|$)"
)
_PERCENT = re.compile(rf"(?<![\w.])[-+]?{_NUMBER} ?(?:%|per ?cent\b|percentage points?)", re.IGNORECASE)


def amounts(text: str, published: date) -> list[Mention]:
    """Returns the amounts and dates of a sentence, in order.

    Args:
        text: The sentence.
        published: The day of the document, from which days without a year count.
    """
    found: list[Mention] = []
    for source in (_moneys(text), _percents(text), _dates(text, published), _counts(text)):
        for mention in source:
            if not any(mention.start < other.end and other.start < mention.end for other in found):
                found.append(mention)
    return sorted(found, key=lambda mention: mention.start)


def _moneys(text: str) -> Iterator[Mention]:
    for match in _money().finditer(text):
        written = match[0].removeprefix("between ").replace(" and ", " to ") if match["range"] else match[0]
        yield Mention("money", match[0], match.start(), match.end(), _with_name(written))
    for match in re.finditer(rf"(?<![\w$€£.,]){_NUMBER}(?:p|c)(?:{_PER})(?![\w-])", text):
        yield Mention("money", match[0], match.start(), match.end(), match[0])
    for match in re.finditer(rf"(?<![\w$€£.,]){_NUMBER} (?:million|billion)\b(?! \w*s\b)", text):
        yield Mention("money", match[0], match.start(), match.end(), _in_currency(match[0], text[: match.start()]))


def _with_name(amount: str) -> str:
    """Returns "14 million euros" for "EUR 14 million"."""
    code = re.match(r"([A-Z]{3}) (?=\d)", amount)
    name = language().currency_of.get(code[1].lower()) if code else None
    return amount if code is None or name is None else f"{amount[code.end() :]} {name}s"


def _in_currency(amount: str, before: str) -> str:
    """Returns an amount without a currency in that of the one before it: "cost 18 million pounds, save 7 million"."""
    earlier = [match for match in _money().finditer(before) if match["one"]]
    if not earlier:
        return amount
    sign, name = re.match(r"[^\w\s]+", earlier[-1][0]), re.search(r"[ -]([a-z]+)$", earlier[-1][0])
    if sign is not None:
        return f"{sign[0]}{amount}"
    return f"{amount} {name[1]}" if name is not None and name[1] in language().currency_of else amount


_UNITS = (
    r"second|minute|hour|day|night|week|month|year|decade|centur(?:y|ie)|kilomet(?:re|er)|met(?:re|er)|centimet(?:re|er)|"
    r"mile|foot|feet|inch(?:e)?|tonne|ton|kilo(?:gram)?|gram|lit(?:re|er)|gallon|barrel|acre|hectare|megawatt|"
    r"kilowatt|gigawatt|degree|square (?:foot|feet|met(?:re|er)|mile|kilomet(?:re|er))"
)
_TIMES_OF = re.compile(r"(?:second|minute|hour|day|night|week|month|year|decade|centur)")


def measures(text: str) -> list[Mention]:
    """Returns lengths of time, ``duration``, and amounts with a unit, ``measure``: "47 minutes", "a 14-year wait"."""
    words = "|".join(language().numbers)
    found = []
    for match in re.finditer(
        rf"(?<![\w$€£.,])(?P<n>{_NUMBER}|(?:{words})(?:-(?:{words}))?)(?: (?P<s>thousand|million))?[ -]"
        rf"(?:more |full |further |consecutive )?(?P<u>{_UNITS})s?\b(?! old)",
        text,
        re.IGNORECASE,
    ):
        parts = [language().numbers.get(part, 0) for part in match["n"].lower().split("-")]
        number = match["n"] if match["n"][0].isdigit() else str(sum(parts))
        unit = f"{match['s'] + ' ' if match['s'] else ''}{match['u']}{'' if match['u'].endswith('t') else 's'}"
        kind = "duration" if _TIMES_OF.match(match["u"].lower()) else "measure"
        found.append(Mention(kind, match[0], match.start(), match.end(), f"{number} {unit}"))
    return found


def _percents(text: str) -> Iterator[Mention]:
    for match in _PERCENT.finditer(text):
        value = re.sub(r" ?(?:per ?cent.*|percentage.*)", "%", match[0], flags=re.IGNORECASE)
        yield Mention("percent", match[0], match.start(), match.end(), value)


def _dates(text: str, published: date) -> Iterator[Mention]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            value = _day(match.groupdict(), published, _AHEAD.search(text) is not None)
            if value:
                yield Mention("date", match[0], match.start(), match.end(), value)
    for match in _RELATIVE.finditer(text):
        kind = "weekday" if match["week"] else ""
        day = _relative(match, published, _TO_COME.search(text[: match.start()]) is not None)
        yield Mention("date", match[0], match.start(), match.end(), day, kind)


_AHEAD = re.compile(
    r"\b(?:will|would|shall|to be|plans?|planned|expects?|expected|due|next|until|till|by|through|from|starts?|ends?"
    r"|upcoming|later|schedul\w+|deadline|going to|may|could|maturing|matures?|ahead)\b"
)
"""Words of sentences about the future."""

_FAR = 120
"""The days after its document up to which a day without a year may be in a sentence without these words."""


def _day(parts: dict[str, str | None], published: date, ahead: bool) -> str:
    written = parts.get("mon") or ""
    month = next(
        (n for n, name in enumerate(language().months, 1) if written and name.startswith(written[:3].lower())), 0
    )
    month = month or int(parts.get("m") or 0)
    day, year = int(parts.get("d") or 0), int(parts.get("y") or 0)
    if not month:
        return f"{year}"
    try:
        if not year:
            near = [published.year - 1, published.year, published.year + 1]
            year = min(near, key=lambda one: abs((date(one, month, day or 15) - published).days))
            year -= not ahead and (date(year, month, day or 15) - published).days > _FAR
        if day > calendar.monthrange(year, month)[1]:
            return ""
    except ValueError:
        return ""
    return f"{year}-{month:02}-{day:02}" if day else f"{year}-{month:02}"


_TO_COME = re.compile(
    r"\b(?:for|until|till|by|before|starting|beginning)(?: the| early| late)? $"
    r"|\b(?:will|would|shall|plans?|planned|due|set|scheduled|expected|going)\b(?:(?!\b(?:said|says|told|announced)\b)[^.,;]){0,60}"
    r"\bon $"
)
"""What stands before a weekday that is to come."""


def _relative(match: re.Match[str], published: date, to_come: bool) -> str:
    if match["day"]:
        return (published + timedelta({"today": 0, "yesterday": -1, "tomorrow": 1}[match["day"]])).isoformat()
    if match["week"]:
        wanted = language().weekdays.index(match["week"])
        back = (published.weekday() - wanted) % 7
        ahead = (wanted - published.weekday()) % 7 or 7
        if match["last"] == "next" or (to_come and not match["last"]):
            return (published + timedelta(ahead)).isoformat()
        return (published - timedelta(back or (7 if match["last"] == "last" else 0))).isoformat()
    shift = {"next": 1, "last": -1, "this": 0}[match["rel"]]
    if match["unit"] == "year":
        return str(published.year + shift)
    month = published.year * 12 + published.month - 1 + shift
    return f"{month // 12}-{month % 12 + 1:02}"


def _counts(text: str) -> Iterator[Mention]:
    for match in _COUNT.finditer(text):
        yield Mention("count", match[0], match.start(), match.end(), _plain(match["n"]), _noun(text[match.end() :]))
    words = "|".join(language().numbers)
    for match in re.finditer(rf"\b(?:{words})(?:-(?:{words}))?\b(?= [a-z])", text, re.IGNORECASE):
        parts = [language().numbers[part] for part in match[0].lower().split("-") if part in language().numbers]
        yield Mention("count", match[0], match.start(), match.end(), str(sum(parts)), _noun(text[match.end() :]))


def _plain(number: str) -> str:
    for word, scale in (("k", 1000), ("hundred", 100), ("thousand", 1000), ("million", 10**6)):
        if number.endswith(word):
            return f"{float(number.removesuffix(word).replace(',', '')) * scale:.0f}"
    return number.replace(",", "") if "." not in number else number


def _noun(after: str) -> str:
    """Returns the words after a number up to the counted noun: "office staff" of " office staff have until"."""
    found = re.match(
        r"(?:[ -](?:more |new |of (?:its|the|their|our|[\w-]+['’]s?) (?:\w+ (?=[a-z]+s\b))?|of [\d,]+ )*)((?:[\w-]+ ){0,3}?[a-z]+s\b|[\w-]+ (?:staff|people|personnel)|staff|people)",  # noqa: E501
        after,
    )
    return found[1] if found else ""
