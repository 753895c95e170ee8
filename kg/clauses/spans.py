"""Spans of a sentence that may answer a question and are no name, amount or date: noun phrases, lengths, parts of them.

>>> parse = SentenceParser.load().parse(["It sold a workshop in Bergen because of a lack of fitters."])[0]
>>> [span.text for span in spans_of(parse, [])]
['workshop', 'workshop in Bergen', 'Bergen', 'lack', 'lack of fitters', 'fitters']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kg.clauses.mentions import KINDS_OF_LABELS, NAMES
from kg.clauses.parser import SyntaxToken, SyntaxTree
from kg.sentences import Mention, measures

KINDS_OF_AMOUNTS = {
    "DATE": "date",
    "TIME": "duration",
    "MONEY": "money",
    "PERCENT": "percent",
    "QUANTITY": "measure",
    "CARDINAL": "count",
    "ORDINAL": "count",
}
"""The kinds of spaCy's named entities that are no names."""

MOST_WORDS = 12
"""Words of the longest span."""

_BEFORE = frozenset(("amod", "compound", "nummod", "nmod", "quantmod", "advmod", "npadvmod", "punct", "poss", "case"))
_AFTER = frozenset(("prep", "pobj", "pcomp"))
_NOUNS = frozenset(("NOUN", "PROPN", "NUM"))


def spans_of(parse: SyntaxTree, mentions: Sequence[Mention]) -> list[Mention]:
    """Returns the spans of a sentence that are no mention, in order.

    Args:
        parse: The sentence.
        mentions: Its names, amounts and dates.
    """
    taken = {(one.start, one.end) for one in mentions}
    found = {(one.start, one.end): one for one in _ends(parse, mentions)}
    every = (measures(parse.text), _entities(parse), _phrases(parse), _verbs(parse))
    for span in (one for source in every for one in source):
        key = span.start, span.end
        if key not in taken and (span.kind in NAMES or not any(_is_within(span, one) for one in mentions)):
            found.setdefault(key, span)
    return [found[key] for key in sorted(found)]


def _is_within(span: Mention, mention: Mention) -> bool:
    """Whether a span is a part of a name or amount: "Reis" of "Ana Reis"."""
    return mention.start <= span.start and span.end <= mention.end


def _ends(parse: SyntaxTree, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yields the two amounts of a change, "from $80 to $95", that are read as one range."""
    for mention in mentions:
        changed = mention.kind in ("money", "percent") and " to " in mention.text
        if changed and re.search(r"\bfrom $", parse.text[: mention.start]):
            for match in re.finditer(r".+(?= to )|(?<= to ).+", mention.text):
                start = mention.start + match.start()
                yield replace(mention, text=match[0], start=start, end=start + len(match[0]), value=match[0])


def _mention(parse: SyntaxTree, kind: str, first: int, last: int) -> Mention:
    start, end = parse.tokens[first].start, parse.tokens[last].end
    return Mention(kind, parse.text[start:end], start, end)


def _entities(parse: SyntaxTree) -> Iterator[Mention]:
    """Yields what spaCy's recogniser finds, without small words before it: "third quarter", "300" of "some 300"."""
    for label, group in groupby(parse.tokens, key=lambda token: token.label):
        inside = list(group)
        while len(inside) > 1 and _is_small(inside[0]):
            inside = inside[1:]
        kind = KINDS_OF_AMOUNTS.get(label) or KINDS_OF_LABELS.get(label)
        if kind is not None:
            yield _mention(parse, kind, inside[0].place, inside[-1].place)


def _is_small(token: SyntaxToken) -> bool:
    """Whether a word before a name or amount is an article or says that it is not exact: "about", "some"."""
    inexact = token.label != "DATE" and (token.part in ("DET", "ADP", "ADV") or token.relation == "quantmod")
    return token.part == "ADP" or token.text.lower() in ("the", "a", "an") or (inexact and token.part != "NUM")


def _phrases(parse: SyntaxTree) -> Iterator[Mention]:
    """Yields the noun phrases: the noun with the words before it, and with the phrases after it."""
    for token in parse.tokens:
        if token.part not in _NOUNS or token.relation == "compound":
            continue
        first = _first(parse, token)
        yield _mention(parse, "phrase", first, token.place)
        named = token.place
        while named > first and parse.tokens[named - 1].relation == "compound":
            named -= 1
        yield _mention(parse, "phrase", named, token.place)
        if token.part == "PROPN":
            yield _mention(parse, "phrase", token.place, token.place)
        for child in parse.children[token.place]:
            other = parse.tokens[child]
            if child > token.place and other.relation in _AFTER:
                last = _last(parse, child)
                if last > child and last - first < MOST_WORDS:
                    yield _mention(parse, "phrase", first, last)


def _first(parse: SyntaxTree, token: SyntaxToken) -> int:
    """Returns the first word of a noun phrase, after its article."""
    first = token.place
    while first:
        before = parse.tokens[first - 1]
        if not any(above == token.place for above in (before.head, *parse.ancestors(before.place))):
            break
        if before.relation == "det" or before.part in ("DET", "PRON", "ADP", "CCONJ"):
            break
        first -= 1
    while first < token.place and parse.tokens[first].part in ("PUNCT", "PART"):
        first += 1
    return first


def _last(parse: SyntaxTree, place: int) -> int:
    """Returns the last word of a phrase after a noun, before clauses and further members."""
    last = place
    for child in parse.children[place]:
        other = parse.tokens[child]
        if child > place and other.relation in (*_AFTER, *_BEFORE):
            last = max(last, _last(parse, child))
    return last


def _verbs(parse: SyntaxTree) -> Iterator[Mention]:
    """Yields the phrases of verbs that a verb or preposition takes: "to expand its fleet", "selling spare parts"."""
    for token in parse.tokens:
        if token.part == "VERB" and token.relation in ("xcomp", "pcomp", "advcl", "ccomp", "acl"):
            inside = [one.place for one in parse.tokens if token.place in (one.place, *parse.ancestors(one.place))]
            after = [place for place in inside if place >= token.place]
            last = token.place
            while last + 1 in after and parse.tokens[last + 1].text not in (",", ";", ":", ".", "–", "—"):
                last += 1
            if 0 < last - token.place < MOST_WORDS:
                yield _mention(parse, "phrase", token.place, last)
