"""Training conversations as chats: the brief prompt of each turn and its calculation.

Earlier turns are those of the gold answers. A turn is learned where its lines show all figures of its calculation: then
the reply can be read off.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import dspy
from threadpoolctl import threadpool_limits

from kg.calculations import considered_figures, fixed_history, search_turn
from kg.search import PastTurn
from optimize.evidence import gold_turns
from optimize.finetuning.chats import Chat
from optimize.scorers import content_sha256
from programs.beam import BeamQA
from programs.worlds.page import NO_ANSWER, BriefPage, brief_prompt, brief_reply


def training_chats(turn: BeamQA, examples: Iterable[dspy.Example], shown: int) -> list[Chat]:
    """Conversations as chats; one without a turn that can be executed is left out.

    Args:
        turn: The program that searches.
        examples: Conversation examples: ``report``, ``questions`` and ``programs``.
        shown: Candidates whose figures a prompt shows.
    """
    with threadpool_limits(limits=1):
        chats = (_chat(turn, example, shown) for example in examples)
        return [chat for chat in chats if chat.messages]


def _chat(turn: BeamQA, example: dspy.Example, shown: int) -> Chat:
    _, index = turn.reader.read(example.report)
    page = BriefPage(example.report, index)
    past: list[PastTurn] = []
    messages: list[dict[str, str]] = []
    learned: set[int] = set()
    for gold in gold_turns(example, index):
        questions = [*(earlier.question for earlier in past), gold.question]
        search = search_turn(index, questions, fixed_history(index, past), turn.reader.scorer, turn.config)
        considered = considered_figures(search.candidates[:shown])
        messages = brief_prompt(page, past, gold.question, considered)
        known = {*considered, *(figure for earlier in past for figure in earlier.considered)}
        if gold.derivation is not None and all(number.source in known for number in gold.derivation.numbers):
            learned.add(len(messages))
        reply = NO_ANSWER if gold.derivation is None else brief_reply(gold.derivation, past)
        messages = [*messages, {"role": "assistant", "content": reply}]
        past.append(replace(gold, considered=considered))
    return Chat(tuple(messages), frozenset(learned), content_sha256(example.report))
