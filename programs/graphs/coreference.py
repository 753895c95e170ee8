"""References resolved by a language model, which is held to the names of the graph context.

>>> LMResolver().resolve(question, past, context, graph, fallback)
(Resolution(..., canonical='What is the capital of Germany?', by='language model'), Usage(lm_calls=1, ...))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import dspy
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.coreference import PastQuestion, Resolution
from kg.errors import LMError
from kg.graphs import GraphContext
from kg.questions import EntityGraph, folded, known_entities
from programs.lm import CallMeter, suited_adapter
from programs.turns import Usage
from signatures.coreference import ResolvedQuestion, ResolveReferences


class LMResolver(dspy.Module):
    """Asks a language model what a question refers to.

    Attributes:
        refused: The number of replies with a name outside of the context and the conversation, or without a readable
            form.
    """

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(ResolveReferences)
        self.refused = 0

    def resolve(
        self,
        question: str,
        past: Sequence[PastQuestion],
        context: GraphContext,
        graph: EntityGraph,
        by_graph: Resolution,
    ) -> tuple[Resolution, Usage]:
        """The model's resolution, or the graph's with the reason why the model's was refused.

        Args:
            question: The question as asked.
            past: The turns before it.
            context: The entities of the conversation's graph context.
            graph: The graph.
            by_graph: The graph's resolution of the question.
        """
        meter = CallMeter()
        adapter = dspy.settings.adapter if dspy.settings.adapter is not None else suited_adapter(dspy.settings.lm)
        try:
            with (
                dspy.context(adapter=adapter, callbacks=[*dspy.settings.callbacks, meter]),
                dspy.track_usage() as tracker,
            ):
                reply = self.predict(context=context.to_text(), history=_written(past, graph), question=question)
            resolved: ResolvedQuestion = reply.resolved
        except (AdapterParseError, DSPyLMError, LMError) as error:
            self.refused += 1
            return replace(by_graph, problem=f"{type(error).__name__}: {error}"), Usage(lm_calls=meter.calls)
        sent = [entry for entries in tracker.usage_data.values() for entry in entries]
        usage = Usage(
            lm_calls=meter.calls,
            prompt_tokens=sum(int(entry.get("prompt_tokens") or 0) for entry in sent),
            completion_tokens=sum(int(entry.get("completion_tokens") or 0) for entry in sent),
        )
        stranger = _stranger(resolved, question, past, context, graph)
        if stranger is not None:
            self.refused += 1
            return replace(by_graph, problem=f"the model named {stranger!r}, which is not in play"), usage
        nodes = [node for name in resolved.referents for node in known_entities(graph.lexicon.tags(name))[:1]]
        turns = [turn.turn for turn in past if set(nodes) & {*turn.subjects, *turn.results}]
        found = Resolution(
            question, resolved.canonical, resolved.kind, tuple(nodes), tuple(turns[-1:]), by="language model"
        )
        return found, usage


def _stranger(
    resolved: ResolvedQuestion,
    question: str,
    past: Sequence[PastQuestion],
    context: GraphContext,
    graph: EntityGraph,
) -> str | None:
    """A name in the reply that is neither in the context nor in the conversation."""
    nodes = {node for turn in past for node in (*turn.subjects, *turn.results)}
    nodes |= {entity.node for entity in context.entities}
    nodes |= {other.node for entity in context.entities for other in entity.neighbours}
    nodes |= set(known_entities(graph.lexicon.tags(question)))
    allowed = {folded(graph.lexicon.label(node)) for node in nodes}
    for name in resolved.referents:
        if folded(name) not in allowed:
            return name
    for node in known_entities(graph.lexicon.tags(resolved.canonical)):
        if node not in nodes:
            return graph.lexicon.label(node)
    return None


def _written(past: Sequence[PastQuestion], graph: EntityGraph) -> str:
    lines = [
        f"Q{turn.turn + 1}: {turn.canonical} -> {', '.join(map(graph.lexicon.label, turn.results)) or 'a value'}"
        for turn in past
    ]
    return "\n".join(lines) or "none"
