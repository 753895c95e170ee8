"""Small graphs of other domains in four formats, and conversations about them: twelve, and six further ones.

    python benchmarks/data/made_graphs/build.py
    python benchmarks/data/made_graphs/build.py benchmarks/data/further_graphs

``graphs.txt`` has a table a class; ``conversations.txt`` has the questions with their answers, ``-`` for none. This
script writes the graphs' files and ``questions.jsonl``. The part ``held_out`` is a third of the graphs, drawn at
random.
"""

from __future__ import annotations

import csv
import json
import random
import re
import sys
from pathlib import Path

from rdflib import RDF, RDFS, XSD, BNode, Graph, Literal, URIRef
from rdflib.namespace import SKOS

FOLDER = Path(__file__).parent
_LABELS = {"rdfs": RDFS.label, "skos": SKOS.prefLabel, "schema": URIRef("https://schema.org/name")}
_TYPES = {"int": XSD.integer, "dec": XSD.decimal, "date": XSD.date, "gYear": XSD.gYear, "bool": XSD.boolean}


def tables(text: str) -> dict[str, tuple[list[str], list[tuple[list[str], list[list[str]]]]]]:
    """The header and the tables of each graph."""
    found: dict[str, tuple[list[str], list[tuple[list[str], list[list[str]]]]]] = {}
    name = ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.lstrip("-=").split("|")]
        if line.startswith("==="):
            name, *header = cells[0].split()
            found[name] = header, []
        elif line.startswith("---"):
            found[name][1].append((cells, []))
        elif line.strip():
            found[name][1][-1][1].append(cells)
    return found


def write_csv(path: Path, parts: list[tuple[list[str], list[list[str]]]]) -> None:
    """A table of triples with plain names."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("subject", "predicate", "object"))
        for (kind, *columns), entities in parts:
            for name, *cells in entities:
                rows.writerow((name, "is a", kind))
                for column, cell in zip(columns, cells, strict=False):
                    for one in filter(None, (part.strip() for part in cell.split(";"))):
                        rows.writerow((name, column.partition(":")[0], one.lstrip("@")))


class RdfWriter:
    """One graph as RDF."""

    def __init__(self, labels: str, namespace: str) -> None:
        self.labels, self.base = labels, namespace
        self.graph, self.known = Graph(), dict[str, URIRef]()

    def node(self, name: str) -> URIRef:
        """An entity, with its label where the graph has labels."""
        if name not in self.known:
            home = "http://data.example/" if "schema.org" in self.base else self.base
            local = name.replace(" ", "_") if self.labels in ("local", "camel") else f"e{len(self.known) + 100}"
            self.known[name] = URIRef(home + re.sub(r"[^\w.-]", "_", local))
            if self.labels != "local":
                self.graph.add((self.known[name], _LABELS.get(self.labels, RDFS.label), Literal(name)))
        return self.known[name]

    def relation(self, column: str) -> URIRef:
        """A relation; "name:P36" is an opaque one with a label."""
        parts = column.split(":")
        if len(parts) > 1 and re.fullmatch(r"P\d+", parts[1]):
            iri = URIRef(self.base + parts[1])
            self.graph.add((iri, RDFS.label, Literal(parts[0])))
            return iri
        return URIRef(self.base + parts[0])

    def add(self, parts: list[tuple[list[str], list[list[str]]]]) -> None:
        """All tables of the graph."""
        for (kind, *columns), entities in parts:
            kind_name, _, flag = kind.partition(":")
            for name, *cells in entities:
                start = BNode() if flag == "noname" else self.node(name)
                self.graph.add((start, RDF.type, URIRef(self.base + kind_name)))
                for column, cell in zip(columns, cells, strict=False):
                    for one in filter(None, (part.strip() for part in cell.split(";"))):
                        self.value(start, column, one)

    def value(self, start: URIRef | BNode, column: str, cell: str) -> None:
        """One fact."""
        relation, flags = self.relation(column), column.split(":")[1:]
        if cell.startswith("@"):
            self.graph.add((start, relation, self.node(cell[1:])))
        elif "amount" in flags:
            amount = BNode()
            self.graph.add((start, relation, amount))
            self.graph.add((amount, URIRef("https://schema.org/value"), Literal(cell, datatype=XSD.decimal)))
            self.graph.add((amount, URIRef("https://schema.org/unitText"), Literal(flags[-1])))
        else:
            kind = next((_TYPES[flag] for flag in flags if flag in _TYPES), None)
            self.graph.add((start, relation, Literal(cell, datatype=kind)))


def main() -> None:
    """Writes the graphs and the questions of a folder."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    files = {}
    for name, (header, parts) in tables((folder / "graphs.txt").read_text(encoding="utf-8")).items():
        form, labels, ids, namespace = header
        files[name] = f"{name}.{form}"
        if form == "csv":
            write_csv(folder / files[name], parts)
            continue
        writer = RdfWriter("camel" if labels == "rdfs" and ids == "camel" else labels, namespace)
        if labels == "pids":
            writer.labels = "rdfs"
        writer.add(parts)
        text = writer.graph.serialize(format={"ttl": "turtle", "nt": "nt", "jsonld": "json-ld"}[form])
        lines = sorted(text.splitlines()) if form == "nt" else text.splitlines()
        (folder / files[name]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    held_out = set(random.Random(18).sample(sorted(files), len(files) // 3))
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as out:
        for block in re.split(r"^=== ", (folder / "conversations.txt").read_text(encoding="utf-8"), flags=re.M)[1:]:
            name, _, rest = block.partition("\n")
            for number, talk in enumerate(filter(str.strip, rest.split("\n\n")), start=1):
                turns = [line.rsplit(" => ", 1) for line in talk.strip().splitlines()]
                answers = [None if gold.strip() == "-" else [one.strip() for one in gold.split(";")] for _, gold in turns]
                part = "held_out" if name in held_out else "dev"
                row = {"id": f"{name}-{number}", "graph": name, "file": files[name], "part": part,
                       "questions": [question for question, _ in turns], "answers": answers}  # fmt: skip
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
