"""A small graph of ships, for tests of queries."""

from __future__ import annotations

from kg.graphs import FactGraph, read_table
from kg.parsing import QuestionReader

TABLE = """subject,predicate,object
Larkspur,is a,ship
Larkspur,home port,Quillhaven
Larkspur,length (m),61
Larkspur,captain,Mara Stenhouse
Bellwether,is a,ship
Bellwether,home port,Quillhaven
Bellwether,length (m),88
Mara Stenhouse,is a,person
Mara Stenhouse,born,1971-04-02
Quillhaven,is a,port
"""


def ships() -> QuestionReader:
    """Returns the reader of questions about the graph."""
    return QuestionReader(FactGraph.build(read_table(TABLE, what="ships.csv")))
