"""The kinds of questions by the shape of their gold queries."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[1] / "benchmarks" / "query_kinds.py"
BOTH = "SELECT ?x WHERE { ?x :crew :ann ; :crew :bea }"
TWO_WAYS = "SELECT ?x WHERE { ?s :start ?x . ?t :finish ?x }"


@pytest.fixture(scope="module")
def kinds() -> Any:
    described = importlib.util.spec_from_file_location("query_kinds", FILE)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("SELECT ?x WHERE { :ann :ship ?x }", "lookup"),
        ("SELECT ?x WHERE { ?x a :Ship ; :port :oslo }", "lookup"),
        ("SELECT ?x WHERE { :ann :ship ?s . ?s :port ?x }", "two steps"),
        ('SELECT ?x WHERE { ?x :port :oslo ; :rig "sloop" }', "condition"),
        ("SELECT ?x WHERE { ?x :built ?y FILTER(?y < 1985) }", "condition"),
        ("SELECT ?x WHERE { ?x :built ?y } ORDER BY ?y LIMIT 1", "superlative"),
        ("SELECT (COUNT(?x) AS ?n) WHERE { ?x a :Ship }", "count"),
        ("SELECT (SUM(?v) AS ?n) WHERE { ?x :price ?v }", "calculation"),
        ("SELECT ((?b - ?a) AS ?n) WHERE { :ann :born ?a ; :died ?b }", "calculation"),
        ("ASK { :ann :ship :kestrel }", "yes or no"),
        (BOTH, "set operation"),
        (TWO_WAYS, "set operation"),
        ("SELECT ?x WHERE { { ?x :crew :ann } UNION { ?x :crew :bea } }", "set operation"),
        ("SELECT ?x WHERE { ?x a :Ship FILTER NOT EXISTS { ?x :owner ?o } }", "negation"),
        ("SELECT ?x WHERE { ?x a :Ship ; :port ?p FILTER(?p != :oslo) }", "negation"),
    ],
)
def test_kinds_of_first_questions(kinds: Any, query: str, kind: str) -> None:
    assert kinds.kind_of(f"PREFIX : <http://e.org/> {query}") == kind


def test_later_turns_and_questions_without_an_answer(kinds: Any) -> None:
    assert kinds.kind_of(BOTH, is_later=True) == "conversation"
    assert kinds.kind_of(None, is_later=True) == "unanswerable"
