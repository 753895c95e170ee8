"""Questions about a graph in the formats of the field's benchmarks, as one record each.

    >>> loaded = load_questions("metaqa/1hop_dev.txt", "metaqa")
    >>> loaded.questions[0]
    KGQuestion(id='1hop_dev-1', question='what does Peter Franzén appear in', topics=('Peter Franzén',),
               answers=('Ambush', 'Dog Nail Clipper', 'On the Road to Emmaus'), ...)

The formats, a question a line:

- ``pathquestion``: ``question TAB answer(answer1/answer2/) TAB topic#relation#entity#...#answer``; text after
  ``<end>`` is dropped.
- ``worldcup``: ``question TAB answer TAB topic#relation#...#answer TAB answer1/answer2/``; more is not read.
- ``metaqa``: ``words [topic entity] words TAB answer1|answer2``.
- ``webqsp``: a JSON object with ``id``, ``question``, ``answer`` and ``q_entity``.

A line that breaks a rule becomes a problem that names file, line and rule; the other lines are read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import AliasChoices, BaseModel, Field, ValidationError, field_validator

from kg.errors import ConfigError, DataError

Format = Literal["pathquestion", "worldcup", "metaqa", "webqsp"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""The forms in which questions can be read."""

_TOPIC = re.compile(r"\[(.+)\]")  # to the last bracket: there is a film called [REC]
_END = "<end>"
_ARROW = " -> "


@dataclass(frozen=True)
class KGQuestion:
    """A question about a graph with its gold, hidden from programs.

    Attributes:
        id: Unique in its file.
        question: As asked, without the brackets that mark a topic.
        topics: The entities it is about; empty where the file names none, and then linked by their labels.
        answers: The gold answers; at least one.
        gold_paths: The gold paths, written ``e_0 -> r_1 -> e_1``; empty where the file has none.
    """

    id: str
    question: str
    topics: tuple[str, ...]
    answers: tuple[str, ...]
    gold_paths: tuple[str, ...] = ()

    @property
    def questions(self) -> tuple[str]:
        """The question alone: a conversation of one turn."""
        return (self.question,)


@dataclass(frozen=True)
class LoadedQuestions:
    """The questions of a file.

    Attributes:
        questions: Those that could be read, in the file's order.
        problems: The refused lines, each with file, line and rule.
        name: The file as the user would recognise it.
        sha256: Hash of its content.
    """

    questions: tuple[KGQuestion, ...]
    problems: tuple[str, ...]
    name: str
    sha256: str


def load_questions(source: str, form: str) -> LoadedQuestions:
    """Reads the questions of a file.

    Args:
        source: The file.
        form: One of :data:`FORMATS`.

    Raises:
        ConfigError: There is no such form.
        DataError: The file cannot be read, or no question in it can.
    """
    if form not in FORMATS:
        raise ConfigError(f"format must be one of {', '.join(FORMATS)}, got {form!r}")
    path = Path(source)
    if not path.is_file():
        raise DataError("is not there" if not path.exists() else "is a folder, not a file", file=source)
    readers = {"pathquestion": read_pathquestion, "worldcup": read_worldcup, "metaqa": read_metaqa}
    read, problems, data = list[KGQuestion](), list[str](), path.read_bytes()
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if raw.strip():
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r")
                read.append(readers.get(form, read_webqsp)(line, f"{path.stem}-{number}"))
            except (DataError, UnicodeDecodeError) as error:
                rule = error.rule if isinstance(error, DataError) else "is not UTF-8"
                problems.append(str(DataError(rule, file=path.name, place=f"line {number}")))
    loaded = _distinct(read, problems, path.name, hashlib.sha256(data).hexdigest())
    if not read:
        first = f"; the first: {problems[0]}" if problems else ""
        raise DataError(f"no question can be read in the format {form}{first}", file=source)
    return loaded


def join_questions(parts: Sequence[LoadedQuestions]) -> LoadedQuestions:
    """Joins the questions of several files; a repeated id is reported and used once."""
    if len(parts) == 1:
        return parts[0]
    problems = [problem for part in parts for problem in part.problems]
    digest = hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()
    questions = [question for part in parts for question in part.questions]
    return _distinct(questions, problems, ", ".join(part.name for part in parts), digest)


def _distinct(questions: Sequence[KGQuestion], problems: list[str], name: str, sha256: str) -> LoadedQuestions:
    kept: dict[str, KGQuestion] = {}
    for question in questions:
        if question.id in kept:
            problems.append(str(DataError("its id occurs twice", file=name, place=f"question {question.id!r}")))
        else:
            kept[question.id] = question
    return LoadedQuestions(tuple(kept.values()), tuple(problems), name, sha256)


def read_pathquestion(line: str, name: str) -> KGQuestion:
    """Reads a line of PathQuestion (PQ or PQL)."""
    question, answer, path = _columns(line, 3, "question, answer(answer1/answer2/) and path")
    topic, written = _gold_path(path)
    return KGQuestion(name, question, (topic,), _answer_set(answer), (written,))


def _answer_set(text: str) -> tuple[str, ...]:
    """The answers of ``a(a/b/)``; an answer may hold brackets of its own."""
    places = [match.start() for match in re.finditer(r"\(", text)] if text.endswith(")") else []
    for place in places:
        answers = _split(text[place + 1 : -1], "/")
        if text[:place] in answers:
            return answers
    raise DataError(f"the answer must be written answer(answer1/answer2/), got {text!r}")


def read_worldcup(line: str, name: str) -> KGQuestion:
    """Reads a line of WorldCup2014."""
    question, _, path, answers = _columns(line, 4, "question, answer, path and answer1/answer2/")
    topic, written = _gold_path(path)
    return KGQuestion(name, question, (topic,), _some(_split(answers, "/")), (written,))


def _gold_path(text: str) -> tuple[str, str]:
    """The topic of ``e0#r1#e1#...#<end>#answer``, and the path as it is written elsewhere."""
    parts = text.split("#")
    if _END in parts:
        parts = parts[: parts.index(_END)]
    if len(parts) < 3 or len(parts) % 2 == 0 or not all(parts):
        raise DataError(f"the path must be entity#relation#entity#..., got {text!r}")
    return parts[0], _ARROW.join(parts)


def read_metaqa(line: str, name: str) -> KGQuestion:
    """Reads a line of MetaQA."""
    question, answers = _columns(line, 2, "question and answer1|answer2")
    marked = _TOPIC.search(question)
    plain = _TOPIC.sub(r"\1", question, count=1)
    return KGQuestion(name, plain, (marked[1],) if marked else (), _some(_split(answers, "|")))


def _columns(line: str, count: int, names: str) -> list[str]:
    fields = [one.strip() for one in line.split("\t")]
    if len(fields) < count:
        raise DataError(f"must have {count} columns with tabs between them ({names}), got {len(fields)}")
    if not all(fields[:count]):
        raise DataError(f"must have {names}, got an empty column")
    return fields[:count]


def _split(text: str, separator: str) -> tuple[str, ...]:
    return _distinct_texts(text.split(separator))


def _some(answers: tuple[str, ...]) -> tuple[str, ...]:
    if not answers:
        raise DataError("has no answer to score against")
    return answers


class _Record(BaseModel):
    """A question as JSON; ``answer`` and ``q_entity`` may be one text."""

    id: Any = None
    question: str = Field(pattern=r"\S")
    answer: list[str] = Field(validation_alias=AliasChoices("answer", "a_entity"))
    q_entity: list[str] = []
    ground_truth_paths: list[str] = []

    @field_validator("answer", "q_entity", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


def read_webqsp(line: str, name: str) -> KGQuestion:
    """Reads a line of JSON."""
    try:
        read = _Record.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg']}") from error
    return KGQuestion(
        str(read.id) if read.id is not None else name,
        read.question,
        _distinct_texts(read.q_entity),
        _some(_distinct_texts(read.answer)),
        _distinct_texts(read.ground_truth_paths),
    )


def _distinct_texts(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.strip() for value in values if value.strip()))
