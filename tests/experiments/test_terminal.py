"""Output on a terminal: tables that fit, colour, and a spinner; plain text in a pipe."""

from __future__ import annotations

import io
import re
import time

import pytest

from experiments.console import format_table, show
from experiments.terminal import terminal_width, waiting, write_coloured

ROWS = [["right answers (exe_accuracy)", "41.7% [33.3, 50.8]", "55.1% [43.8, 66.2]"], ["turns", "127", "127"]]
HEADERS = ["", "compiled", "shipped beam on sample/dev.json"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.mark.parametrize("width", [30, 50, 70])
def test_a_table_fits_its_width_and_loses_nothing(width: int) -> None:
    text = format_table(HEADERS, ROWS, width=width)
    assert max(map(len, text.splitlines())) <= width
    kept, given = (sorted(re.sub(r"[\s-]", "", one)) for one in (text, "".join([*HEADERS, *map("".join, ROWS)])))
    assert kept == given


def test_a_table_that_fits_is_as_in_a_pipe() -> None:
    assert format_table(HEADERS, ROWS, width=200) == format_table(HEADERS, ROWS)


def test_the_width_is_that_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert terminal_width() is None
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "50")
    assert terminal_width() == 50


def test_verdicts_have_colour_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "A  $5 thousand   (exactly 5, confidence 96%)\nbetter: 3, worse: 1\n[b] is no markup"
    out = Terminal()
    write_coloured(text, out)
    assert "\x1b[1mA  $5 thousand\x1b[0m" in out.getvalue()
    assert "\x1b[32mbetter\x1b[0m" in out.getvalue()
    assert re.sub(r"\x1b\[\d+m", "", out.getvalue()) == text + "\n"
    for variable, value, stream in (("NO_COLOR", "1", Terminal()), ("NO_COLOR", "", io.StringIO())):
        monkeypatch.setenv(variable, value)
        monkeypatch.setattr("sys.stdout", stream)
        show(text)
        assert stream.getvalue() == text + "\n"


def test_control_characters_of_a_report_stay_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr("sys.stdout", out)
    show("A  \x1b[31mred")
    assert "\\x1b[31mred" in out.getvalue()


def test_a_spinner_names_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    with waiting("load the program") as step:
        time.sleep(0.3)
        step("asking a model\nwith two lines")
        time.sleep(0.3)
    assert "load the program" in out.getvalue()
    assert "asking a model with two lines" in out.getvalue()


def test_a_pipe_has_no_spinner(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    with waiting("load the program") as step:
        step("asking")
    assert out.getvalue() == ""
