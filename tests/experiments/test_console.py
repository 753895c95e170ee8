"""Output in a pipe and on a terminal: tables and figures as JSON."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from experiments.console import format_table, json_output, show


def test_json_is_written_whole_and_plain(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out.json"
    with json_output(str(target)) as write:
        write({"a": float("nan"), "b": (1, Decimal("2.50")), "c": None})
    assert json.loads(target.read_text()) == {"a": None, "b": [1, "2.50"], "c": None}
    assert [path.name for path in target.parent.iterdir()] == ["out.json"]


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show("net\x1b[2J income\r\t5\n\u202e7\x9b")
    assert capsys.readouterr().out == "net\\x1b[2J income\\r\t5\n\\u202e7\\x9b\n"
    assert format_table(["a"], [["one\ntwo"]]).splitlines()[-1] == "one two"


def test_no_password_of_an_address_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show("cannot open postgresql://ann:hunter2@host/db and http://host/a@b")
    assert capsys.readouterr().out == "cannot open postgresql://[…]@host/db and http://host/a@b\n"


ROWS = [["right answers (exe_accuracy)", "41.7% [33.3, 50.8]", "55.1% [43.8, 66.2]"], ["turns", "127", "127"]]
HEADERS = ["", "compiled", "shipped beam on sample/dev.json"]


@pytest.mark.parametrize("width", [30, 50, 70])
def test_a_table_fits_its_width_and_loses_nothing(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.console.terminal_width", lambda: width)
    text = format_table(HEADERS, ROWS)
    assert max(map(len, text.splitlines())) <= width
    kept, given = (sorted(re.sub(r"[\s-]", "", one)) for one in (text, "".join([*HEADERS, *map("".join, ROWS)])))
    assert kept == given
