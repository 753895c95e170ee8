"""The whole program with the recorded replies of a capable reader, on the first conversations of the sample.

The reader saw the prompts alone. A prompt that changed fails here with the first line that differs; record it again by
``tools/record_transcript.py``, with the replies to the prompts that stayed. The replies of these two transcripts were
given to the prompts of an earlier revision, which showed the same figures on longer pages, and carried over. One of
them calls a decline 0.77, whose gold answer is -0.77; so two turns are wrong.
"""

from __future__ import annotations

from pathlib import Path

import dspy
import pytest

from experiments.data.conversations import load_conversations
from experiments.saved import find_program
from optimize.metrics import score_turn, summarise
from tests.replay import replay_settings

TRANSCRIPTS = Path(__file__).parents[2] / "data" / "transcripts"


@pytest.mark.usefixtures("recorded_arithmetic")
@pytest.mark.parametrize(
    ("name", "transcript", "conversations", "turns", "right", "calls", "tokens"),
    [("beam", "sample_dev.jsonl", 6, 24, 22, 1.1, 800), ("agent", "agent_dev.jsonl", 4, 15, 15, 2.5, 500)],
)
def test_a_capable_reader_answers_the_sample(
    name: str, transcript: str, conversations: int, turns: int, right: int, calls: float, tokens: float
) -> None:
    settings = replay_settings(TRANSCRIPTS / transcript)
    program = find_program(name).program
    scores = []
    with dspy.context(**settings):
        for one in load_conversations("sample:dev").conversations[:conversations]:
            turns_of_one = program(report=one.report, questions=one.questions).turns
            scores += [score_turn(one, place, turn) for place, turn in enumerate(turns_of_one)]
    engine = settings["lm"].engine
    assert engine.changed == [], "prompts changed: record their replies again"
    assert engine.used == set(engine.replies), "no recorded prompt is left"
    figures = summarise(scores, seed=0, resamples=100)
    assert (figures["turns"], figures["failed_turns"]) == (turns, 0)
    assert figures["exe_accuracy"] == right / turns
    assert figures["recall_at_20"] == 1
    assert figures["lm_calls_per_turn"] <= calls
    assert figures["uncached_prompt_tokens_per_turn"] <= tokens
    if name == "beam":  # the agent states no confidence
        assert figures["expected_calibration_error"] < 0.1
