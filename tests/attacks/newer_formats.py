"""Formats of binary files and of graphs and news, for :mod:`tests.attacks.formats`."""

from __future__ import annotations

import importlib.util
import io
import json
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from experiments.data import read_documents
from experiments.data.typed import json_of
from experiments.files import read_object, read_text
from kg.errors import DataError
from kg.facts import FactGraph, read_file
from kg.growing import GrowingGraph
from kg.investments import investment_schema
from kg.news import FrameReader
from kg.parsing import QuestionReader
from kg.readers import pdf_pages, pdf_worker
from kg.readers.own_report import read_files
from programs.graphs import QueryQA
from programs.tools.documents import read_document
from tests.replay import Transcript

FILED = (
    b'<html xmlns:ix="x"><body><div style="display:none"><ix:header><ix:resources>'
    b'<xbrli:context id="c1"><xbrli:period><xbrli:enddate>2009-12-31</xbrli:enddate></xbrli:period></xbrli:context>'
    b'<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit></ix:resources></ix:header></div>'
    b"<table><tr><td>item</td><td>2009</td><td>2008</td></tr><tr><td>Revenues</td><td>"
    b'<ix:nonfraction name="us-gaap:Revenues" contextref="c1" unitref="usd" scale="6">4,120</ix:nonfraction></td>'
    b"<td>3,900</td></tr><tr><td rowspan=2>Costs</td><td colspan=2>(5)</td></tr></table></body></html>"
)
LONG = b"item,year,value\nnet sales,2009,206588\nnet sales,2008,181001\ncosts,2009,5\ncosts,2008,3\n"
NEWS = (
    b"Headline: Orvane to buy Brightlane\nSource: Quay Post\nDate: 2026-01-01\n\n"
    b"Orvane Semiconductor Corp. (NASDAQ: ORVN) agreed to acquire Brightlane Photonics Inc. for $1.2 billion in cash. "
    b"Mara Lind, chief executive of Orvane, will step down on March 3, 2026. Revenue rose 12% to $3.4 billion.\n"
)
TURTLE = (
    b"@prefix s: <http://schema.org/> .\n@prefix a: <http://a/> .\n"
    b'a:alien a s:Movie ; s:name "Alien" ; s:director a:scott ; s:datePublished "1979-05-25" ; s:duration 117 .\n'
    b'a:scott a s:Person ; s:name "Ridley Scott"@en ; s:birthDate "1937-11-30" .\n'
)
JSONLD: dict[str, Any] = {
    "@id": "http://a/alien",
    "@type": "http://schema.org/Movie",
    "http://schema.org/name": [{"@value": "Alien", "@language": "en"}],
    "http://schema.org/director": {"@id": "http://a/scott", "http://schema.org/name": "Ridley Scott"},
    "http://schema.org/duration": {"@value": "117", "@type": "http://www.w3.org/2001/XMLSchema#integer"},
}
RDFXML = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://schema.org/">'
    b'<s:Movie rdf:about="http://a/alien"><s:name xml:lang="en">Alien</s:name><s:duration>117</s:duration>'
    b'<s:director rdf:resource="http://a/scott"/></s:Movie></rdf:RDF>'
)
TRIPLES = b"subject,predicate,object\nalien,directed by,Ridley Scott\nalien,length,117 min\nblade runner,year,1982\n"
TRANSCRIPT: dict[str, Any] = {
    "messages": [{"role": "system", "content": "a"}, {"role": "user", "content": [{"type": "text", "text": "b"}]}],
    "reply": "c",
}


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    written = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), written)
    return written.getvalue()


@cache
def _pdf() -> bytes:
    from fpdf import FPDF

    page = FPDF()
    page.set_compression(False)
    page.add_page()
    page.set_font("Helvetica", size=11)
    page.multi_cell(0, 6, "Sales rose by 5% in 2009. In millions.", new_x="LMARGIN", new_y="NEXT")
    for row in (("", "2009", "2008"), ("net sales", "206,588", "181,001"), ("costs", "(5)", "(3)")):
        for cell, wide in zip(row, (90, 40, 40), strict=True):
            page.cell(wide, 6, cell)
        page.ln()
    return bytes(page.output())


@cache
def _word() -> bytes:
    import docx

    document, written = docx.Document(), io.BytesIO()
    document.add_paragraph("Sales rose by 5%.")
    table = document.add_table(2, 2)
    for place, text in enumerate(("item", "2009", "sales", "5")):
        table.cell(place // 2, place % 2).text = text
    document.save(written)
    return written.getvalue()


def facts(path: Path) -> object:
    """Answers a question about a graph in a file."""
    reader = QuestionReader(FactGraph.build(read_file(path, read_text(path))))
    return QueryQA(today=date(2026, 11, 22))(graph=reader, questions=["who directed Alien?", "how long is it?"]).turns


@cache
def _facts() -> QuestionReader:
    return QuestionReader(FactGraph.build(read_file(Path("a.ttl"), TURTLE.decode())))


def question(path: Path) -> object:
    """Asks a damaged question about a graph."""
    asked = [path.read_bytes().decode("utf-8", errors="replace"), "and who directed it?"]
    return QueryQA(today=date(2026, 11, 22))(graph=_facts(), questions=asked).turns


def news(path: Path) -> object:
    """Reads a document by frames and adds what it says to a graph."""
    documents, _ = read_documents([str(path)])
    with GrowingGraph(None, investment_schema()) as graph:
        return [FrameReader(graph).read(document) for document in documents]


def _in_process(what: str, path: Path) -> list[Any]:
    """The pages of a PDF file by the worker's code; a process for each of 100,000 inputs would take a day."""
    reply = json.loads(json.dumps(pdf_worker.reply_to(what, path)))
    if "error" in reply:
        raise DataError(reply["error"])
    pages: list[Any] = reply["pages"]
    return pages


def pdf(path: Path) -> object:
    """Reads a PDF file as a report, without a process of its own."""
    with mock.patch.object(pdf_pages, "_read", _in_process):
        return read_files([path])


def pdf_document(path: Path) -> object:
    """Reads a PDF file by the document tool, without a process of its own."""
    with mock.patch.object(pdf_pages, "_read", _in_process):
        return read_document(path)


Read = Callable[[Path], object]


def newer_formats() -> Iterator[tuple[str, Any, Read, str]]:
    """Returns the name, a valid input, the reader and the ending of each format."""
    figures = [{"item": "net sales", "2009": 5, "2008": 4.5}, {"item": "costs", "2009": None, "2008": 1.0}]
    yield "Parquet", _parquet(figures), lambda path: read_files([path]), ".parquet"
    yield "PDF", _pdf(), pdf, ".pdf"
    yield "inline XBRL", FILED, lambda path: read_files([path]), ".html"
    yield "long CSV", LONG, lambda path: read_files([path]), ".csv"
    conversation = {"id": "a", "questions": ["b?"], "annotation": {"answers": ["1", '["x"]']}}
    yield "data set, Parquet", _parquet([conversation]), json_of, ".parquet"
    yield "data set, lines", conversation, json_of, ".jsonl"
    if importlib.util.find_spec("docx") is not None:
        yield "document tool, Word", _word(), read_document, ".docx"
    if importlib.util.find_spec("pypdf") is not None:
        yield "document tool, PDF", _pdf(), pdf_document, ".pdf"
    yield "document tool, CSV", LONG, read_document, ".csv"
    yield "facts, Turtle", TURTLE, facts, ".ttl"
    yield "facts, JSON-LD", JSONLD, facts, ".jsonld"
    yield "facts, RDF/XML", RDFXML, facts, ".rdf"
    yield "facts, table", TRIPLES, facts, ".csv"
    yield (
        "question about a graph",
        b"which movie directed by Ridley Scott is longer than 100 minutes?",
        question,
        ".txt",
    )
    yield "news by frames", NEWS, news, ".txt"
    yield "transcript", TRANSCRIPT, Transcript.read, ".jsonl"
    yield "any JSON object", {"a": [1]}, lambda path: read_object(path, "a"), ".json"
