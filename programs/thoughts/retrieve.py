"""The RETRIEVE branch: the one program over the graph and the sentences, which asks a model for what is lacking alone.

A question that asks for several facts is split; its parts are the turns of one conversation. A part about rows of the
graph is parsed without a model. Sentences are read by the span reader, and by a language model where it is needed. What
neither answers, a model of an API may ask of the graph by a query of typed steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

import dspy

from kg.graphs import FactGraph
from kg.growing import graph_triples
from kg.news import SpanAnswers
from kg.parsing import QuestionReader
from kg.text import content_tokens
from programs.beam import BeamQA
from programs.thoughts.sources import Sources
from programs.thoughts.work import BasicFact, Work
from programs.turns import AnyTurn, State, is_embedded
from programs.worlds.graph import GraphConfig, GraphWorld
from programs.worlds.news.answering import GraphAnswers
from programs.worlds.texts import TextsWorld
from signatures.news import UnderstandTexts
from signatures.queries import UnderstandGraph
from signatures.thoughts import SplitQuestion

ReaderOf = Callable[[FactGraph], QuestionReader]
"""Makes the reader of questions about a graph."""

MOST_DECIMALS, _FRACTION = 9, re.compile(r"\d+(?:,\d{3})*\.\d+")

QUOTED_FROM = 0.7
"""The least confidence in what an embedded model quotes; chosen on twenty questions about files of a writer."""


class Retrieve(dspy.Module):
    """Retrieves the answer of a question from a graph and sentences that may hold it.

    Args:
        reader_of: Makes the reader of questions about the graph; ``None`` for sentences alone.
    """

    def __init__(self, reader_of: ReaderOf | None = None) -> None:
        super().__init__()
        self.reader_of = reader_of
        self.split = dspy.Predict(SplitQuestion)
        self.graph = BeamQA(config=GraphConfig(), signature=UnderstandGraph)
        self.texts = BeamQA(signature=UnderstandTexts)

    def forward(self, work: Work, sources: Sources) -> dspy.Prediction:
        """Returns ``missing``, the first part of the question without an answer; ``None`` where all have one.

        Args:
            work: The question and its record, which receives the answers.
            sources: The graph and the sentences.
        """
        work.parts = work.parts or self._parts(work)
        states: dict[str, Any] = {}
        if self.reader_of is not None and next(sources.graph.nodes(), None) is not None:
            reader = self.reader_of(FactGraph.build(graph_triples(sources.graph)))
            states["graph"] = GraphWorld(reader, config=self.graph.config).start()
        if sources.passages:
            answers = GraphAnswers(sources.graph, texts=SpanAnswers(sources.passages))
            states["texts"] = TextsWorld(answers, shows_all=True).start()
        for part in work.parts[len(work.answers) :]:
            turn = self._answered(work, states, part)
            if turn is None:
                return dspy.Prediction(missing=part)
            work.answers.append(_answer(turn, sources, work.decimals))
        return dspy.Prediction(missing=None)

    def _parts(self, work: Work) -> list[str]:
        """The facts that a question asks for; itself where a model names others or one alone, or one is rounded."""
        if dspy.settings.lm is None:
            return [work.question]
        work.step("split the question")
        reply = work.ask(self.split)
        parts, own = list(map(str, reply.parts)) if reply is not None else [], set(content_tokens(work.question))
        if reply is not None:
            is_rounded = reply.rounding.strip() and reply.rounding.strip().casefold() in work.question.casefold()
            work.decimals, work.total = reply.decimals if is_rounded else -1, reply.total
        words = [set(content_tokens(part)) for part in parts]
        fits = all(some and 2 * len(some & own) > len(some) for some in words)
        return parts if len(parts) > 1 and fits and work.decimals < 0 else [work.question]

    def _answered(self, work: Work, states: dict[str, Any], question: str) -> AnyTurn | None:
        """The turn of a question: of the graph without a model, of the sentences, or of the graph with a model."""
        lm = dspy.settings.lm
        quotes = lm is not None and is_embedded(lm)
        for name, asks in (("graph", False), ("texts", True), ("graph", True)):
            # An embedded model is hardly ever right about a graph where the parser is not.
            if name not in states or (name == "graph" and asks and (lm is None or quotes)):
                continue
            work.step(f"ask the {name}: {question}")
            before = [f"{part} {said[0]}." for part, said in zip(work.parts, work.answers, strict=False)]
            written = question if name == "graph" else " ".join([*before, question])
            with dspy.context(lm=lm if asks else None):
                after: State[Any] = work.within(partial(getattr(self, name).ask, states[name], written))
            if after is None:
                continue
            turn = after.turns[-1]
            if turn.failure is None and (turn.confidence or 0.0) >= (
                QUOTED_FROM if name == "texts" and quotes else 0.0
            ):
                states[name] = after
                if name == "texts":
                    states.pop("graph", None)
                return turn
            work.refused.append(f"the {name}: {turn.message or f'{turn.words!r} is not certain'}"[:300])
        return None


def _answer(turn: AnyTurn, sources: Sources, decimals: int) -> tuple[str, tuple[BasicFact, ...], str]:
    """An answer in words, with the rows or the sentences that it rests on and its query."""
    values = turn.answer if isinstance(turn.answer, tuple) else (turn.words,)
    known = {passage.quoted: BasicFact(passage.text, (passage.document,)) for passage in sources.passages}
    origins = {node.key.name: node.sources for node in sources.graph.nodes()}
    grounds = turn.detail.facts if turn.detail is not None else ()
    facts = (known.get(fact) or BasicFact(fact, origins.get(fact.partition(" -> ")[0], ())) for fact in grounds)
    return _rounded("; ".join(map(str, values)), decimals), tuple(facts), str(getattr(turn.detail, "path", ""))


def _rounded(answer: str, decimals: int) -> str:
    """An answer whose figures have no more decimal places than so many; below 0 it stays as it is."""
    if not 0 <= decimals <= MOST_DECIMALS:
        return answer
    step = Decimal(1).scaleb(-decimals)
    return _FRACTION.sub(lambda found: f"{Decimal(found[0].replace(',', '')).quantize(step, ROUND_HALF_UP):,f}", answer)
