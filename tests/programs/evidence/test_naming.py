"""Names of figures: different wherever the figures are."""

from __future__ import annotations

from kg.calculations import DerivationScorer, ReportIndex
from kg.reports import Report, build_ontology
from programs.evidence.naming import figure_names
from programs.worlds.reader import ReportReader

REPORT = Report(
    "r",
    ("the facility was raised by $ 1 billion to $ 4.5 billion in 2009 .",),
    (
        (
            "",
            "acres that expire in the year ended december 31 2014",
            "acres that expire in the year ended december 31 2015",
        ),
        ("africa", "441", "189"),
        ("volatility", "22% - 34%", "20%"),
        ("lease assets :", "", ""),
        ("total", "7", "8"),
        ("loan assets :", "", ""),
        ("total", "9", "10"),
    ),
    (),
)


def _names(report: Report) -> tuple[ReportIndex, dict[str, str]]:
    _, index = ReportReader(build_ontology([report]), DerivationScorer.untrained()).read(report)
    return index, figure_names(index)


def test_figures_with_different_values_have_different_names() -> None:
    index, names = _names(REPORT)
    values: dict[str, set[str]] = {}
    for one in index.observations:
        values.setdefault(names[one.id], set()).add(one.quantity.text)
    assert all(len(found) == 1 for found in values.values()), values


def test_the_ends_of_long_headers_tell_columns_apart() -> None:
    _, names = _names(REPORT)
    assert names["r1c1"] != names["r1c2"]
    assert names["r1c1"].endswith("2014]")
    assert names["r1c2"].endswith("2015]")


def test_a_figure_of_a_sentence_is_marked() -> None:
    index, names = _names(REPORT)
    quoted = {one.quantity.text: names[one.id] for one in index.observations if one.id.startswith("s0")}
    assert quoted["1"].count("*") == quoted["4.5"].count("*") == 2
    assert "*$ 1 billion*" in quoted["1"]
    assert "*$ 4.5 billion*" in quoted["4.5"]


def test_equal_rows_have_their_section_or_their_value() -> None:
    _, names = _names(REPORT)
    assert len({names[one] for one in ("r4c1", "r6c1")}) == 2
    assert "lease assets" in names["r4c1"]
