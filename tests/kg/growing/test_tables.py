"""Tables as nodes of a growing graph: names of rows, values, and edges between tables."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.growing import GrowingGraph, NodeKey, Table, add_tables


def table(file: str, *lines: str, title: str = "") -> Table:
    return Table(file, tuple(tuple(line.split("|")) for line in lines), title)


def test_a_row_is_a_node_with_typed_values() -> None:
    ports = table("ports.csv", "Port|Tonnes|Opened|Fee", "Varna|1,200|3 May 1907|€ 4.50", "Bar|800|1 June 1911|")
    with GrowingGraph() as graph:
        assert add_tables(graph, [ports]).nodes == 2
        varna = graph.node(NodeKey("Port", "Varna"))
        assert varna is not None
        assert varna.properties == {"tonnes": 1200, "opened": "1907-05-03", "fee": Decimal("4.50")}
        assert varna.sources == ("ports.csv",)
        assert graph.schema.node_type("Port").labels_of("fee") == ("Fee (€)",)
        assert [entry.spans[0] for entry in graph.history()] == [
            "Port: Varna; Tonnes: 1,200; Opened: 3 May 1907; Fee: € 4.50"
        ]


def test_a_column_of_another_tables_names_is_an_edge() -> None:
    sales = table("honey.xlsx", "Stall|Month|Jars", "Hut|June|140", "Hut|July|180", "Corner|June|95", title="Sales")
    stalls = table("honey.xlsx", "Stall|Owner", "Hut|Karin", "Corner|Rolf", title="Stalls")
    with GrowingGraph() as graph:
        applied = add_tables(graph, [sales, stalls])
        assert (applied.nodes, applied.edges) == (5, 3)
        [edge] = graph.edges(NodeKey("Sales", "Hut, July"))
        assert (edge.type, str(edge.target)) == ("stall", str(NodeKey("Stall", "Hut")))
        owner = graph.node(NodeKey("Stall", "Hut"))
        assert owner is not None
        assert owner.properties == {"owner": "Karin"}


@pytest.mark.parametrize(
    ("name", "first", "second", "day"),
    [
        ("Opened", "3/8/2019", "27/3/2019", "2019-08-03"),
        ("Opened", "3/8/2019", "3/27/2019", "2019-03-08"),
        ("Opened (dd/mm/yyyy)", "3/8/2019", "4/8/2019", "2019-08-03"),
        ("Opened", "3/8/2019", "4/8/2019", ""),
    ],
)
def test_the_order_of_day_and_month_is_that_of_the_column(name: str, first: str, second: str, day: str) -> None:
    lifts = table("lifts.csv", f"Lift|{name}", f"Adler|{first}", f"Brandt|{second}")
    with GrowingGraph() as graph:
        add_tables(graph, [lifts])
        adler = graph.node(NodeKey("Lift", "Adler"))
        [[key, rule]] = graph.schema.node_type("Lift").properties_schema["properties"].items()
        assert adler is not None
        assert adler.properties[key] == (day or first)
        assert (f"3/8/2019 ({day})" in lifts.sentence(0)) == bool(day)
        assert ("order of day and month is not known" in str(rule)) == (not day)


def test_odd_tables_do_no_harm() -> None:
    odd = [
        table("a.csv", "||", "1|2|3", "1|2|3"),
        table("a.csv", "x|x", "first|second|third"),
        table("b.csv", "only a header"),
        table("c.csv", "Größe|9 lives", "ä|5 kg", "ö|7 lbs"),
    ]
    with GrowingGraph() as graph:
        assert add_tables(graph, odd).nodes == 5
        assert len({kind.name for kind in graph.schema.node_types()}) == 3
