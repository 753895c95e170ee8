"""Mentions of names in the sentences of a document: with a kind, without titles, in the full form of the documents.

>>> mentions_of(DocumentNames([one.text for one in passages], directory), passages, parses, directory)[0][0].value
'Corvex Resources'
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kg.clauses.lexicon import is_word
from kg.clauses.parser import SyntaxToken, SyntaxTree
from kg.news import Passage
from kg.sentences import Directory, DocumentNames, Mention, language, noun_class
from kg.text import STOPWORDS, singular

KINDS_OF_LABELS = {
    "ORG": "company",
    "PERSON": "person",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "product",
    "WORK_OF_ART": "product",
    "EVENT": "product",
}
"""The kinds of spaCy's named entities."""

NAMES = frozenset(("company", "person", "place", "product", "name", "ticker"))


def mentions_of(
    names: DocumentNames, group: Sequence[Passage], parses: Sequence[SyntaxTree], directory: Directory
) -> list[list[Mention]]:
    """Returns the mentions of each sentence of a document, in their order."""
    labels = _labels(parses)
    shorter = untitled(names.kinds, parses)
    found: list[list[Mention]] = []
    for place, (passage, parse) in enumerate(zip(group, parses, strict=True)):
        read = names.mentions(place, passage.text, passage.published)
        mentions = [_labelled(_untitled(one, shorter), labels) for one in read if not _is_no_name(one)]
        every = [_resolved(one, directory) for one in (*mentions, *_further(parse, mentions, directory))]
        found.append(sorted(every, key=lambda one: one.start))
    return found


def is_legal(word: str) -> bool:
    """Returns whether a word is a legal form such as "Inc."."""
    forms = {form.lower().rstrip(".") for form in language().legal_forms}
    return word.lower().rstrip(".") in forms


def untitled(names: Iterable[str], parses: Sequence[SyntaxTree]) -> dict[str, str]:
    """Returns the names that begin with a noun for people, "Curator Dr Ellen Frost", without it.

    It is no part of the name if a named entity begins after it, or if the rest is another name of the document.
    """
    given = list(names)
    found = {}
    for name in given:
        words = name.split()
        if len(words) < 2 or noun_class(words[0].lower()) != "person":
            continue
        place = 1
        while place < len(words) - 1 and words[place].rstrip(".") in language().person_titles:
            place += 1
        rest = " ".join(words[place:])
        known = any(other != name and (other == rest or other.endswith(f" {rest}")) for other in given if other)
        if known or place > 1 or any(_begins_at(parse, name, words[place]) for parse in parses):
            found[name] = rest
    return found


def _begins_at(parse: SyntaxTree, name: str, word: str) -> bool:
    """Whether a named entity begins at a word of a name, after its first word."""
    start = parse.text.find(name)
    inside = parse.inside(start, start + len(name)) if start >= 0 else []
    labels = [token.label for token in inside if token.text == word]
    return bool(inside) and not inside[0].label and bool(labels) and labels[0] in KINDS_OF_LABELS


def _untitled(mention: Mention, shorter: dict[str, str]) -> Mention:
    name = shorter.get(mention.text)
    if name is None:
        return mention
    kind = "person" if mention.kind == "name" else mention.kind
    return replace(mention, kind=kind, text=name, start=mention.end - len(name), value=name)


def _labels(parses: Sequence[SyntaxTree]) -> dict[str, str]:
    """Returns for each word in names the kind that most of its entities have."""
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for parse in parses:
        for token in parse.tokens:
            if token.label in KINDS_OF_LABELS and token.text[:1].isupper():
                counted[token.text][KINDS_OF_LABELS[token.label]] += 1
    return {word: votes.most_common(1)[0][0] for word, votes in counted.items()}


def _labelled(mention: Mention, labels: dict[str, str]) -> Mention:
    """Returns a name without a kind with the one of its named entity; a name after "Dame" is a person's."""
    if mention.kind in NAMES and mention.text.split()[0].rstrip(".") in language().person_titles:
        return Mention("person", mention.text, mention.start, mention.end, mention.value or mention.text, mention.noun)
    kind = labels.get(mention.text.split()[-1]) if mention.kind == "name" else None
    if kind is None:
        return mention
    return Mention(kind, mention.text, mention.start, mention.end, mention.value or mention.text, mention.noun)


def _is_no_name(mention: Mention) -> bool:
    """Whether a name is a legal form or a title alone."""
    if mention.kind not in NAMES:
        return False
    words = mention.text.split()
    shouted = mention.text.isupper() and all(word.lower() in STOPWORDS or is_word(word.lower()) for word in words)
    titled = len(words) == 1 and words[0].rstrip(".") in language().person_titles
    return shouted or titled or is_legal(mention.text) or language().role_pattern.fullmatch(mention.text) is not None


def _resolved(mention: Mention, directory: Directory) -> Mention:
    """Returns a name with the full form that the documents have of it."""
    known = directory.find(mention.value or mention.text) if mention.kind in NAMES - {"ticker"} else None
    return replace(mention, value=known[1]) if known is not None and known[1] != mention.value else mention


def _further(parse: SyntaxTree, mentions: Sequence[Mention], directory: Directory) -> Iterator[Mention]:
    """Yields the named entities that are no mentions."""
    place = 0
    while place < len(parse.tokens):
        first = parse.tokens[place]
        end = place + 1
        while end < len(parse.tokens) and parse.tokens[end].label == first.label:
            end += 1
        if first.label in KINDS_OF_LABELS:
            inside = [t for t in parse.tokens[place:end] if t.part in ("PROPN", "NOUN", "ADJ", "NUM")]
            if inside and all(t.text[:1].isupper() for t in inside) and not _is_plain(inside):
                start, last = inside[0].start, inside[-1].end
                if not any(start < one.end and one.start < last for one in mentions):
                    name = parse.text[start:last]
                    known = directory.find(name)
                    kind, full = known if known is not None else (KINDS_OF_LABELS[first.label], name)
                    if name not in language().not_names and name not in language().demonyms:
                        yield Mention(kind, name, start, last, full)
        place = end


def _is_plain(tokens: Sequence[SyntaxToken]) -> bool:
    """Whether a named entity is a usual word, a title or a legal form: "Preliminary", "Chair", "INC"."""
    words = [token.text.lower().rstrip(".") for token in tokens]
    if len(words) == 1 and (is_word(words[0]) or is_legal(words[0])):
        return True
    return all(is_word(word) or is_word(singular(word)) for word in words) and len(words) < 3
