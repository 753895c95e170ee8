r"""A conversation file with generated questions that list items of a table, for the fit of aggregates.

    python benchmarks/listed_questions.py finqa/train_single_questions.json --out listed.json
    # "what share of taxes were rent, fuel and wages together in 2012?"  ->  sum(30, 50, 120), divide(#0, 7)

People's questions about training pages hardly ever list three items. Each page has one question at the most, about a
random column. Its labels are as the table writes them, so an accuracy on these questions means little.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.written_questions import plain, record
from experiments.data import ConversationRecord, load_conversations
from experiments.saved import find_program
from kg.derivations import Derivation
from kg.errors import ProgramError
from kg.figures import FigureLine, ReportIndex, TableLines
from programs.worlds.reader import ReportReader

QUESTIONS = (
    ("what was the total of {items} in {year}?", "sum({figures})"),
    ("what did {items} add up to in {year}?", "sum({figures})"),
    ("in {year}, what were {items} together?", "sum({figures})"),
    ("what is the sum of {items} for {year}?", "sum({figures})"),
    ("what was the average of {items} in {year}?", "average({figures})"),
    ("on average, how large were {items} in {year}?", "average({figures})"),
    ("what share of {other} were {items} together in {year}?", "sum({figures}), divide(#0, {figure})"),
    ("{items} as a percentage of {other} in {year}", "sum({figures}), divide(#0, {figure})"),
    ("the sum of {items} in {year} divided by {other}", "sum({figures}), divide(#0, {figure})"),
)
LISTED = (3, 3, 4)
LONGEST_LABEL = 7


def columns(index: ReportIndex) -> list[FigureLine]:
    """The columns of one year with enough items for a list and one more."""
    lines = [line for line in TableLines(index).lines if not line.across and not line.dated and len(line.cells) > 3]
    periods = [{int(index.period[cell]) for cell in line.cells} for line in lines]
    return [line for line, found in zip(lines, periods, strict=True) if len(found) == 1 and min(found) >= 0]


def question_of(one: ConversationRecord, reader: ReportReader, rng: random.Random) -> tuple[str, str] | None:
    """A question about a page with its program; ``None`` if the drawn column gives none."""
    _, index = reader.read(one.report)
    found = columns(index)
    if not found:
        return None
    line = rng.choice(found)
    chosen = rng.sample(range(len(line.cells)), min(rng.choice(LISTED), len(line.cells) - 1) + 1)
    if any(len(line.labels[place].split()) > LONGEST_LABEL for place in chosen):
        return None
    *items, other = chosen
    texts = [index.observations[cell].quantity.text.removesuffix("%") for cell in line.cells]
    labels = [line.labels[place] for place in items]
    question, program = rng.choice(QUESTIONS)
    values = {
        "items": f"{', '.join(labels[:-1])}{rng.choice((' and ', ', and '))}{labels[-1]}",
        "other": line.labels[other],
        "year": str(index.period[line.cells[0]]),
        "figures": ", ".join(texts[place] for place in items),
        "figure": texts[other],
    }
    return question.format(**values), program.format(**values)


def main() -> None:
    """Draws a question for each page and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    reader = find_program("beam").program.turn.reader
    rng = random.Random(options.seed)
    by_page = {one.document: one for path in options.pages for one in load_conversations(path).conversations}
    found = []
    for page in sorted(by_page):
        drawn = question_of(by_page[page], reader, rng)
        if drawn is None:
            continue
        question, program = drawn
        try:
            answer = plain(Derivation.parse(program).execute())
        except ProgramError:
            continue
        gold = {"turn_program": [program], "exe_ans_list": [answer]}
        found.append(record({"id": f"{page}#listed", "questions": [question]}, by_page[page].report, gold))
    options.out.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    sys.stdout.write(f"{len(found)} questions about {len(by_page)} pages\n")


if __name__ == "__main__":
    main()
