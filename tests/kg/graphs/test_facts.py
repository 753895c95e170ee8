from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from kg.errors import DataError
from kg.graphs import FactGraph, is_table_of_triples, read_rdf, read_table, read_value
from kg.graphs.units import split_unit, words_of
from kg.text import Period

TURTLE = """
@prefix x: <http://e.org/> . @prefix s: <https://schema.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
x:Ferry rdfs:subClassOf x:Ship .
x:s1 a x:Ferry ; s:name "Aurora"@en, "Polarlicht"@de ; skos:altLabel "Old Lady" ; x:homePort x:Port_Vell ;
    x:topSpeedKnots 21 ; x:weightKg 4200 ; x:builtIn "1987"^^xsd:gYear ; x:length [ s:value 88.5 ; s:unitText "m" ] .
"""
XSD = "http://www.w3.org/2001/XMLSchema#"


def _graph(text: str = TURTLE, ending: str = ".ttl") -> FactGraph:
    return FactGraph.build(read_rdf(text, ending, what="test"))


def _relation(graph: FactGraph, name: str) -> int:
    return next(place for place, one in enumerate(graph.relations) if name in one.names)


def test_values_have_types() -> None:
    assert [read_value(one).number for one in ("1,640", "3rd")] == [1640, 3]
    assert [read_value(one, f"{XSD}double").text for one in ("4.6E0", "4.0E1", "1.5e-2")] == ["4.6", "40", "0.015"]
    assert read_value("1e999999999", f"{XSD}double").kind == "text"  # a gigabyte of digits
    assert read_value("1986", f"{XSD}gYear").period == Period(date(1986, 1, 1), date(1986, 12, 31))
    assert read_value("2020-02", f"{XSD}gYearMonth").period == Period(date(2020, 2, 1), date(2020, 2, 29))
    assert read_value("2019-06-18").period == Period(date(2019, 6, 18), date(2019, 6, 18))
    assert read_value("true", f"{XSD}boolean").text == "yes"
    assert read_value("4.2.1").kind == "text"
    assert read_value("2019-13-40").kind == "text"
    assert read_value("12", f"{XSD}string").kind == "text"
    assert read_value("NaN", f"{XSD}double").kind == "text"


def test_names_units_and_classes_of_a_graph() -> None:
    graph = _graph()
    [ship] = [node for node in range(len(graph.values)) if graph.name(node) == "Aurora"]
    assert graph.names[ship] == ("Aurora", "Polarlicht", "Old Lady")
    [port] = graph.follow(ship, _relation(graph, "home port"))
    assert graph.name(port) == "Port Vell"
    assert graph.follow(port, _relation(graph, "home port"), inverse=True) == (ship,)
    assert {graph.classes[kind].names[0] for kind in graph.types[ship]} == {"ferry", "ship"}
    assert graph.relations[_relation(graph, "weight")].unit == "kg"
    assert graph.relations[_relation(graph, "built in")].kind == "date"


def test_a_node_that_only_carries_a_number_is_that_number() -> None:
    graph = _graph()
    length = _relation(graph, "length")
    [node] = [graph.follow(one, length)[0] for one in range(len(graph.values)) if graph.follow(one, length)]
    assert (graph.values[node].number, graph.values[node].unit) == (Decimal("88.5"), "m")
    assert graph.relations[length].unit == "m"


def test_a_table_of_triples() -> None:
    text = "subject,predicate,object\nalien,is a,film\nalien,directed by,Ridley Scott\nRidley Scott,born,1937\n"
    assert is_table_of_triples(text)
    assert not is_table_of_triples(",2020,2019\nNet sales,4120,3980\n")
    half = "Alien,year,1979\nAlien,made by,Ridley Scott\nLegend,year,1985\nLegend,rating,6.3\n"
    assert is_table_of_triples(half)
    assert not is_table_of_triples("Retail,North,5\nRetail,South,6\nFood,North,7\n")
    graph = FactGraph.build(read_table(text, what="films.csv"))
    film = next(node for node in range(len(graph.values)) if graph.name(node) == "alien")
    [director] = graph.follow(film, _relation(graph, "directed by"))
    assert graph.is_entity(director)
    [born] = graph.follow(director, _relation(graph, "born"))
    assert graph.values[born].period == Period(date(1937, 1, 1), date(1937, 12, 31))
    with pytest.raises(DataError, match=r"films\.csv: line 2: must have three cells, got 2"):
        list(read_table("s,p,o\na,b\n", what="films.csv"))


def test_local_names_as_words() -> None:
    assert words_of("http://e.org/floorAreaSquareMetres") == "floor area square metres"
    assert split_unit("floor area square metres") == ("floor area", "m²")
    assert split_unit("size (kB)") == ("size", "kB")
    assert split_unit("height") == ("height", "")
    assert words_of("people.person.place_of_birth") == "place of birth"
    assert words_of("last released") == "last released"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("AdaLind", "Oslo", "NorthPier"), ["Ada Lind", "Oslo", "North Pier"]),
        (("Ada_Lind", "North_Pier", "McKay"), ["Ada Lind", "North Pier", "McKay"]),
    ],
)
def test_capitals_begin_words_where_no_sign_separates_them(names: tuple[str, ...], shown: list[str]) -> None:
    lines = [f"<http://e.org/{name}> <http://e.org/size> 3 ." for name in names]
    graph = _graph("\n".join(lines), ".ttl")
    assert [graph.name(node) for node in range(len(graph.values)) if graph.is_entity(node)] == shown


def test_a_graph_s_own_relation_of_names_names_what_has_it() -> None:
    lines = [f'<http://e.org/p{number}> <http://e.org/name> "{name}" .' for number, name in enumerate(("Ada", "Ben"))]
    lines += [f'<http://e.org/p{number}> <http://e.org/title> "Dr" .' for number in range(2)]
    graph = _graph("\n".join(lines), ".ttl")
    assert [graph.name(node) for node in range(len(graph.values)) if graph.is_entity(node)] == ["Ada", "Ben"]
    assert [one.names[0] for one in graph.relations] == ["title"]


def test_times_at_midnight_are_days_and_durations_are_minutes() -> None:
    assert read_value("2012-09-05T00:00:00Z", f"{XSD}dateTime").text == "2012-09-05"
    assert read_value("2012-09-05T08:30:00Z", f"{XSD}dateTime").text == "2012-09-05T08:30:00Z"
    assert read_value("PT1H30M", f"{XSD}duration").number == Decimal(90)
    assert read_value("P1Y", f"{XSD}duration").kind == "text"


def test_numbered_facts_without_names_only_join_others() -> None:
    lines = ["@prefix x: <http://loans.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    lines += [f'x:b{number} a x:Book ; rdfs:label "Book {number}" ; x:pages {number} .' for number in (1, 2, 3, 4)]
    lines += ["x:l1 a x:Loan ; x:item x:b1 ; x:days 3 . x:l2 a x:Loan ; x:item x:b2 ; x:days 4 ."]
    lines += ["x:Ulm a x:Town ; x:area 4 ; x:size 2 ."]
    graph = FactGraph.build(read_rdf("\n".join(lines), ".ttl", what="loans"))
    names = {graph.name(node) for node in range(len(graph.values)) if graph.is_nameless(node)}
    assert len(names) == 2
    assert not names & {"Ulm", "Book 1", "Book 4"}


def test_blank_nodes_have_the_same_names_each_time() -> None:
    text = '<urn:a> <urn:has> [ <urn:name> "one" ], [ <urn:name> "two" ] . _:known <urn:has> <urn:a> .'
    first, second = (list(read_rdf(text, ".ttl", what="file")) for _ in range(2))
    assert first == second
    assert len({one.subject for one in first}) == 4
    assert first[-1].subject == "_:known"
    (other,) = read_rdf('[ <urn:name> "three" ] .', ".ttl", what="another file")
    assert other.subject not in {one.subject for one in first}


def test_a_node_without_a_class_is_one_of_those_whose_relations_it_has() -> None:
    rows = ["subject,predicate,object"]
    for name in ("Wren", "Tern", "Skua"):
        rows += [f"{name},type,boat", f"{name},length,9", f"{name},skipper,Ida"]
    rows += ["Rail,length,12", "Rail,skipper,Ida", "Bar,type,shed", "Bar,colour,red", "Ida,born,1980", "Quay,length,90"]
    graph = FactGraph.build(read_table("\n".join(rows), what="boats"))
    boats = next(one for one in graph.classes if one.names[0] == "boat")
    assert [graph.name(node) for node in boats.members] == ["Wren", "Tern", "Skua", "Rail"]
    assert [graph.name(node) for node in graph.untyped] == ["Rail"]  # one relation in common is not enough
