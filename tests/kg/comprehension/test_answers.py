from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from kg.clauses import SentenceEncoder, SentenceParser
from kg.comprehension import ClauseAnswers, clause_model, problem_of, too_doubtful
from kg.encoders.installed import installed_parts
from kg.news import Passage

pytest.importorskip("spacy")
pytestmark = pytest.mark.skipif(installed_parts() is None, reason="needs the reader's weights")

TEXTS = {
    ("wool-1", date(2026, 2, 3)): [
        "Tarrant Mills to cut 240 jobs",
        "Textile maker Tarrant Mills will eliminate 240 positions at its weaving plant in Keld, it said on Tuesday.",
        "Chief executive Nora Feldt blamed the price of wool.",
    ],
    ("wool-2", date(2026, 5, 6)): [
        "Ardent buys Tarrant Mills",
        "Ardent Holdings has bought Tarrant Mills from the Ruddock family for $85 million.",
        "The acquisition was completed on 4 May 2026.",
        "Tarrant Mills named Jonas Weir as chief executive to succeed Nora Feldt, who has resigned.",
    ],
    ("ship-1", date(2026, 6, 9)): [
        "Oriel Shipping fined",
        "The Harbour Board fined Oriel Shipping 3 million euros over an oil spill.",
        "Shares in Oriel Shipping fell 6%.",
    ],
}


@pytest.fixture(scope="module")
def answers(parser: SentenceParser) -> ClauseAnswers:
    passages = [
        Passage(document, day, place, text)
        for (document, day), texts in TEXTS.items()
        for place, text in enumerate(texts, -1)
    ]
    return ClauseAnswers(passages, parser)


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("Who acquired Tarrant Mills?", ("Ardent Holdings",)),
        ("How many posts is Tarrant Mills axing?", ("240",)),
        ("what was the penalty for Oriel Shipping", ("3 million euros",)),
        ("Who punished Oriel Shipping?", ("Harbour Board",)),
        ("How much did Ardent Holdings pay for Tarrant Mills?", ("$85 million",)),
        ("When was the takeover of Tarrant Mills completed?", ("2026-05-04",)),
    ],
)
def test_a_question_of_other_words_is_answered(answers: ClauseAnswers, question: str, gold: tuple[str, ...]) -> None:
    asked = answers.parse(question)
    found = answers.proposed(asked, answers.ranked(asked))
    assert found.values == gold
    assert answers.confidence(found) >= 0.5
    assert found.passages[0].document in {document for document, _ in TEXTS}


def test_a_question_is_answered_from_the_least_confidence(answers: ClauseAnswers) -> None:
    found = answers.answer("How much did Ardent Holdings pay for Tarrant Mills?")
    assert found.values == ("$85 million",)
    assert found.confidence >= clause_model().threshold


@pytest.mark.parametrize(
    "question",
    [
        "Which university did Nora Feldt attend?",
        "What dividend does Oriel Shipping pay?",
        "Why did Nora Feldt resign?",
        "Who advised Zephyr Foods?",
    ],
)
def test_what_no_sentence_says_is_not_answered(answers: ClauseAnswers, question: str) -> None:
    found = answers.answer(question)
    assert found.values == ()
    assert found.why


def test_a_list_has_what_the_reader_takes_for_answers(parser: SentenceParser) -> None:
    if SentenceEncoder.load() is None:
        pytest.skip("the models of the extra 'news' are not installed")
    texts = [
        "Ferry line Norvik drops three ports",
        "Norvik Line will stop calling at Halden, Moss and Larvik from 1 June, it said on Monday.",
        "It will keep its office in Oslo.",
    ]
    ferry = ClauseAnswers(
        [Passage("ferry", date(2026, 5, 4), place, text) for place, text in enumerate(texts, -1)], parser
    )
    asked = ferry.parse("Which ports does Norvik Line drop?")
    assert set(ferry.proposed(asked, ferry.ranked(asked)).values) == {"Halden", "Moss", "Larvik"}


def test_yes_and_no(answers: ClauseAnswers) -> None:
    assert answers.answer("Did the shares of Oriel Shipping rise in June 2026?").values == ("no",)
    assert answers.answer("Did the shares of Oriel Shipping fall in June 2026?").values == ("yes",)


def test_a_contradiction_of_the_same_day_is_shown(parser: SentenceParser) -> None:
    day = date(2026, 5, 4)
    texts = {"one": "Corlan Foods said it would cut 40 jobs.", "two": "Corlan Foods will cut 60 jobs, the union said."}
    passages = [Passage(name, day, 0, text) for name, text in texts.items()]
    answers = ClauseAnswers(passages, parser)
    asked = answers.parse("How many jobs will Corlan Foods cut?")
    found = answers.proposed(asked, answers.ranked(asked))
    assert found.values in (("40",), ("60",))
    assert {passage.document for passage in (*found.passages, *found.otherwise)} == {"one", "two"}


REPORTS = {
    ("van-1", date(2026, 2, 11)): [
        "Tessor reports results",
        "Fourth-quarter revenue was $318 million, and Tessor Mobility had full-year revenue of $1.12 billion.",
        "Sales in Norway were $40 million in 2025 and $31 million in 2024.",
        "Present were Graham Holloway, chief executive, and Renata Quill, chief financial officer.",
        "Curator Dr Ellen Frost will be on leave; Marcus Bell will act for her.",
        "Sundaram Motors built the Tarika in Pune.",
        "The Tarika recall cost $9 million.",
    ],
}


@pytest.fixture(scope="module")
def reports(parser: SentenceParser) -> ClauseAnswers:
    if SentenceEncoder.load() is None:
        pytest.skip("the models of the extra 'news' are not installed")
    return ClauseAnswers(
        [
            Passage("van-1", day, place, text)
            for (_, day), texts in REPORTS.items()
            for place, text in enumerate(texts, -1)
        ],
        parser,
    )


def first_value(answers: ClauseAnswers, question: str) -> str:
    return answers.ranked(answers.parse(question))[0].value


def test_values_are_of_the_asked_quarter_year_and_office(reports: ClauseAnswers) -> None:
    assert first_value(reports, "What was Tessor's revenue in the fourth quarter?") == "$318 million"
    assert first_value(reports, "What was the full-year revenue of Tessor?") == "$1.12 billion"
    assert first_value(reports, "What were sales in Norway in 2024?") == "$31 million"
    assert first_value(reports, "Who is the chief executive?") == "Graham Holloway"
    assert first_value(reports, "Who is the chief financial officer?") == "Renata Quill"


def test_a_title_is_no_part_of_a_name(reports: ClauseAnswers) -> None:
    assert reports.library.directory.find("Ellen Frost") == ("person", "Ellen Frost")


def test_a_name_within_another_thing_is_refused(reports: ClauseAnswers) -> None:
    asked = reports.parse("What did the Tarika cost?")
    best = reports.ranked(asked)[0].candidates[0]
    inside = replace(best, features={**best.features, "name within": 1.0})
    assert problem_of(asked, inside) == "the nearest sentence is about another thing"
    assert problem_of(asked, replace(best, features={**best.features, "name within": 0.0})) == ""


def test_a_missing_noun_has_its_verb(reports: ClauseAnswers) -> None:
    best = reports.ranked(reports.parse("Who is the chief executive?"))[0].candidates[0]
    missing = replace(best, features={**best.features, "no noun": 1.0, "context words": 1.0, "names missing": 0.0})
    asked = replace(reports.parse("Who is the chief executive?"), noun="events")
    assert problem_of(asked, missing) == "no events are known that fit"
    assert problem_of(replace(asked, noun="event"), missing) == "no event is known that fits"


def test_an_abstention_has_the_confidence_of_the_best_value(reports: ClauseAnswers) -> None:
    found = reports.answer("Who insured the museum?")
    assert not found.values
    assert 0 < found.confidence < 0.8


def test_the_encoder_finds_sentences_of_other_words(reports: ClauseAnswers) -> None:
    encoder = SentenceEncoder.load()
    assert encoder is not None
    question, near, far = encoder.vectors(["Who lent Greyfen money?", "Halloran is Greyfen's creditor.", "It rained."])
    assert question @ near > 0.2 + question @ far
    assert "sale" in reports.library.nearness("revenue")


def test_amounts_are_subtracted_where_a_question_asks_how_far_they_are_apart(reports: ClauseAnswers) -> None:
    asked = reports.parse("How much more did sales in Norway bring in 2025 than in 2024?")
    ranked = [one for one in reports.ranked(asked) if one.value in ("$40 million", "$31 million")]
    assert reports.proposed(asked, ranked).values == ("$9 million",)
    plain = reports.parse("What were sales in Norway in 2024?")
    assert reports.proposed(plain, ranked).values == (ranked[0].value,)


def test_words_without_a_question_word_ask_for_their_head(reports: ClauseAnswers) -> None:
    assert reports.parse("tessor fourth-quarter revenue").kinds[:1] == ("money",)
    assert reports.parse("current chief financial officer of tessor").kinds[:1] == ("person",)
    assert reports.parse("Which curator will be on leave?").kinds[:1] == ("person",)
    assert "money" not in reports.parse("Which ship is on leave?").kinds


def test_a_confidence_below_the_least_is_not_shown_as_the_least() -> None:
    why = too_doubtful(["$4 million"], 0.8496, 0.85)
    assert why == "the best answer, '$4 million', has a confidence of 0.84; the least is 0.85"


def test_a_part_without_a_name_has_that_of_the_part_before(answers: ClauseAnswers) -> None:
    first = answers.parse("Which of the many holding companies of the north has bought Tarrant Mills?")
    second = answers.parse("What price was paid?")
    assert not second.entities
    assert second.terms
    joined = answers._continued(second, first, [])
    assert [entity for entity, _ in joined.entities] == [entity for entity, _ in first.entities]
    assert joined.parse is second.parse  # the name is none of its words
    assert answers.ranked(joined)[0].value == "$85 million"
    found = answers.answer("Who bought Tarrant Mills from the Ruddock family, and for how much?")
    assert found.values == ("Ardent Holdings", "$85 million")
