"""Names of companies, people, places and products in a document, told apart by their context.

    "Orvane Chief Executive Martin Aldaba said"     company, role, person
    "in Rochester, New York"                        place

Each name of a document has one kind: the one for which most of its occurrences give evidence. A short name stands for
the longer one that begins with it, and a family name for the person.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import pairwise

from kg.sentences.amounts import Mention, amounts
from kg.sentences.headlines import body_names, is_title_case, names_in_title
from kg.sentences.language import language
from kg.sentences.names import Directory, plain_name
from kg.text import UPPER

_WORD = (
    rf"(?!(?:US|A|C|HK|S)[$])(?:A/S\b|S/A\b|[A-Z]\.(?=\s?[{UPPER}])"
    rf"|[{UPPER}](?:(?!['’]s\b)[\w’'])*(?:-[{UPPER}](?:(?!['’]s\b)[\w’'])*)*)"
)
_OF = "|".join(
    rf"(?<=\b{word}) of (?:the )?"
    for word in (
        "Academy",
        "Association",
        "Bank",
        "Board",
        "Chamber",
        "College",
        "Court",
        "Department",
        "Federation",
        "House",
        "Institute",
        "Ministry",
        "Museum",
        "Office",
        "Port",
        "School",
        "Society",
        "University",
    )
)
_NAME = re.compile(
    rf"(?<![\w-])(?:{_WORD}|[a-z]{{1,2}}[A-Z]\w+)(?:(?: (?:&|del?|den|di|da|dos|das|du|bin|ibn|ter|ten|van|von|zu|der|la|le|el|al|y)(?: (?:der|den|la))? | & ?|{_OF}| )"  # noqa: E501
    rf"(?:{_WORD}|\d{{1,3}}(?=[,;]|\.$)))*(?:,? (?:plc|AB|SE|SA|AG|NV)\b)?"
)
_BODY = (
    r"(?:[A-Z]\w+,? ){1,4}and [A-Z]\w+ (?:Administration|Commission|Authority|Agency|Board|Council|Office|Department"
    r"|Exchange|Association|Bureau|Ministry|Service)\b"
)
_PUBLIC = frozenset(
    ("Administration", "Agency", "Authority", "Bank", "Board", "Commission", "Council", "Court", "Union")
)
"""Last words of bodies whose names may begin with the adjective of a country: European Medicines Agency."""

_TICKER = re.compile(
    r"\((?P<exchange>[A-Z][\w ]+: ?)?(?P<bracket>[A-Z]{2,6}(?:\.[A-Z]{1,2})?)(?: [A-Z]{2}(?: Equity)?)?\)"
    r"|(?:ticker|symbol|code|(?:listed|traded?s?|trading|quoted) (?:[\w ]+ )?(?:as|under))(?: symbol)?s?,? [\"“]?(?P<word>[A-Z]{2,6})\b"  # noqa: E501
)
_GRADE = re.compile(
    r"(?<![\w-])(?:(?:AAA|AA|BBB|BB|CCC|CC)(?:[+-]|-(?:plus|minus))?|[ABC](?:[+-]|-(?:plus|minus))|(?:Aaa|Aa[1-3]|Baa[1-3]|Ba[1-3]|Caa[1-3]))"
    r"(?![\w-])"
)
"""Grades of creditworthiness."""

_ACTS = (
    r"works?|worked|joins?|joined|resign(?:ed|s)|retire[ds]?|leaves|left|quits?|steps? down|stepped down|became|becomes|ran|runs|founded"  # noqa: E501
    r"|appointed|named|elected|hired|promoted|re-appointed|succeeds?|succeeded|takes? over|took over|leads|led|heads|headed|remains?|departed|departs|studied|started|wrote|tells?"  # noqa: E501
)
_PEOPLE = (
    r"man|woman|physicist|engineer|entrepreneur|scientist|billionaire|brothers?|sisters?|inventor|lawyer|banker|executive|professor|"
    r"chemist|biologist|designer|developer|researcher|doctor|pilot|farmer|son|daughter|wife|husband|veteran|heir|financier|tycoon|"
    r"strategist|trader|consultant|manager|colleague|biochemist|programmer|mathematician|teacher|nephew|cousin|graduate|politician"
)
_SAYS = r"(?:said|says|wrote|writes|told|added|called|commented|warned|noted|argued)"


def names_of(sentence: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of capitalised names; a possessive ends a name."""
    for match in re.finditer(_BODY, sentence):
        yield match.start(), match.end()
    bodies = [match.span() for match in re.finditer(_BODY, sentence)]
    for match in _NAME.finditer(sentence):
        if any(first < match.end() and match.start() < last for first, last in bodies):
            continue
        for part in re.finditer(r"(?:(?!['’]s\b).)+", match[0]):
            start = match.start() + part.start() + (2 if part[0].startswith(("'s", "’s")) else 0)
            text = sentence[start : match.start() + part.end()]
            yield from _trimmed(sentence, start + len(text) - len(text.lstrip()), match.start() + part.end())


def _trimmed(sentence: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    words = sentence[start:end].split(" ")
    lang = language()
    while (
        words
        and " ".join(words[:2]) not in lang.regions
        and words[1:2] != ["of"]  # Bank of Corvia
        and (words[0] in lang.not_names or words[0] in lang.weekdays or words[0].lower() in lang.months)
    ):
        start += len(words[0]) + 1
        words = words[1:]
    if (
        len(words) > 1
        and words[1] != "of"
        and not re.search(r"\w", sentence[:start])
        and (words[0].lower() in lang.organisation_nouns or words[0].endswith("maker"))
    ):
        start += len(words[0]) + 1
        words = words[1:]
    while words and (words[-1] in lang.weekdays or words[-1].lower() in lang.months or words[-1] in ("On", "In")):
        end -= len(words[-1]) + 1
        words = words[:-1]
    while len(words) > 2 and words[0] in lang.demonyms and words[-1] not in _PUBLIC:
        start += len(words[0]) + 1
        words = words[1:]
    if words[:2] == ["Board", "of"] and words[-1].strip(".,") in lang.legal_forms:  # of a company, not of trade
        start += len("Board of ")
        words = words[2:]
        if words[0] == "the":
            start += len("the ")
            words = words[1:]
    if words and words[0].strip(".") and words[0] not in lang.currency_codes:
        yield start, max(start, end)


class DocumentNames:
    """The names of one document with their kinds and full forms.

    Args:
        sentences: The document.
        directory: The names known before.
        headline: The number of the headline among the sentences. In title case it is read with the names of the others.
    """

    def __init__(self, sentences: Sequence[str], directory: Directory, headline: int | None = None) -> None:
        self.directory = directory
        self.tickers: dict[str, str] = {}
        self._votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._roles = [_role_spans(sentence) for sentence in sentences]
        self._titled = headline if headline is not None and is_title_case(sentences[headline]) else None
        self._body: dict[str, bool] = {}
        self._body = body_names(
            (sentences[place][a:b], a > 0)
            for place, a, b in self._occurrences(sentences)
            if self._titled is not None and place != self._titled
        )
        occurrences = list(self._occurrences(sentences))
        self._inner = {s[a:b] for (p, a, b) in occurrences for s in [sentences[p]] if a > 0 and s[a - 2 : a] != '"'}
        for place, start, end in occurrences:
            self._vote(sentences[place], start, end, self._roles[place])
        self.kinds = self._decided()

    def _occurrences(self, sentences: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        for place, sentence in enumerate(sentences):
            yield from ((place, start, end) for start, end in self._names_at(place, sentence))

    def _names_at(self, place: int, sentence: str) -> Iterator[tuple[int, int]]:
        """Yields the spans of names in a sentence; in a headline in title case those of the text below it."""
        for span in self._spans(sentence, self._roles[place]):
            yield from names_in_title(sentence, span, self._body) if place == self._titled else (span,)

    def _spans(self, sentence: str, roles: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yields the spans of names outside titles of people, with those that end with a common noun."""
        phrases = [match.span() for one in self.directory.phrases.values() for match in one.finditer(sentence)]
        yield from phrases
        named = (span for span in names_of(sentence) if not any(span[0] < b and a < span[1] for a, b in phrases))
        for start, end in named:
            for first, last in _without(start, end, roles):
                while first < last and not sentence[first].isalpha():
                    first += 1
                last = len(sentence[:last].rstrip(" ,&"))
                if (first < last and sentence[first:last][:1].isupper()) or sentence[first:last][1:2].isupper():
                    yield first, last

    def _vote(self, sentence: str, start: int, end: int, roles: Sequence[tuple[int, int]]) -> None:
        name, votes = sentence[start:end], self._votes[sentence[start:end]]
        before, after = sentence[:start], sentence[end:]
        lang, words = language(), sentence[start:end].split()
        known = self.directory.find(name)
        if known is not None:
            votes[known[0]] += 3
        plural = "|[a-z]+s" if len(words) > 1 or name in self._inner else ""
        if start < 5 and re.match(
            rf" (?:has|is|was|will|said|[a-z]+ed|won|sold|bought|cut|fell|rose{plural})\b", after
        ):
            votes["company"] += 1
        if any(word.strip(".,") in lang.legal_forms or word in lang.organisation_words for word in words[1:]):
            votes["company"] += 4
        elif words[0] in lang.organisation_words and len(words) > 1:
            votes["company"] += 2
        if re.search(r"\b(?:[Aa]nalysts?|[Ee]conomists?|[Ss]trategists?|[Bb]rokers?) (?:at|with|from) $", before):
            votes["company"] += 5
        self._vote_title(sentence, start, end, roles)
        self._vote_person(words, before, after)
        if name in lang.regions:
            votes["place"] += 5
        if name in lang.demonyms:
            votes["other"] += 6
        ticker = _TICKER.match(after.lstrip(), 0) if after.lstrip().startswith("(") else None
        if ticker:
            votes["company"] += 4
        self._vote_place(name, before, after)
        noun = re.search(r"\b([\w-]+),? $", before)
        if noun and (noun[1].lower() in lang.organisation_nouns or re.search(r"[a-z]maker$", noun[1])):
            votes["company"] += 3
        if re.match(r", (?:an?|the) (?:[\w-]+ )*?(?:[a-z]+maker|" + "|".join(lang.organisation_nouns) + r")\b", after):
            votes["company"] += 3
        if re.match(r"[ ,]+(?:based|headquartered) in|['’]s? (?:shares|stock|board|sales|revenue|profit)", after):
            votes["company"] += 3
        if "&" in words:
            votes["company"] += 2
        if len(words) == 1 and re.search(r"[a-z][A-Z]|^[A-Z]{3,5}$", name):
            votes["company"] += 1

    def _vote_title(self, sentence: str, start: int, end: int, roles: Sequence[tuple[int, int]]) -> None:
        """Counts the titles before and after a name."""
        name, lang = sentence[start:end], language()
        words, votes = name.split(), self._votes[name]
        before, after = sentence[:start], sentence[end:]
        title = re.search(r"(\w+)\.? $", before)
        if title and title[1] in lang.person_titles:
            votes["person"] += 6
        if any(0 <= start - last <= 2 for _, last in roles) and len(words) > 1:
            votes["person"] += 4
        if re.match(r",? (?:the |its |an? |who |[A-Z]\w+['’]s )", after) and any(
            0 < first - end <= 40 and "," in sentence[end:first] for first, _ in roles
        ):
            votes["person"] += 2 if 1 < len(words) < 5 else 0
        if re.match(rf" {_SAYS}\b", after) and 1 < len(words) < 4:
            votes["person"] += 2
        if re.search(r"(?:by|with) (?:\w+ ){0,1}$", before) and len(words) == 2 and "-" in name:
            votes["person"] += 1

    def _vote_person(self, words: Sequence[str], before: str, after: str) -> None:
        """Counts the evidence that a name of two to four words is a person."""
        votes = self._votes[" ".join(words)]
        if not 1 < len(words) < 5:
            return
        if re.match(
            rf"(?:,| who)?(?: (?:has|have|had|will|who|is|was|been|now|also|then|would))*(?: \w+ly)? (?:{_ACTS})\b",
            after,
        ):
            votes["person"] += 3
        if re.search(rf"\b(?:{_PEOPLE}),? (?:Mr |Ms )?$", before):
            votes["person"] += 3
        if re.search(
            r"\b(?:founded|started|established|co-founded|set up|led|run|headed)(?: in \d{4})? by (?:\w+ ){0,2}(?:[A-Z]\w+ and )?$",  # noqa: E501
            before,
        ):
            votes["person"] += 3
        if re.search(
            r"\b(?:appoint\w*|named|names|elect\w*|hired|hires|promot\w+|succeeds?|succeeded|replac\w+|appointment of|departure of|in succession to|took over from|resignation of) $",  # noqa: E501
            before,
        ):
            votes["person"] += 3
        if re.match(r", (?:\d\d|aged \d\d)\b", after):
            votes["person"] += 4

    def _vote_place(self, name: str, before: str, after: str) -> None:
        votes, lang = self._votes[name], language()
        if re.search(r"\b(?:in|near|outside|at|from|to|of|its|the) $", before) and re.match(
            r" (?:plant|factory|headquarters|office|branch|site|mill|works|base|port|warehouse|hub)\b", after
        ):
            votes["place"] += 4
        region = re.match(r", ([A-Z][a-z]+(?: [A-Z][a-z]+)?)", after)
        if region and (region[1] in lang.regions or region[1].split()[0] in lang.regions):
            votes["place"] += 5
        if re.search(r"\b(?:in|near|outside) $", before):
            votes["place"] += 3
        elif re.search(r"\b(?:from|to|at) $", before):
            votes["place"] += 1
        if re.match(r"-(?:based|listed)\b", after):
            votes["place"] += 5
        if not before.strip() and re.match(r", (?:[A-Z][a-z]+,? )?(?:\d{1,2} [A-Z]|[A-Z][a-z]{2,8}\.? \d)", after):
            votes["place"] += 5

    def _decided(self) -> dict[str, tuple[str, str]]:
        """Returns for each name its kind and its full form."""
        longest = sorted(self._votes, key=lambda name: (-len(name.split()), -len(name)))
        decided: dict[str, tuple[str, str]] = {}
        for name in longest:
            known = self.directory.find(name)
            best_kind, most = self._votes[name].most_common(1)[0] if self._votes[name] else ("", 0)
            if known is not None and (most < 8 or known[0] == best_kind):
                decided[name] = known
                continue
            whole = self._whole(name, decided)
            if whole is not None:
                decided[name] = whole
                continue
            votes = self._votes[name]
            best = votes.most_common(1)
            first_word_only = " " not in name and name not in self._inner
            if best:
                decided[name] = (best[0][0], name)
            elif len(name.split()) > 1 or not first_word_only:
                decided[name] = ("name", name)
        return decided

    def _whole(self, name: str, decided: dict[str, tuple[str, str]]) -> tuple[str, str] | None:
        """Returns a longer name of the document that a name shortens."""
        short = plain_name(name)
        found = []
        for other, (kind, full) in decided.items():
            longer = plain_name(other)
            if kind == "company" and longer.startswith(short + " "):
                found.append((kind, full))
            if kind == "company" and self._inside(name, full):
                found.append((kind, full))
            if kind == "company" and longer == short and len(full) >= len(name):
                found.append((kind, full))
            if kind == "person" and (longer.endswith(" " + short) or longer.startswith(short + " ")):
                found.append((kind, full))
        distinct = dict.fromkeys(found)
        return next(iter(distinct)) if len(distinct) == 1 else None

    def _inside(self, name: str, full: str) -> bool:
        """Whether a name ends a company's: Orsini of Banca Orsini, but no place and no common word of business."""
        votes, words = self._votes[name], plain_name(full).split()
        common = {word.lower() for word in language().organisation_words}
        is_other = votes["place"] or votes["person"] or plain_name(name) in common
        return not is_other and " ".join(words[1:]) == plain_name(name)

    def mentions(self, place: int, sentence: str, published: date) -> list[Mention]:
        """Returns all mentions of a sentence, in order.

        Args:
            place: The number of the sentence.
            sentence: The sentence.
            published: The day of the document.
        """
        found: list[Mention] = []
        for match in _TICKER.finditer(sentence):
            group = "bracket" if match["bracket"] else "word"
            found.append(Mention("ticker", match[group], match.start(group), match.end(group), match[group]))
            if match["exchange"]:
                found.append(Mention("exchange", match["exchange"], *match.span("exchange")))
        for first, last in self._roles[place]:
            role = sentence[first:last]
            found.append(Mention("role", role, first, last, language().role_of(role)))
        found += [Mention("rating", m[0], m.start(), m.end(), m[0]) for m in _GRADE.finditer(sentence)]
        for start, end in self._names_at(place, sentence):
            kind, full = self.kinds.get(sentence[start:end], ("", ""))
            if kind and kind != "other" and not _overlaps(found, start, end):
                found.append(Mention(kind, sentence[start:end], start, end, full))
        ratings = "|".join(sorted(language().ratings, key=len, reverse=True))
        for match in re.finditer(rf"(?:to|from|at|a|an|its) [\"“'‘]?(?P<r>{ratings})\b", sentence, re.IGNORECASE):
            after = sentence[match.end() : match.end() + 8]
            if not _overlaps(found, match.start("r"), match.end("r")) and not re.match(r" [A-Z]| \w+ing", after):
                found.append(Mention("rating", match["r"], match.start("r"), match.end("r"), match["r"].lower()))
        for mention in amounts(sentence, published):
            if not _overlaps(found, mention.start, mention.end):
                found.append(mention)
        return _siblings(sentence, sorted(found, key=lambda mention: mention.start))


def _siblings(sentence: str, found: list[Mention]) -> list[Mention]:
    """Returns mentions with the family name that "Mara and Lena Holt" shares."""
    result = list(found)
    for place, (first, second) in enumerate(pairwise(found)):
        joined = sentence[first.end : second.start] == " and " and second.kind == "person"
        if joined and " " not in first.text and first.kind in ("name", "person") and len(second.value.split()) == 2:
            full = f"{first.text} {second.value.split()[-1]}"
            result[place] = Mention("person", first.text, first.start, first.end, full)
    return result


def _overlaps(found: Iterable[Mention], start: int, end: int) -> bool:
    return any(start < other.end and other.start < end for other in found)


def _without(start: int, end: int, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yields the parts of a span outside other spans."""
    for first, last in spans:
        if start < last and first < end:
            if start < first:
                yield start, first
            start = last
    if start < end:
        yield start, end


def _role_spans(sentence: str) -> list[tuple[int, int]]:
    return [match.span() for match in language().role_pattern.finditer(sentence)]
