"""The prompts of the programs that ask any graph, and of those that let one grow, for the page of prompts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import dspy
from dspy import lm15

from experiments.tasks import load_geography
from kg.facts import FactGraph, Triple
from kg.graphs.index import GraphIndex
from kg.growing.graph import GrowingGraph, Origin
from kg.growing.updates import AddEdge, AddNode, NodeKey
from kg.investments.schema import investment_schema
from kg.parsing import QuestionReader
from kg.paths.scorer import LearnedRelationScorer
from programs.graphs.entity_qa import EntityQA
from programs.graphs.kgqa import KGQA
from programs.graphs.query_qa import QueryQA
from programs.graphs.relation_scorer import LMRelationScorer
from programs.lm.adapter import ShortPromptAdapter
from programs.thoughts.config import ThoughtsConfig
from programs.thoughts.loop import KnowledgeGraphOfThoughts
from programs.tools.manager import ToolManager
from tools.listening import listening

FILM_FACTS = [
    ("Dusk", "directed_by", "Ann Lee"),
    ("Rain", "directed_by", "Ann Lee"),
    ("Dusk", "has_genre", "drama"),
    ("Rain", "has_genre", "comedy"),
]
FILMS = GraphIndex.from_triples(FILM_FACTS)
FILM_QUESTION = "what are the genres of the films of [Ann Lee]?"
CONVERSATION = ["Which countries border Portugal?", "Could you tell me where its government sits?"]
NEWS_QUESTION = "by how much did the dividend of Helixon Inc. grow?"

Section = tuple[str, str, list[tuple[str, str]]]


def graph_sections() -> Iterator[Section]:
    """Title, words and messages of each prompt."""
    program = KGQA(LearnedRelationScorer.untrained(), aggregation="index")
    title = "Any graph: the paths that answer"
    yield title, "`index`: one call over all paths.", _film_prompt(program, "chosen: [1]")
    rated = 'rated: {"steps": [{"step": 1, "probability": 0.9}]}'
    text = "The scorer that asks a language model: one call for each step of the search."
    yield "Any graph: the relations to follow", text, _film_prompt(KGQA(LMRelationScorer()), rated)
    text = "In a conversation about a graph, if the rules of the graph do not resolve the question."
    yield "A conversation about a graph: coreference", text, _reference_prompt()
    text = "Any graph of one's own: once a question in whose reading the beam has little confidence."
    yield "Any graph: a question as a query", text, _query_prompt()
    yield from _thoughts()


def _query_prompt() -> list[tuple[str, str]]:
    reply = "reading: 1"
    triples = [Triple(*fact, True) for fact in (*FILM_FACTS, ("Dusk", "is a", "film"), ("Rain", "is a", "film"))]
    with listening(lambda _: reply, ShortPromptAdapter()) as engine:
        QueryQA(trust=0.9)(
            graph=QuestionReader(FactGraph.build(triples)), questions=["which of Ann Lee's pictures is gloomy?"]
        )
    return engine.heard[0]


def _reference_prompt() -> list[tuple[str, str]]:
    reply = "kind: possessive\nreferents: Portugal\ncanonical: What is the capital of Portugal?"
    with listening(lambda _: reply, ShortPromptAdapter()) as engine:
        EntityQA()(graph=load_geography(), questions=CONVERSATION)
    return engine.heard[0]


def _film_prompt(program: KGQA, reply: str) -> list[tuple[str, str]]:
    with listening(lambda _: reply, ShortPromptAdapter()) as engine:
        program(question=FILM_QUESTION, graph=FILMS, topics=["Ann Lee"])
    return engine.heard[0]


def search_news(topic: str) -> str:
    """Searches the archive of news."""
    return f"Helixon Inc. ({topic}) raised its dividend from 2.0 to 2.5."


DIVIDEND = {"type": "dividend", "summary": "raised its dividend", "value": "2.5", "occurred_at": "2026-11-20"}

_REPLIES: dict[str, tuple[str, str, str]] = {
    "Decide whether the graph holds": (
        "The growing graph: the next step",
        "Asked until a majority agrees.",
        "next_step: insert\nmissing: the dividends of the company",
    ),
    "Choose the tool calls": (
        "The growing graph: tool calls",
        "If the majority votes for insert.",
        'calls: [{"tool": "search_news", "arguments": {"topic": "HLXN"}}]',
    ),
    "Decide whether the available types": (
        "The growing graph: new types",
        "Only where new types are allowed: for each result of a tool, before the updates.",
        "calls: []",
    ),
    "Write what the information states": (
        "The growing graph: updates",
        "For each result of a tool, and for each document. A repair has the error under `problem`.",
        "updates: "
        + json.dumps([{"op": "AddNode", "type": "MarketEvent", "name": "dividend", "properties": DIVIDEND}]),
    ),
    "Write the SPARQL SELECT query that comes nearest": (
        "The growing graph: the forced query",
        (
            'After the last iteration. Earlier the instruction is "Write a SPARQL SELECT query that finds what answers '
            'the question."'
        ),
        "query: SELECT ?value WHERE { ?event a type:MarketEvent ; prop:value ?value }",
    ),
    "Decide whether what was retrieved": (
        "The growing graph: need for mathematics",
        "The calculation is executed exactly, over retrieved figures.",
        "calculation: none",
    ),
    "Answer the question as well as": (
        "The growing graph: the forced answer",
        (
            'After the last iteration. Earlier the instruction is "Answer the question from what was retrieved, and '
            'from nothing else."'
        ),
        "answer: 2.5",
    ),
    "Explain in one to three": (
        "The growing graph: the explanation",
        "With `--explain`, of an answer that facts of the graph support.",
        "explanation: The dividend is 2.5.",
    ),
}
"""For the beginning of each instruction: title and words of its section, and what the model that listens replies."""


def _thoughts() -> Iterator[Section]:
    graph = GrowingGraph(None, investment_schema())
    company = NodeKey("Company", "Helixon Inc.")
    graph.apply(
        [
            AddNode("Company", company.name, {"ticker": "HLXN"}),
            AddNode("Asset", "HLXN", {"type": "stock"}),
            AddEdge("issued_by", NodeKey("Asset", "HLXN"), company),
        ],
        Origin("example"),
    )
    tools = ToolManager([dspy.Tool(search_news)])
    config = ThoughtsConfig(max_iterations=1, votes=1, types="auto", explain=True)
    program = KnowledgeGraphOfThoughts(tools, config)
    with listening(_reply, ShortPromptAdapter()) as engine:
        program(question=NEWS_QUESTION, graph=graph, today=date(2026, 11, 21))
    for messages in engine.heard:
        title, text, _ = _REPLIES[_beginning(messages[0][1])]
        yield title, text, messages


def _reply(request: lm15.Request) -> str:
    return _REPLIES[_beginning(str(request.system))][2]


def _beginning(instruction: Any) -> str:
    return next(beginning for beginning in _REPLIES if instruction.startswith(beginning))
