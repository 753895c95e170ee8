"""Fits the confidence in a model's parses of questions about graphs, on development turns, and prints figures.

    python benchmarks/fit_reply_confidence.py --lm local/qwen2.5-coder-1.5b --set writers_graphs_ay --turns 20

It asks the model about turns of which the beam is unsure, in random order. The figures with the fitted constants leave
out the turn's own graph. ``programs/graphs/reply_confidence.json`` holds the constants of embedded models.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import asdict
from pathlib import Path

import dspy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import plain_graphs
from collect_parses import DEVELOPED

from experiments.facade.subjects import graph_of
from experiments.lms import LMConfig, lm_settings
from kg.parsing import Parse
from optimize.queries import AskedTurn, Talk, answered_score, asked_replies, asked_turns, fitted_confidence
from programs.conversation import ConversationQA
from programs.graphs import ReplyConfidence, kind_of_reply
from programs.worlds.graph import GraphConfig


def turns_of(name: str) -> list[tuple[str, AskedTurn]]:
    """The development turns of a set, each with its graph."""
    found = []
    talks = plain_graphs.talks_of(plain_graphs.FOLDER / name, "dev")
    files = {one["graph"]: one.get("file") or plain_graphs.FILES[one["graph"]] for one in talks}
    readers = {graph: graph_of([str(plain_graphs.FOLDER / name / file)])["graph"] for graph, file in files.items()}
    for one in talks:
        queries = tuple(one.get("queries") or ())
        talk = Talk(tuple(one["questions"]), tuple(one["answers"]), queries)
        turns = asked_turns(readers[one["graph"]], talk, today=plain_graphs.TODAY)
        found += [(f"{name}.{one['graph']}", turn) for turn in turns]
    return found


def main() -> None:
    """Asks a model and prints figures and fitted constants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", required=True, help="the model, as DSPy names it")
    parser.add_argument("--set", nargs="+", choices=DEVELOPED, required=True)
    parser.add_argument("--turns", type=int, default=40, help="turns that are asked (40)")
    options = parser.parse_args()
    program = ConversationQA.for_graphs(GraphConfig(today=plain_graphs.TODAY))
    every = [(graph, turn) for name in options.set for graph, turn in turns_of(name)]
    unsure = [one for one in every if one[1].reading.confidence < program.config.trust]
    asked = random.Random(0).sample(unsure, min(options.turns, len(unsure)))
    turns = [turn for _, turn in asked]
    with dspy.context(**lm_settings(LMConfig(options.lm))):
        replies = asked_replies(program, turns)
    print(
        f"{len(turns)} of {len(unsure)} turns with a confidence below {program.config.trust}; {_kinds(turns, replies)}"
    )
    rows = list(zip(asked, replies, strict=True))
    graphs = sorted({graph for graph, _ in asked})
    for label, fit in (("constants of a capable model", False), ("fitted, graphs left out", True)):
        scores = []
        for graph in graphs:
            inside = [(turn, reply) for (own, turn), reply in rows if own != graph]
            outside = [(turn, reply) for (own, turn), reply in rows if own == graph]
            model = fitted_confidence(*map(list, zip(*inside, strict=True))) if fit else ReplyConfidence()
            scores += [answered_score(turn, reply, model, program.config.answer_from) for turn, reply in outside]
        print(label, ", ".join(f"{kind} {scores.count(kind)}" for kind in ("right", "abstained", "wrong")))
    alone = [answered_score(turn, None, ReplyConfidence(), program.config.answer_from) for turn in turns]
    print(f"without a model: right {alone.count('right')}, wrong {alone.count('wrong')}")
    fitted = fitted_confidence(turns, replies)
    print({name: round(value, 3) for name, value in asdict(fitted).items()})


def _kinds(turns: list[AskedTurn], replies: list[Parse | None]) -> str:
    kinds = [
        "refused" if reply is None else kind_of_reply(turn.reading, reply)[0]
        for turn, reply in zip(turns, replies, strict=True)
    ]
    return ", ".join(f"{kind} {kinds.count(kind)}" for kind in dict.fromkeys(kinds))


if __name__ == "__main__":
    main()
