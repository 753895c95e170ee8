"""Questions of a user's own about files: examples of DSPy, rows of ``datasets``, or JSON.

One object is a conversation about files, a list of them a data set; ``null`` is for a question that the files do not
answer. A file's name is relative to the JSON file::

    {"files": ["income.csv", "notes.html"],
     "questions": ["net sales in 2023?", "and in 2022?"], "answers": [4120, null]}

An example or a row has one question; those with the same ``conversation`` follow each other by ``turn``::

    dspy.Example(report=finpath.read("income.csv"), question="net sales in 2023?", answer="4120")
    {"report": "income.csv", "question": "and in 2022?", "answer": "3980", "conversation": "a", "turn": 2}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kg.errors import DataError, FinpathError
from kg.readers import read_files
from kg.reports import Report
from optimize.metrics.abstention import read_gold
from programs.worlds.documents import as_report

_FORMS = "report or files, and question and answer, or questions and answers of one length"

OwnConversation = tuple[str, Report, tuple[str, ...], tuple[Any, ...]]
"""The id of a conversation, its report, its questions and their gold answers."""


def read_own(rows: Iterable[Any], name: str, folder: Path) -> tuple[list[OwnConversation], list[DataError]]:
    """Returns the conversations of a user's own questions, and the broken rules of the rows that are left out.

    Args:
        rows: Objects or examples, as the module describes them.
        name: The data's name in messages.
        folder: The folder to which names of files are relative.
    """
    reports: dict[str, Report] = {}
    talks: dict[str, list[tuple[int, int, Report, str, Any]]] = {}
    problems = list[DataError]()
    for number, row in enumerate(rows, start=1):
        fields = dict(row.items())
        try:
            report = _report_of(fields, folder, reports)
            turns, first = _turns_of(fields), str(fields.get("turn") or 0)
            if not first.isdecimal():
                raise DataError(f"turn must be a whole number, got {first!r}")
        except FinpathError as error:
            problems.append(DataError(str(error), file=name, place=f"row {number}"))
            continue
        talk = talks.setdefault(f"{report.id} {fields.get('conversation') or f'row {number}'}", [])
        talk += [(int(first), number, report, question, gold) for question, gold in turns]
    conversations = []
    for identifier, talk in talks.items():
        _, _, known, questions, gold = zip(*sorted(talk, key=lambda turn: turn[:2]), strict=True)
        conversations.append((identifier, known[0], questions, gold))
    return conversations, problems


def _report_of(fields: Mapping[str, Any], folder: Path, reports: dict[str, Report]) -> Report:
    """The report of a row, read once for all rows about the same files."""
    document = fields.get("report", fields.get("files"))
    if document is None:
        raise DataError(f"must have {_FORMS}")
    if isinstance(document, str) or (isinstance(document, Sequence) and not isinstance(document, Mapping)):
        names = [document] if isinstance(document, str) else [str(one) for one in document]
        if (key := "\n".join(names)) not in reports:
            reports[key] = read_files([folder / one for one in names]).report
        return reports[key]
    return as_report(document)


def _turns_of(fields: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The questions of a row with their gold answers."""
    if "questions" in fields:
        questions, answers = fields["questions"], fields.get("answers")
    else:
        questions, answers = [fields.get("question")], [fields.get("answer")]
    if not questions or not all(isinstance(question, str) and question.strip() for question in questions):
        raise DataError("every question must be a text")
    if not isinstance(answers, Sequence) or len(answers) != len(questions):
        raise DataError(f"must have {_FORMS}")
    return [(question, read_gold(answer)) for question, answer in zip(questions, answers, strict=True)]
