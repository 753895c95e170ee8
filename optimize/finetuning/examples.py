"""Training conversations as chat examples: the brief prompt of each turn, its calculation, and the search's others.

Earlier turns are those of the gold answers. A turn is learned where its lines show all figures of its calculation: then
the reply can be read off. The search's wrong candidates are the rivals of the reply, and so is none. Where the report
does not answer, none is the reply and all candidates are its rivals.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dspy
from threadpoolctl import threadpool_limits

from kg.candidates import Candidate, confidence_features, considered_figures, fixed_history, search_turn
from kg.derivations import PastTurn
from kg.errors import FinpathError
from kg.files import replacing
from kg.search import merge_key
from optimize.evidence import gold_turns
from optimize.finetuning.sequences import ChatExample, Reply
from optimize.needs import Progress
from optimize.scorers import content_sha256
from programs.beam import BeamQA
from programs.worlds.page import NO_ANSWER, BriefPage, brief_prompt, brief_reply

EVERY = 100
"""Conversations between two lines of progress."""


@dataclass(frozen=True)
class AskedTurn:
    """A training turn as a fine-tuned model sees it.

    Attributes:
        messages: The prompt.
        reply: The gold calculation; ``None`` where the report does not hold its figures. :data:`NO_ANSWER` where the
            report does not answer.
        is_shown: Whether the reply can be read off the prompt: it shows all figures of the gold calculation.
        candidates: The search's best candidates.
        replies: Their calculations.
        right: Whether each has the gold answer.
        answerable: The search's probability in [0, 1] that the report answers; ``None`` for a search without one.
    """

    messages: tuple[Mapping[str, str], ...]
    reply: str | None
    is_shown: bool
    candidates: tuple[Candidate, ...]
    replies: tuple[str, ...]
    right: tuple[bool, ...]
    answerable: float | None = None


def asked_turns(turn: BeamQA, example: dspy.Example, shown: int) -> Iterator[AskedTurn]:
    """The turns of a training conversation, each after the gold answers of those before it.

    Args:
        turn: The program that searches.
        example: A conversation example: ``report``, ``questions`` and ``programs``. Without programs, its ``gold`` has
            the questions that the report does not answer; it ends at the first other one, without a known calculation.
        shown: Candidates that are considered.
    """
    _, index = turn.reader.read(example.report)
    page = BriefPage(example.report, index)
    confidence = turn.reader.scorer.confidence
    past: list[PastTurn] = []
    for gold in gold_turns(example, index) if example.get("programs") is not None else _unanswered(example):
        questions = [*(one.question for one in past), gold.question]
        found = search_turn(index, questions, fixed_history(index, past), turn.reader.scorer, turn.config)
        candidates = found.candidates[:shown]
        considered = considered_figures(candidates)
        known = {*considered, *(figure for one in past for figure in one.considered)}
        yield AskedTurn(
            tuple(brief_prompt(page, past, gold.question, considered)),
            *_reply(gold, past, known),
            candidates,
            tuple(brief_reply(one.derivation, past) for one in candidates),
            tuple(gold.answer is not None and merge_key(one.answer) == merge_key(gold.answer) for one in candidates),
            confidence.judge(confidence_features(found)).answerable if confidence is not None else None,
        )
        past.append(replace(gold, considered=considered))


def _unanswered(example: dspy.Example) -> list[PastTurn]:
    answered = (place for place, gold in enumerate(example.gold) if gold is not None)
    return [PastTurn(question, None, None) for question in example.questions[: next(answered, None)]]


def _reply(gold: PastTurn, past: Sequence[PastTurn], known: Collection[str]) -> tuple[str | None, bool]:
    """The reply that is right, and whether it can be read off the prompt, which shows the ``known`` figures."""
    if gold.answer is None:
        return NO_ANSWER, True
    if gold.derivation is None:
        return None, False
    return brief_reply(gold.derivation, past), all(number.source in known for number in gold.derivation.numbers)


def chat_examples(
    turn: BeamQA, examples: Sequence[dspy.Example], shown: int, progress: Progress, kept: Path | None = None
) -> list[ChatExample]:
    """Conversations as chat examples.

    Args:
        turn: The program that searches.
        examples: Conversation examples, see :func:`asked_turns`.
        shown: Candidates that are considered.
        progress: Receives a line for each part of the conversations.
        kept: A file in which the examples are kept; it is read where it is there.
    """
    if kept is not None and kept.is_file():
        return [_from_record(json.loads(line)) for line in kept.read_text(encoding="utf-8").splitlines()]
    found: list[ChatExample] = []
    with threadpool_limits(limits=1):
        for number, example in enumerate(examples, start=1):
            try:
                turns = list(asked_turns(turn, example, shown))
            except FinpathError as error:
                progress(f"{example.get('id', number)} is left out: {error}")
                continue
            if turns:
                found.append(_chat_example(turns, content_sha256(example.report)))
            if number % EVERY == 0:
                progress(f"examples: {number} of {len(examples)} conversations")
    if kept is not None:
        with replacing(kept) as file:
            file.writelines((json.dumps(_record(one)) + "\n").encode() for one in found)
    return found


def _chat_example(turns: Sequence[AskedTurn], group: str) -> ChatExample:
    last = turns[-1]
    messages = [*last.messages, {"role": "assistant", "content": last.reply or NO_ANSWER}]
    places = [place for place, one in enumerate(messages) if one["role"] == "assistant"]
    replies: dict[int, Reply] = {}
    for place, one in zip(places, turns, strict=True):
        if one.reply is not None and one.is_shown:
            wrong = [text for text, right in zip(one.replies, one.right, strict=True) if not right]
            replies[place] = Reply(one.reply, tuple(text for text in (*wrong, NO_ANSWER) if text != one.reply))
    return ChatExample(tuple(messages), replies, group)


def _record(example: ChatExample) -> dict[str, Any]:
    replies = {str(place): [one.text, list(one.rivals)] for place, one in example.replies.items()}
    return {"messages": list(example.messages), "replies": replies, "group": example.group}


def _from_record(record: Mapping[str, Any]) -> ChatExample:
    replies = {int(place): Reply(text, tuple(rivals)) for place, (text, rivals) in record["replies"].items()}
    return ChatExample(tuple(record["messages"]), replies, record["group"])
