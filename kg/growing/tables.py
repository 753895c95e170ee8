"""Tables as typed nodes of a growing graph, without a model: a row is a node, and a column a property or an edge.

    >>> ports = Table("ports.csv", (("port", "tonnes", "insurer"), ("Varna", "1,200", "Meridian Re")))
    >>> add_tables(graph, [ports])
    >>> graph.node(NodeKey("Port", "Varna")).properties
    {'insurer': 'Meridian Re', 'tonnes': 1200}

The name of a row is its first text that no other row has. A column whose texts are mostly names of another table's rows
is an edge to these. A column of numbers, with one unit or none, is of numbers; full dates are ISO days. A day such as
3/8/2019 is one where another of its column (27/3/2019) or the column's name (dd/mm/yyyy) settles the order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import count
from pathlib import PurePath
from typing import Any

from kg.growing.change import AddEdge, AddNode, Applied, Origin, Update
from kg.growing.graph import GrowingGraph
from kg.growing.schema import LONGEST_LABEL, EdgeType, NodeType
from kg.growing.terms import NodeKey
from kg.text import periods, singular, spaced

MOST_ROWS = 5_000
"""Rows of a table that become nodes."""

_NUMBER = re.compile(r"([$€£¥]?)\s?([-+−]?\d+(?:,\d{3})*(?:\.\d+)?)\s?(%|[^\W\d_][\w/.²³]*)?")
_WORD = re.compile(r"[^\W_]+")
_STROKES = re.compile(r"(?P<one>\d{1,2})([/-])(?P<two>\d{1,2})\2(?P<year>\d{4})")
_ORDERS = {"d": ("one", "two"), "m": ("two", "one")}
"""Where a date with strokes that begins with the day, or with the month, has its day and its month."""


@dataclass(frozen=True)
class Table:
    """A table of a file, with one row of column names.

    Attributes:
        file: The file's name.
        rows: The texts of its cells, the names of the columns first; rows may be shorter.
        title: A caption or the name of a sheet; may be empty.
    """

    file: str
    rows: tuple[tuple[str, ...], ...]
    title: str = ""

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of the columns, all different."""
        names: list[str] = []
        for place, text in enumerate(self.rows[0], 1):
            name = " ".join(text.split()) or f"column {place}"
            names.append(name if name not in names else f"{name} {place}")
        return tuple(names)

    @cached_property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The texts of the rows below the header, each as long as it; empty rows are left out."""
        width = len(self.header)
        padded = ([*row[:width], *[""] * (width - len(row))] for row in self.rows[1 : MOST_ROWS + 1])
        return tuple(tuple(" ".join(text.split()) for text in row) for row in padded if any(map(str.strip, row)))

    def column(self, place: int) -> list[str]:
        """The texts of a column, without the empty ones."""
        return [row[place] for row in self.cells if row[place]]

    @cached_property
    def key(self) -> int | None:
        """The first column that names the rows: texts with letters, all there and all different; else ``None``."""
        for place in range(len(self.header)):
            texts = self.column(place)
            if len({text.casefold() for text in texts}) == len(self.cells) and all(map(_is_name, texts)):
                return place
        return None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the rows: those of the key, or as many first cells together as make them differ."""
        if self.key is not None:
            return tuple(row[self.key] for row in self.cells)
        for width in range(1, len(self.header) + 1):
            names = [", ".join(filter(None, row[:width])) for row in self.cells]
            if len({name.casefold() for name in names if name}) == len(names):
                return tuple(names)
        return tuple(f"row {number}" for number in range(1, len(self.cells) + 1))

    @cached_property
    def orders(self) -> tuple[str, ...]:
        """For each column ``d`` or ``m``, with which its dates with strokes begin; empty where nothing settles it."""
        return tuple(_order(name, self.column(place)) for place, name in enumerate(self.header))

    def sentence(self, row: int) -> str:
        """A row in words: each column with its text, and the ISO day of a date with strokes."""
        cells = zip(self.header, self.cells[row], self.orders, strict=True)
        days = ((name, text, _iso_day(text, order) if _STROKES.fullmatch(text) else "") for name, text, order in cells)
        return "; ".join(f"{name}: {text}{f' ({day})' if day else ''}" for name, text, day in days if text)

    @cached_property
    def kind(self) -> str:
        """Its rows in words: the name of the key's column, else the title or the file."""
        words = self.header[self.key] if self.key is not None else self.title or PurePath(self.file).stem
        return " ".join(_WORD.findall(spaced(words))) or "row"


def add_tables(graph: GrowingGraph, tables: Sequence[Table]) -> Applied:
    """Adds the rows of some tables to a graph, each table in one update with its file as its origin.

    Args:
        graph: The graph, whose schema grows by a type for each table.
        tables: The tables; those without a row are left out.

    Returns:
        What was added.
    """
    tables = [table for table in tables if table.cells]
    schema, kinds = graph.schema, list[str]()
    for table in tables:
        taken = {kind.name for kind in schema.types}
        name = next(name for name in _type_names(table) if name not in taken)
        kinds.append(name)
        schema = replace(schema, types=(*schema.types, _node_type(table, name)))
    keyed = {kind: {name.casefold() for name in table.names} for kind, table in zip(kinds, tables, strict=True)}
    links = [_links(table, kind, keyed) for kind, table in zip(kinds, tables, strict=True)]
    for name in dict.fromkeys(
        _property(table.header[place]) for table, own in zip(tables, links, strict=True) for place in own
    ):
        about = EdgeType(name, f"The {spaced(name)} of a row, in another table.", _NOTHING, {}, "system")
        if name not in {kind.name for kind in schema.types}:
            schema = replace(schema, types=(*schema.types, about))
    graph.change_schema(schema)
    applied = Applied()
    for table, kind, own in zip(tables, kinds, links, strict=True):
        rule = graph.schema.node_type(kind).properties_schema["properties"]
        updates = list(_updates(table, kind, own, rule))
        origin = Origin(table.file, table.title)
        applied += graph.apply([update for update, _ in updates], origin, spans=[span for _, span in updates])
    return applied


_NOTHING = {"type": "object", "properties": {}}


def _type_names(table: Table) -> Iterator[str]:
    """Yields names of a type in PascalCase, with a number from the second on."""
    words = re.findall(r"[A-Za-z0-9]+", table.kind)
    name = "".join(word[:1].upper() + word[1:] for word in words)[:50]
    name = name if re.match(r"[A-Z][A-Za-z0-9]", name) else f"Row{name}"
    yield name
    yield from (f"{name}{number}" for number in count(2))


def _property(words: str) -> str:
    name = "_".join(re.findall(r"[a-z0-9]+", words.casefold()))[:50]
    return name if name[:1].isalpha() else f"column_{name}".rstrip("_")


def _node_type(table: Table, name: str) -> NodeType:
    """The type of a table's rows; people call them by the key, the title or the file."""
    words = (table.kind, table.title, PurePath(table.file).stem)
    labels = [" ".join(_WORD.findall(spaced(one)))[:LONGEST_LABEL] for one in words if one]
    labels = list(dict.fromkeys([*labels, *map(singular, labels)]))
    places = (place for place in range(len(table.header)) if place != table.key)
    rules = {_property(table.header[place]): _rule(table, place) for place in places}
    described = f"A row of {table.file}{f', {table.title}' if table.title else ''}."
    return NodeType(name, described, {"type": "object", "properties": rules}, {}, "system", labels=tuple(labels))


def _rule(table: Table, place: int) -> dict[str, Any]:
    """The JSON Schema of a column's values."""
    texts, title = table.column(place), table.header[place]
    numbers = [_NUMBER.fullmatch(text) for text in texts]
    units = {number[1] or number[3] or "" if number is not None else None for number in numbers}
    if len(units) == 1 and (unit := units.pop()) is not None:
        shown = title if unit in title else f"{title} ({unit})"
        return {"type": "number", "title": shown[:LONGEST_LABEL]}
    rule = {"type": "string", "title": title[:LONGEST_LABEL]}
    if texts and all(_iso_day(text, table.orders[place]) for text in texts):
        return {**rule, "format": "date"}
    return {**rule, "description": _AMBIGUOUS} if texts and all(map(_STROKES.fullmatch, texts)) else rule


_AMBIGUOUS = "A date, of which the order of day and month is not known"


def _order(name: str, texts: Sequence[str]) -> str:
    """``d`` or ``m``, with which the dates of a column begin; empty where neither they nor its name settle it."""
    dates = [match for text in texts if (match := _STROKES.fullmatch(text)) is not None]
    too_large = {
        "m": any(int(match["one"]) > 12 for match in dates),
        "d": any(int(match["two"]) > 12 for match in dates),
    }
    possible = [letter for letter in _ORDERS if not too_large[letter]]
    written = re.search(r"\b(d|m){1,2}[/-](?:d|m){1,2}[/-]y{2,4}\b", name, re.I)
    possible = [written[1].lower()] if written is not None and len(possible) > 1 else possible
    return possible[0] if len(possible) == 1 and dates else ""


def _iso_day(text: str, order: str = "") -> str:
    """A text that is a full date as an ISO day, one with strokes in some order; empty for any other."""
    match = _STROKES.fullmatch(text)
    if match is not None and order:
        day, month = _ORDERS[order]
        try:
            return date(int(match["year"]), int(match[month]), int(match[day])).isoformat()
        except ValueError:
            return ""
    dates = periods(text)
    if len(dates) != 1 or (dates[0][0], dates[0][1]) != (0, len(text)) or dates[0][2].first != dates[0][2].last:
        return ""
    return dates[0][2].first.isoformat()


def _links(table: Table, kind: str, keyed: dict[str, set[str]]) -> dict[int, str]:
    """The columns whose texts are mostly names of another table's rows, each with the type of these."""
    links: dict[int, str] = {}
    for place in range(len(table.header)):
        texts = {text.casefold() for text in table.column(place) if _is_name(text)}
        for other, names in keyed.items():
            if place != table.key and other != kind and 2 * len(texts & names) > len(texts):
                links.setdefault(place, other)
    return links


def _updates(table: Table, kind: str, links: dict[int, str], rules: dict[str, Any]) -> Iterator[tuple[Update, str]]:
    """Yields the operations of a table, each with the row that states it."""
    for number, (name, row) in enumerate(zip(table.names, table.cells, strict=True)):
        span, node = table.sentence(number), NodeKey(kind, name)
        own = [place for place, text in enumerate(row) if text and place != table.key]
        named = {_property(table.header[place]): row[place] for place in own if place not in links}
        orders = {_property(table.header[place]): table.orders[place] for place in own}
        yield AddNode(kind, name, {key: _value(text, rules[key], orders[key]) for key, text in named.items()}), span
        for place in (place for place in own if place in links):
            yield AddNode(links[place], row[place]), span
            yield AddEdge(_property(table.header[place]), node, NodeKey(links[place], row[place])), span


def _value(text: str, rule: dict[str, Any], order: str) -> Any:
    if rule["type"] == "number":
        number = _NUMBER.fullmatch(text)
        assert number is not None, "the column's rule was made of its texts"
        return Decimal(number[2].replace(",", "").replace("−", "-"))
    return _iso_day(text, order) if rule.get("format") == "date" else text


def _is_name(text: str) -> bool:
    return any(map(str.isalpha, text)) and _NUMBER.fullmatch(text) is None and not _iso_day(text)
