"""Conversations about plain graphs: Turtle, N-Triples, JSON-LD and tables of triples.

    python benchmarks/plain_graphs.py dev --verbose
    python benchmarks/plain_graphs.py held_out
    python benchmarks/plain_graphs.py held_out --set made_graphs

The author of ``plain_graphs`` did not know finpath. The twelve graphs of ``made_graphs`` were written before the parser
was changed for them. Read ``dev`` as you like, and report on ``held_out``, which nobody reads. A set with gold queries
has figures by kind of question, too.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import unicodedata
from collections import defaultdict
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from query_kinds import KINDS, kind_of

from experiments.commands.conversations.graphs import graph_program, graph_world
from kg.text import periods
from optimize.metrics import AnswerScore, abstention_figures, risk_coverage
from programs.turns import AnyTurn, Conversation

FOLDER = Path(__file__).parent / "data"
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


def main() -> None:
    """Holds the conversations of a part and prints right, abstained and wrong turns by graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["dev", "held_out"])
    parser.add_argument("--set", default="plain_graphs", choices=SETS)
    parser.add_argument("--verbose", action="store_true", help="print each turn (of dev alone)")
    options = parser.parse_args()
    kinds: dict[str, list[str]] = defaultdict(list)
    by_shape: dict[str, list[str]] = defaultdict(list)
    scores: list[AnswerScore] = []
    worlds: dict[str, Any] = {}
    program = graph_program(today=TODAY)
    folder = FOLDER / options.set
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if one["part"] != options.part:
            continue
        name = one["graph"]
        if name not in worlds:
            worlds[name] = graph_world([str(folder / (one.get("file") or FILES[name]))])
        conversation = Conversation(program, worlds[name])
        queries = one.get("queries") or [None] * len(one["questions"])
        for place, (question, gold, query) in enumerate(zip(one["questions"], one["answers"], queries, strict=True)):
            turn = conversation.ask(question)
            found = answers_of(turn)
            right = is_right(found, gold)
            kind = "right" if right else "abstained" if found is None else "wrong"
            kinds[name].append(kind)
            if gold is None or query is not None:
                by_shape[kind_of(query if gold is not None else None, is_later=place > 0)].append(kind)
            answer = None if found is None else (("right",) if right else ("wrong",))
            scores.append(AnswerScore(answer, turn.confidence or 0.0, None if gold is None else ("right",)))
            if options.verbose and options.part == "dev":
                print(f"{one['id']:12} {kind:9} {turn.confidence or 0:.2f} {question}  ({turn.canonical})")
                print(f"{'':14}{found} | {gold} | {turn.detail.path or turn.message}")
    if not kinds:
        parser.error(f"the set {options.set} has no part {options.part}")
    for name, found_kinds in kinds.items():
        report(name, found_kinds)
    report("all", [kind for found_kinds in kinds.values() for kind in found_kinds])
    for shape in (one for one in KINDS if one in by_shape):
        report(shape, by_shape[shape])
    for name, figure in abstention_figures(scores).items():
        print(f"  {name} {figure:.3f}")
    for point in risk_coverage(scores)[:: max(1, len(scores) // 8)]:
        print(f"  confidence >= {point.threshold:.2f}: covers {point.coverage:.0%}, wrong {point.risk:.0%} of these")


def report(name: str, kinds: list[str]) -> None:
    """Prints the counts of one graph or kind of question."""
    counts = {kind: kinds.count(kind) for kind in ("right", "abstained", "wrong")}
    shares = ", ".join(f"{kind} {count} ({count / len(kinds):.0%})" for kind, count in counts.items())
    print(f"{name:13} {len(kinds):3} turns: {shares}")


if __name__ == "__main__":
    main()
