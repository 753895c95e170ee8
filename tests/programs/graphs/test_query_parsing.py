"""Questions about any graph parsed by a language model: held to the graph's names, competing with the beam."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from kg.errors import QueryError
from kg.graphs import FactGraph, read_table
from kg.parsing import Reading
from programs.conversation import ConversationQA
from programs.graphs import ReplyConfidence, query_signature
from programs.graphs.query_replies import Replies, Shown, parse_answer
from programs.turns import Conversation
from programs.turns.turn import SchemaAdapter
from programs.worlds.graph import GraphConfig
from signatures.queries import GraphQuery, QueryStep, UnderstandGraph
from tests.programs.graphs.ships import ships

CONFIG = GraphConfig(today=date(2026, 1, 1))


def _query(start: str, *steps: tuple[str, str, str], answer: str = "entities or values") -> dict[str, str]:
    written = [{"operation": one, "relation": relation, "value": value} for one, relation, value in steps]
    return {"query": json.dumps({"start": start, "steps": written, "answer": answer})}


def _asked(question: str, *replies: dict[str, str], config: GraphConfig = CONFIG) -> tuple[Any, Any]:
    program, lm = ConversationQA.for_graphs(config), DummyLM(list(replies))
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turn = Conversation(program, program.world(graph=ships())).ask(question)
    return turn, lm


def test_the_model_s_parse_answers_what_the_beam_does_not() -> None:
    reply = _query("Quillhaven", ("follow back", "home port", ""), ("largest", "length", ""))
    turn, lm = _asked("which Quillhaven hull outsizes the rest?", reply)
    assert turn.answer == ("Bellwether",)
    assert turn.detail.path == "max(Quillhaven -> ^home port, length)"
    assert (turn.usage.lm_calls, turn.understanding.refused) == (1, [])
    told = lm.history[0]["messages"][-1]["content"]
    assert "captain: Larkspur (ship) -> Mara Stenhouse (person)" in told
    assert "ship (2)" in told


@pytest.mark.parametrize(
    "reply",
    [
        _query("Titanic", ("follow", "captain", "")),
        _query("ship", ("follow", "tonnage", "")),
        _query("ship", ("only", "captain", "Nobody")),
        _query("ship", ("more than", "length", "very")),
        {"query": "no query"},
    ],
)
def test_replies_outside_of_the_graph_are_refused(reply: dict[str, str]) -> None:
    turn, _ = _asked("zzz qqq ship xxx?", reply, reply)
    assert turn.answer is None
    assert len(turn.understanding.refused) == 1


def test_prompts_about_any_graph_begin_alike_and_are_held_to_its_names() -> None:
    narrow = query_signature(Shown({"Larkspur": 0}, {}, {"captain": 0}))
    inputs = dict.fromkeys(UnderstandGraph.input_fields, "none")
    assert SchemaAdapter().format(narrow, [], inputs) == SchemaAdapter().format(UnderstandGraph, [], inputs)
    assert "Larkspur" in json.dumps(narrow.output_fields["query"].annotation.model_json_schema())


def test_a_reply_may_choose_one_of_the_beam_s_readings() -> None:
    first, lm = _asked("which Quillhaven hull outsizes the rest?", {"query": json.dumps({"reading": 2})})
    shown = lm.history[0]["messages"][-1]["content"]
    second = next(line for line in shown.splitlines() if line.startswith("2. "))
    assert first.answer == tuple(second.rpartition(" = ")[2].split(", "))
    beyond = {"query": json.dumps({"reading": 99})}
    turn, _ = _asked("which Quillhaven hull outsizes the rest?", beyond, beyond)
    assert (turn.answer, len(turn.understanding.refused)) == (None, 1)


def test_a_confident_beam_asks_no_model() -> None:
    turn, lm = _asked("What is the length of the Bellwether?", config=replace(CONFIG, trust=0.9))
    assert turn.answer == Decimal(88)
    assert not lm.history


def test_a_later_reply_may_start_at_an_earlier_answer_and_names_written_alike_are_shown() -> None:
    first = _query("ship", ("only", "home port", "Quillhaven"))
    second = _query("answer 1", ("smallest", "length", ""))
    program, lm = ConversationQA.for_graphs(CONFIG), DummyLM([first, second])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        conversation = Conversation(program, program.world(graph=ships()))
        assert set(conversation.ask("which hulls hail from Quilhaven?").answer) == {"Larkspur", "Bellwether"}
        assert conversation.ask("zzz of these outsizes none?").answer == ("Larkspur",)
    shown = [one["messages"][-1]["content"] for one in lm.history]
    assert "Quillhaven" in shown[0].partition("[[ ## entities ## ]]")[2].partition("[[ ##")[0].split("; ")[0]
    assert "1. which hulls hail from Quilhaven? -> Larkspur, Bellwether (answer 1)" in shown[1]


READER = ships()
READING = READER.read("What is the length of the Bellwether?", today=date(2026, 1, 1))
FIRST, LATER = READING.parses[0], READING.parses[1]
OWN = replace(FIRST, nodes=(0, 1, 2))
NONE = replace(FIRST, nodes=())


def _at(confidence: float) -> Reading:
    return replace(READING, confidence=confidence)


def test_agreement_raises_the_confidence_and_disagreement_lowers_that_of_the_beam() -> None:
    own = ReplyConfidence.of("local/qwen2.5-coder-1.5b")
    for beam in (0.2, 0.5, 0.7):
        assert own.joined(_at(beam), FIRST).confidence > beam
        assert own.joined(_at(beam), NONE).confidence < beam
        assert own.joined(_at(beam), None) == _at(beam)
    unsure, sure = own.joined(_at(0.1), OWN), own.joined(_at(0.79), OWN)
    assert unsure.parses[0] == sure.parses[0] == OWN
    assert unsure.confidence > sure.confidence


def test_a_later_reading_becomes_the_first_and_stays_once() -> None:
    found = ReplyConfidence().joined(_at(0.3), LATER)
    assert found.parses[0] is LATER
    assert sorted(map(id, found.parses)) == sorted(map(id, READING.parses))


TODAY = date(2026, 1, 1)
TABLE = """subject,predicate,object
Wren,type,boat
Tern,type,boat
Skua,type,ferry
Rail,type,ferry
Wren,skipper,Ida Holm
Tern,skipper,Olav Lie
Skua,skipper,Olav Lie
Wren,length (m),9
Tern,length (m),14
Skua,length (m),14
Rail,length (m),30
Rail,for sale,no
Wren,owner,Ida Holm
Wren,next survey,2027-05-01
Tern,next survey,2029-05-02
Tern,owner,Ida Holm
Wren,berth (m),10
Tern,berth (m),12
Skua,for sale,yes
Wren,built,1980-03-01
Tern,built,1990-06-01
Skua,built,2001
Ida Holm,type,sailor
Olav Lie,type,sailor
Ida Holm,home,Aberholm
Olav Lie,home,Sund
Pier 4,type,pier
Pier 4,length (m),12
Aberholm,type,town
Sund,type,town
"""
GRAPH = FactGraph.build(read_table(TABLE, what="boats"))
RELATIONS = {one.names[0]: place for place, one in enumerate(GRAPH.relations)}
CLASSES = {one.names[0]: place for place, one in enumerate(GRAPH.classes)}
NAMES = {GRAPH.name(node): node for node in range(len(GRAPH.values)) if GRAPH.is_entity(node)}
SHOWN = Shown(NAMES, CLASSES, RELATIONS, {"answer 1": (NAMES["Tern"], NAMES["Skua"])})


def _reply(start: str, *steps: str, answer: Any = "entities or values") -> GraphQuery:
    """A reply of steps such as "only | skipper | Ida Holm"."""
    parts = [(*map(str.strip, one.split("|")), "", "") for one in steps]
    made = [QueryStep(operation=one, relation=relation, value=value) for one, relation, value, *_ in parts]  # type: ignore[arg-type]
    return GraphQuery(start=start, steps=made, answer=answer)


def _answer(reply: GraphQuery) -> Any:
    parse = Replies(GRAPH, SHOWN, TODAY).parse(reply)
    found = parse_answer(GRAPH, parse)
    return sorted(found) if isinstance(found, tuple) else found


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (_reply("Wren", "start||Tern", "or||#0"), ["Tern", "Wren"]),
        (_reply("Wren", "start||Tern", "or||#0", "largest|length"), ["Tern"]),
        (_reply("answer 1", "only|is a|boat"), ["Tern"]),
        (_reply("answer 1", "not|is a|boat"), ["Skua"]),
        (_reply("answer 1", "smallest|built"), ["Tern"]),
        (_reply("boat", "start||ferry", "or||#0", "largest|length|2"), ["Skua", "Tern"]),
        (_reply("boat", "at least|length|14"), ["Tern"]),
        (_reply("boat", "at most|length|9 m"), ["Wren"]),
        (_reply("boat", "more than|length|Pier 4"), ["Tern"]),
        (_reply("boat", "less than|built|Tern"), ["Wren"]),
        (_reply("Wren", "follow|length", "start||ferry", "more than|length|#1"), ["Rail", "Skua"]),
        (_reply("sailor", "more than|skipper|1"), ["Olav Lie"]),
        (_reply("sailor", "largest|skipper"), ["Olav Lie"]),
        (_reply("sailor", "only|skipper|Wren"), ["Ida Holm"]),
        (_reply("ferry", "lacking|skipper"), ["Rail"]),
        (_reply("ferry", "only|skipper"), ["Skua"]),
        (_reply("town", "lacking|home", "follow back|home"), []),
        (_reply("Aberholm", "follow|home"), []),
        (_reply("Aberholm", "follow back|home", "start||boat", "only|skipper|#1"), ["Wren"]),
        (_reply("Olav Lie", "follow back|skipper", "start||boat", "and||#1"), ["Tern"]),
        (_reply("Olav Lie", "follow back|skipper", "start||boat", "without||#1"), ["Wren"]),
        (_reply("boat", "without||Wren"), ["Tern"]),
        (_reply("boat", "follow|length", answer="sum"), Decimal(23)),
        (_reply("answer 1", "follow|length", answer="sum"), Decimal(28)),
        (_reply("boat", "follow|length", answer="average"), Decimal("11.5")),
        (_reply("boat", "follow|length", answer="product"), Decimal(126)),
        (_reply("Tern", "follow|length", "start||Wren", "follow|length", "or||#1", answer="ratio"), Decimal("1.5556")),
        (_reply("boat", "follow|length", answer="difference"), Decimal(5)),
        (_reply("boat", "follow|built", answer="difference"), Decimal(10)),
        (_reply("boat", "follow|built", answer="months"), Decimal(123)),
        (_reply("Wren", "follow|built", answer="years"), Decimal(45)),
        (_reply("boat", "follow|next survey", answer="years"), Decimal(2)),
        (_reply("Wren", "follow|next survey", answer="years"), Decimal(1)),
        (_reply("Wren", "more than|length|Tern", answer="yes or no"), "no"),
        (_reply("boat", "equal to|skipper|owner"), ["Wren"]),
        (_reply("boat", "more than|length|berth"), ["Tern"]),
        (_reply("Rail", "follow|for sale", answer="yes or no"), "no"),
        (_reply("Skua", "follow|for sale", answer="yes or no"), "yes"),
        (_reply("boat", "only|skipper|Ida Holm", answer="count"), Decimal(1)),
        (_reply("boat", answer="not in the graph"), []),
    ],
)
def test_each_operation_of_a_reply(reply: GraphQuery, answer: object) -> None:
    assert _answer(reply) == answer


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (_reply("Titanic"), "Titanic"),
        (_reply(""), "start"),
        (_reply("boat", "follow|tonnage"), "tonnage"),
        (_reply("boat", "and||#3"), "#3"),
        (_reply("boat", "more than|length|#0"), "#0"),
        (_reply("boat", "more than|length|long"), "long"),
        (_reply("boat", "only|is a|whale"), "whale"),
        (_reply("sailor", answer="sum"), "sum"),
        (_reply("Wren", "follow|length", answer="ratio"), "ratio"),
        (_reply("boat", "follow|skipper", answer="difference"), "difference"),
        (_reply("boat", "follow|length", answer="years"), "years"),
        (GraphQuery(reading=1), "reading"),
    ],
)
def test_what_a_reply_may_not_say_is_named(reply: GraphQuery, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        _answer(reply)
