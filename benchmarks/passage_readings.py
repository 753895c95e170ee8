"""Reads passages and questions that people wrote, as the sentences and values that the product reads of them.

$ python benchmarks/passage_readings.py
410 questions with one answer: among the values 395, in the selected sentences 380

A file of ``benchmarks/data/reader/passages`` has ten passages (``# ID | DAY | HEADLINE``) with sentences (``S``) and
questions (``Q question => answer ;; answer``). The passages of a file are one collection of documents, of which the
product selects the sentences of a question.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from kg.clauses.documents import Library
from kg.clauses.parser import SentenceParser
from kg.comprehension.questions import Asked, parse_question
from kg.comprehension.ranking import READ, matches_of
from kg.comprehension.reader import reading_of
from kg.news import Passage, number_of
from kg.sentences import Mention, plain_name

FOLDER = Path(__file__).parent / "data" / "reader" / "passages"

KEPT = "03"
"""The end of the names of the files that the reader is not fitted on."""

LEAST_SHARED = 0.5
"""The least share of words of a value that is taken for an answer which is no value."""

_SMALL = re.compile(
    r"^(?:(?:the|an?|some|about|around|nearly|almost|roughly|just|only|up to|more than|over|at least|its|his|her|their"
    r"|in|on|at|by|from|for|to|of|with|until|since|because of|due to) )+",
    re.I,
)
"""Small words at the beginning of an answer, which another one may lack."""


@dataclass(frozen=True)
class PassageQuestion:
    """A question about a passage.

    Attributes:
        passage: The name of its passage.
        text: The question.
        answers: The right answers, as written in the passage; none where it has none.
    """

    passage: str
    text: str
    answers: tuple[str, ...]


def read_file(path: Path) -> tuple[list[Passage], list[PassageQuestion]]:
    """Returns the sentences and the questions of a file."""
    sentences: list[Passage] = []
    questions: list[PassageQuestion] = []
    name, day, place = "", date.min, -1
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, rest = line[:1], line[2:].strip()
        if kind == "#":
            name, written, headline = (part.strip() for part in rest.split("|", 2))
            day, place = date.fromisoformat(written), -1
            sentences.append(Passage(name, day, place, headline))
        elif kind == "S":
            place += 1
            sentences.append(Passage(name, day, place, rest))
        elif kind == "Q":
            text, _, answer = rest.rpartition(" => ")
            given = tuple(part.strip() for part in answer.split(";;"))
            questions.append(PassageQuestion(name, text.strip(), () if given == ("-",) else given))
    return sentences, questions


def _plain(text: str) -> str:
    return plain_name(_SMALL.sub("", text.strip()))


def is_answer(value: str, answer: str) -> bool:
    """Whether a value says what an answer of a passage says, without small words before it."""
    if _plain(value) == _plain(answer):
        return True
    if any(re.match(r"[A-Za-z]{2}", _SMALL.sub("", text)) for text in (value, answer)):
        return False
    numbers = number_of(value), number_of(answer)
    return numbers[0] is not None and numbers[0] == numbers[1] and _unit(value) == _unit(answer)


def _unit(amount: str) -> str:
    """Returns the last word of an amount that is no number, or its sign."""
    words = [word for word in re.findall(r"[a-z%€$£¥]+", amount.lower()) if word not in _SCALES]
    return words[-1].rstrip("s") if words else ""


_SCALES = ("hundred", "thousand", "million", "billion", "trillion", "mn", "bn", "m", "k")


def _shared(one: str, other: str) -> float:
    """The share of words that two texts have in common (F1)."""
    first, second = (Counter(_plain(text).split()) for text in (one, other))
    both = sum((first & second).values())
    return 2 * both / max(sum(first.values()) + sum(second.values()), 1)


def passage_files(kept: bool) -> list[Path]:
    """Returns the files of passages that are kept out of the reader's fit, or the others."""
    return [path for path in sorted(FOLDER.glob("*.txt")) if path.stem.endswith(KEPT) == kept]


def rows_of(path: Path, parser: SentenceParser) -> list[dict[str, Any]]:
    """Returns the questions of a file with the sentences that are read, in the form of ``fit_reader``."""
    sentences, questions = read_file(path)
    library = Library.read(sentences, parser)
    found = []
    for question in questions:
        asked = parse_question(question.text, library, parser)
        if not asked.words.polar and question.answers not in (("yes",), ("no",)):
            found.append(_row(question, asked, library))
    return found


def _row(question: PassageQuestion, asked: Asked, library: Library) -> dict[str, Any]:
    """Returns a question with its sentences. If none of those selected has the answer, the ones that have it follow."""
    chosen = [match.statement for match in matches_of(asked, library)[0][:READ]]
    own = [one for one in library.text_of[question.passage].statements if one.passage.place >= 0]
    telling = [one for one in own if any(answer in one.passage.text for answer in question.answers)]
    selected = not telling or any(one in chosen for one in telling)
    readings, right, values = [], [], []
    for statement in chosen if selected else [*chosen, *telling]:
        mentions = statement.values
        readings.append(asdict(reading_of(statement, library.text_of[statement.passage.document])))
        values += [mention.text for mention in mentions]
        numbers = [_number(mention, question.answers) for mention in mentions]
        is_own = statement.passage.document == question.passage
        right += numbers if is_own else [-1 if number else 0 for number in numbers]
    return {
        "set": "passages",
        "question": question.text,
        "answers": list(question.answers),
        "selected": selected,
        "readings": readings,
        "right": _nearest(right, values, question.answers),
    }


def _number(mention: Mention, answers: Sequence[str]) -> int:
    """Returns the number of the answer that a value is, from 1, or 0."""
    texts = (mention.text, mention.value or mention.text)
    numbered = enumerate(answers, 1)
    return next((number for number, answer in numbered if any(is_answer(text, answer) for text in texts)), 0)


def _nearest(right: Sequence[int], values: Sequence[str], answers: Sequence[str]) -> list[int]:
    """Returns the numbers with the nearest value, of half of the words, for an answer that is no value."""
    found = list(right)
    for number, answer in enumerate(answers, 1):
        near = [(_shared(value, answer), -place) for place, value in enumerate(values) if not found[place]]
        best, place = max(near, default=(0.0, 0))
        if number not in found and best >= LEAST_SHARED:
            found[-place] = number
    return found


def main() -> None:
    """Writes the rows that the reader is fitted on, and prints how many answers are among the values."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("rows.jsonl"), metavar="FILE", help="where rows are written")
    arguments = parser.parse_args()
    sentences = SentenceParser.load()
    if sentences is None:
        raise SystemExit("spaCy's model of the extra 'news' is not installed")
    counts: Counter[str] = Counter()
    with arguments.out.open("w", encoding="utf-8") as out:
        for path in passage_files(kept=False):
            for row in rows_of(path, sentences):
                out.write(json.dumps(row) + "\n")
                if row["answers"]:
                    kind = "one answer" if len(row["answers"]) == 1 else "several answers"
                    counts[kind] += 1
                    counts[f"{kind}: among the values"] += all(
                        number in row["right"] for number in range(1, len(row["answers"]) + 1)
                    )
                    counts[f"{kind}: in a selected sentence"] += row["selected"]
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
