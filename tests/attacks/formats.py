"""The formats that are attacked: for each a valid input, and the function that a user's file reaches.

A format's function reads a file that was damaged. It may refuse it with an error of :mod:`kg.errors`, and may do
nothing else.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.console import read_text
from experiments.data.conversations import load_conversations
from experiments.data.graphs import load_graph
from experiments.data.news import read_documents, read_questions
from experiments.facade import resolve_report
from experiments.saved import load_program, save_program
from kg.graphs import FactGraph, read_file
from kg.parsing import QuestionReader
from kg.readers.own_report import read_files
from kg.reports import Ontology, Report, build_ontology
from programs.conversation import ConversationQA
from programs.tools.workspace import unpack
from programs.turns import Conversation
from programs.worlds.graph import GraphConfig

RECORD: dict[str, Any] = {
    "id": "A/2009/page_1.pdf-1",
    "pre_text": ["sales rose by 5 million ."],
    "table": [["", "2009", "2008"], ["net sales", "$ 206588", "$ 181001"], ["costs", "5", "( 3 )"]],
    "post_text": ["the rate was 4.5% ( 4.5 % ) ."],
    "annotation": {
        "dialogue_break": ["what were the sales?", "and in 2008?"],
        "turn_program": ["206588", "181001"],
        "exe_ans_list": [206588.0, 181001.0],
        "qa_split": [0, 0],
    },
}
REPORT = Report.from_dict(RECORD)
CSV = b"item,2009,2008\nnet sales,206588,181001\ncosts,5,(3)\n"
FILED = (
    b'<html xmlns:ix="x"><body><div style="display:none"><ix:header><ix:resources>'
    b'<xbrli:context id="c1"><xbrli:period><xbrli:enddate>2009-12-31</xbrli:enddate></xbrli:period></xbrli:context>'
    b'<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit></ix:resources></ix:header></div>'
    b"<table><tr><td>item</td><td>2009</td><td>2008</td></tr><tr><td>Revenues</td><td>"
    b'<ix:nonfraction name="us-gaap:Revenues" contextref="c1" unitref="usd" scale="6">4,120</ix:nonfraction></td>'
    b"<td>3,900</td></tr><tr><td rowspan=2>Costs</td><td colspan=2>(5)</td></tr></table></body></html>"
)
MARKDOWN = b"# Results\n\n| item | 2009 |\n|---|---|\n| sales | 5 |\n\nSales rose by 5%.\n"
NTRIPLES = b'<http://a/x> <http://a/p> "v\\u0041"@en .\n<http://a/x> <http://a/q> <http://a/y> .\n'
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


RDF_XML = (
    b'<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY s "http://schema.org/">]><rdf:RDF xmlns:s="http://schema.org/"'
    b' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><s:Movie rdf:about="http://a/alien"><s:name>Alien</s:name>'
    b'<s:director rdf:resource="http://a/scott"/></s:Movie></rdf:RDF>'
)
TRIPLES = b"head|relation|tail\nalien|directed by|Scott\nScott|born in|England\nheat|directed by|Mann\n"
QUESTIONS = b'{"id": "a", "question": "who directed Alien?"}\nand Heat?\n'
NEWS = (
    b"Headline: Orvane buys Brightlane\nSource: Quay Post\nDate: 2026-11-03\n\nOrvane paid $340 million. It was sold.\n"
)


class Format(NamedTuple):
    """A format: a valid input as bytes or as a value of JSON, the reader of a file, and the file's ending."""

    name: str
    seed: Any
    read: Callable[[Path], object]
    ending: str = ".json"


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def _report(path: Path) -> object:
    return read_files([path])


def _facts(path: Path) -> object:
    reader = QuestionReader(FactGraph.build(read_file(path, read_text(path))))
    program = ConversationQA.for_graphs(GraphConfig(today=date(2026, 11, 22)))
    return program(graph=reader, questions=["who directed Alien?", "how long is it?"]).turns


@cache
def _saved() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in save_program(_program(), Path(folder) / "p").iterdir()}


def _saved_with(name: str) -> Callable[[Path], object]:
    """Reads a saved program in which one file is the damaged one, with its own hash, as another hand would write it."""

    def read(path: Path) -> object:
        folder = path.parent / "saved"
        folder.mkdir(exist_ok=True)
        for file, content in (_saved() | {name: path.read_bytes()}).items():
            (folder / file).write_bytes(content)
        if name != "config.json":
            text = (folder / "config.json").read_text(encoding="utf-8")
            hashes = (hashlib.sha256(content).hexdigest() for content in (_saved()[name], path.read_bytes()))
            (folder / "config.json").write_text(text.replace(*hashes), encoding="utf-8")
        return load_program(folder)

    return read


@cache
def _program() -> Any:
    return ConversationQA.unfitted(build_ontology([REPORT]))


def _conversation() -> Any:
    talk = Conversation(_program(), _program().world(REPORT))
    talk.ask("what were net sales in 2009?")
    talk.ask("and in 2008?")
    return json.loads(talk.to_json())


def _zip(content: bytes, name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


def _workbook() -> bytes:
    book, written = openpyxl.Workbook(), io.BytesIO()
    for row in (["item", 2009], ["sales", 5]):
        book.active.append(row)
    book.save(written)
    return written.getvalue()


def _parquet() -> bytes:
    figures = [{"item": "net sales", "2009": 5, "2008": 4.5}, {"item": "costs", "2009": None, "2008": 1.0}]
    written = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(figures), written)
    return written.getvalue()


FORMATS = (
    Format("report JSON", RECORD, lambda path: resolve_report([str(path)], "sample:dev")),
    Format("ConvFinQA JSON", [RECORD], lambda path: load_conversations(path)),
    Format("CSV", CSV, _report, ".csv"),
    Format("inline XBRL", FILED, _report, ".html"),
    Format("Markdown", MARKDOWN, _report, ".md"),
    Format("Excel", _workbook(), _report, ".xlsx"),
    Format("Parquet", _parquet(), _report, ".parquet"),
    Format("graph, N-Triples", NTRIPLES, lambda path: load_graph(path), ".nt"),
    Format("facts, Turtle", TURTLE, _facts, ".ttl"),
    Format("facts, JSON-LD", JSONLD, _facts, ".jsonld"),
    Format("facts, RDF/XML", RDF_XML, _facts, ".owl"),
    Format("facts, a table of triples", TRIPLES, _facts, ".csv"),
    Format("questions", QUESTIONS, lambda path: read_questions(str(path)), ".jsonl"),
    Format("news", NEWS, lambda path: read_documents([str(path)]), ".txt"),
    *(
        Format(f"saved {name}", content if name.endswith(".ttl") else json.loads(content), _saved_with(name))
        for name, content in _saved().items()
    ),
    Format("archive", _zip(b"text", "a.txt"), lambda path: unpack(path, path.with_suffix("")), ".zip"),
    Format("ontology", _program().ontology.to_turtle().encode(), lambda path: Ontology.from_turtle(_text(path))),
    Format(
        "conversation",
        _conversation(),
        lambda p: Conversation.from_json(_program(), _program().world(REPORT), _text(p)),
    ),
)
