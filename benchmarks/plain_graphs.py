"""Conversations about plain graphs: Turtle, N-Triples, JSON-LD and tables of triples.

    python benchmarks/plain_graphs.py dev --verbose
    python benchmarks/plain_graphs.py held_out
    python benchmarks/plain_graphs.py held_out --set made_graphs
    python benchmarks/plain_graphs.py held_out --set writers_graphs_q --conversations 60 \
        --lm openai/reader --api-base http://127.0.0.1:8765/v1

The author of ``plain_graphs`` did not know finpath. The twelve graphs of ``made_graphs`` were written before the parser
was changed for them. Read ``dev`` as you like, and report on ``held_out``, which nobody reads. A set with gold queries
has figures by kind of question. With ``--lm``, turns are counted with and without it; ``--conversations`` draws some.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import dspy
from question_sets import unpacked

from experiments.facade import graph_of
from experiments.lms import LMConfig, lm_settings
from kg.text import periods
from optimize.metrics import AnswerScore, abstention_figures, risk_coverage
from programs.conversation import ConversationQA
from programs.turns import AnyTurn, Conversation

FOLDER = unpacked("graphs")
SETS = ["plain_graphs", "made_graphs", "further_graphs", "strangers_graphs", "strangers_graphs_2",
        *sorted(one.name for one in FOLDER.glob("writers_graphs_*"))]  # fmt: skip
FILES = {"hospital": "hospital.ttl", "museum": "museum.nt", "railway": "railway.jsonld", "packages": "packages.csv"}
TODAY = date(2026, 11, 22)


def folded(text: str) -> str:
    """A name without case, accents, underscores, punctuation and surrounding blanks."""
    plain = unicodedata.normalize("NFKD", text.casefold().replace("_", " "))
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(re.sub(r"[^\w\s]", " ", plain).split())


def number(text: str) -> Decimal | None:
    """The number of a text with thousands separators and a unit, or ``None``."""
    found = re.fullmatch(r"\D{0,3}?(-?\d[\d,]*(?:\.\d+)?)(?:\s*[^\d\s]+){0,2}", text.strip())
    try:
        return Decimal(found[1].replace(",", "")) if found else None
    except InvalidOperation:
        return None


def alike(one: str, other: str) -> bool:
    """Whether two answers are the same number, day or name."""
    days = [[period for *_, period in periods(text)] for text in (one, other)]
    if days[0] and days[1]:
        return days[0] == days[1]
    first, second = number(one), number(other)
    if first is not None and second is not None:
        return first == second
    return folded(one) == folded(other)


def is_right(answers: list[str] | None, gold: list[str] | None) -> bool:
    """Whether the answers are the gold ones, each once, in any order."""
    if answers is None or gold is None:
        return answers is None and gold is None
    left = list(answers)
    for one in gold:
        match = next((other for other in left if alike(other, one)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def answers_of(turn: AnyTurn) -> list[str] | None:
    """The answers of a turn; ``None`` if it abstained."""
    if turn.failure is not None or turn.answer is None:
        return None
    return [str(one) for one in turn.answer] if isinstance(turn.answer, tuple) else [str(turn.answer)]


class Scored(NamedTuple):
    """A turn with what it is compared with.

    Attributes:
        talk: The conversation.
        turn: The turn.
        gold: The answers; ``None`` if the graph has none.
    """

    talk: dict[str, Any]
    turn: AnyTurn
    gold: list[str] | None

    @property
    def kind(self) -> str:
        """Whether it is right, abstained or wrong."""
        found = answers_of(self.turn)
        return "right" if is_right(found, self.gold) else "abstained" if found is None else "wrong"


def talks_of(folder: Path, part: str, most: int | None = None) -> list[dict[str, Any]]:
    """The conversations of a part of a set, or some of them, those with the least hashes of their names."""
    talks = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [one for one in talks if one["part"] == part]
    if most is None:
        return found
    drawn = sorted(found, key=lambda one: hashlib.sha256(f"{folder.name} {one['id']}".encode()).hexdigest())[:most]
    return [one for one in found if one in drawn]


def held(
    program: ConversationQA, worlds: Mapping[str, Any], talks: Sequence[dict[str, Any]], lm: LMConfig | None
) -> list[Scored]:
    """The turns of some conversations, which are held side by side where a server answers."""
    settings = lm_settings(lm) if lm is not None else {}

    def turns_of(talk: dict[str, Any]) -> list[Scored]:
        conversation = Conversation(program, worlds[talk["graph"]])
        found = []
        for question, gold in zip(talk["questions"], talk["answers"], strict=True):
            with dspy.context(**settings):
                turn = conversation.ask(question)
            found.append(Scored(talk, turn, gold))
        return found

    threads = (lm.threads or lm.default_threads) if lm is not None else 1
    with ThreadPoolExecutor(threads) as pool:
        return [one for turns in pool.map(turns_of, talks) for one in turns]


def report_all(turns: Sequence[Scored]) -> None:
    """Prints the figures of some turns, by graph."""
    by_graph: dict[str, list[str]] = defaultdict(list)
    scores: list[AnswerScore] = []
    for one in turns:
        for name in (one.talk["graph"], "all"):
            by_graph[name].append(one.kind)
        answer = None if answers_of(one.turn) is None else (one.kind,)
        scores.append(AnswerScore(answer, one.turn.confidence or 0.0, None if one.gold is None else ("right",)))
    for name, kinds in sorted(by_graph.items(), key=lambda pair: pair[0] == "all"):
        counts = {kind: kinds.count(kind) for kind in ("right", "abstained", "wrong")}
        shares = ", ".join(f"{kind} {count} ({count / len(kinds):.0%})" for kind, count in counts.items())
        print(f"{name:13} {len(kinds):3} turns: {shares}")
    for name, figure in abstention_figures(scores).items():
        print(f"  {name} {figure:.3f}")
    for point in risk_coverage(scores)[:: max(1, len(scores) // 8)]:
        threshold, coverage, risk = point.values()
        print(f"  confidence >= {threshold:.2f}: covers {coverage:.0%}, wrong {risk:.0%} of these")


def main() -> None:
    """Holds the conversations of a part and prints right, abstained and wrong turns by graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["dev", "held_out"])
    parser.add_argument("--set", default="plain_graphs", choices=SETS)
    parser.add_argument("--verbose", action="store_true", help="print each turn (of dev alone)")
    parser.add_argument("--conversations", type=int, metavar="N", help="some conversations, drawn by a hash")
    parser.add_argument("--lm", help="a language model, as DSPy names it")
    parser.add_argument("--api-base", help="the address of its server")
    parser.add_argument("--threads", type=int, help="conversations that are held side by side")
    options = parser.parse_args()
    lm = options.lm and LMConfig(options.lm, options.api_base, timeout=3000, retries=0, threads=options.threads)
    folder = FOLDER / options.set
    talks = talks_of(folder, options.part, options.conversations)
    if not talks:
        parser.error(f"the set {options.set} has no part {options.part}")
    files = {one["graph"]: one.get("file") or FILES[one["graph"]] for one in talks}
    program = ConversationQA.for_graphs()
    program.beam.config = replace(program.config, today=TODAY)
    worlds = {name: program.world(**graph_of([str(folder / file)])) for name, file in files.items()}
    turns = held(program, worlds, talks, None)
    if lm is not None:
        print("without the language model")
        report_all(turns)
        turns = held(program, worlds, talks, lm)
        calls = sum(one.turn.usage.lm_calls for one in turns)
        refused = sum(bool(one.turn.understanding and one.turn.understanding.refused) for one in turns)
        print(f"with {lm.name}, {calls} calls, {refused} replies refused")
    if options.verbose and options.part == "dev":
        for one in turns:
            asked = f"{one.turn.question}  ({one.turn.canonical})"
            print(f"{one.talk['id']:12} {one.kind:9} {one.turn.confidence or 0:.2f} {asked}")
            print(f"{'':14}{answers_of(one.turn)} | {one.gold} | {one.turn.detail.path or one.turn.message}")
    report_all(turns)


if __name__ == "__main__":
    main()
