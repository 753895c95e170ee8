r"""Triples of any source: RDF in the formats of Oxigraph, tables of three columns, and stores.

>>> list(read_table("subject,predicate,object\nalien,directed by,Ridley Scott", what="films.csv"))
[Triple(subject='alien', relation='directed by', value='Ridley Scott', is_literal=True, datatype='', language='')]
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, Literal, RdfFormat, parse

from kg.errors import DataError
from kg.graphs.naming import Triple

if TYPE_CHECKING:
    from kg.graphs.stores import EndpointStore

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

_ENTITY = re.compile(r"""<!ENTITY\s+([^\s%"']+)\s+(["'])(.*?)\2""", re.DOTALL)
_HEADER = frozenset(("subject", "predicate", "relation", "object", "head", "tail", "s", "p", "o", "source", "target"))
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_PAGE, _COLUMNS = 20_000, 8
_FIRST, _LONGEST_NAME = 50, 80
_LABEL = re.compile(r"_:[\w.-]+")


def read_rdf(text: str, ending: str, *, what: str) -> Iterator[Triple]:
    """The triples of RDF.

    Args:
        text: The content of a file.
        ending: Its ending, one of :data:`RDF_FILES`.
        what: The name of the file, for errors.

    Raises:
        DataError: The text is not valid in this format.
    """
    try:
        if RDF_FILES[ending] is RdfFormat.RDF_XML:
            _check_entities(text, what)
        named = _Terms(text)
        for quad in parse(text, format=RDF_FILES[ending], base_iri="urn:finpath:base/", lenient=True):
            value = quad.object
            if isinstance(value, Literal):
                datatype = value.datatype.value if value.language is None else _STRING
                language = (value.language or "").lower()
                yield Triple(named(quad.subject), quad.predicate.value, value.value, True, datatype, language)
            else:
                yield Triple(named(quad.subject), quad.predicate.value, named(value), False)
    except (SyntaxError, ValueError) as error:
        raise DataError(f"not valid {RDF_FILES[ending].name}: {error}", place=what) from error


def _check_entities(text: str, what: str) -> None:
    """Raises DataError where the entities of XML hold each other, or make a long text; its parser has no limit."""
    entities = {name: value for name, _, value in _ENTITY.findall(text)}
    if any("&" in value for value in entities.values()) or "<!ENTITY %" in text:
        raise DataError("has entities that hold entities", place=what)
    if sum(text.count(f"&{name};") * len(value) for name, value in entities.items()) > MOST_EXPANDED:
        raise DataError(f"has entities that make more than {MOST_EXPANDED:,} characters", place=what)


def read_ntriples(lines: Iterable[str], problem: Callable[[str], None]) -> Iterator[Triple]:
    """The triples of lines of N-Triples.

    Args:
        lines: The lines.
        problem: Receives a message for each invalid line: ``line 3: is no N-Triples statement: ...``.
    """
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            try:
                [triple] = read_rdf(text, ".nt", what="")
            except (DataError, OverflowError, ValueError):
                problem(f"line {number}: is no N-Triples statement: {text[:80]!r}")
            else:
                yield triple


class _Terms:
    """The names of terms. A blank node without a label gets a number, since a parser draws its label at random.

    Args:
        text: The content of the file; its hash keeps the blank nodes of several files apart.
    """

    def __init__(self, text: str) -> None:
        self._labels = {label.rstrip(".") for label in _LABEL.findall(text)}
        self._prefix = hashlib.sha256(text.encode()).hexdigest()[:8]
        self._numbered: dict[BlankNode, str] = {}

    def __call__(self, term: object) -> str:
        if not isinstance(term, BlankNode):
            return str(getattr(term, "value", term))
        if term not in self._numbered:
            number = f"_:{self._prefix}n{len(self._numbered)}"
            self._numbered[term] = str(term) if str(term) in self._labels else number
        return self._numbered[term]


def is_table_of_triples(text: str) -> bool:
    """Whether each of the first rows of a table has a subject, a relation and a value.

    A header says so, or names in all columns; half of the values may be numbers where subjects and relations repeat.
    """
    try:
        rows = _rows("\n".join(text.splitlines()[:_FIRST]), "")
    except DataError:
        return False
    if not rows or any(len(row) != 3 for row in rows):
        return False
    values = sum(_is_name(row[2]) for row in rows)
    repeats = all(len({row[column] for row in rows}) < len(rows) for column in (0, 1))
    named = all(_is_name(row[0]) and _is_name(row[1]) for row in rows)
    named = named and (2 * values > len(rows) or (values > 0 and repeats))
    return _is_header(rows[0]) or (named and (len(rows) > 1 or _delimiter(text) != ","))


def _is_name(cell: str) -> bool:
    """Whether a cell is a name: short, and with more letters than digits and signs of money."""
    letters = sum(letter.isalpha() for letter in cell)
    return 0 < len(cell) <= _LONGEST_NAME and letters > sum(letter.isdigit() or letter in "$€£%" for letter in cell)


def read_table(text: str, *, what: str) -> Iterator[Triple]:
    """The triples of a table with three columns, whose header is skipped.

    Raises:
        DataError: A row has not three cells.
    """
    rows = _rows(text, what)
    for number, row in enumerate(rows, start=1):
        if len(row) != 3:
            raise DataError(f"row {number} must have three cells, got {len(row)}", place=what)
        if number == 1 and _is_header(row):
            continue
        subject, relation, value = (cell.strip() for cell in row)
        if subject and relation and value:
            yield Triple(subject, relation, value, True)


def _delimiter(text: str) -> str:
    first = text.lstrip("\ufeff").split("\n", 1)[0]
    if "\t" in first or first.count("|") == 2:
        return "\t" if "\t" in first else "|"
    return ";" if first.count(";") == 2 and first.count(",") < 2 else ","


def _rows(text: str, what: str) -> list[list[str]]:
    rows = csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=_delimiter(text))
    try:
        return [row for row in rows if any(row)]
    except csv.Error as error:
        raise DataError(f"line {rows.line_num}: {error}", place=what) from error


def _is_header(row: Sequence[str]) -> bool:
    return sum(cell.strip().lower() in _HEADER for cell in row) >= 2


def read_file(path: Path, text: str) -> Iterator[Triple]:
    """The triples of a file: RDF by its ending, else a table of three columns.

    Raises:
        DataError: The content is not valid.
    """
    ending = path.suffix.lower()
    return read_rdf(text, ending, what=str(path)) if ending in RDF_FILES else read_table(text, what=str(path))


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
        where = "{ ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } }"
        rows = select_triples(store, where, f" ORDER BY ?s ?p ?o LIMIT {_PAGE} OFFSET {read}")
        yield from rows
        read += len(rows)
        if len(rows) < _PAGE:
            return
        if read >= most:
            raise DataError(f"the store must hold fewer than {most:,} triples, and it holds more")


def select_triples(store: EndpointStore, where: str, end: str = "") -> list[Triple]:
    """The triples ``?s ?p ?o`` that fit a SPARQL pattern.

    Args:
        store: The store.
        where: The pattern.
        end: An order and a limit.

    Raises:
        DataError: The store cannot be reached.
    """
    columns = "?s ?p ?o (isLiteral(?o) AS ?l) (isBlank(?s) AS ?a) (isBlank(?o) AS ?b) (DATATYPE(?o) AS ?d)"
    rows = store.texts(f"SELECT DISTINCT {columns} (LANG(?o) AS ?t) WHERE {{ {where} }}{end}")
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
