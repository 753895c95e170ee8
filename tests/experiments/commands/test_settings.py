"""``--set``: settings of a program."""

from __future__ import annotations

from experiments.saved import with_program_settings
from kg.reports import Report, build_ontology
from programs.conversation import ConversationQA

REPORT = Report("r", (), (("", "2009"), ("net income", "10")), ())


def test_the_setting_reaches_the_program() -> None:
    program = ConversationQA.unfitted(build_ontology([REPORT]))
    changed = with_program_settings(program, {"seed": "3", "page_tokens": "500"})
    assert changed.evidence is not None
    assert (changed.evidence.seed, changed.evidence.page_tokens) == (3, 500)
