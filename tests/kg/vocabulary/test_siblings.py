"""Classes whose members have the same relations."""

from __future__ import annotations

from datetime import date

import pytest

from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.algebra import write
from kg.facts import FactGraph, read_table
from kg.parsing import QuestionReader
from kg.vocabulary.siblings import siblings_of

MUSIC = """
Red Duchess|cello|made by:Tarsi|price:900|made in:1702
Larkspur|violin|made by:Tarsi|price:400|made in:1811
Old Ghost|violin|made by:Olm|price:300|made in:1650
Tarsi|man|born in:1670|home town:Corm
Olm|man|born in:1610|home town:Brell
Ada Faol|woman|born in:1990|home town:Corm
Corm|town|inhabitants:2000
Brell|town|inhabitants:5000
"""


@pytest.fixture(scope="module")
def graph() -> FactGraph:
    rows = ["subject,predicate,object"]
    for line in MUSIC.strip().splitlines():
        name, kind, *facts = line.split("|")
        rows += [f"{name},is a,{kind}", *(f"{name},{','.join(one.split(':'))}" for one in facts)]
    return FactGraph.build(read_table("\n".join(rows), what="test"))


def test_classes_with_the_same_relations_are_siblings(graph: FactGraph) -> None:
    found = [{graph.classes[kind].names[0] for kind in group} for group in siblings_of(graph)]
    assert found == [{"cello", "violin"}, {"man", "woman"}]


@pytest.mark.parametrize(
    ("question", "answer", "part"),
    [
        ("what is the dearest instrument?", "Red Duchess", "cello | violin(*)"),
        ("who is the youngest person?", "Ada Faol", "man | woman(*)"),
        ("which instrument is the oldest?", "Old Ghost", "cello | violin(*)"),
    ],
)
def test_a_noun_may_mean_the_members_of_siblings(graph: FactGraph, question: str, answer: str, part: str) -> None:
    reader = QuestionReader(graph, shipped_encoder().vectors, shipped_thesaurus())
    _, parses = reader.derivations(question, [], today=date(2026, 1, 1))
    found = [one for one in parses if part in write(one.query, graph)]
    assert answer in {graph.name(node) for one in found for node in one.nodes}
