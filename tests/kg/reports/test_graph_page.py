"""The excerpt on the page about graphs is what the code writes."""

from __future__ import annotations

import re
from pathlib import Path

from rdflib import Graph

from experiments.data import train_reports
from kg.reports.graph import build_report_graph
from kg.reports.ontology import Ontology

ROOT = Path(__file__).resolve().parents[3]


def test_the_excerpt_is_part_of_the_graph() -> None:
    page = (ROOT / "docs" / "reference" / "report-graph.md").read_text(encoding="utf-8")
    excerpt = Graph().parse(data=re.findall(r"```turtle\n(.*?)```", page, re.DOTALL)[0], format="turtle")
    report = next(r for r in train_reports(["sample:train"]) if r.id == "Single_HRBR/2021/page_12.pdf-1")
    shipped = ROOT / "experiments" / "shipped" / "beam" / "ontology.ttl"
    graph = build_report_graph(report, Ontology.from_turtle(shipped.read_text(encoding="utf-8"))).graph
    assert len(excerpt) > 30
    assert set(excerpt) <= set(graph)
    assert f"holds {len(graph)} triples" in page
