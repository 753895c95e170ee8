"""Questions about reports of hundreds of thousands of cells."""

from __future__ import annotations

import pickle
import random
import resource
import time
from decimal import Decimal

import pytest

from experiments.saved import find_program
from kg.calculations.scorer import DerivationScorer
from kg.reports import CellSource, Report, SentenceSource
from kg.reports.learning import build_ontology
from programs.conversation import ConversationQA
from programs.worlds.report import ReportReader

ROW, SENTENCE = 777, 3_000


def _report(rows: int, columns: int, characters: int) -> Report:
    chance = random.Random(3)
    words = ["".join(chance.choice("abcdefghijklmnoprstuv") for _ in range(7)) for _ in range(3_000)]
    header = ("in millions", *(str(2020 - number) for number in range(columns - 1)))
    table = [header]
    for _ in range(rows - 1):
        label = " ".join(chance.choice(words) for _ in range(3))
        table.append((label, *(f"{chance.randint(1, 999_999):,}" for _ in range(columns - 1))))
    table[ROW] = ("revenues of the harbour division", *table[ROW][1:])
    text = [" ".join(chance.choice(words) for _ in range(13)) + " was $ 4 million ." for _ in range(characters // 120)]
    text[SENTENCE] = "the pension deficit of the harbour division was $ 77.5 million in 2014 ."
    return Report("large", tuple(text), tuple(table), ())


@pytest.fixture(scope="module")
def program() -> ConversationQA:
    found = find_program("beam").program
    assert isinstance(found, ConversationQA)
    return found


@pytest.mark.slow
def test_a_conversation_about_a_large_report_finds_rows_and_sentences(program: ConversationQA) -> None:
    report = _report(1_000, 12, 480_000)
    questions = [
        "what were revenues of the harbour division in 2015?",
        "and in 2014?",
        "what was the change between those years?",
        "what was the pension deficit of the harbour division in 2014?",
    ]
    turns = program(report=report, questions=questions).turns
    figures = [Decimal(report.table[ROW][column].replace(",", "")) for column in (6, 7)]
    assert [turn.answer for turn in turns] == [*figures, figures[0] - figures[1], Decimal("77.5")]
    [cell] = turns[1].candidates[0].sources
    assert isinstance(cell, CellSource)
    assert (cell.row, cell.column) == (ROW, 7)
    [sentence] = turns[3].candidates[0].sources
    assert isinstance(sentence, SentenceSource)
    assert report.sentences[sentence.sentence][sentence.start : sentence.end] == "$ 77.5 million"


@pytest.mark.slow
def test_a_quarter_of_a_million_cells_take_ten_seconds_and_a_gigabyte(program: ConversationQA) -> None:
    report = _report(5_000, 50, 2_000_000)
    peak, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    [turn] = program(report=report, questions=["what were revenues of the harbour division in 2015?"]).turns
    assert turn.answer == Decimal(report.table[ROW][6].replace(",", ""))
    assert time.process_time() - start < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 1_000_000


def test_a_calculation_over_rows_that_an_excerpt_leaves_out_is_none(program: ConversationQA) -> None:
    from kg.calculations import SeriesReader

    report = _report(1_000, 12, 400_000)
    _, index = program.turn.reader.read(report, ["harbour"])
    assert index.kept_rows is not None
    series = SeriesReader(index)
    items = {(int(index.row[base]), int(index.column[base])): item for item, base in enumerate(index.base.tolist())}
    assert series.derivation("max_of", items[1, 3], items[4, 3]) is not None
    assert series.derivation("max_of", items[1, 3], items[ROW, 3]) is None


def _small_report(number: int = 0) -> Report:
    return Report(f"r{number}", (), (("", "2009", "2008"), ("net income", str(number), "7")), ())


def _reader() -> ReportReader:
    return ReportReader(build_ontology([_small_report()]), DerivationScorer.untrained())


def test_a_report_is_read_once() -> None:
    reader = _reader()
    graph, index = reader.read(_small_report(5))
    assert [observation.quantity.text for observation in graph.observations if not observation.in_header] == ["5", "7"]
    again = reader.read(_small_report(5))
    assert again[0] is graph
    assert again[1] is index
    assert reader.read(_small_report(6))[0] is not graph


def test_a_reader_is_pickled_by_what_it_knows() -> None:
    reader = _reader()
    reader.read(_small_report(5))
    other = pickle.loads(pickle.dumps(reader))
    assert other is not reader
    assert other.ontology.sha256 == reader.ontology.sha256
    assert other.scorer.sha256 == reader.scorer.sha256
    ids = [[observation.id for observation in one.read(_small_report(5))[0].observations] for one in (reader, other)]
    assert ids[0] == ids[1]


def test_a_line_item_that_the_ontology_does_not_cover_is_read_all_the_same() -> None:
    strange = Report("s", (), (("", "2009"), ("never heard of", "5")), ())
    graph, index = _reader().read(strange)
    assert [observation.mapped for observation in graph.observations if not observation.in_header] == [False]
    assert "5" in index.texts
