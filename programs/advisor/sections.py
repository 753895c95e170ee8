r"""Sentences of a document as a language model reads them: with their names and with the relations that may fit.

>>> section = sections_of(document, Directory())[0]
>>> section.names["Brightlane Photonics"]
'company'
>>> section.relations
('acquires', 'deal_value')
>>> section.fact("Orvane Semiconductor | acquires | Brightlane Photonics")
Fact("Orvane Semiconductor", "company", "acquires", "Brightlane Photonics", ...)

A reply is held to the sentence: the subject is a name, the relation one of the schema or words of the sentence, and
the object a name or words of the sentence in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

from pydantic import WithJsonSchema

from kg.errors import SchemaError
from kg.investments import NewsDocument
from kg.news import Fact, sentences_of
from kg.sentences import Directory, DocumentNames, Mention, frames, plain_name
from kg.text import tokens
from programs.advisor.spans import span_rules
from programs.lm import HELD, quoted

MOST_FACTS = 3
"""Facts of one sentence."""

MOST_RELATIONS = 8
"""Relations of the schema that a prompt offers for one sentence."""

MOST_WORDS = 10
"""Words of an object that is no name."""

NAME_KINDS = frozenset(("company", "person", "place", "product", "name"))
"""Kinds of names, which become nodes."""

_MARK = " | "
_ROLE = "role"
_REFERS = re.compile(r"\b(?:he|she|it|they|his|her|its|their|him|them|this|that|these|those)\b", re.I)


@dataclass(frozen=True)
class Section:
    """A sentence with what a prompt says about it.

    Attributes:
        document: The name of the document.
        published: Its day, ``2026-11-22``.
        title: Its headline.
        before: The sentence before; empty for the first.
        text: The sentence.
        names: The kind of each name that a fact can be about, by its full form.
        values: The kind of each amount, day and title of the sentence, by its normal form.
        relations: The relations of the schema that the sentence's words suggest.
    """

    document: str
    published: str
    title: str
    before: str
    text: str
    names: Mapping[str, str]
    values: Mapping[str, str] = field(default_factory=dict)
    relations: tuple[str, ...] = ()

    def inputs(self) -> dict[str, str]:
        """Returns the inputs of :class:`signatures.extraction.ExtractFacts`."""
        return {
            "document": f"{self.title} ({self.published})",
            "before": (self.before if _REFERS.search(self.text) else "") or "none",
            "sentence": self.text,
            "names": "; ".join([*self.names, *self.values]) or "none",
            "relations": "; ".join(map(_shown, self.relations)) or "none",
        }

    def facts_type(self) -> Any:
        """Returns the type of the facts, with the grammar that a model is held to."""
        subject = " | ".join(map(quoted, self.names)) or '"none"'
        rules = {
            **span_rules([self.text]),
            "subject": subject,
            "relation": " | ".join([*(quoted(_shown(one)) for one in self.relations), "span"]),
            "object": " | ".join([*map(quoted, (*self.names, *self.values)), "span"]),
            "fact": f'subject "{_MARK}" relation "{_MARK}" object',
            "facts": f'"none" | fact ("; " fact){{0,{MOST_FACTS - 1}}}',
        }
        held = {"start": "facts", "rules": rules}
        return Annotated[list[str], WithJsonSchema({"type": "array", "items": {"type": "string"}, HELD: held})]

    def fact(self, written: str, confidence: float) -> Fact:
        """Returns a fact as the model wrote it.

        Args:
            written: ``subject | relation | object``.
            confidence: The confidence of the reading.

        Raises:
            SchemaError: It is not of this form, or the sentence does not hold it.
        """
        parts = [part.strip() for part in written.split("|")]
        if len(parts) != 3 or not all(parts):
            raise SchemaError(f"a fact is written subject | relation | object, got {written!r}")
        subject, relation, value = parts
        if subject not in self.names:
            raise SchemaError(f"the subject must be one of the names, got {subject!r}")
        if value == subject:
            raise SchemaError(f"a fact has two ends, got {written!r}")
        kind = self.names.get(value) or self.values.get(value) or self._span_kind(value)
        known = {_shown(one): one for one in self.relations}.get(relation)
        if known is not None:
            _check_kinds(known, self.names[subject], kind, written)
        elif not self._holds(relation):
            raise SchemaError(f"the relation must be of the schema or of the sentence, got {relation!r}")
        return Fact(
            subject,
            self.names[subject],
            known or relation,
            value,
            kind,
            self.text,
            self.document,
            self.published,
            confidence,
            role=value if known == _ROLE else "",
        )

    def _span_kind(self, value: str) -> str:
        if not self._holds(value) or len(value.split()) > MOST_WORDS:
            raise SchemaError(f"the object must be a name or a few words of the sentence, got {value!r}")
        return "text"

    def _holds(self, words: str) -> bool:
        """Whether words occur in the sentence, in their order and without a gap."""
        return holds_words(tokens(self.text), words)


def holds_words(there: Sequence[str], words: str) -> bool:
    """Whether tokens have those of some words, in their order and without a gap."""
    wanted = tokens(words)
    return bool(wanted) and any(
        list(there[place : place + len(wanted)]) == wanted for place in range(len(there) - len(wanted) + 1)
    )


def sections_of(document: NewsDocument, directory: Directory) -> list[Section]:
    """Returns the sentences of a document.

    Args:
        document: The document.
        directory: The names known before.
    """
    sentences = sentences_of(document.text)
    found = DocumentNames([*sentences, document.headline], directory, len(sentences))
    mentions = [found.mentions(place, text, document.published) for place, text in enumerate(sentences)]
    headline = found.mentions(len(sentences), document.headline, document.published)
    sections = []
    for place, text in enumerate(sentences):
        near = [*mentions[place], *(mentions[place - 1] if place else ()), *headline]
        names = {one.value or one.text: one.kind for one in near if one.kind in NAME_KINDS}
        values = {normal_form(one): one.kind for one in mentions[place] if one.kind not in NAME_KINDS}
        sections.append(
            Section(
                document.name,
                document.published.isoformat(),
                document.headline,
                sentences[place - 1] if place else "",
                text,
                names,
                {value: kind for value, kind in values.items() if value not in names},
                relations_of(text, names.values(), values.values()),
            )
        )
    return sections


def relations_of(text: str, names: Iterable[str], values: Iterable[str]) -> tuple[str, ...]:
    """Returns the relations of the schema whose words a sentence has, and whose ends it can have; the nearest first.

    Args:
        text: The sentence.
        names: The kinds of its names.
        values: The kinds of its other mentions.
    """
    subjects, kinds = set(names), {*names, *values}
    there = set(tokens(text))
    scored = []
    for name, relation in frames().relations.items():
        if not (subjects & set(relation.subject_types) and kinds & set(relation.object_types)):
            continue
        hits = sum(words <= there for words in _cues()[name])
        if hits:
            scored.append((-hits, name))
    found = [name for _, name in sorted(scored)[:MOST_RELATIONS]]
    return (*found, _ROLE) if _ROLE in kinds and "person" in subjects else tuple(found)


@cache
def _cues() -> dict[str, frozenset[frozenset[str]]]:
    """Returns the words of each relation: those by which questions ask for it, and the triggers of its frames."""
    table = frames()
    cues = {name: set(relation.words) for name, relation in table.relations.items()}
    for frame in table.frames:
        for relation in {name for _, name, _ in frame.facts} & cues.keys():
            cues[relation] |= {*frame.verbs, *frame.nouns}
    return {name: frozenset(frozenset(tokens(phrase)) for phrase in found) for name, found in cues.items()}


def distinct(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Returns facts without those that repeat an earlier one."""
    kept: dict[tuple[str, str, str], Fact] = {}
    for fact in facts:
        kept.setdefault((plain_name(fact.subject), fact.relation, plain_name(fact.object)), fact)
    return tuple(kept.values())


def _check_kinds(relation: str, subject: str, value: str, written: str) -> None:
    if relation == _ROLE:
        fits = subject == "person" and value in (_ROLE, "text")
    else:
        rule = frames().relations[relation]
        fits = subject in rule.subject_types and value in rule.object_types
    if not fits:
        raise SchemaError(f"{relation} does not join {subject} and {value}: {written!r}")


def normal_form(mention: Mention) -> str:
    """Returns a name, a day or a title in its normal form, and an amount as written."""
    is_written = mention.kind in ("money", "percent", "count")
    return mention.text if is_written or not mention.value else mention.value


def _shown(relation: str) -> str:
    return relation.replace("_", " ")
