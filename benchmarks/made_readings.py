"""Made-up sentences and questions for the reader, from the events of ``benchmarks/data/reader/events.txt``.

>>> made(1, seed=0)[0]["question"]
'Who acquired Talbridge Mining?'

An event has statements and questions in different words. A made document is a few statements of different events about
a few names. Its questions ask for a value of one statement. Some have no answer: the statement is missing or is about
another name. All values of all statements are spans, so those of the same kind compete.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "reader"

_HEADLINES = ("{0} in the news", "Update on {0}", "{0} : what happened", "Morning briefing", "{0} and {1}", "Notes")


@cache
def words(kind: str) -> list[str]:
    """Returns the words of a kind, of which values are made."""
    lines = (FOLDER / "words.txt").read_text(encoding="utf-8").splitlines()
    found = {name: rest.split("|") for name, _, rest in (line.partition(": ") for line in lines)}
    return [word.strip() for word in found[kind]]


@dataclass(frozen=True)
class Event:
    """An event: its statements, and its questions with the slot that each asks for."""

    statements: tuple[str, ...]
    questions: tuple[tuple[str, str], ...]


def events() -> list[Event]:
    """Returns the events of the file."""
    found = []
    for part in re.split(r"^# .*\n", (FOLDER / "events.txt").read_text(encoding="utf-8"), flags=re.M)[1:]:
        lines = part.strip().split("\n")
        statements = tuple(line[2:] for line in lines if line.startswith("S "))
        questions = tuple((line[2:4], line[5:]) for line in lines if line.startswith("Q "))
        found.append(Event(statements, questions))
    return found


def _name(generator: random.Random) -> str:
    return generator.choice(words("start")) + generator.choice(words("end"))


def _amount(generator: random.Random) -> str:
    number = generator.choice([str(generator.randint(2, 990)), f"{generator.uniform(1, 99):.1f}"])
    sign, unit = generator.choice("$€£"), generator.choice(["", " million", " million", " billion", "m", "bn"])
    word = generator.choice(["euros", "pounds", "dollars", "kroner", "yen"])
    return generator.choice([f"{sign}{number}{unit}", f"{number}{unit if len(unit) > 2 else ' million'} {word}"])


def value(kind: str, generator: random.Random) -> str:
    """Returns a made-up value of a kind: C a company, P a person, L a place, M money, N a count, T a percentage, …"""
    month, day, year = generator.choice(words("month")), generator.randint(1, 28), generator.randint(2023, 2028)
    made = {
        "C": lambda: f"{_name(generator)} {generator.choice(words('form'))}".strip(),
        "P": lambda: f"{generator.choice(words('first'))} {_name(generator)}",
        "L": lambda: _name(generator),
        "M": lambda: _amount(generator),
        "N": lambda: generator.choice(
            [
                f"{generator.randint(2, 95)}",
                f"{generator.randint(1, 90)},{day:02}0",
                "two",
                "nine",
                f"{generator.randint(100, 999)}",
            ]
        ),
        "D": lambda: generator.choice(
            [f"{month} {day}", f"{day} {month} {year}", f"{month} {year}", str(year), generator.choice(words("day"))]
        ),
        "T": lambda: generator.choice(
            [
                f"{generator.randint(1, 80)}%",
                f"{generator.uniform(1, 30):.1f} percent",
                f"{generator.randint(2, 60)} per cent",
            ]
        ),
        "X": lambda: f"{generator.choice(words('thing'))} {generator.choice(words('object'))}",
        "O": lambda: f"{generator.randint(2, 40)} {generator.choice(['days', 'weeks', 'months', 'years', 'hours'])}",
        "A": lambda: f"{generator.randint(2, 900)} {generator.choice(words('unit'))}",
    }
    return made[kind]()


def _filled(
    template: str, values: dict[str, str], generator: random.Random
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Returns the words of a statement and the span of each slot; the first name may be a pronoun with its name."""
    found: list[str] = []
    spans = {}
    for number, word in enumerate(template.split()):
        slot = re.fullmatch(r"\{(\w\d)\}", word)
        if slot is None:
            found.append(word)
            continue
        inside = values[slot[1]].split()
        if number == 0 and slot[1] in ("C1", "P1") and generator.random() < 0.25:
            found += ["It" if slot[1] == "C1" else generator.choice(["He", "She"]), "(", values[slot[1]], ")"]
            continue
        spans[slot[1]] = (len(found), len(found) + len(inside) - 1)
        found += inside
    if generator.random() < 0.3:
        found += [",", *generator.choice(words("said")).split()]
    return [*found, "."], spans


def _question(text: str, values: dict[str, str], generator: random.Random) -> str:
    """Returns a question with the values; names may be shortened to one word, as people do."""

    def short(match: re.Match[str]) -> str:
        full = values[match[1]]
        parts = full.split()
        if match[1][0] == "C" and len(parts) > 1 and generator.random() < 0.6:
            return parts[0]
        return parts[-1] if match[1][0] == "P" and generator.random() < 0.5 else full

    found = re.sub(r"\{(\w\d)\}", short, text)
    return found.lower().rstrip("?") if generator.random() < 0.08 else found


def _values(template: str, shared: dict[str, list[str]], generator: random.Random) -> dict[str, str]:
    """Returns values for the slots of a statement; names are often those of the other statements."""
    found: dict[str, str] = {}
    for slot in dict.fromkeys(re.findall(r"\{(\w\d)\}", template)):
        known = [one for one in shared.get(slot[0], []) if one not in found.values()]
        again = slot[0] in "CPL" and known and generator.random() < 0.5
        found[slot] = generator.choice(known) if again else value(slot[0], generator)
        shared.setdefault(slot[0], []).append(found[slot])
    return found


def made(count: int, seed: int, most: int = 7) -> list[dict[str, Any]]:
    """Returns questions with the sentences that are read, in the form of ``fit_reader``.

    Args:
        count: The number of questions.
        seed: The seed.
        most: The most sentences of a question.
    """
    generator = random.Random(seed)
    known = events()
    found: list[dict[str, Any]] = []
    while len(found) < count:
        row = _row(known, generator, most)
        if row is not None:
            found.append(row)
    return found


def _row(known: Sequence[Event], generator: random.Random, most: int) -> dict[str, Any] | None:
    own = generator.choice(known)
    template = generator.choice(own.statements)
    slots = set(re.findall(r"\{(\w\d)\}", template))
    fitting = [
        (slot, text) for slot, text in own.questions if slot in slots and set(re.findall(r"\{(\w\d)\}", text)) <= slots
    ]
    if not fitting:
        return None
    slot, text = generator.choice(fitting)
    shared: dict[str, list[str]] = {}
    values = _values(template, shared, generator)
    kind = generator.random()
    about = dict(values)
    if kind < 0.12:
        for one in re.findall(r"\{(\w\d)\}", text):
            about[one] = value(one[0], generator)
    statements = [] if 0.12 <= kind < 0.2 else [(template, values, True)]
    others = [one for one in known if one is not own]
    for _ in range(generator.randint(3, most - 1)):
        same = generator.random() < 0.15
        other = generator.choice(own.statements if same else generator.choice(others).statements)
        statements.append((other, _values(other, shared, generator), False))
    generator.shuffle(statements)
    names = [one for given in (shared.get("C", []), shared.get("P", []), ["The city", "Markets"]) for one in given]
    context = generator.choice(_HEADLINES).format(*generator.sample(names, 2))
    date = f"{generator.choice(words('month'))} {generator.randint(2024, 2027)}"
    readings, places, right = [], [], []
    for each, given, is_own in statements:
        own_words, spans = _filled(each, given, generator)
        kept = [one for one in spans if given[one] not in about.values() or (is_own and one == slot)]
        if not kept:
            continue
        readings.append({"context": f"{date}. {context}", "words": own_words, "spans": [spans[one] for one in kept]})
        places.append([len(right) + number for number in range(len(kept))])
        right += [int(is_own and one == slot and kind >= 0.12) for one in kept]
    asked = _question(text, about, generator)
    if not readings or (kind >= 0.2 and not any(right)):
        return None
    return {
        "set": "made",
        "question": asked,
        "answerable": any(right),
        "readings": readings,
        "places": places,
        "right": right,
    }
