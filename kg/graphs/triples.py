r"""Triples of any source: RDF in the formats of Oxigraph, tables of three columns, and stores.

>>> list(read_table("subject,predicate,object\nalien,directed by,Ridley Scott", what="films.csv"))
[Triple(subject='alien', relation='directed by', value='Ridley Scott', is_literal=True, datatype='', language='')]
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.parsers.expat import ExpatError, ParserCreate

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse, serialize
from pyoxigraph import Triple as Statement

from kg.errors import DataError
from kg.graphs.index import INVERSE
from kg.graphs.namespaces import PREFIXES
from kg.graphs.naming import LABEL, Triple

if TYPE_CHECKING:
    from kg.graphs.facts import FactGraph
    from kg.graphs.stores import EndpointStore
    from kg.graphs.values import Value

RDF_FILES = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".trig": RdfFormat.TRIG,
    ".n3": RdfFormat.N3,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
    ".jsonld": RdfFormat.JSON_LD,
}
"""The endings of files of RDF, each with its format."""

MOST_EXPANDED = 200_000_000
"""The most characters that the entities of a file of XML may make."""

MOST_PROBLEMS = 100
"""Statements of RDF that may be invalid; a file with more of them is none of its kind."""

Problem = Callable[[str], None]
_ENTITY = re.compile(r"""<!ENTITY\s+([^\s%"']+)\s+(["'])(.*?)\2""", re.DOTALL)
_PARAMETER, _USE = re.compile(r"<!ENTITY\s+%"), re.compile(r"&([^&;\s]+);")
_HEADER = frozenset(("subject", "predicate", "relation", "object", "head", "tail", "s", "p", "o", "source", "target"))
_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_DECIMAL = NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_PAGE, _COLUMNS = 20_000, 8
_FIRST, _LONGEST_NAME, _LONGEST_LINE, _MOSTLY = 50, 80, 80, 0.8
_BLANK_NODE = re.compile(r"_:[\w.-]+")
_PARSER_PLACE = re.compile(r"^Parser error (?:at|between) line \d+[^:]*: | \(line \d+\)$")
_SCHEMA_ORG = re.compile(r'"@context"\s*:\s*"https?://schema\.org/?"')
_VOCABULARY = '"@context": {"@vocab": "https://schema.org/"}'
_IDENTIFIER = re.compile(r"[A-Z]\d+|/?[mg][./]\w+|/?[a-z_]+[./][\w./]+|https?://\S+")
"""Identifiers of Wikidata and of Freebase, and IRIs."""


def read_rdf(text: str, ending: str, *, what: str, problem: Problem | None = None) -> Iterator[Triple]:
    """The triples of RDF.

    Args:
        text: The content of a file.
        ending: Its ending, one of :data:`RDF_FILES`.
        what: The name of the file, for errors.
        problem: Receives a message for each statement that is not valid, such as ``line 3: is not valid Turtle: ...``.
            The others are read; of RDF/XML and JSON-LD, those before the first error. Without it, an error is raised.

    Raises:
        DataError: A statement is not valid, or more than :data:`MOST_PROBLEMS` are not.
    """
    form, named = RDF_FILES[ending], _Terms(text)
    if form == RdfFormat.RDF_XML:
        _check_entities(text, what)
    text = _SCHEMA_ORG.sub(_VOCABULARY, text) if form == RdfFormat.JSON_LD else text
    start, prefixes, lines = 0, "", list[str]()
    for _ in range(MOST_PROBLEMS + 1):
        quads = parse(text, format=form, base_iri="urn:finpath:base/", lenient=True)
        try:
            yield from (_triple(quad, named) for quad in quads)
        except (SyntaxError, OverflowError, ValueError) as error:
            line = _line_of(error, form, text)
            line += start if line else 0
            rule = f"{f'line {line}: ' if line else ''}is not valid {form.name}: {_message(error)}"
            if problem is None:
                raise DataError(rule, place=what) from error
            problem(rule)
            lines = lines or text.split("\n")
            start = _following(lines, line, form)
            prefixes = "".join(f"@prefix {name}: <{iri}> ." for name, iri in getattr(quads, "prefixes", {}).items())
            text = prefixes + "\n".join(lines[start:])
            if start >= len(lines):
                return
        else:
            return
    raise DataError(f"more than {MOST_PROBLEMS} statements are not valid", place=what)


def _check_entities(text: str, what: str) -> None:
    """Raises DataError where the entities of XML hold each other, or make a long text; its parser has no limit."""
    entities = {name: value for name, _, value in _ENTITY.findall(text)}
    if any("&" in value for value in entities.values()) or _PARAMETER.search(text):
        raise DataError("has entities that hold entities", place=what)
    if entities and sum(len(entities.get(name, "")) for name in _USE.findall(text)) > MOST_EXPANDED:
        raise DataError(f"has entities that make more than {MOST_EXPANDED:,} characters", place=what)


def _triple(quad: Any, named: _Terms) -> Triple:
    value = quad.object
    if not isinstance(value, Literal):
        return Triple(named(quad.subject), quad.predicate.value, named(value), False)
    language = (value.language or "").lower()
    datatype = _STRING if language else value.datatype.value
    return Triple(named(quad.subject), quad.predicate.value, value.value, True, datatype, language)


def _line_of(error: Exception, form: RdfFormat, text: str) -> int:
    """The line of an error, from 1; 0 where it is not known."""
    if form == RdfFormat.RDF_XML:
        try:
            ParserCreate().Parse(text, True)
        except ExpatError as found:
            return found.lineno
    return getattr(error, "lineno", None) or 0


def _following(lines: Sequence[str], line: int, form: RdfFormat) -> int:
    """The lines before the statement that follows an invalid one; all, where no later statement can be read."""
    if not line or form in (RdfFormat.RDF_XML, RdfFormat.JSON_LD):
        return len(lines)
    if form in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS):
        return line
    return next((place for place in range(line, len(lines)) if lines[place - 1].rstrip().endswith(".")), len(lines))


def _message(error: Exception) -> str:
    if "LoadDocumentCallback" in str(error):
        return "its @context is a web address, which is not fetched: write the context into the file"
    return _PARSER_PLACE.sub("", getattr(error, "msg", None) or str(error))


class _Terms:
    """The names of terms. A blank node without a label gets a number, since a parser draws its label at random.

    Args:
        text: The content of the file; its hash keeps the blank nodes of several files apart.
    """

    def __init__(self, text: str) -> None:
        self._labels = {label.rstrip(".") for label in _BLANK_NODE.findall(text)}
        self._text = text
        self._numbered: dict[BlankNode, str] = {}

    @cached_property
    def _prefix(self) -> str:
        return hashlib.sha256(self._text.encode(errors="replace")).hexdigest()[:8]

    def __call__(self, term: object) -> str:
        if not isinstance(term, BlankNode):
            return str(getattr(term, "value", term))
        if term not in self._numbered:
            number = f"_:{self._prefix}n{len(self._numbered)}"
            self._numbered[term] = str(term) if str(term) in self._labels else number
        return self._numbered[term]


def is_table_of_triples(text: str) -> bool:
    """Whether most of the first rows of a table have a subject, a relation and a value, or an identifier and a label.

    A header says so, or names in all columns; half of the values may be numbers where subjects and relations repeat.
    """
    try:
        rows = [row for _, row in _rows("\n".join(text.splitlines()[:_FIRST]), "")]
    except DataError:
        return False
    if rows and all(_is_labelling(row) for row in rows):
        return True
    is_headed, count = bool(rows) and _is_header(rows[0]), len(rows)
    rows = [row for row in rows if len(row) == 3]
    if len(rows) < _MOSTLY * count:
        return False
    values = sum(_is_name(row[2]) for row in rows)
    repeats = all(len({row[column] for row in rows}) < len(rows) for column in (0, 1))
    named = all(_is_name(row[0]) and _is_name(row[1]) for row in rows)
    named = named and (2 * values > len(rows) or (values > 0 and repeats))
    return is_headed or (named and (len(rows) > 1 or _delimiter(text) != ","))


def _is_name(cell: str) -> bool:
    """Whether a cell is a name or an identifier: short, and with more letters than digits and signs of money."""
    letters = sum(letter.isalpha() for letter in cell)
    is_name = 0 < len(cell) <= _LONGEST_NAME and letters > sum(letter.isdigit() or letter in "$€£%" for letter in cell)
    return is_name or _IDENTIFIER.fullmatch(cell) is not None


def _is_labelling(row: Sequence[str]) -> bool:
    """Whether a row is an identifier with its label."""
    return len(row) == 2 and bool(row[1].strip()) and _IDENTIFIER.fullmatch(row[0].strip()) is not None


def read_table(text: str, *, what: str, problem: Problem | None = None) -> Iterator[Triple]:
    """The triples of a table with three columns, whose header is skipped, or of identifiers with their labels.

    Args:
        text: The table.
        what: The name of the file, for errors.
        problem: Receives a message for each row that is none, such as ``line 3: must have three cells, got 2: ...``.

    Raises:
        DataError: A row is none, and there is no ``problem``.
    """
    for place, (line, row) in enumerate(_rows(text, what)):
        cells = [cell.strip() for cell in row]
        rule = "" if len(cells) == 3 or _is_labelling(cells) else f"must have three cells, got {len(cells)}"
        if not rule and not all(cells):
            rule = "subject, relation and object must not be empty"
        if not rule and cells[1].startswith(INVERSE):
            rule = f"a relation must not begin with {INVERSE!r}, which marks the way back along it"
        if rule:
            if problem is None:
                raise DataError(f"line {line}: {rule}", place=what)
            problem(f"line {line}: {rule}: {' '.join(row)[:_LONGEST_LINE]!r}")
        elif len(cells) == 2:
            yield Triple(cells[0], LABEL, cells[1], True)
        elif place or not _is_header(cells):
            yield Triple(cells[0], cells[1], cells[2], True)


def _delimiter(text: str) -> str:
    first = text.lstrip("\ufeff").split("\n", 1)[0]
    if "\t" in first or first.count("|") == 2:
        return "\t" if "\t" in first else "|"
    return ";" if first.count(";") == 2 and first.count(",") < 2 else ","


def _rows(text: str, what: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with its last line; quotes are signs of names where nothing is escaped."""
    text, delimiter = text.lstrip("\ufeff"), _delimiter(text)
    is_escaped = delimiter in ",;" or text.startswith('"')
    lines = (match[0] for match in re.finditer(r"[^\n]*\n|[^\n]+", text))  # StringIO takes four bytes a letter
    rows = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if is_escaped else csv.QUOTE_NONE)
    try:
        yield from ((rows.line_num, row) for row in rows if any(row))
    except csv.Error as error:
        raise DataError(f"line {rows.line_num}: {error}", place=what) from error


def _is_header(row: Sequence[str]) -> bool:
    return sum(cell.strip().lower() in _HEADER for cell in row) >= 2


def read_file(path: Path, text: str, problem: Problem | None = None) -> Iterator[Triple]:
    """The triples of a file: RDF by its ending, else a table of three columns.

    Args:
        path: The file.
        text: Its content.
        problem: Receives a message for each statement that is not valid, such as ``a.ttl: line 3: ...``; without it,
            an error is raised.

    Raises:
        DataError: The content is not valid.
    """
    ending, named = path.suffix.lower(), None
    if problem is not None:
        named = lambda rule: problem(f"{path.name}: {rule}")  # noqa: E731
    if ending in RDF_FILES:
        return read_rdf(text, ending, what=str(path), problem=named)
    return read_table(text, what=str(path), problem=named)


def read_store(store: EndpointStore, most: int) -> Iterator[Triple]:
    """The triples of a store or a SPARQL endpoint, in pages.

    Args:
        store: The store.
        most: The most triples that may be read.

    Raises:
        DataError: The store cannot be reached, or holds more.
    """
    read = 0
    while True:
        rows = _page(store, read)
        yield from rows
        read += len(rows)
        if len(rows) < _PAGE:
            return
        if read >= most:
            raise DataError(f"the store must hold fewer than {most:,} triples, and it holds more")


def _page(store: EndpointStore, start: int) -> list[Triple]:
    """The triples of a store from a place in their order on."""
    columns = "?s ?p ?o (isLiteral(?o) AS ?l) (isBlank(?s) AS ?a) (isBlank(?o) AS ?b) (DATATYPE(?o) AS ?d)"
    where = "{ { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
    page = f"ORDER BY ?s ?p ?o LIMIT {_PAGE} OFFSET {start}"
    rows = store.texts(f"SELECT DISTINCT {columns} (LANG(?o) AS ?t) WHERE {where} {page}")
    if any(len(row) != _COLUMNS or None in row[:3] for row in rows):
        raise DataError("the endpoint's reply has other columns than those of the query")
    return [
        Triple(
            f"_:{subject}" if from_blank in ("true", "1") else str(subject),
            str(relation),
            f"_:{value}" if to_blank in ("true", "1") else str(value),
            literal in ("true", "1"),
            datatype or "",
            (language or "").lower(),
        )
        for subject, relation, value, literal, from_blank, to_blank, datatype, language in rows
    ]


def write_turtle(graph: FactGraph) -> str:
    """Returns the facts of a graph as Turtle, with names as labels; what has no IRI gets one of its name."""
    prefixes = {prefix: str(namespace) for prefix, namespace in PREFIXES.items()}
    return (serialize(_facts(graph), format=RdfFormat.TURTLE, prefixes=prefixes) or b"").decode()


def _facts(graph: FactGraph) -> Iterator[Statement]:
    relations, classes = ([_named(part.iri) for part in parts] for parts in (graph.relations, graph.classes))
    terms = [_term(value) for value in graph.values]
    for node, subject in enumerate(terms):
        if isinstance(subject, Literal):
            continue
        if not graph.is_nameless(node):
            yield Statement(subject, NamedNode(LABEL), Literal(graph.name(node)))
        for kind in graph.types[node]:
            yield Statement(subject, _TYPE, classes[kind])
        for relation, inverse in graph.steps(node):
            for other in () if inverse else graph.follow(node, relation):
                yield Statement(subject, relations[relation], terms[other])


def _term(value: Value) -> NamedNode | BlankNode | Literal:
    if value.kind != "entity":
        return Literal(value.text) if value.number is None else Literal(f"{value.number:f}", datatype=_DECIMAL)
    return BlankNode(value.text[2:]) if value.text.startswith("_:") else _named(value.text)


def _named(text: str) -> NamedNode:
    return NamedNode(text if text.startswith(("http://", "https://", "urn:")) else f"urn:finpath:name/{quote(text)}")
