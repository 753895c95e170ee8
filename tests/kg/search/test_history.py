"""Derivations as one operation over earlier turns, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kg.search import merge_key
from kg.search.derivation import Derivation
from kg.search.history import Reference, TurnOperation, collapse, expand

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
