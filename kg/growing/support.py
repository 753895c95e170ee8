"""Passages of a source that state an update: each update that is read from a text must have one.

>>> supporting_span(AddNode("Company", "Orbex Ltd"), "Orbex Ltd, based in Malta, was sued.", graph)
'Orbex Ltd, based in Malta, was sued.'

A row of a table states what its own cells and those of its header say. A text removes nothing. A new value of a stored
node must occur in the text, and so must the node's name. Categories, dates and ratings of new nodes are a reader's
judgement. Names of more than six words may sum the text up. A value without a letter or a digit is never stated. Words
outside of ASCII may have another ending in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from kg.errors import SchemaError
from kg.growing.change import AddEdge, AddNode, Update
from kg.growing.graph import GrowingGraph
from kg.growing.terms import NodeKey
from kg.growing.triples import without_legal_form
from kg.text import STOPWORDS, split_sentences, tokens

VERBATIM = 6
"""Words up to which a text must be the source's own; longer ones may sum it up."""

SUMMED_UP = 0.5
"""The share of a longer text's words that one passage must hold."""

PASSAGE = 3
"""Sentences in a row that state one thing together."""

_CELLS = " | "
"""The mark between the cells of a table's row, as documents are read."""

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?")
_WORD = re.compile(r"[^\W_]+")
_ENDING, _KEPT = 2, 4
"""Letters that the ending of a word outside of ASCII may have, and letters that remain of it at the least."""

_JUDGED = frozenset({"enum", "format"})
_SCALE = frozenset({"minimum", "maximum"})


def supporting_span(update: Update, text: str, graph: GrowingGraph) -> str:
    """Returns the passage of a source that states an update.

    Args:
        update: An operation that was read from the source.
        text: The source.
        graph: The graph as it is.

    Raises:
        SchemaError: The source does not state the update, or the update removes something.
    """
    source = _Source(text)
    if isinstance(update, AddNode):
        return _node_span(update, source, graph)
    if isinstance(update, AddEdge):
        first, _ = (source.named(key, "edge") for key in (update.source, update.target))
        return source.best(f"{update.source.name} {update.target.name}") or first
    if update.value is None:
        raise SchemaError(f"a source removes nothing: {update.property} of {update.node}")
    source.named(update.node, update.property)
    return source.stated(update.value, f"the {update.property} of {update.node}")


def _node_span(update: AddNode, source: _Source, graph: GrowingGraph) -> str:
    stored = graph.node(update.key)
    rules: Mapping[str, Any] = graph.schema.node_type(update.type).properties_schema.get("properties", {})
    before = dict(stored.properties) if stored is not None else {}
    name = f"{update.type} {update.name!r}"
    span = source.named(update.key, "node") if stored is not None else source.stated(update.name, f"the name of {name}")
    for key, value in update.properties.items():
        if key not in before and value is not None and not (stored is None and _is_judged(rules.get(key, {}))):
            source.stated(value, f"the {key} of {name}")
    return span


def _is_judged(rule: Mapping[str, Any]) -> bool:
    """Whether a property is a reader's judgement: a category, a date, yes or no, or a figure on a scale."""
    return bool(_JUDGED & rule.keys()) or rule.keys() >= _SCALE or rule.get("type") == "boolean"


class _Source:
    """A text as passages: each sentence with its words and its folded text, of a table's row with those of its header.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        self._passages: list[tuple[str, frozenset[str], str]] = []
        header = ""
        for sentence in (sentence for part in text.splitlines() for sentence in split_sentences(part)):
            header = (header or sentence) if _CELLS in sentence else ""
            whole = f"{header} {sentence}" if header else sentence
            self._passages.append((sentence, frozenset(tokens(whole)), whole.casefold()))

    def named(self, key: NodeKey, what: str) -> str:
        """Returns the passage that names a node.

        Raises:
            SchemaError: None does.
        """
        return self.stated(without_legal_form(key.name), f"{key}, which the {what} names,")

    def stated(self, value: object, what: str) -> str:
        """Returns the passage that has a value; the sign of a number may be in words: "fell by 3%".

        Raises:
            SchemaError: None has it.
        """
        written = str(value)
        is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        wanted, others = set(tokens(written)), _other_words(written)
        least = 1.0
        if len(written.split()) > VERBATIM:
            wanted, least = (wanted - STOPWORDS or wanted), SUMMED_UP
        if not wanted and not others:
            raise SchemaError(f"{what} has no letter and no digit: {written!r}")
        for span, words, folded in self._windows():
            if is_number:
                is_stated = abs(Decimal(written)) in _numbers(span)
            else:
                count = len(wanted & words) + sum(word in folded for word in others)
                is_stated = count / (len(wanted) + len(others)) >= least
            if is_stated:
                return span
        raise SchemaError(f"{what} is not in the document: {written!r}")

    def best(self, value: str) -> str:
        """Returns the sentence that has most words of a text; empty where none has any."""
        wanted = set(tokens(value)) - STOPWORDS
        scored = [(len(wanted & words), -place) for place, (_, words, _) in enumerate(self._passages)]
        most, place = max(scored, default=(0, 0))
        return self._passages[-place][0] if most else ""

    def _windows(self) -> Iterator[tuple[str, frozenset[str], str]]:
        """Yields single sentences first, then sentences in a row; each with its words and its folded text."""
        for size in range(1, PASSAGE + 1):
            for start in range(max(len(self._passages) - size + 1, 0)):
                spans, words, texts = zip(*self._passages[start : start + size], strict=True)
                yield " ".join(spans), frozenset().union(*words), " ".join(texts)


def _other_words(text: str) -> set[str]:
    """Returns the words outside of ASCII without their endings."""
    found = _WORD.findall(text.casefold())
    return {word[: max(len(word) - _ENDING, _KEPT)] for word in found if not word.isascii()}


def _numbers(text: str) -> set[Decimal]:
    return {Decimal(found.replace(",", "")) for found in _NUMBER.findall(text)}
