"""The program language: what parses, what it evaluates to, and what is refused in which words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import ProgramError, UndefinedResult
from kg.search import merge_key
from kg.search.derivation import Derivation
from kg.search.history import Reference, TurnOperation, collapse, expand
from kg.search.steps import BINARY_OPERATIONS, Constant, Number, Operand, Step, StepResult

TABLE = (
    ("", "2009", "2008", "note"),
    ("net income ( loss )", "$ 10", "-4 ( 4 )", ""),
    ("Cost, net", "1.5", "2.5", "n/a"),
    ("text only", "a", "b", "c"),
)


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ("206588", "206588"),
        (".57%", "0.0057"),
        ("-9.9%", "-0.099"),
        ("const_100", "100"),
        (" const_m1 ", "-1"),
        ("add(0.1, 0.2)", "0.3"),
        ("subtract(5, const_m1)", "6"),
        ("multiply(2.5, const_1000000)", "2500000"),
        ("divide(1, 3)", "0.3333333333333333333333333333333333"),
        ("exp(2, 10)", "1024"),
        ("exp(4, 0.5)", "2"),
        ("subtract(9, 4), divide(#0, 4), multiply(#1, const_100)", "125"),
        ("add(1, 2), add(#0, #0), subtract(#1, #0)", "3"),
        ("add(1,2),divide( #0 , const_2 )", "1.5"),
        ("table_sum(net income ( loss ), none)", "6"),
        ("table_average(cost, net, none)", "2"),
        ("table_max(NET INCOME ( LOSS ), none)", "10"),
        ("table_min(net income ( loss ), none), add(#0, 1)", "-3"),
    ],
)
def test_programs_and_their_answers(program: str, answer: str) -> None:
    assert Derivation.parse(program).execute(TABLE) == Decimal(answer)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("", "the program is empty"),
        ("net income", "'net income': no step can be read from 'net income'"),
        ("add(1, 2", "no step can be read from 'add(1, 2'"),
        ("add(1, 2) add(3, 4)", "no step can be read from 'add(1, 2) add(3, 4)'"),
        ("add(1, 2),, add(3, 4)", "no step can be read from ', add(3, 4)'"),
        ("add(1, 2),", "'add(1, 2),': no step follows the last comma"),
        ("power(1, 2)", "unknown operation 'power'; the operations are add, subtract, multiply, divide, exp, "),
        ("add(1)", "'add(1)': add takes 2 arguments, got 1"),
        ("add(1, x)", "'add(1, x)': 'x' is neither a number, a constant nor a step"),
        ("add(1, 1,000)", "add takes 2 arguments, got 3"),
        ("add(1, #0)", "'add(1, #0)': step 0 refers to #0, which is not an earlier step"),
        ("table_sum(revenue)", "table_sum takes a row label and 'none', got 'revenue'"),
        ("__import__(os, none)", "unknown operation '__import__'"),
    ],
)
def test_what_is_not_of_the_language(program: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Derivation.parse(program)
    assert message in str(caught.value)
    assert not isinstance(caught.value, UndefinedResult)


@pytest.mark.parametrize(
    ("program", "step"),
    [
        ("divide(1, 0)", "divide(1, 0)"),
        ("divide(0, 0)", "divide(0, 0)"),
        ("exp(0, 0)", "exp(0, 0)"),
        ("exp(-2, 0.5)", "exp(-2, 0.5)"),
        ("exp(10, 99999999)", "exp(10, 99999999)"),
    ],
)
def test_arithmetic_without_a_result(program: str, step: str) -> None:
    with pytest.raises(UndefinedResult) as caught:
        Derivation.parse(program).execute()
    assert str(caught.value) == f"{program}: {step} has no result"


def test_the_surrounding_decimal_context_changes_nothing() -> None:
    import decimal

    with decimal.localcontext(decimal.Context(prec=3)):
        answer = Derivation.parse("divide(4.123456%, 3)").execute()
    assert answer == Decimal("0.01374485333333333333333333333333333")


def test_combining_writes_equal_steps_once() -> None:
    change = Derivation.parse("subtract(9, 4)")
    ratio = Derivation.parse("subtract(9, 4), divide(#0, 4)")
    assert str(Derivation.combine("divide", change, change)) == "subtract(9, 4), divide(#0, #0)"
    assert str(Derivation.combine("add", ratio, change)) == "subtract(9, 4), divide(#0, 4), add(#1, #0)"
    assert str(Derivation.combine("add", change, ratio)) == "subtract(9, 4), divide(#0, 4), add(#0, #1)"


_NUMBERS = st.from_regex(r"-?(?:\d{1,9}(?:\.\d{1,4})?|\.\d{1,3})%?", fullmatch=True).map(Number)
_CONSTANTS = st.from_regex(r"const_m?[0-9]{1,4}", fullmatch=True).map(Constant)


@st.composite
def _derivations(draw: st.DrawFn) -> Derivation:
    if draw(st.integers(0, 5)) == 0:
        return Derivation.look_up(draw(st.one_of(_NUMBERS, _CONSTANTS)))
    steps: list[Step] = []
    for place in range(draw(st.integers(1, 4))):
        choices: list[st.SearchStrategy[Operand]] = [_NUMBERS, _CONSTANTS]
        if place:
            choices.append(st.integers(0, place - 1).map(StepResult))
        operands = draw(st.tuples(st.one_of(choices), st.one_of(choices)))
        steps.append(Step(draw(st.sampled_from(list(BINARY_OPERATIONS))), operands))
    return Derivation(tuple(steps))


@given(_derivations())
def test_what_is_written_is_read_back(derivation: Derivation) -> None:
    assert Derivation.parse(str(derivation)) == derivation


@given(_derivations(), _derivations())
def test_a_combination_calculates_what_its_parts_do(first: Derivation, second: Derivation) -> None:
    combined = Derivation.combine("add", first, second)
    assert len(set(combined.steps)) == len(combined.steps), "no step twice"
    try:
        results = [part.execute() for part in (first, second)]
    except ProgramError:
        with pytest.raises(ProgramError):
            combined.execute()
        return
    if "yes" in results or "no" in results:
        with pytest.raises(ProgramError, match="not a number"):
            combined.execute()
    else:
        assert combined.execute() == Derivation.combine("add", *map(_literal, results)).execute()


def _literal(value: object) -> Derivation:
    return Derivation.look_up(Number(format(value, "f")))


SAMPLE = Path(__file__).resolve().parents[3] / "experiments" / "sample"


def _parsed(programs: Sequence[str]) -> list[Derivation | None]:
    return [Derivation.parse(program) if program else None for program in programs]


@pytest.mark.parametrize(
    ("past", "program", "form"),
    [
        ([], "206588", "select(A)"),
        ([], "subtract(5, 3)", "subtract(A, A)"),
        (["5"], "subtract(5, 3)", "subtract(R, A)"),
        (["5", "3"], "subtract(5, 3)", "subtract(R, R)"),
        (["5", "3", "subtract(5, 3)"], "subtract(5, 3), divide(#0, 3)", "divide(R, R)"),
        (["subtract(5, 3)"], "subtract(5, 3)", "select(R)"),
        ([], "multiply(5, const_1000)", "multiply(A, C1000)"),
        ([], "subtract(5, 3), divide(#0, 3)", "change_ratio(A, A)"),
        (["5"], "subtract(5, 3), divide(#0, 3)", "change_ratio(R, A)"),
        ([], "add(5, 3), divide(#0, const_2)", "average(A, A)"),
        (["subtract(5, 3)", "subtract(7, 4)"], "subtract(7, 4), subtract(5, 3), greater(#0, #1)", "greater(R, R)"),
    ],
)
def test_forms(past: list[str], program: str, form: str) -> None:
    collapsed = collapse(Derivation.parse(program), _parsed(past))
    assert collapsed is not None
    assert collapsed.form == form


@pytest.mark.parametrize(
    "program",
    [
        "subtract(5, 3), divide(#0, 4)",
        "add(5, 3), divide(#0, const_3)",
        "subtract(5, 3), multiply(#0, 3)",
        "add(1, 2), subtract(#0, 3), divide(#1, 3)",
        "add(1, 2), add(3, 4), greater(#0, #1)",
    ],
)
def test_more_than_one_operation_has_no_form(program: str) -> None:
    assert collapse(Derivation.parse(program), []) is None


def test_the_same_calculation_is_recognised_however_its_steps_are_numbered() -> None:
    one = Derivation.parse("add(1, 2), add(3, 4), divide(#0, #1)")
    other = Derivation.parse("add(3, 4), add(1, 2), divide(#1, #0)")
    assert one.tree() == other.tree()
    assert one.tree() != Derivation.parse("add(3, 4), add(1, 2), divide(#0, #1)").tree()
    collapsed = collapse(other, [one])
    assert collapsed == TurnOperation("select", (Reference(0),))


def _conversations(path: Path) -> Iterator[list[str]]:
    for record in json.loads(path.read_text()):
        yield record["annotation"]["turn_program"]


def _check_round_trips(conversations: Iterator[list[str]]) -> tuple[int, int]:
    """How many turns there are, and how many are one operation; those must come back with the same answer."""
    turns = found = 0
    for programs in conversations:
        past: list[Derivation] = []
        for program in programs:
            derivation = Derivation.parse(program)
            collapsed = collapse(derivation, past)
            turns += 1
            if collapsed is not None:
                found += 1
                back = expand(collapsed, past)
                assert back is not None
                assert back.execute() == derivation.execute(), (program, past)
                assert back.tree() == derivation.tree()
            past.append(derivation)
    return turns, found


@pytest.mark.parametrize("name", ["train", "dev"])
def test_what_is_collapsed_expands_to_the_same_answer_in_the_sample(name: str) -> None:
    turns, found = _check_round_trips(_conversations(SAMPLE / f"{name}.json"))
    assert found > 0.8 * turns


@pytest.mark.parametrize(
    ("program", "form"),
    [
        ("subtract(5, 3), divide(#0, 5)", "drop_ratio(A, A)"),
        ("divide(5, 3), subtract(#0, const_1)", "change_ratio(A, A)"),
        ("add(5, 3), divide(5, #0)", "share(A, A)"),
        ("multiply(5, const_1000), divide(#0, 3)", "divide_thousands(A, A)"),
    ],
)
def test_several_steps_over_two_figures_are_one_operation(program: str, form: str) -> None:
    found = collapse(Derivation.parse(program), [])
    assert found is not None
    assert found.form == form
    spelled = expand(found, [])
    assert spelled is not None
    assert merge_key(spelled.execute()) == merge_key(Derivation.parse(program).execute())
