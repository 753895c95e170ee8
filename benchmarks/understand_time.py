"""Seconds and tokens of an embedded model that reads a question before the search, turn by turn.

    python benchmarks/understand_time.py --data sample:dev --lm local/qwen2.5-coder-0.5b --reads labels page --limit 2

``labels``: the model sees the labels of rows, and fills in the fields of an Understanding. ``page``: it sees the whole
page, and writes a calculation. The turns of a conversation come one after another, with gold history, so the beginning
that their prompts share is computed once. Seconds of other work on the machine count too; processor seconds do not have
them. The weights are loaded before.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dspy  # noqa: E402
import numpy as np  # noqa: E402

from experiments.data import conversation_examples, load_conversations  # noqa: E402
from experiments.lms.config import LMConfig, lm_settings  # noqa: E402
from experiments.saved import find_program  # noqa: E402
from kg.candidates import fixed_history, search_turn  # noqa: E402
from optimize.evidence import gold_turns  # noqa: E402
from programs.lm import metered  # noqa: E402
from programs.beam import BeamQA  # noqa: E402
from programs.reports import QuestionContext  # noqa: E402
from programs.reports.page_answer import named_answer  # noqa: E402
from programs.wording import understand_about, written_history, written_line_items  # noqa: E402


def labels(turn: BeamQA, asked: QuestionContext) -> Any:
    """The fields of the question, from the labels of rows."""
    return turn.understand(
        history=written_history(asked.past),
        line_items=written_line_items(asked.index),
        question=asked.question,
        signature=understand_about(turn.understand.signature, asked.index),
    ).understanding


def page(turn: BeamQA, asked: QuestionContext) -> Any:
    """The calculation, from the page."""
    search = partial(search_turn, asked.index, scorer=turn.reader.scorer, config=turn.config)
    found = search(questions=asked.questions, histories=asked.histories)
    report = turn.reader.graph_of(asked.index).report
    return named_answer(turn.read_page, asked, found, report, tokens=3000, first=lambda: found).reading.calculation


READS: dict[str, Callable[[BeamQA, QuestionContext], Any]] = {"labels": labels, "page": page}


def main() -> None:
    """Prints a line a turn, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--program", default="beam")
    parser.add_argument("--lm", default="local/qwen2.5-coder-0.5b")
    parser.add_argument("--reads", nargs="+", choices=list(READS), default=list(READS))
    parser.add_argument("--limit", type=int, default=2, help="conversations")
    options = parser.parse_args()
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    turn = find_program(options.program).program.turn
    assert isinstance(turn, BeamQA)
    settings = lm_settings(LMConfig(options.lm, threads=1, max_tokens=200))
    settings["lm"].engine.load()
    conversations = conversation_examples(load_conversations(options.data).conversations)[: options.limit]
    for reads in options.reads:
        rows: list[list[float]] = []
        for example in conversations:
            _, index = turn.reader.read(example.report)
            golds = gold_turns(example, index)
            for place, gold in enumerate(golds):
                past = tuple(golds[:place])
                questions = (*(one.question for one in past), gold.question)
                asked = QuestionContext(index, questions, tuple(fixed_history(index, past)), past)
                spent = time.process_time()
                with dspy.context(**settings), metered() as measured:
                    said = READS[reads](turn, asked)
                usage = measured.usage
                new = usage.prompt_tokens - usage.cached_prompt_tokens
                row = [usage.seconds, time.process_time() - spent, new, usage.prompt_tokens, usage.completion_tokens]
                rows.append([*row, usage.lm_calls, place])
                print(f"{example.id}#{place}", *(f"{one:.5g}" for one in row), str(said)[:100], flush=True)
        later = [row for row in rows if row[-1]]
        for name, chosen in (("first turns", [row for row in rows if not row[-1]]), ("later turns", later)):
            if chosen:
                print(f"{options.lm}, {reads}, {len(chosen)} {name}: {_medians(chosen)}")


def _medians(rows: list[list[float]]) -> str:
    seconds, processor, new, tokens, reply, calls, _ = np.median(np.array(rows), axis=0)
    return (
        f"{seconds:.1f} seconds, {processor:.1f} of the processor; {new:.0f} new of {tokens:.0f} prompt tokens, "
        f"{reply:.0f} written, {calls:.0f} calls (medians); load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
