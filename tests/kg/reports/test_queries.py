from __future__ import annotations

import pytest

from kg.errors import QueryError
from kg.reports import Report, ReportGraph, build_ontology, build_report_graph, query_report


@pytest.fixture(scope="module")
def graph() -> ReportGraph:
    report = Report("a", (), (("", "2009", "2008"), ("net income", "$ 7", "$ 5")), ())
    return build_report_graph(report, build_ontology([report]))


def test_a_select_gives_texts_by_its_variables(graph: ReportGraph) -> None:
    found = query_report(graph, "SELECT ?year ?value { ?x kg:year ?year ; kg:net_income ?value } ORDER BY ?year")
    assert (found.names, found.rows) == (("year", "value"), [("2008", "5"), ("2009", "7")])


def test_other_forms_of_queries(graph: ReportGraph) -> None:
    assert query_report(graph, "ASK { ?x kg:net_income ?v FILTER(?v = 7) }").rows == [("yes",)]
    assert query_report(graph, "ASK { ?x kg:net_income ?v FILTER(?v = 8) }").rows == [("no",)]
    made = query_report(graph, "CONSTRUCT { ?x kg:copy ?v } WHERE { ?x kg:net_income ?v }")
    assert made.turtle is not None
    assert made.turtle.count("kg:copy") == 2
    assert query_report(graph, "CONSTRUCT { ?x kg:copy ?v } WHERE { ?x kg:no ?v }").turtle is None


@pytest.mark.parametrize("query", ["SELECT nothing", "SELECT ?x { ?x nowhere:p 1 }"])
def test_a_broken_query_is_refused(graph: ReportGraph, query: str) -> None:
    with pytest.raises(QueryError, match="the query cannot be"):
        query_report(graph, query)
