from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tqdm import tqdm

from experiments.console import (
    Stages,
    format_table,
    json_output,
    percent,
    progress,
    shorten,
    show,
    write_answer,
)


def test_numbers_stand_to_the_right() -> None:
    table = format_table(["name", "turns"], [["beam", 746], ["a", None]])
    assert table.splitlines() == ["name  turns", "-----------", "beam    746", "a         -"]


def test_a_table_without_rows_is_its_header() -> None:
    assert format_table(["a", "b"], []).splitlines() == ["a  b", "----"]


def test_percent_shows_the_interval() -> None:
    assert percent({"x": 0.5, "x_low": 0.25, "x_high": 1.0}, "x") == "50.0% [25.0, 100.0]"
    assert percent({"x": 0.5}, "x") == "50.0%"
    assert percent({}, "x") == "-"


def test_json_is_written_whole_and_plain(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out.json"
    with json_output(str(target)) as write:
        write({"a": float("nan"), "b": (1, Decimal("2.50")), "c": None})
    assert json.loads(target.read_text()) == {"a": None, "b": [1, "2.50"], "c": None}
    assert [path.name for path in target.parent.iterdir()] == ["out.json"]


def test_json_goes_to_the_terminal_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    with json_output("-") as write:
        show("a table")
        write({"a": 1})
    shown = capsys.readouterr()
    assert (json.loads(shown.out), shown.err) == ({"a": 1}, "a table\n")


def test_stages_are_said_and_summed(capsys: pytest.CaptureFixture[str]) -> None:
    stages = Stages()
    for title in ("read", "fit", "read"):
        with stages.stage(title):
            pass
    assert list(stages.seconds) == ["read", "fit"]
    assert capsys.readouterr().err.splitlines() == ["* read", "* fit", "* read"]
    assert stages.table().splitlines()[-1].startswith("together")


def test_a_bar_says_nothing_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    bar = progress(2, "turns")
    bar.update()
    bar.close()
    assert capsys.readouterr().err == ""


def test_a_bar_outlives_that_dspy_empties_the_list_of_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tqdm.__new__

    def emptied(cls: type[Any], *arguments: Any, **options: Any) -> Any:
        bar = made(cls, *arguments, **options)
        tqdm._instances.clear()
        return bar

    monkeypatch.setattr(tqdm, "__new__", emptied)
    progress(2, "turns").close()


def test_shorten_cuts_at_a_word() -> None:
    assert shorten("one two three", 9) == "one ..."
    assert shorten("one", 9) == "one"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Decimal("0.141357"), "0.14136"),
        (Decimal("25587.00"), "25587"),
        (Decimal("-0.000001"), "0"),
        ("yes", "yes"),
        (None, "none"),
    ],
)
def test_answers_are_written_to_five_digits(answer: object, text: str) -> None:
    assert write_answer(answer) == text  # type: ignore[arg-type]


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show("net\x1b[2J income\r\t5\n\u202e7\x9b")
    assert capsys.readouterr().out == "net\\x1b[2J income\\r\t5\n\\u202e7\\x9b\n"
    assert format_table(["a"], [["one\ntwo"]]).splitlines()[-1] == "one two"


def test_no_password_of_an_address_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show("cannot open postgresql://ann:hunter2@host/db and http://host/a@b")
    assert capsys.readouterr().out == "cannot open postgresql://[…]@host/db and http://host/a@b\n"
