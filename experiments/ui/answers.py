"""A turn as plain data for pages, APIs and tools: the answer, its steps, the places of its figures, the runner-up.

>>> shown = turn_content(subject, turn)
>>> shown["answer"], shown["confidence"]
('an increase of 32.5%', 0.951)
>>> shown["steps"][0]
{'operation': 'subtract', 'sign': '−', 'operands': [{'text': '50652', 'source': 0}, ...], 'result': '12432'}
>>> shown["sources"][0]["row"], shown["sources"][0]["column"]
(1, 1)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.console import write_answer
from experiments.facade import Subject
from kg.calculations import Candidate
from kg.paths import SEPARATOR
from kg.readers.content import Place
from kg.reports import CellSource, Source
from kg.search import Constant, Labelled, Number, Operand, StepResult
from programs.turns import AnyTurn, GraphDetail, TextDetail

UNSURE = 0.8
"""The confidence below which the runner-up is shown with an answer."""

_SIGNS = {"add": "+", "subtract": "−", "multiply": "×", "divide": "÷", "greater": ">", "exp": "^"}
_MOST_PATHS, _MOST_NEAREST = 6, 3


def turn_content(subject: Subject, turn: AnyTurn) -> dict[str, Any]:
    """A turn as JSON.

    Args:
        subject: The subject of the question.
        turn: The turn.

    Returns:
        What :func:`experiments.pages.turn_figures` has, and
        ``answer`` in words, or ``None`` with ``message``; ``confidence`` in [0, 1]; ``steps`` of the calculation;
        ``sources``, each with its ``place`` in words, ``row`` and ``column``, or ``sentence``, from 0, the span
        ``start`` to ``end``, and the ``view`` of its file (``picture`` of a page, ``frame``, or ``None``);
        ``runner_up``; ``nearest`` candidates of an abstention; ``paths`` as lists of names.
    """
    picked = turn.candidates[turn.pick] if turn.pick is not None else None
    others = [one for place, one in enumerate(turn.candidates) if place != turn.pick]
    is_unsure = turn.confidence is not None and turn.confidence < UNSURE
    figures = subject.figures(turn)
    return {
        **figures,
        "answer": turn.words or figures["answer"],
        "exact": figures["answer"],
        "query": figures["path"] if turn.detail is not None else None,
        "steps": _steps(subject, picked) if picked is not None else [],
        "sources": _sources(subject, picked) if picked is not None else _passage_sources(subject, turn),
        "paths": list(_paths(turn, picked))[:_MOST_PATHS],
        "runner_up": _runner_up(subject, turn, others) if is_unsure and turn.failure is None else None,
        "nearest": [_alternative(subject, one) for one in others[:_MOST_NEAREST]] if turn.failure is not None else [],
    }


def sentences_of(subject: Subject) -> list[tuple[str, str, str]]:
    """The sentences of a report or of texts, each with its document and its source in words; none of a graph."""
    if subject.kind == "report":
        return [("", text, "") for text in subject.world.report.sentences]
    documents = subject.world.answers.texts.library.documents if subject.world.kind == "texts" else []
    return [(one.document, one.text, one.quoted) for document in documents for one in document]


def _passage_sources(subject: Subject, turn: AnyTurn) -> list[dict[str, Any]]:
    """The sentences of texts that an answer rests on."""
    facts = turn.detail.facts if isinstance(turn.detail, TextDetail) else ()
    return [
        {"sentence": number, "start": 0, "end": len(text), "place": quoted, "text": text, "view": None}
        for number, (_, text, quoted) in (enumerate(sentences_of(subject)) if facts else ())
        if quoted in facts
    ]


def _alternative(subject: Subject, candidate: Candidate) -> dict[str, Any]:
    """A candidate that is not the answer."""
    shown = {"answer": write_answer(candidate.answer), "program": str(candidate.derivation)}
    return {**shown, "steps": _steps(subject, candidate), "sources": _sources(subject, candidate)}


def _runner_up(subject: Subject, turn: AnyTurn, others: Sequence[Candidate]) -> dict[str, Any] | None:
    """The best candidate with another answer; about a graph the best name that is no answer."""
    if isinstance(turn.detail, GraphDetail):
        names = [name for name, _ in turn.detail.answers if name not in turn.detail.nodes]
        return {"answer": names[0], "program": None, "steps": [], "sources": []} if names else None
    different = (one for one in others if write_answer(one.answer) != write_answer(turn.answer))
    best = next(different, None)
    return _alternative(subject, best) if best is not None else None


def _sources(subject: Subject, candidate: Candidate) -> list[dict[str, Any]]:
    return [_source(subject, source) for source in dict.fromkeys(candidate.sources)]


def _source(subject: Subject, source: Source) -> dict[str, Any]:
    """A place in words, without the points of a box on a page, and in numbers."""
    report, place, words = subject.world.report, place_of(subject, source), subject.place(source)
    if place is not None and place.box is not None:
        words = words.replace(str(place), str(dataclasses.replace(place, box=None)), 1)
    if isinstance(source, CellSource):
        text: str = report.table[source.row][source.column]
    else:
        text = report.sentences[source.sentence]
    view = None
    if place is not None:
        view = "picture" if place.box is not None else "frame" if is_web_page(place.file) else None
    return {**dataclasses.asdict(source), "place": words, "text": text[source.start : source.end], "view": view}


def is_web_page(file: str) -> bool:
    """Whether the file of a place is shown as it is, in a frame."""
    return file.lower().endswith((".html", ".htm"))


def place_of(subject: Subject, source: Source) -> Place | None:
    """The place of a figure in a file; ``None`` for reports that are not read from files."""
    document = subject.document
    is_known = document is not None and bool(document.cells if isinstance(source, CellSource) else document.sentences)
    return document.place(source) if document is not None and is_known else None


def _steps(subject: Subject, candidate: Candidate) -> list[dict[str, Any]]:
    """The steps of a calculation, each figure with the number of its source; a look-up alone has none."""
    derivation = candidate.derivation
    if derivation.is_look_up:
        return []
    places = list(dict.fromkeys(candidate.sources))
    known = [number for number in derivation.numbers if number.source is not None]
    numbered: Mapping[str | None, int] = {}
    if len(known) == len(candidate.sources):  # a figure without a place has no source
        pairs = zip(known, candidate.sources, strict=True)
        numbered = {number.source: places.index(source) for number, source in pairs}
    results = derivation.trace(subject.world.report.table)
    return [
        {
            "operation": step.operation,
            "sign": _SIGNS.get(step.operation),
            "operands": [one for operand in step.operands for one in _operands(operand, numbered, results)],
            "result": write_answer(result),
        }
        for step, result in zip(derivation.steps, results, strict=True)
    ]


def _operands(operand: Operand, numbered: Mapping[str | None, int], results: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The figures of an operand, each with its ``label``, the number of its ``source``, or that of an earlier step."""
    shown: dict[str, Any] = {"label": None, "source": None, "step": None}
    if isinstance(operand, Labelled):
        for number in operand.numbers:
            yield from ({**one, "label": operand.label} for one in _operands(number, numbered, results))
    elif isinstance(operand, Number):
        yield {**shown, "text": str(operand), "source": numbered.get(operand.source)}
    elif isinstance(operand, StepResult):
        yield {**shown, "text": write_answer(results[operand.index]), "step": operand.index + 1}
    elif isinstance(operand, Constant):
        yield {**shown, "text": write_answer(operand.value)}
    else:
        yield {**shown, "text": str(operand)}


def _paths(turn: AnyTurn, picked: Candidate | None) -> Iterator[list[str]]:
    """The paths of an answer as lists of names: an entity, then relations and entities in turn."""
    if picked is not None:
        texts = [number.path for number in picked.derivation.numbers if number.path is not None]
    elif isinstance(turn.detail, GraphDetail) and turn.answer is not None:
        pairs = zip(turn.detail.raw_paths, turn.detail.answers, strict=True)
        texts = list(turn.detail.facts) or [path for (path, _), (name, _) in pairs if name in turn.detail.nodes]
    else:
        texts = list(turn.detail.paths) if isinstance(turn.detail, TextDetail) else []
    for text in dict.fromkeys(texts):
        names = text.split(SEPARATOR)
        if len(names) >= 3 and len(names) % 2:
            yield names
