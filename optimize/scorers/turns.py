"""The turns of training conversations, on which the beam's scorer and its confidence are fitted.

>>> turns = training_turns("report", index, ["revenue in 2009?", "and in 2008?"], ["206588", "181001"])
>>> [len(turn.history) for turn in turns]
[0, 1]

Questions that a report does not answer are built from those that it does: all text about their figures is removed::

    >>> turn = unanswerable_turn(report, turns, programs, place, read)

Conversations about one page are known by its name or its content, whatever their ids (:func:`page_keys`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import dspy

from kg.calculations import HistoryTurn, Idf, ReportIndex, SeriesReader, extend_history, past_turn
from kg.encoders import TurnOperands
from kg.errors import ProgramError
from kg.reports import CellSource, Observation, Report, document_of
from kg.search import COMPOUNDS, Answer, Derivation, PastTurn, TurnOperation, collapse
from optimize.fitting import Dialogues
from programs.worlds.report import ReportReader

_KEY = 16


@dataclass(frozen=True)
class TrainingTurn:
    """One turn with the training data of all stages.

    Attributes:
        group: The unit of the folds: the report's name.
        index: The report; it is empty if only the dialogue is known.
        questions: All questions up to this one.
        history: The earlier turns with their gold derivations.
        derivation: The gold derivation.
        collapsed: The same as one operation over earlier turns; ``None`` where more than one is needed.
        answer: The gold answer.
        weight: Its weight in the fit.
    """

    group: str
    index: ReportIndex
    questions: tuple[str, ...]
    history: tuple[HistoryTurn, ...]
    forms: tuple[TurnOperands, ...]
    derivation: Derivation
    collapsed: TurnOperation | None
    answer: Answer
    weight: float = 1.0

    @property
    def has_report(self) -> bool:
        """Whether the report is known, not only the dialogue."""
        return len(self.index) > 0


def training_turns(
    group: str, index: ReportIndex, questions: Sequence[str], programs: Sequence[str]
) -> list[TrainingTurn]:
    """Returns the turns of one conversation; those after a program that cannot be executed are left out."""
    turns: list[TrainingTurn] = []
    history: list[HistoryTurn] = []
    derivations: list[Derivation] = []
    forms: list[TurnOperands] = []
    for place, program in enumerate(programs):
        try:
            derivation = Derivation.parse(program)
            answer = derivation.execute()
        except ProgramError:
            break
        collapsed = collapse(derivation, derivations)
        if collapsed is None and len(index):
            collapsed = SeriesReader(index).collapse(derivation)
        asked = tuple(questions[: place + 1])
        turns.append(TrainingTurn(group, index, asked, tuple(history), tuple(forms), derivation, collapsed, answer))
        derivations.append(derivation)
        forms.append(past_turn(collapsed))
        history.append(extend_history(index, history, PastTurn(asked[-1], derivation, answer)))
    return turns


SHORTENED_WEIGHT = 0.25
"""Of turns that were made from longer conversations; larger ones cost accuracy on conversations as they are."""


def shortened_turns(
    group: str, index: ReportIndex, questions: Sequence[str], programs: Sequence[str]
) -> list[TrainingTurn]:
    """Returns turns that ask for two operations at once, from conversations without the turn of the first operation.

    ConvFinQA's annotators ask for a difference before they ask for the percentage change. People do not: leaving the
    turn of the difference out makes the next one a ``change_ratio``.
    """
    found: list[TrainingTurn] = []
    for place, program in enumerate(programs[:-1]):
        if "(" not in program:
            continue
        fewer = [*range(place), *range(place + 1, len(programs))]
        turns = training_turns(group, index, [questions[i] for i in fewer], [programs[i] for i in fewer])
        found += [
            replace(turn, weight=SHORTENED_WEIGHT)
            for turn in turns[place:]
            if turn.collapsed is not None and turn.collapsed.operation in COMPOUNDS
        ]
    return found


MOST_PLACES = 6
"""Rows and sentences that are removed at the most; a figure in more of them is too common to be meant in all."""


def without_figures(report: Report, observations: Iterable[Observation]) -> Report:
    """Returns the report without the rows and sentences of some observations."""
    rows, sentences = _places(observations)
    starts = [part.start - sum(row < part.start for row in rows) for part in report.parts]
    before = len(report.pre_text)
    return replace(
        report,
        table=tuple(row for number, row in enumerate(report.table) if number not in rows),
        pre_text=tuple(one for number, one in enumerate(report.pre_text) if number not in sentences),
        post_text=tuple(one for number, one in enumerate(report.post_text, start=before) if number not in sentences),
        parts=tuple(replace(part, start=start) for part, start in zip(report.parts, starts, strict=True)),
    )


def unanswerable_turn(
    report: Report,
    turns: Sequence[TrainingTurn],
    programs: Sequence[str],
    place: int,
    read: Callable[[Report], ReportIndex],
) -> TrainingTurn | None:
    """Returns a turn of a conversation whose report does not have its figures any more.

    Args:
        report: The report.
        turns: The conversation's turns.
        programs: Their gold programs.
        place: The number of the turn.
        read: Builds a report's graph and index.

    Returns:
        ``None`` where the turn has no figures of its own, where an earlier turn has figures in the same rows or
        sentences, or where too much of the report would have to be removed.
    """
    turn = turns[place]
    index = turn.index
    earlier = {abs(number.value) for one in turns[:place] for number in one.derivation.numbers}
    own = {abs(number.value) for number in turn.derivation.numbers} - earlier
    gold = {int(index.base[item]) for item, value in enumerate(index.values) if abs(value) in own}
    removed = [one for one in (index.observations[number] for number in sorted(gold)) if not one.in_header]
    rows, sentences = _places(removed)
    used = _places(index.observations[number] for one in turn.history for number in one.all_figures)
    if not 0 < len(rows) + len(sentences) <= MOST_PLACES or rows & used[0] or sentences & used[1]:
        return None
    smaller = read(without_figures(report, removed))
    found = training_turns(turn.group, smaller, turn.questions, programs[: place + 1])
    return found[place] if len(smaller) and len(found) > place else None


def _places(observations: Iterable[Observation]) -> tuple[set[int], set[int]]:
    """The rows and the sentences of some observations."""
    sources = [one.source for one in observations]
    rows = {source.row for source in sources if isinstance(source, CellSource)}
    return rows, {source.sentence for source in sources if not isinstance(source, CellSource)}


def training_data(
    reader: ReportReader, trainset: Sequence[dspy.Example], dialogues: Dialogues
) -> tuple[list[TrainingTurn], Idf]:
    """Returns all turns of conversations and dialogues, shortened ones too, and the idf of the reports' tokens.

    Args:
        reader: Builds the graphs.
        trainset: Conversation examples: ``report``, ``questions`` and ``programs``.
        dialogues: Conversations without their reports; those about a page of ``trainset`` get its report.
    """
    idf = Idf.learn(list(dict.fromkeys(_text(example.report) for example in trainset)))
    turns: list[TrainingTurn] = []
    built: dict[Report, ReportIndex] = {}
    for example in trainset:
        report: Report = example.report
        if report not in built:
            built[report] = read_index(reader, report, idf)
        for make in (training_turns, shortened_turns):
            turns += make(content_sha256(report), built[report], example.questions, example.programs)
    pages = {document_of(report.id): report for report in built}
    unknown = ReportIndex([], [], idf)
    for name, questions, programs in dialogues:
        page = pages.get(document_of(name))
        group, index = (name, unknown) if page is None else (content_sha256(page), built[page])
        for make in (training_turns, shortened_turns):
            turns += make(group, index, questions, programs)
    return turns, idf


def read_index(reader: ReportReader, report: Report, idf: Idf) -> ReportIndex:
    """Returns a report's index with an idf other than the reader's."""
    graph, _ = reader.read(report)
    return ReportIndex(graph.observations, report.sentences, idf)


def content_sha256(report: Report) -> str:
    """Returns the hash of a document's content: the same one may carry several ids, one a conversation."""
    return hashlib.sha256(repr((report.sentences, report.table)).encode()).hexdigest()


def page_key(name: str) -> str:
    """Returns the key of a page by its name or the hash of its content."""
    return hashlib.sha256(name.encode()).hexdigest()[:_KEY]


def page_keys(report: Report) -> set[str]:
    """Returns the keys of a report's page: a copy of it has the same name or the same content."""
    return {page_key(document_of(report.id)), page_key(content_sha256(report))}


def _text(report: Report) -> str:
    return " ".join([*report.sentences, *(cell for row in report.table for cell in row)])


def describe_data(trainset: Sequence[dspy.Example], dialogues: Sequence[object]) -> str:
    """Returns the numbers of conversations, turns and dialogues in words."""
    turns = sum(len(example.programs) for example in trainset)
    return f"{len(trainset)} conversations, {turns} turns; {len(dialogues)} dialogues without documents"
