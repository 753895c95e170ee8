"""The formats that are attacked: for each a valid input, and the function that a user's file reaches.

A target reads a file that was damaged. It may refuse it with an error of :mod:`kg.errors`, and may do nothing else.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from experiments.data.dialogues import read_dialogues
from experiments.data.format import checked_rows
from experiments.data.graphs import open_graph
from experiments.data.questions import load_questions
from experiments.data.sources import find_parts
from experiments.facade.documents import _read_report
from experiments.lms.config import LMConfig
from experiments.saved import Origin, load_program, save_program
from kg.coreference.turns import ReferenceModel
from kg.derivations import Derivation
from kg.graphs import GraphIndex
from kg.growing import GrowingGraph, parse_update
from kg.growing import Origin as FactOrigin
from kg.investments import investment_schema
from kg.investments.documents import parse_document
from kg.ontology import Ontology, build_ontology
from kg.readers.own_report import read_files
from kg.reports import Report
from kg.schema import NodeType
from programs.conversation import ConversationQA
from programs.lm import Budget
from programs.tools.archives import ArchiveLimits, unpack
from programs.tools.documents import read_document
from programs.turns import Conversation
from tests.attacks.newer_formats import newer_formats

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
CSV = b"item,2009,2008\nnet sales,206588,181001\ncosts,5,(3)\n"
HTML = b"<p>In millions</p><table><tr><th>item</th><th>2009</th></tr><tr><td>sales</td><td>5</td></tr></table>"
MARKDOWN = b"# Results\n\n| item | 2009 |\n|---|---|\n| sales | 5 |\n\nSales rose by 5%.\n"
NEWS = b"Headline: A\nSource: B\nDate: 2026-01-01\n\nHelixon Inc. (HLXN) beat estimates.\n"
TRIPLES = b"Alien\tdirected_by\tScott\nBlade Runner\tdirected_by\tScott\n"
NTRIPLES = b'<http://a/x> <http://a/p> "v\\u0041"@en .\n<http://a/x> <http://a/q> <http://a/y> .\n'
TURTLE = b'@prefix a: <http://a/> .\na:x a a:C ; a:p 5, "t"^^<http://www.w3.org/2001/XMLSchema#date> .\n'
UPDATES: list[Any] = [
    {"op": "AddNode", "type": "Company", "name": "Helixon", "properties": {"country": "USA"}},
    {"op": "AddNode", "type": "Sector", "name": "Chips"},
    {
        "op": "AddEdge",
        "type": "in_sector",
        "source": {"type": "Company", "name": "Helixon"},
        "target": {"type": "Sector", "name": "Chips"},
    },
    {"op": "SetProperty", "node": {"type": "Company", "name": "Helixon"}, "property": "country", "value": "Chile"},
]
TYPE: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "title": "Name", "x-labels": ["word"]},
        "code": {"type": "string", "pattern": "^[A-Z]{1,5}$", "enum": ["A", "B"]},
        "since": {"type": "string", "format": "date"},
        "parts": {"type": "array", "items": {"type": "number", "minimum": 0}, "maxItems": 9},
    },
}
REPORT = Report.from_dict(RECORD)


@dataclass(frozen=True)
class Target:
    """A format.

    Attributes:
        name: Its name.
        seed: A valid input: bytes, or what JSON can hold.
        read: Reads a file with a damaged input.
        ending: The file's ending.
    """

    name: str
    seed: Any = field(repr=False)
    read: Callable[[Path], object] = field(repr=False)
    ending: str = ".json"


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def _updates(path: Path) -> object:
    try:
        written = json.loads(_text(path))
    except (ValueError, RecursionError):
        return None
    if not isinstance(written, list):
        return None
    with GrowingGraph(None, investment_schema()) as graph:
        return graph.apply([parse_update(one, place) for place, one in enumerate(written)], FactOrigin("x"))


def _type(path: Path) -> object:
    try:
        schema = json.loads(_text(path))
    except (ValueError, RecursionError):
        return None
    kind = NodeType(
        "Rule", "A rule of law that restricts what firms do.", schema, {"name": "x"}, "agent", None, 1, "new"
    )
    made = investment_schema().with_type(kind)
    with GrowingGraph(None, made) as graph:
        return [one.temporal for one in graph.schema.types], graph.schema.node_type("Rule").labels_of("name")


@cache
def _program() -> Any:
    return ConversationQA.unfitted(build_ontology([REPORT], min_reports=1))


@cache
def _saved_files() -> dict[str, bytes]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        saved = save_program(_program(), Path(folder) / "p", Origin())
        return {path.name: path.read_bytes() for path in saved.iterdir()}


def _saved(name: str) -> Callable[[Path], object]:
    """Reads a saved program in which one file is damaged and ``config.json`` has its hash."""

    def read(path: Path) -> object:
        import hashlib

        folder = path.with_suffix(".program")
        folder.mkdir(exist_ok=True)
        files = {**_saved_files(), name: path.read_bytes()}
        if name != "config.json":
            config = json.loads(files["config.json"])
            config["files"][name] = hashlib.sha256(files[name]).hexdigest()
            files["config.json"] = json.dumps(config).encode()
        for one, content in files.items():
            (folder / one).write_bytes(content)
        return load_program(folder)

    return read


@cache
def _conversation() -> dict[str, Any]:
    program = _program()
    talk = Conversation(program, program.world(REPORT))
    talk.ask("what were net sales in 2009?")
    talk.ask("and in 2008?")
    found: dict[str, Any] = json.loads(talk.to_json())
    return found


@cache
def _index() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        GraphIndex.from_triples([("a", "p", "b"), ("b", "q", "c")]).save(Path(folder) / "i.npz")
        return (Path(folder) / "i.npz").read_bytes()


def _zip(content: bytes, name: str = "dev.json") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


def _workbook() -> bytes:
    import openpyxl

    book, written = openpyxl.Workbook(), io.BytesIO()
    for row in (["item", 2009], ["sales", 5]):
        book.active.append(row)
    book.save(written)
    return written.getvalue()


def _settings(path: Path) -> object:
    settings = json.loads(_text(path))
    return (
        LMConfig(**settings) if isinstance(settings, dict) and settings.keys() <= LMConfig.__annotations__.keys() else 0
    )


TARGETS = (
    Target("report JSON", RECORD, _read_report),
    Target("ConvFinQA JSON", [RECORD], lambda path: list(checked_rows(path.read_bytes(), path.name))),
    Target(
        "dialogues",
        {"id": "a", "dialogue_break": ["a?"], "turn_program": ["5"]},
        lambda path: read_dialogues(path),
        ".jsonl",
    ),
    Target("CSV", CSV, lambda path: read_files([path]), ".csv"),
    Target("HTML", HTML, lambda path: read_files([path]), ".html"),
    Target("Markdown", MARKDOWN, lambda path: read_files([path]), ".md"),
    Target("text", b"Sales rose by 5% to 3 million. Costs fell.\n", lambda path: read_files([path]), ".txt"),
    Target("Excel", _workbook(), lambda path: read_files([path]), ".xlsx"),
    Target("document tool, HTML", HTML, read_document, ".html"),
    Target("document tool, Excel", _workbook(), read_document, ".xlsx"),
    Target("news", NEWS, lambda path: parse_document(_text(path), "a.txt"), ".txt"),
    Target("updates", UPDATES, _updates),
    Target("JSON Schema of a type", TYPE, _type),
    Target("graph, tabs", TRIPLES, lambda path: open_graph(str(path)), ".tsv"),
    Target("graph, N-Triples", NTRIPLES, lambda path: open_graph(str(path)), ".nt"),
    Target("graph, Turtle", TURTLE, lambda path: open_graph(str(path)), ".ttl"),
    Target("graph index", _index(), GraphIndex.load, ".npz"),
    Target("questions, tabs", b"who made [Alien]\tScott\n", lambda path: load_questions(str(path), "metaqa"), ".txt"),
    Target(
        "questions, JSON",
        {"id": "1", "question": "who?", "answer": ["a"], "q_entity": ["b"], "graph": [["a", "p", "b"]]},
        lambda path: load_questions(str(path), "rog"),
        ".jsonl",
    ),
    Target("archive", _zip(b"text", "a.txt"), lambda path: unpack(path, path.with_suffix(""), ArchiveLimits()), ".zip"),
    Target(
        "data.zip", _zip(json.dumps([RECORD]).encode()), lambda path: [one.read() for one in find_parts(path)], ".zip"
    ),
    Target(
        "ontology", _program().ontology.to_turtle().encode(), lambda path: Ontology.from_turtle(_text(path)), ".ttl"
    ),
    Target("program language", b"subtract(206588, 181001), divide(#0, 181001)", lambda p: Derivation.parse(_text(p))),
    Target("budget", b"calls=500,tokens=200000,usd=1.50", lambda path: Budget.parse(_text(path))),
    Target(
        "references",
        {"weights": {"a": 1.0}, "sees": "graph", "threshold": 0.5},
        lambda path: ReferenceModel.from_json(_text(path)),
    ),
    *(
        Target(f"saved program, {name}", content if name.endswith("ttl") else json.loads(content), _saved(name), ".x")
        for name, content in sorted(_saved_files().items())
    ),
    Target(
        "saved conversation",
        _conversation(),
        lambda path: Conversation.from_json(_program(), _program().world(REPORT), _text(path)),
    ),
    *(Target(*one) for one in newer_formats()),
)
