"""The formats that are attacked: for each a valid input in ``seeds``, and the function that a user's file reaches.

A format's function reads a damaged file, or refuses it by an error of :mod:`kg.errors`. Replies of servers are formats
too: a server on loopback sends the file.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import dspy
from dspy.utils.exceptions import LMError as DSPyLMError

from experiments.console import read_text
from experiments.data.conversations import load_conversations
from experiments.data.graphs import load_graph
from experiments.data.news import read_documents, read_questions
from experiments.facade import resolve_report
from experiments.lms import LMConfig, lm_settings
from experiments.saved import load_program, save_program
from kg.graphs import FactGraph, read_file
from kg.graphs.stores import EndpointStore
from kg.parsing import QuestionReader
from kg.readers.own_report import read_files
from kg.reports import Ontology, Report, build_ontology
from programs.advisor import ReadDocuments
from programs.conversation import ConversationQA
from programs.tools.workspace import unpack
from programs.turns import Conversation
from programs.worlds.graph import GraphConfig

SEEDS = Path(__file__).with_name("seeds")
REPORT = Report.from_dict(json.loads((SEEDS / "report.json").read_bytes()))


class Format(NamedTuple):
    """A format: a valid input as bytes or as a value of JSON, the reader of a file, and the file's ending."""

    name: str
    seed: Any
    read: Callable[[Path], object]
    ending: str = ".json"


def _seeded(name: str, file: str, read: Callable[[Path], object]) -> Format:
    path = SEEDS / file
    content = path.read_bytes()
    return Format(name, json.loads(content) if path.suffix in (".json", ".jsonld") else content, read, path.suffix)


def _record(path: Path) -> None:
    resolve_report([str(path)], "sample:dev")
    record = json.loads(path.read_bytes())
    assert {type(text) for text in (*record["pre_text"], *record["post_text"])} <= {str}
    assert {type(cell) for row in (*record["table"], [record["id"]]) for cell in row} <= {str, int, float, type(None)}


def _facts(path: Path) -> object:
    reader = QuestionReader(FactGraph.build(read_file(path, read_text(path))))
    program = ConversationQA.for_graphs(GraphConfig(today=date(2026, 11, 22)))
    return program(graph=reader, questions=["who directed Alien?", "how long is it?"]).turns


PROGRAM = ConversationQA.unfitted(build_ontology([REPORT]))


@cache
def _saved() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in save_program(PROGRAM, Path(folder) / "p").iterdir()}


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


def _conversation() -> Any:
    talk = Conversation(PROGRAM, PROGRAM.world(REPORT))
    talk.ask("what were net sales in 2009?")
    return json.loads(talk.to_json())


def _resumed(path: Path) -> object:
    return Conversation.from_json(PROGRAM, PROGRAM.world(REPORT), read_text(path))


class _Replies(BaseHTTPRequestHandler):
    """Sends the file of the present input; one that ends so has no end."""

    content = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(self.content)
            while self.content.endswith(b"endless"):
                self.wfile.write(b" " * 1_000_000)

    def log_message(self, *arguments: object) -> None:
        pass


@cache
def _address() -> str:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Replies)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


def _completion(path: Path) -> object:
    _Replies.content = path.read_bytes()
    [document] = read_documents([str(SEEDS / "news.txt")])[0]
    settings = lm_settings(LMConfig("openai/m", api_base=_address(), retries=0))
    with dspy.context(**{**settings, "lm": settings["lm"].copy(cache=False)}):
        try:
            return ReadDocuments()(document=document)
        except DSPyLMError as error:
            raise error.__cause__ or error from error


def _rows(path: Path) -> object:
    _Replies.content = path.read_bytes()
    return EndpointStore(_address()).texts("SELECT * {}")


FORMATS = (
    _seeded("report JSON", "report.json", _record),
    _seeded("ConvFinQA JSON", "conversations.json", load_conversations),
    _seeded("CSV", "tables.csv", lambda path: read_files([path])),
    _seeded("inline XBRL", "filed.html", lambda path: read_files([path])),
    _seeded("Markdown", "notes.md", lambda path: read_files([path])),
    _seeded("Excel", "tables.xlsx", lambda path: read_files([path])),
    _seeded("Parquet", "tables.parquet", lambda path: read_files([path])),
    _seeded("graph, N-Triples", "graph.nt", load_graph),
    _seeded("facts, Turtle", "facts.ttl", _facts),
    _seeded("facts, JSON-LD", "facts.jsonld", _facts),
    _seeded("facts, RDF/XML", "facts.owl", _facts),
    _seeded("facts, a table of triples", "triples.csv", _facts),
    _seeded("questions", "questions.jsonl", lambda path: read_questions(str(path))),
    _seeded("news", "news.txt", lambda path: read_documents([str(path)])),
    *(
        Format(f"saved {name}", content if name.endswith(".ttl") else json.loads(content), _saved_with(name))
        for name, content in _saved().items()
    ),
    _seeded("archive", "archive.zip", lambda path: unpack(path, path.with_suffix(""))),
    Format("ontology", PROGRAM.ontology.to_turtle().encode(), lambda path: Ontology.from_turtle(read_text(path))),
    Format("conversation", _conversation(), _resumed),
    _seeded("reply of a model", "completion.json", _completion),
    _seeded("reply of SPARQL", "sparql.json", _rows),
)
