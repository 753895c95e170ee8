"""Parses of questions by a language model, alone and together with the beam, before and after demonstrations.

    python benchmarks/model_parses.py ask local/qwen2.5-coder-0.5b --set further_graphs --out parses.jsonl
    python benchmarks/model_parses.py ask local/qwen2.5-coder-0.5b --set further_graphs --demos 4 --out compiled.jsonl
    python benchmarks/model_parses.py score parses.jsonl compiled.jsonl

The beam alone holds the conversations, and the model is asked for each turn in which the beam's confidence is below
0.8. DSPy's ``LabeledFewShot`` chooses the demonstrations from gold parses: the beam's, where their answers are the gold
ones, of the development parts of other graphs. A line a turn is appended; a stopped run goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dspy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import plain_graphs

from experiments.commands.conversations.graphs import graph_program, graph_world
from experiments.lms.config import LMConfig, make_lm
from kg.parsing import Parse
from programs.graphs.query_parsing import LMQueryParser, joined, labelled_example
from programs.graphs.query_qa import parse_answer
from programs.turns import Conversation

TRUST = 0.8


def turns_of(set_name: str, part: str) -> Iterator[tuple[str, Any, Any, Any, list[str] | None]]:
    """The graph, the reader, the beam's reading and the turns before it, and the gold answers of each turn."""
    folder = plain_graphs.FOLDER / set_name
    worlds: dict[str, Any] = {}
    program = graph_program(today=plain_graphs.TODAY)
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if one["part"] != part:
            continue
        name = one["graph"]
        if name not in worlds:
            worlds[name] = graph_world([str(folder / (one.get("file") or plain_graphs.FILES[name]))])
        conversation = Conversation(program, worlds[name])
        for question, gold in zip(one["questions"], one["answers"], strict=True):
            past = conversation.state.past
            reading = worlds[name].graph.read(question, past, today=plain_graphs.TODAY)
            conversation.ask(question)
            yield name, worlds[name].graph, reading, past, gold


def answer_of(reader: Any, parse: Parse | None) -> list[str] | None:
    """The answers of a parse, or ``None`` without one."""
    if parse is None or (not parse.nodes and parse.holds is None and parse.number is None):
        return None
    answer = parse_answer(reader.graph, parse)
    return [str(one) for one in answer] if isinstance(answer, tuple) else [str(answer)]


def demonstrations(set_name: str) -> list[dspy.Example]:
    """Gold parses: those of the beam whose answers are the gold ones."""
    found = []
    for name, reader, reading, past, gold in turns_of(set_name, "dev"):
        best = reading.parses[0] if reading.parses else None
        if gold is not None and best is not None and plain_graphs.is_right(answer_of(reader, best), gold):
            example = labelled_example(reading, reader, best, past)
            if example is not None:
                found.append(dspy.Example(graph=name, **example).with_inputs("graph"))
    return found


def chosen(examples: Sequence[dspy.Example], count: int) -> list[dspy.Example]:
    """The examples with the most kinds of operations that are not yet shown, the shortest schema first."""
    known: set[str] = set()
    left, found = sorted(examples, key=lambda one: len(one.relations)), []
    while left and len(found) < count:
        best = max(left, key=lambda one: (len(_kinds(one) - known), -len(one.relations)))
        known |= _kinds(best)
        left.remove(best)
        found.append(best)
    return found


def _kinds(example: dspy.Example) -> set[str]:
    return {step.operation for step in example.query.steps} | {f"answer: {example.query.answer}"}


def ask(options: argparse.Namespace) -> None:
    """Asks the model and appends a line a turn."""
    parser = LMQueryParser()
    if options.demos:
        train = chosen(demonstrations(options.train), options.demos)
        student = dspy.LabeledFewShot(k=options.demos).compile(parser.predict, trainset=train, sample=False)
        parser.predict.demos = student.demos
        print(f"{len(student.demos)} demonstrations: {sorted(set().union(*map(_kinds, student.demos)))}", flush=True)
    done = sum(1 for _ in options.out.open()) if options.out.exists() else 0
    with dspy.context(lm=make_lm(LMConfig(options.model))), options.out.open("a", encoding="utf-8") as out:
        for place, (name, reader, reading, past, gold) in enumerate(turns_of(options.set, options.part)):
            if place < done or place >= options.limit:
                continue
            row: dict[str, Any] = {"graph": name, "gold": gold is not None, "confidence": reading.confidence}
            beam = answer_of(reader, reading.parses[0] if reading.parses else None)
            row["beam"] = gold is not None and beam is not None and plain_graphs.is_right(beam, gold)
            row["asked"] = reading.confidence < TRUST
            if row["asked"]:
                started, refused = time.perf_counter(), parser.refused
                parse, usage = parser.parse(reading.question, reader, reading, past)
                own = answer_of(reader, parse)
                both = joined(reading, parse)
                row |= {
                    "refused": parser.refused > refused,
                    "model": None if own is None else plain_graphs.is_right(own, gold),
                    "agreed": own is not None and own == beam,
                    "says_none": parse is not None and own is None,
                    "joined": None if not both.parses else plain_graphs.is_right(
                        answer_of(reader, both.parses[0]), gold),
                    "joined_confidence": both.confidence,
                    "seconds": round(time.perf_counter() - started, 2),
                    "tokens": usage.prompt_tokens,
                }  # fmt: skip
            out.write(json.dumps(row) + "\n")
            out.flush()


def score(files: Sequence[Path], answer_from: float) -> None:
    """Prints the figures of some runs."""
    for file in files:
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        asked = [one for one in rows if one["asked"]]
        kinds = {"beam": [], "joined": []}  # type: dict[str, list[str]]
        for one in rows:
            for way in kinds:
                is_joined = way == "joined" and one["asked"]
                right = one["joined"] if is_joined else one["beam"]
                sure = (one["joined_confidence"] if is_joined else one["confidence"]) >= answer_from
                given = sure and (right is not None)
                kinds[way].append("right" if (right if given else not one["gold"]) else "wrong" if given else "none")
        print(f"{file.name}: {len(rows)} turns, asked in {len(asked)}")
        answered = [one for one in asked if one["model"] is not None]
        print(
            f"  the model alone: right {sum(one['model'] for one in answered)}, wrong "
            f"{sum(not one['model'] for one in answered)}, refused {sum(one['refused'] for one in asked)}, "
            f"says that the graph has no answer {sum(one['says_none'] for one in asked)} "
            f"(rightly {sum(one['says_none'] and not one['gold'] for one in asked)}); "
            f"the beam's first there: right {sum(one['beam'] for one in asked)}"
        )
        agreed = [one for one in asked if one["agreed"]]
        print(f"  agree {len(agreed)}, of which right {sum(one['beam'] for one in agreed)}")
        for way, found in kinds.items():
            counts = {kind: found.count(kind) for kind in ("right", "none", "wrong")}
            print(f"  {way}: " + ", ".join(f"{kind} {count / len(found):.1%}" for kind, count in counts.items()))
        if asked:
            seconds = sorted(one["seconds"] for one in asked)
            print(f"  {seconds[len(seconds) // 2]} s a call at the median")


def main() -> None:
    """Asks a model or scores runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    asking = verbs.add_parser("ask")
    asking.add_argument("model")
    asking.add_argument("--set", default="further_graphs", choices=plain_graphs.SETS)
    asking.add_argument("--part", default="dev", choices=["dev", "held_out"])
    asking.add_argument("--train", default="made_graphs", choices=plain_graphs.SETS, help="the demonstrations' graphs")
    asking.add_argument("--demos", type=int, default=0)
    asking.add_argument("--limit", type=int, default=1000, help="turns")
    asking.add_argument("--out", type=Path, required=True)
    asking.set_defaults(run=ask)
    scoring = verbs.add_parser("score")
    scoring.add_argument("files", type=Path, nargs="+")
    scoring.add_argument("--answer-from", type=float, default=0.6)
    scoring.set_defaults(run=lambda options: score(options.files, options.answer_from))
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
