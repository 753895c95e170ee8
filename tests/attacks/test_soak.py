"""A soak: thousands of turns about different reports in one process, whose memory does not grow.

`make test` asks a few, `make attack` 20,000; FINPATH_SOAK is the number of turns. A stopped soak goes on in another
process, which has its own measure of the memory.
"""

from __future__ import annotations

import gc
import os
import random
import time
from pathlib import Path

import pytest

from experiments.saved import find_program
from kg.reports import Report
from programs.turns import Conversation
from tests.attacks.figures import figures_of, write_figures

TURNS = int(os.environ.get("FINPATH_SOAK", "40"))
TURNS_EACH = 4
"""Turns of a conversation."""

ITEMS = (
    "net sales",
    "costs",
    "gross profit",
    "interest expense",
    "total debt",
    "cash",
    "dividends",
    "capital spending",
)
WARMING = 250
"""Conversations after which the memory is measured for the first time."""

KILOBYTES = 150_000
"""Growth of the memory after the warming that is too much; the kept reports vary in size."""


def _report(number: int) -> Report:
    chance = random.Random(number)
    rows = [(item, *(f"{chance.randint(1, 99_999):,}" for _ in range(3))) for item in ITEMS]
    text = f"report {number} : the pension cost was $ {chance.randint(1, 999)} million in 2019 ."
    return Report(f"soak-{number}", (text,), (("in millions", "2020", "2019", "2018"), *rows), ())


def _questions(number: int) -> list[str]:
    chance = random.Random(number)
    item, other = chance.sample(ITEMS, 2)
    return [
        f"what was the {item} in 2020?",
        "and in 2019?",
        "what was the change?",
        f"what was the ratio of {other} to {item} in 2018?",
    ][:TURNS_EACH]


def _memory() -> int:
    """Kilobytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


def test_thousands_of_turns_take_no_more_memory_and_time() -> None:
    program = find_program("beam").program
    conversations = max(TURNS // TURNS_EACH, 2)
    known = figures_of("soak")
    first, before = known.get("tries", 0) // TURNS_EACH, known.get("failed", 0)
    if first >= conversations:
        pytest.skip("has its figures")
    failed: list[str] = []
    seconds: list[float] = []
    warmed = min((conversations - first) // 4, WARMING)
    after_warming = 0

    def figures(done: int) -> dict[str, int]:
        grown = _memory() - after_warming if done > first + warmed else 0
        return {
            "tries": TURNS_EACH * done,
            "failed": before + len(failed),
            "processes": known.get("processes", 0) + 1,
            "grown kB": max(known.get("grown kB", 0), grown),
            "process seconds": known.get("process seconds", 0) + round(sum(seconds)),
        }

    for number in range(first, conversations):
        talk = Conversation(program, program.world(_report(number)))
        start = time.process_time()
        turns = [talk.ask(question) for question in _questions(number)]
        seconds.append(time.process_time() - start)
        failed += [f"{number}: {turn.message}" for turn in turns if turn.failure not in (None, "picked_none")]
        if number == first + warmed:
            gc.collect()
            after_warming = _memory()
        if number % 50 == 49:
            write_figures("soak", figures(number + 1))
    gc.collect()
    write_figures("soak", figures(conversations))
    assert not failed, failed[:5]
    assert _memory() - after_warming < KILOBYTES
    half = len(seconds) // 2
    assert sum(seconds[half:]) < 2 * sum(seconds[:half]) + 2
