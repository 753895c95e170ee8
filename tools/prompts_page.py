"""Writes docs/reference/prompts.md: every prompt of the programs as the language model sees it, once, whole.

    python tools/prompts_page.py            # writes the page
    python tools/prompts_page.py --check    # says whether it is what the code sends; a test does the same

The prompts are not copied: a model that only listens replaces a real one, and what reaches it is written down.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "prompts.md"
sys.path.insert(0, str(ROOT))

import dspy  # noqa: E402
from dspy import lm15  # noqa: E402

from experiments.saved import find_program  # noqa: E402
from kg.derivations.history import PastTurn  # noqa: E402
from kg.ontology.learning import build_ontology  # noqa: E402
from kg.reports.report import Report  # noqa: E402
from kg.scoring.scorer import DerivationScorer  # noqa: E402
from programs.agent import AgentConfig, AgentQA  # noqa: E402
from programs.beam import BeamQA  # noqa: E402
from programs.evidence.blend import Blend, Mode  # noqa: E402
from programs.evidence.config import EvidenceConfig, EvidencePlan, Reads  # noqa: E402
from programs.lm.adapter import ShortPromptAdapter  # noqa: E402
from programs.ontology import OntologyBuilder  # noqa: E402
from programs.worlds.reader import ReportReader  # noqa: E402
from tools.listening import ListeningEngine, listening  # noqa: E402
from tools.prompts_of_graphs import graph_sections  # noqa: E402
from tools.prompts_of_news import news_sections  # noqa: E402

REPORT = Report(
    id="EXAMPLE/2009/page_1.pdf",
    pre_text=("the company sold 5 stores in 2009 .",),
    table=(("( in millions )", "2009", "2008"), ("net sales", "$ 100", "$ 90"), ("net income", "10", "12")),
    post_text=(),
)
FIRST, SECOND = "what was the net income in 2008?", "and what was the change to 2009?"

HEAD = """\
# The prompts

This page shows every prompt of the programs once and completely, as the language model sees it.
`python tools/prompts_page.py` writes it from the messages that the code sends, and a test checks
that it is up to date. The report is a small one, and the question is the second of a conversation.

An embedded model sees these messages in its own chat template and nothing else. If it can be held
to a grammar, its replies are limited to the requested lines.

Compiling may change instructions and add demonstrations. The page shows the programs before
compiling. The likelihood prompt has the demonstrations of the shipped `beam`.
"""


READ = """\
meaning: the change of net income from 2008 to 2009
calculation: [s0n0]
confidence: 70"""

UNDERSTOOD = """\
description: the change of net income from 2008 to 2009
entity_type: IncomeStatement
properties: net income
periods: 2009; 2008
operation: subtract
operands: net income @ 2009; answer 1
requires_calculation: true"""


def _reader() -> ReportReader:
    return ReportReader(build_ontology([REPORT]), DerivationScorer.untrained())


def _past(reader: ReportReader) -> tuple[PastTurn, ...]:
    """The first question, answered by the right candidate of a search that is fitted to nothing."""
    turn = BeamQA(reader)(report=REPORT, question=FIRST).turn
    [right] = [one for one in turn.candidates if str(one.derivation) == "12"]
    return (PastTurn(FIRST, right.derivation, right.answer, 0.8),)


def _beam(mode: Mode, adapter: dspy.Adapter | None = None, reads: Reads = "labels") -> ListeningEngine:
    """The prompts of a turn of the beam program in a mode of evidence."""
    reader = _reader()
    shown = find_program("beam").program.evidence
    demonstrations = shown.demonstrations if shown is not None else ()
    plan = EvidencePlan(mode, understand=mode == "index", shown=4, blend=Blend(), fitted=True, reads=reads)
    program = BeamQA(reader, evidence=EvidenceConfig(demonstrations=demonstrations, plans={"local/listening": plan}))

    def reply(request: lm15.Request) -> str:
        asks_choice = "choice" in f"{request.config.response_format}{request.system}"
        if reads == "page" and not asks_choice:
            return READ
        return "choice: 1\nconfidence: 0.9" if asks_choice else UNDERSTOOD

    with listening(reply, adapter) as engine:
        program(report=REPORT, question=SECOND, history=_past(reader))
    return engine


def _agent() -> ListeningEngine:
    """The prompts of a turn of the tool agent: the plan, its steps, and the choice at the end."""
    replies = iter(
        [
            "understanding: the change of net income\nconcepts: none\nsteps: query net income; subtract",
            'next_thought: look\nnext_tool_name: query_kg\nnext_tool_args: {"entity_type": "IncomeStatement"}',
            "answer: none",
        ]
    )
    reader = _reader()
    with listening(lambda _: next(replies)) as engine:
        AgentQA(reader, AgentConfig(max_iterations=1))(report=REPORT, question=SECOND, history=_past(reader))
    return engine


def _text_reading() -> ListeningEngine:
    """Prompts of a turn whose model took no candidate and then reads the text: after its choice, two more prompts."""
    figure = '[{"sentence": 0, "figure": "5", "label": "stores", "period": "2009", "unit": "count", "scale": "one"}]'
    replies = iter(
        [
            "choice: 0\nconfidence: 0.9",
            "next_step: insert\nmissing: the number of stores",
            f"figures: {figure}",
            "choice: 1\nconfidence: 0.9",
        ]
    )
    blend = Blend({"beam": 0.1, "share": 4.0}, {"none": 4.0})
    plan = EvidencePlan("index", understand=False, shown=4, blend=blend, fitted=True)
    reader = _reader()
    config = EvidenceConfig(escalate="thoughts", votes=1, plans={"local/listening": plan})
    with listening(lambda _: next(replies)) as engine:
        BeamQA(reader, evidence=config)(report=REPORT, question="how many stores did it sell in 2009?")
    return engine


def _table() -> ListeningEngine:
    """The prompt of the builder of the ontology, once for each report."""
    reply = 'table: {"kind": "IncomeStatement", "cues": [], "line_items": []}'
    with listening(lambda _: reply, ShortPromptAdapter()) as engine:
        OntologyBuilder()([REPORT])
    return engine


def page() -> str:
    """The page."""
    parts = [HEAD]
    understand, pick = _beam("index").heard
    page, _ = _beam("index", dspy.ChatAdapter(), "page").heard
    likelihood, path = _beam("likelihood"), _beam("per-path")
    text = "The first prompt of a model that is not embedded, through DSPy's own adapter."
    parts.append(_section("Understand: the page", text, page))
    text = "The first prompt of an embedded model with `understand=true`, through the short-prompt adapter."
    parts.append(_section("Understand: the labels of rows", text, understand))
    parts.append(_section("Aggregate: an index among the candidates", "The same adapter, in mode `index`.", pick))
    text = "Mode `likelihood`. The model generates nothing; the probability of each of these replies is read."
    parts.append(_section("Aggregate: likelihoods of derivations", text, likelihood.heard[0], likelihood.choices[0]))
    text = "Mode `per-path` of a model that can be held to given replies. Each candidate has one such prompt."
    parts.append(_section("Aggregate: one candidate at a time", text, path.heard[0], path.choices[0]))
    _, missing, figures, *_ = _text_reading().heard
    text = "With `escalate=thoughts`, if no candidate seems right. It is repeated until a majority agrees."
    parts.append(_section("Reading the text: the missing figure", text, missing))
    parts.append(_section("Reading the text: figures", "If the majority votes for insert.", figures))
    plan, step, choose = [*_agent().heard, []][:3]
    parts.append(_section("The tool agent: the plan", "Its first call.", plan))
    parts.append(_section("The tool agent: a step", "Once for every tool call; it contains the earlier calls.", step))
    if choose:
        parts.append(_section("The tool agent: the choice", "If the agent did not finish by itself.", choose))
    text = "`finpath ontology build --lm MODEL`: once for each report that the ontology is built from."
    parts.append(_section("The ontology: a report's table", text, _table().heard[0]))
    further = (*graph_sections(), *news_sections())
    parts += [_section(title, text, messages) for title, text, messages in further]
    return "\n".join(parts)


def _section(title: str, text: str, messages: list[tuple[str, str]], replies: list[str] | None = None) -> str:
    lines = [f"## {title}\n", f"{textwrap.fill(text, 100)}\n", "```text"]
    for role, content in messages:
        lines.append(f"--- {role}\n{content}")
    if replies is not None:
        lines.append("--- the replies it may be held to")
        lines += replies
    return "\n".join([*lines, "```", ""])


def main() -> int:
    """Writes the page, or reports whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where the page is out of date")
    options = parser.parse_args()
    text = page()
    if options.check:
        is_true = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        words = "is what the code sends" if is_true else "is out of date: run this tool"
        sys.stdout.write(f"docs/reference/prompts.md {words}\n")
        return 0 if is_true else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
