"""A conversation as a page that stands alone: the report with the figures used marked, and every turn's paths.

    page = conversation_page(inspected, report, "beam on dev.json")
    Path("conversation.html").write_text(page)

For each turn it shows the question, the answer beside its gold, the arithmetic step by step, where each figure stands,
and what the beam proposed with the pick marked. Marks carry the numbers of the turns that used the figure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.console import write_answer
from experiments.rendering.html import Html, element, escape, folded, heading, joined, pairs, table, write_page
from kg.derivations import Derivation, Number, StepResult
from kg.errors import ProgramError
from kg.reports import CellSource, Report, SentenceSource
from optimize.metrics import verdict
from programs.turns import Turn

if TYPE_CHECKING:
    from optimize.metrics import ScoredTurn

_CANDIDATES = 10
Spans = dict[tuple[int, int], set[int]]
"""The figures of one cell or sentence that were used, as character spans, each with the numbers of its turns."""


def conversation_page(turns: Sequence[ScoredTurn], report: Report, run_name: str) -> str:
    """The page of one conversation.

    Args:
        turns: Its turns, in order, at least one.
        report: What they are about.
        run_name: The evaluation they come from.
    """
    name = turns[0].score.conversation_id
    right = sum(one.score.exact for one in turns)
    cells, sentences = _used(turns)
    return write_page(
        f"{name}: {right} of {len(turns)} turns right",
        [
            heading(1, name),
            element("p", f"{right} of {len(turns)} turns right; from the run “{run_name}”; report {report.id}."),
            heading(2, "Questions and answers"),
            _overview(turns),
            heading(2, "The report"),
            element("p", "Figures that an answer rests on are marked, with the numbers of the turns.", kind="soft"),
            heading(3, "Table"),
            _report_table(report, cells),
            heading(3, "Sentences"),
            _sentences(report, sentences),
            *(_turn(one, report) for one in turns),
        ],
    )


def _used(turns: Sequence[ScoredTurn]) -> tuple[dict[tuple[int, int], Spans], dict[int, Spans]]:
    """Where the figures of the answers stand."""
    cells: dict[tuple[int, int], Spans] = {}
    sentences: dict[int, Spans] = {}
    for one in turns:
        number = one.score.turn_index + 1
        for source in _sources(one.turn):
            if isinstance(source, CellSource):
                spans = cells.setdefault((source.row, source.column), {})
            else:
                spans = sentences.setdefault(source.sentence, {})
            spans.setdefault((source.start, source.end), set()).add(number)
    return cells, sentences


def _sources(turn: Turn) -> Sequence[CellSource | SentenceSource]:
    if turn.pick is None or turn.pick >= len(turn.candidates):
        return ()
    return tuple(dict.fromkeys(turn.candidates[turn.pick].sources))


def _overview(turns: Sequence[ScoredTurn]) -> Html:
    rows = [
        [
            Html(f'<a href="#turn-{one.score.turn_index + 1}">{one.score.turn_index + 1}</a>'),
            one.score.question,
            _said(one.turn),
            write_answer(one.score.gold_answer),
            _verdict(one),
        ]
        for one in turns
    ]
    return table(["turn", "question", "answer", "gold", "verdict"], rows)


def _said(turn: Turn) -> str:
    return write_answer(turn.answer) if turn.answer is not None else "no answer"


def _verdict(one: ScoredTurn) -> Html:
    return element("span", verdict(one.score), kind="good" if one.score.exact else "bad")


def _turn(one: ScoredTurn, report: Report) -> Html:
    turn, number = one.turn, one.score.turn_index + 1
    facts: list[tuple[object, object]] = [
        ("answer", joined([_said(turn), f"  ({turn.words})" if turn.words not in ("", _said(turn)) else ""])),
        ("gold", _gold(one)),
        ("verdict", _verdict(one)),
    ]
    if turn.confidence is not None:
        facts.append(("confidence", f"{100 * turn.confidence:.0f}%"))
    if turn.failure is not None:
        facts.append(("why no answer", f"{turn.failure.replace('_', ' ')}: {turn.message}"))
    if turn.understanding is not None:
        facts.append(("understood as", _understanding(turn.understanding)))
    usage = turn.usage
    tokens = usage.prompt_tokens + usage.completion_tokens
    facts.append(("cost", f"{usage.lm_calls} LM calls, {tokens} tokens, {usage.seconds:.3f} seconds"))
    parts = [heading(2, f"{number}. {turn.question}"), pairs(facts), *_answered(turn, report)]
    parts += [_tools(turn)] if turn.tool_calls else []
    parts += [_candidates(one)] if turn.candidates else []
    return element("section", joined(parts), kind="turn", id=f"turn-{number}")


def _gold(one: ScoredTurn) -> Html:
    answer, program = write_answer(one.score.gold_answer), one.score.gold_program
    return joined([answer, Html("&ensp;"), element("code", program)] if answer != program else [answer])


def _understanding(understood: Any) -> Html:
    if not isinstance(understood, dict):
        return element("span", understood)
    written = [
        (name, ", ".join(map(str, value)) if isinstance(value, list) else value) for name, value in understood.items()
    ]
    return pairs((name, value) for name, value in written if value not in (None, ""))


def _answered(turn: Turn, report: Report) -> list[Html]:
    """The arithmetic, the path, and where each figure was read."""
    if turn.derivation is None:
        return []
    parts = [heading(3, "Arithmetic"), _arithmetic(turn.derivation, report)]
    if turn.pick is not None and turn.pick < len(turn.candidates):
        parts += [heading(3, "Path"), element("p", _path(turn.candidates[turn.pick].path), kind="path")]
        read = [_place(source, report) for source in _sources(turn)]
        parts += [element("ul", joined(element("li", one) for one in read))] if read else []
    return parts


def _arithmetic(derivation: Derivation, report: Report) -> Html:
    try:
        results = derivation.trace(report.table)
    except ProgramError as error:
        return element("p", joined([element("code", derivation), f": {error}"]))
    rows = []
    for place, (step, result) in enumerate(zip(derivation.steps, results, strict=True)):
        operands = [
            f"{write_answer(results[one.index])} (#{one.index})" if isinstance(one, StepResult) else _written(one)
            for one in step.operands
        ]
        operation = "looked up" if step.operation == "select" else step.operation.replace("_", " ")
        rows.append([f"#{place}", operation, ", ".join(operands), write_answer(result)])
    return table(["step", "operation", "of", "result"], rows, numbers={3})


def _written(operand: object) -> str:
    if isinstance(operand, Number) and operand.path is not None:
        return f"{operand.text} [{operand.path.rpartition(' -> ')[0].rpartition(' -> ')[2].replace('_', ' ')}]"
    return str(operand)


def _path(path: str) -> Html:
    """A path that may break after its arrows and operations, and not within an arrow."""
    arrow = '<span class="arrow">-&gt;</span>'
    return Html(
        re.sub(r"(-&gt;|, |\()", lambda found: (arrow if "gt" in found[0] else found[0]) + "<wbr>", escape(path))
    )


def _place(source: CellSource | SentenceSource, report: Report) -> Html:
    if isinstance(source, CellSource):
        row, column = report.table[source.row][0], report.table[0][source.column]
        where = f"table, row {source.row + 1} “{row}”, column {source.column + 1} “{column}”: "
        return joined([where, _marked(report.table[source.row][source.column], {(source.start, source.end): set()})])
    text = report.sentences[source.sentence]
    return joined([f"sentence {source.sentence + 1}: ", _marked(text, {(source.start, source.end): set()})])


def _tools(turn: Turn) -> Html:
    rows = [
        [
            place,
            call.tool,
            element("code", ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())),
            call.output,
            f"{call.seconds:.3f}",
        ]
        for place, call in enumerate(turn.tool_calls, start=1)
    ]
    return joined([heading(3, "Tools"), table(["call", "tool", "arguments", "output", "seconds"], rows, numbers={4})])


def _candidates(one: ScoredTurn) -> Html:
    """The candidates of the beam; the pick is highlighted, and the right answer is named."""
    turn = one.turn
    shown = max(_CANDIDATES, (turn.pick + 1) if turn.pick is not None else 0, one.score.rank or 0)
    chosen = turn.candidates[:shown]
    rows = []
    for place, found in enumerate(chosen):
        notes = [
            *(["picked"] if place == turn.pick else []),
            *(["right answer"] if place + 1 == one.score.rank else []),
        ]
        rows.append(
            [
                place + 1,
                f"{100 * math.exp(min(found.score, 0.0)):.1f}%",
                f"{found.score:.2f}",
                write_answer(found.answer),
                element("span", _path(found.path), kind="path"),
                ", ".join(notes),
            ]
        )
    marked = {turn.pick} if turn.pick is not None else set()
    headers = ["rank", "probability", "log", "answer", "path", "note"]
    caption = f"the first {len(chosen)} of {len(turn.candidates)}; probabilities as the search gives them"
    made = table(headers, rows, caption=caption, numbers={0, 1, 2, 3}, marked=marked)
    return joined([heading(3, "What the beam proposed"), made])


def _report_table(report: Report, used: dict[tuple[int, int], Spans]) -> Html:
    if not report.table:
        return element("p", "The report has no table.", kind="soft")

    def cell(row: int, column: int, text: str) -> Html:
        spans = used.get((row, column))
        if spans is None:
            return element("td", text)
        return element("td", _marked(text, spans), kind="used")

    rows = [[cell(row, column, text) for column, text in enumerate(cells)] for row, cells in enumerate(report.table)]
    header, body = [Html(_inside(one)) for one in rows[0]], rows[1:]
    return table(header, body)


def _inside(cell: Html) -> str:
    """A cell's content; a header that an answer rests on keeps its mark."""
    return cell.text.partition(">")[2].removesuffix("</td>")


def _sentences(report: Report, used: dict[int, Spans]) -> Html:
    """The sentences that were used, and all of them to unfold."""
    texts = report.sentences
    if not texts:
        return element("p", "The report has no sentences.", kind="soft")

    def item(number: int) -> Html:
        return Html(f'<li value="{number + 1}">{escape(_marked(texts[number], used.get(number, {})))}</li>')

    parts = []
    if used:
        parts.append(element("ol", joined(item(number) for number in sorted(used) if number < len(texts))))
    else:
        parts.append(element("p", "No answer rests on a sentence.", kind="soft"))
    whole = element("ol", joined(item(number) for number in range(len(texts))))
    parts.append(folded(f"all {len(texts)} sentences", whole))
    return joined(parts)


def _marked(text: str, spans: Spans) -> Html:
    """``text`` with the spans marked; those that overlap are marked as one."""
    parts: list[object] = []
    position = 0
    for (start, end), turns in sorted(spans.items()):
        if start < position or end > len(text):
            continue
        numbers = f"used in turn {', '.join(map(str, sorted(turns)))}" if turns else ""
        title = {"title": numbers} if numbers else {}
        superscript = element("sup", " " + ",".join(map(str, sorted(turns)))) if turns else ""
        parts += [text[position:start], element("mark", text[start:end], **title), superscript]
        position = end
    return joined([*parts, text[position:]])
