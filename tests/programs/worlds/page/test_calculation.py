"""Named calculations: exact derivations over figures of the graph, and reasons for everything else."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.calculations import DerivationScorer, ReportIndex
from kg.reports import Report, build_ontology
from kg.search import Derivation, PastTurn
from programs.worlds.page import CalculationError, PageFigures, read_calculation, written_calculation
from programs.worlds.report import ReportReader

REPORT = Report(
    id="r",
    pre_text=("the company sold 105 stores in 2009 and 67 stores in 2008 .", "sales of the east were $ 1.4 million ."),
    table=(
        ("( in thousands )", "2009", "2008", "2007"),
        ("net income", "$ 10", "$ 12", "$ 15"),
        ("cash used", "-26 ( 26 )", "30", "31"),
        ("rent of the north", "40", "50", "60"),
        ("tax rate", "16%", "20%", "21%"),
    ),
    post_text=(),
)


@pytest.fixture(scope="module")
def index() -> ReportIndex:
    return ReportReader(build_ontology([REPORT]), DerivationScorer.untrained()).read(REPORT)[1]


def _past(index: ReportIndex) -> tuple[PastTurn, ...]:
    first = read_calculation("[r1c1]", PageFigures(index), (), ["?"])
    assert first is not None
    second = read_calculation("subtract([a1], [r1c2])", PageFigures(index), [_turn(first)], ["?", "?"])
    assert second is not None
    return _turn(first), _turn(second)


def _turn(named: object) -> PastTurn:
    return PastTurn("?", named.derivation, named.answer)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "program", "answer"),
    [
        ("[r1c1]", "10", 10),
        ("add([s0n0], [s0n2])", "add(105, 67)", 172),
        ("subtract([r1c1], [r1c2]), divide(#0, [r1c2])", "subtract(10, 12), divide(#0, 12)", "-0.16667"),
        ("divide(subtract([r1c1], [r1c2]), [r1c2]) = -0.1667", "subtract(10, 12), divide(#0, 12)", "-0.16667"),
        ("([r1c1] − [r1c2]) / [r1c2]", "subtract(10, 12), divide(#0, 12)", "-0.16667"),
        ("add([r1c1], [r1c2], [r1c3])", "add(10, 12), add(#0, 15)", 37),
        ("average([r1c1], [r1c2], [r1c3])", "add(10, 12), add(#0, 15), divide(#1, const_3)", "12.33333"),
        ("max([r1c1], [r1c2], [r1c3])", "max(10, 12, 15)", 15),
        ("[s1n0] / [r4c1]", "divide(1.4, 16%)", "8.75"),
        ("multiply([r1c1], 12)", "multiply(10, const_12)", 120),
        ("subtract(1, [r4c1])", "subtract(const_1, 16%)", "0.84"),
        ("multiply([r1c1], 1,000,000)", "multiply(10, const_1000000)", 10_000_000),
        ("-[r1c1]", "multiply(10, const_m1)", -10),
        ("abs([r2c1])", "26", 26),
        ("abs(subtract([r1c1], [r1c2]))", "subtract(10, 12), multiply(#0, const_m1)", 2),
        ("greater([r1c1], [r1c2])", "greater(10, 12)", "no"),
        ("[r1c2] > [r1c1]", "greater(12, 10)", "yes"),
        ("add([r1c1], [r1c2]), subtract([r1c2], [r1c1])", "subtract(12, 10)", 2),
        ("add(105, [s0n2])", "add(105, 67)", 172),
        ("answer 2", "subtract(10, 12)", -2),
        ("divide([a2], [a1])", "subtract(10, 12), divide(#0, 10)", "-0.2"),
        ("multiply([r1c1], 1.07)", "multiply(10, const_1.07)", "10.7"),
    ],
)
def test_a_calculation_is_executed_exactly(index: ReportIndex, text: str, program: str, answer: object) -> None:
    named = read_calculation(text, PageFigures(index), _past(index), ["a?", "b?", "what if it grows 1.07 times?"])
    assert named is not None
    assert str(named.derivation) == program
    found = round(named.answer, 5) if isinstance(named.answer, Decimal) else named.answer
    assert found == (Decimal(str(answer)) if not isinstance(answer, str) or answer[-1].isdigit() else answer)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("argmax([r1c1], [r1c2], [r1c3])", ("2007",)),
        ("argmin([r1c1], [r2c2], [r3c1])", ("net income",)),
        ('argmax("north"=[r3c1], "east"=[s1n0])', ("north",)),
        ("argmax(2, [r1c1], [r1c2], [r1c3])", ("2007", "2008")),
        ('argmax_change("2009"=([r1c1], [r1c2]), "2008"=([r1c2], [r1c3]))', ("2009",)),
        ("argmax(divide([r3c1], [r1c1]), divide([r3c2], [r1c2]))", ("2008",)),
        ("divide([r3c1], [r1c1]), divide([r3c2], [r1c2]), argmin(#0, #1)", ("2009",)),
        ("argmax([r1c1] - [r1c2], ([r3c1] - [r3c2]) / [r3c2])", ("rent of the north",)),
        ('argmin("2009"=abs(subtract([r1c1], [r1c2])), "2008"=add([r2c2], [r1c3]))', ("2009",)),
    ],
)
def test_a_comparison_has_the_names_of_the_page(index: ReportIndex, text: str, names: tuple[str, ...]) -> None:
    named = read_calculation(text, PageFigures(index), (), ["?"])
    assert named is not None
    assert named.answer == names


def test_figures_keep_their_provenance(index: ReportIndex) -> None:
    named = read_calculation("subtract([r1c1], [s0n0])", PageFigures(index), (), ["?"])
    assert named is not None
    assert [number.source for number in named.derivation.numbers] == ["r1c1", "s0n0"]
    assert all(number.path for number in named.derivation.numbers)


def test_a_percentage_is_a_fraction(index: ReportIndex) -> None:
    named = read_calculation("subtract([r4c1], [r4c2])", PageFigures(index), (), ["?"])
    assert named is not None
    assert (str(named.derivation), named.answer) == ("subtract(16%, 20%)", Decimal("-0.04"))


def test_numbers_of_the_conversation_are_calculated_with(index: ReportIndex) -> None:
    named = read_calculation("multiply(45, 4)", PageFigures(index), (), ["sales?", "and 45 stores of 4 floors?"])
    assert named is not None
    assert named.answer == 180
    assert [number.path for number in named.derivation.numbers] == ["question 2 -> 45", "question 2 -> 4"]


def test_a_year_of_the_page_can_be_calculated_with(index: ReportIndex) -> None:
    named = read_calculation("subtract(2009, 2008)", PageFigures(index), (), ["?"])
    assert named is not None
    assert named.answer == 1
    assert all(number.source for number in named.derivation.numbers)


@pytest.mark.parametrize("text", ["none", " None. ", "n/a", ""])
def test_a_page_that_does_not_say_names_no_calculation(index: ReportIndex, text: str) -> None:
    assert read_calculation(text, PageFigures(index), (), ["?"]) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[r9c9]", "[r9c9] is no figure of the page"),
        ("add([r1c1], 123456)", "123456 is neither a figure of the page nor a constant"),
        ("add(40.5%, [r1c1])", "40.5% is neither a figure of the page nor a constant"),
        ("42", "over no figure of the page"),
        ("[a3]", "question 3 has no answer"),
        ("subtract([r1c1])", "subtract takes 2 values, got 1"),
        ("median([r1c1], [r1c2])", "there is no function 'median'"),
        ("divide([r1c1], 0)", "has no result"),
        ("#0", "#0 is not an earlier step"),
        ("add([r1c1], [r1c2]) [r1c3]", "follows a complete step"),
        ("add([r1c1], [r1c2]", "')' is missing"),
        ("the net income of 2009", "is neither an identifier of the page nor a function"),
        ("__import__('os')", "is not of the language"),
        ("(" * 500, "nested more than"),
        ("1+" * 3000, "too long"),
        ("exp([r3c1], exp([r3c1], [r3c1]))", "has no result"),
        ('argmax("west"=[r3c1], "north"=[r3c2])', "'west' is no name of [r3c1] on the page"),
        ("argmax([s0n0], [s1n0])", "have no names of their own"),
        ("argmax(0, [r1c1], [r1c2])", "must be a whole number from 1"),
        ("argmax([r1c1])", "compares at least two figures"),
        ("argmax(add(4, 5), [r1c1])", "only figures of the page have names"),
        ("argmax(7, 5, [r1c1])", "compares figures: a constant has no name"),
        ("argmax_change([r1c1], [r1c2])", "takes 2 figures in parentheses for each name"),
        ("argmax_change(([r1c1], [r1c2], [r1c3]), ([r1c2], [r1c3]))", "takes 2 figures for each name, got 3"),
    ],
)
def test_everything_else_is_refused_with_a_reason(index: ReportIndex, text: str, reason: str) -> None:
    with pytest.raises(CalculationError) as refused:
        read_calculation(text, PageFigures(index), _past(index), ["?"])
    assert reason in str(refused.value)


def test_an_answer_in_words_cannot_be_calculated_with(index: ReportIndex) -> None:
    past = [PastTurn("?", Derivation.parse("greater(10, 12)"), "no"), PastTurn("?", None, None)]
    for text, reason in (("add([a1], 1)", "is no number"), ("add([a2], [r1c1])", "question 2 has no answer")):
        with pytest.raises(CalculationError, match=reason):
            read_calculation(text, PageFigures(index), past, ["?", "?", "?"])


@pytest.mark.parametrize(
    "text",
    [
        "[r1c1]",
        "abs([r2c1])",
        "subtract([a1], [r1c2]), divide(#0, [r1c2])",
        "divide([a2], [r1c2])",
        'argmax("2009"=[r1c1], "2008"=[r1c2])',
        'divide([r3c1], [r1c1]), divide([r3c2], [r1c2]), argmax("2009"=#0, "2008"=#1)',
        "add([s0n0], [s0n2]), divide(#0, 2)",
    ],
)
def test_a_written_calculation_is_read_as_the_same(index: ReportIndex, text: str) -> None:
    past = _past(index)
    named = read_calculation(text, PageFigures(index), past, ["?"])
    assert named is not None
    written = written_calculation(named.derivation, past)
    again = read_calculation(written, PageFigures(index), past, ["?"])
    assert again is not None
    assert again.derivation == named.derivation
