"""Reports read with a frozen ontology and scorer, each once."""

from __future__ import annotations

import pickle

from kg.calculations.scorer import DerivationScorer
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from programs.worlds.report import ReportReader


def _report(number: int = 0) -> Report:
    return Report(f"r{number}", (), (("", "2009", "2008"), ("net income", str(number), "7")), ())


def _reader() -> ReportReader:
    return ReportReader(build_ontology([_report()]), DerivationScorer.untrained())


def test_a_report_is_read_once() -> None:
    reader = _reader()
    graph, index = reader.read(_report(5))
    assert [observation.quantity.text for observation in graph.observations if not observation.in_header] == ["5", "7"]
    again = reader.read(_report(5))
    assert again[0] is graph
    assert again[1] is index
    assert reader.read(_report(6))[0] is not graph


def test_a_reader_is_pickled_by_what_it_knows() -> None:
    reader = _reader()
    reader.read(_report(5))
    other = pickle.loads(pickle.dumps(reader))
    assert other is not reader
    assert other.ontology.sha256 == reader.ontology.sha256
    assert other.scorer.sha256 == reader.scorer.sha256
    ids = [[observation.id for observation in one.read(_report(5))[0].observations] for one in (reader, other)]
    assert ids[0] == ids[1]


def test_a_line_item_that_the_ontology_does_not_cover_is_read_all_the_same() -> None:
    strange = Report("s", (), (("", "2009"), ("never heard of", "5")), ())
    graph, index = _reader().read(strange)
    assert [observation.mapped for observation in graph.observations if not observation.in_header] == [False]
    assert "5" in index.texts
