"""Accuracy on the same questions by the style of the file: forty training pages in the styles of real filings.

    python benchmarks/file_styles.py convfinqa/train.json --folder pages --json styles.json

Each page is laid out as HTML with spans, HTML with inline XBRL, PDF without and with frames, an Excel workbook, and a
CSV and a Parquet file with one fact in each row. Signs and parentheses have cells of their own in HTML and places of
their own in PDF. The scale is in a paragraph, a heading, a row of the table or its corner. Pages are drawn by a seed
among those whose table has one header row with a year in each column. Their questions are answered from every file and
from the JSON form. A figure's period and scale are right if they are those of the JSON form.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from file_layouts import STYLES, Page

from experiments.data import load_conversations
from experiments.saved import find_program, with_program_settings
from kg.ontology import build_ontology
from kg.readers import read_files
from kg.report_graphs import CellSource, ReportGraph, build_report_graph
from kg.reports import Report, analyse_table
from kg.search import merge_key


def is_plain(report: Report) -> bool:
    """Whether a table has one header row, a year in each column and a figure in each cell of data."""
    if len(report.table) < 4 or not 2 <= len(report.table[0]) <= 7 or report.parts:
        return False
    layout = analyse_table(report.table, report.pre_text[-3:])
    periods = [line.period for line in layout.columns[1:]]
    years = [period for period in periods if period is not None and period.isdigit()]
    if layout.header_rows != 1 or layout.merged_header or layout.transposed or len(set(years)) != len(periods):
        return False
    labels = [row[0].strip() for row in report.table[1:]]
    return all(labels) and len(set(labels)) == len(labels)


def cells_of(graph: ReportGraph) -> dict[tuple[str, Decimal], list[tuple[str | None, int]]]:
    """The period and scale of each figure of a table, by its label and value."""
    found: dict[tuple[str, Decimal], list[tuple[str | None, int]]] = defaultdict(list)
    for one in graph.observations:
        if isinstance(one.source, CellSource) and not one.in_header:
            key = (" ".join(one.label.lower().replace("(", " ( ").replace(")", " ) ").split()), one.quantity.value)
            found[key].append((one.period, one.quantity.scale))
    return found


def agreement(truth: ReportGraph, read: ReportGraph) -> tuple[int, int, list[str]]:
    """The figures of the JSON form, those with the same period and scale in the file, and a line about each other."""
    expected, found = cells_of(truth), cells_of(read)
    right, total, wrong = 0, 0, []
    for key, values in expected.items():
        total += len(values)
        left = list(found.get(key, ()))
        for value in values:
            if value in left:
                left.remove(value)
                right += 1
            else:
                wrong.append(f"{key[0]} {key[1]}: {value} expected, got {found.get(key)}")
    return right, total, wrong


def main() -> None:
    """Lays the pages out, reads them, asks the questions, and prints one line for each style."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the pages are written")
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--styles", nargs="+", choices=STYLES, default=list(STYLES))
    parser.add_argument("--program", default="beam")
    parser.add_argument("--layout-only", action="store_true", help="compare periods and scales, and ask nothing")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    by_page: dict[str, list[Any]] = defaultdict(list)
    for one in load_conversations(options.train).conversations:
        if is_plain(one.report):
            by_page[one.report.id].append(one)
    names = sorted(by_page)
    random.Random(options.seed).shuffle(names)
    pages = [Page(by_page[name][0].report, number) for number, name in enumerate(names[: options.pages])]
    program = None
    if not options.layout_only:
        program = with_program_settings(find_program(options.program).program, ["answer=always"])
    results: dict[str, Any] = {}
    for style in ("json", *options.styles):
        counts = {"figures": 0, "figures_right": 0, "turns": 0, "turns_right": 0}
        lines: list[str] = []
        for page in pages:
            report = page.report
            if style != "json":
                report = read_files(page.write(style, options.folder / style)).report
                ontology = build_ontology([page.report])
                right, total, wrong = agreement(
                    build_report_graph(page.report, ontology), build_report_graph(report, ontology)
                )
                counts["figures"] += total
                counts["figures_right"] += right
                lines += [f"{page.number} {page.report.id}: {line}" for line in wrong]
            if program is None:
                continue
            for conversation in by_page[page.report.id]:
                turns = program(report=report, questions=list(conversation.questions)).turns
                for number, (turn, gold) in enumerate(zip(turns, conversation.answers, strict=True)):
                    is_right = turn.answer is not None and merge_key(turn.answer) == merge_key(gold)
                    counts["turns"] += 1
                    counts["turns_right"] += is_right
                    lines.append(f"{conversation.id} turn {number}: {'right' if is_right else 'wrong'} {turn.answer}")
        results[style] = {**counts, "lines": lines}
        figures = f"{counts['figures_right']}/{counts['figures']} figures" if counts["figures"] else "the reference"
        print(f"{style:12} {counts['turns_right']:4}/{counts['turns']} turns   {figures}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
