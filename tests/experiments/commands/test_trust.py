"""``--trust``: who decides, as a setting of the program."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from experiments.commands.groups import Command
from experiments.commands.options import set_option
from experiments.saved import with_program_settings
from kg.ontology import build_ontology
from kg.reports import Report
from programs.conversation import ConversationQA

REPORT = Report("r", (), (("", "2009"), ("net income", "10")), ())


@click.command(cls=Command)
@set_option
def _show(settings: tuple[str, ...]) -> None:
    click.echo(" ".join(settings))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--trust", "model"], "trust=model"),
        (["--set", "evidence=index", "--trust", "beam"], "evidence=index trust=beam"),
        ([], ""),
    ],
)
def test_trust_is_a_setting(arguments: list[str], expected: str) -> None:
    result = CliRunner().invoke(_show, arguments)
    assert (result.exit_code, result.output.strip()) == (0, expected)


def test_an_unknown_decider_is_refused() -> None:
    assert CliRunner().invoke(_show, ["--trust", "nobody"]).exit_code == 2


def test_the_setting_reaches_the_program() -> None:
    program = ConversationQA.unfitted(build_ontology([REPORT]))
    changed = with_program_settings(program, ["trust=model", "page_tokens=500"])
    assert changed.evidence is not None
    assert (changed.evidence.trust, changed.evidence.page_tokens) == ("model", 500)
