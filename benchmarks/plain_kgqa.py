"""Questions of the KGQA benchmarks, asked of their graphs as plain graphs: nothing is fitted on their questions.

    python benchmarks/plain_kgqa.py webqsp --limit 200 --data FOLDER
    python benchmarks/plain_kgqa.py worldcup --limit 200 --data FOLDER --without-relation

``--without-relation`` takes the relation that answers a question out of the graph, so each answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.facts import FactGraph, Triple
from kg.parsing import ParseReader, QuestionReader

Question = tuple[str, frozenset[str], str]
"""A text, the gold answers, and the last relation of the gold path where it is known."""


def read_metaqa(folder: Path) -> tuple[list[Triple], list[Question]]:
    """MetaQA: training questions of one and two hops."""
    triples = [Triple(*line.split("|"), True) for line in (folder / "kb.txt").read_text().splitlines() if line]
    questions = []
    for hops in ("1hop", "2hop"):
        for line in (folder / f"{hops}_train.txt").read_text().splitlines():
            text, answers = line.split("\t")
            questions.append((text.replace("[", "").replace("]", "") + "?", frozenset(answers.split("|")), ""))
    return triples, questions


def read_paths(kb: Path, files: list[Path]) -> tuple[list[Triple], list[Question]]:
    """WorldCup and PathQuestion, whose lines have the gold path."""
    triples = [Triple(*line.split("\t"), True) for line in kb.read_text().splitlines() if line.count("\t") == 2]
    triples = [one for one in triples if not one.relation.endswith("_inverse")]
    questions = []
    for file in files:
        for line in file.read_text().splitlines():
            parts = line.split("\t")
            text, path = parts[0], parts[2].split("#")
            answers = parts[3] if len(parts) > 3 and "/" in parts[3] else parts[1].partition("(")[2].rstrip(")")
            gold = frozenset(one for one in answers.split("/") if one) or frozenset((parts[1],))
            steps = path[: path.index("<end>")] if "<end>" in path else path
            questions.append((text.replace("_", " "), gold, steps[-2].removesuffix("_inverse")))
    return triples, questions


def read_webqsp(folder: Path) -> tuple[list[Triple], list[Question]]:
    """WebQSP as it is here."""
    lines = [line.split("\t") for line in (folder / "kg.tsv").read_text().splitlines()]
    triples = [Triple(*parts, True) for parts in lines if len(parts) == 3]
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    return triples, [(one["question"], frozenset(one["answer"]), "") for one in questions]


def load(name: str, data: Path) -> tuple[list[Triple], list[Question]]:
    """The triples and questions of a benchmark."""
    if name == "metaqa":
        return read_metaqa(data / "metaqa")
    if name == "webqsp":
        return read_webqsp(data / "webqsp")
    if name == "worldcup":
        folder = data / "worldcup2014"
        return read_paths(folder / "WC2014.txt", [folder / "WC-P1.txt", folder / "WC-P2.txt"])
    return read_paths(data / "pathquestion" / "2H-kb.txt", [data / "pathquestion" / "PQ-2H.txt"])


def runs(
    triples: list[Triple], questions: list[Question], *, without: bool
) -> Iterator[tuple[list[Triple], list[Question]]]:
    """The graph with its questions; with ``without``, one graph for each relation that is taken out."""
    if not without:
        yield triples, questions
        return
    by_relation: dict[str, list[Question]] = defaultdict(list)
    for text, _, relation in questions:
        by_relation[relation].append((text, frozenset(), relation))
    for relation, found in sorted(by_relation.items()):
        yield [one for one in triples if one.relation != relation], found


def main() -> None:
    """Asks a sample of the questions and prints right, abstained and wrong ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["metaqa", "webqsp", "worldcup", "pathquestion"])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the benchmarks' folders")
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--without-relation", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    triples, questions = load(options.name, options.data)
    questions = random.Random(18).sample(questions, min(options.limit, len(questions)))
    kinds: list[str] = []
    for kept, asked in runs(triples, questions, without=options.without_relation):
        reader = QuestionReader(
            FactGraph.build(kept), shipped_encoder().vectors, shipped_thesaurus(), parse_reader=ParseReader.load()
        )
        for text, gold, _ in asked:
            reading = reader.read(text, today=date.today())
            best = reading.parses[0] if reading.parses else None
            names = frozenset(reader.graph.values[node].text for node in best.nodes) if best else frozenset()
            right = bool(names) and names == gold
            kind = "abstained" if reading.confidence < 0.5 else "right" if right else "wrong"
            kinds.append(kind)
            if options.verbose:
                path = "" if best is None else str(reader.path(best))
                print(f"{kind:9} {right!s:5} {reading.confidence:.2f} {text} | {path} | {sorted(gold)[:3]}", flush=True)
    shares = ", ".join(
        f"{kind} {kinds.count(kind)} ({kinds.count(kind) / len(kinds):.0%})" for kind in sorted(set(kinds))
    )
    print(f"{options.name}: {len(kinds)} questions: {shares}")


if __name__ == "__main__":
    main()
