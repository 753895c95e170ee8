r"""Conversation files from the questions that finpath's authors wrote about training pages of FinQA and ConvFinQA.

    python benchmarks/written_questions.py --pages finqa/train_single_questions.json convfinqa/train.json \
        --answers answers.json --programs programs.json
    finpath evaluate beam --data answers.json

``--answers`` holds all questions with ``annotation.answers``: numbers, names and ``null``. ``--programs`` holds
conversations to train on, up to the first turn without a program, and questions that their page does not answer.
"""

from __future__ import annotations

import argparse
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from question_sets import unpacked

from experiments.data import load_conversations
from kg.errors import ProgramError
from kg.reports import Report
from kg.search import Answer, Derivation

QUESTIONS = unpacked("tables") / "written_questions.jsonl"


def page_of(identifier: str) -> str:
    """The page of a question's id: ``MRK/2018/page_3.pdf`` for ``MRK/2018/page_3.pdf-2#4``."""
    return identifier.rpartition("#")[0].partition(".pdf")[0] + ".pdf"


def executed(programs: list[str | None]) -> list[Answer]:
    """The results of the first programs, up to one that is missing or has no result."""
    found: list[Answer] = []
    for program in programs:
        try:
            answer = Derivation.parse(program).execute() if program is not None else None
        except ProgramError:
            break
        if answer is None:
            break
        found.append(answer)
    return found


def record(question: dict[str, Any], report: Report, gold: dict[str, Any]) -> dict[str, Any]:
    """A conversation in ConvFinQA's format."""
    annotation = {"dialogue_break": question["questions"], **gold}
    texts = {"pre_text": list(report.pre_text), "post_text": list(report.post_text)}
    return {"id": question["id"], **texts, "table": [list(row) for row in report.table], "annotation": annotation}


def plain(answer: Answer) -> float | str | list[str]:
    """An answer as ``exe_ans_list`` has it."""
    if isinstance(answer, Decimal):
        return float(round(answer, 5))
    return list(answer) if isinstance(answer, tuple) else str(answer)


def main() -> None:
    """Joins the questions with their pages and writes both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", nargs="+", required=True, type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--programs", type=Path)
    options = parser.parse_args()
    reports = {one.document: one.report for path in options.pages for one in load_conversations(path).conversations}
    answers, programs = [], []
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        report = reports.get(page_of(question["id"]))
        if report is None:
            continue
        answers.append(record(question, report, {"answers": question["answers"]}))
        results = executed(question["programs"])
        known = {**question, "questions": question["questions"][: max(len(results), 1)]}
        if results:
            gold = {"turn_program": question["programs"][: len(results)], "exe_ans_list": list(map(plain, results))}
            programs.append(record(known, report, gold))
        elif question["answers"][0] is None:
            programs.append(record(known, report, {"answers": [None]}))
    for path, records in ((options.answers, answers), (options.programs, programs)):
        if path is not None:
            path.write_text(json.dumps(records), encoding="utf-8")
            print(f"{path}: {len(records)} conversations")


if __name__ == "__main__":
    main()
