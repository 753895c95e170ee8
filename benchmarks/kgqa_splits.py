"""KGQA benchmarks with paraphrased test questions, and with relations that training did not have.

    python benchmarks/kgqa_splits.py paraphrases worldcup --data FOLDER --learn others
    python benchmarks/kgqa_splits.py relations worldcup --data FOLDER --rank-paths

``paraphrases``: one of five parts by topic is the test part. Its questions are replaced by paraphrases of one of the
three sets of ``benchmarks/data/paraphrases``; each set takes its turn. With ``--learn none`` training has the questions
of the benchmark alone; with ``--learn others`` also paraphrases of the other two sets. A question has *new words* if it
has a content word that training does not have.

``relations``: five folds by relation. No training question has the last relation of a test question in its path.

A question is right if the first answer is gold. An answer counts as given from a confidence of 0.5.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.compiling import GraphCompileConfig, crossvalidate  # noqa: E402
from experiments.compiling.crossvalidation import folds, relations_of  # noqa: E402
from experiments.compiling.graphs import fit_program  # noqa: E402
from experiments.data import GraphSource, KGQuestion, LoadedQuestions, load_questions, open_graph  # noqa: E402
from experiments.evaluation import Journal  # noqa: E402
from kg.paths import PathConfig  # noqa: E402
from kg.text import content_tokens, stem  # noqa: E402
from optimize.metrics import score_question  # noqa: E402
from optimize.metrics.calibration import expected_calibration_error  # noqa: E402
from optimize.metrics.statistics import bootstrap_ratio, group_sums  # noqa: E402

PARAPHRASES = ROOT / "benchmarks" / "data" / "paraphrases"
SETS = 3
ANSWER_FROM = 0.5
BENCHMARKS: dict[str, tuple[str, str, tuple[str, ...], int]] = {
    "metaqa": ("metaqa", "kb.txt", ("1hop_train.txt", "2hop_train.txt", "3hop_train.txt"), 3),
    "worldcup": ("worldcup2014", "WC2014.txt", ("WC-P1.txt", "WC-P2.txt"), 2),
    "pathquestion": ("pathquestion", "2H-kb.txt", ("PQ-2H.txt",), 2),
    "pathquestion-3": ("pathquestion", "3H-kb.txt", ("PQ-3H.txt",), 3),
}
"""Of each benchmark the folder, the graph, the files of questions, and the relations of a path at the most."""


def main() -> None:
    """Runs one split and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("split", choices=["paraphrases", "relations"])
    parser.add_argument("benchmark", choices=list(BENCHMARKS))
    parser.add_argument("--data", type=Path, required=True, help="the folder of the benchmarks' folders")
    parser.add_argument("--limit", type=int, default=1500, help="questions of each file, drawn at random")
    parser.add_argument("--learn", choices=["none", "others"], default="none", help="paraphrases to learn from")
    parser.add_argument("--rank-paths", action="store_true", help="with the ranker of whole paths")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--errors", action="store_true", help="also print the questions that are not right")
    options = parser.parse_args()
    source, loaded, hops = opened(options)
    config = GraphCompileConfig(PathConfig(max_depth=hops), seed=options.seed, ranked=options.rank_paths)
    run = paraphrased if options.split == "paraphrases" else unseen_relations
    for name, row in run(options, source, loaded, config).items():
        print(f"{name}: {json.dumps(row)}")


def opened(options: argparse.Namespace) -> tuple[GraphSource, LoadedQuestions, int]:
    """The graph, a sample of the questions, and the relations of a path at the most."""
    folder, graph, files, hops = BENCHMARKS[options.benchmark]
    drawn: list[KGQuestion] = []
    form: Any = folder.removesuffix("2014")
    for file in files:
        loaded = load_questions(str(options.data / folder / file), form)
        whole = list(loaded.questions)
        random.Random(options.seed).shuffle(whole)
        drawn += whole[: options.limit]
    return open_graph(str(options.data / folder / graph)), dataclasses.replace(loaded, questions=tuple(drawn)), hops


def unseen_relations(
    options: argparse.Namespace, source: GraphSource, loaded: LoadedQuestions, config: GraphCompileConfig
) -> dict[str, Any]:
    """Figures of folds by relation."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "parts.jsonl"
        found = crossvalidate(source, loaded, config, count=5, split_by="relation", journal=journal)
        scores = [score for line in Journal(journal).read()[1:] for score in line["scores"]]
    rows = [(score["rank"] == 1, score["confidence"] or 0.0, score["group"]) for score in scores]
    if options.errors:
        for score in scores:
            if score["rank"] != 1:
                print(f"{score['confidence']!s:.5} {score['question']} -> {score['answer']} ({score['gold'][0]})")
    return {**figures(rows), "hit_at_10": found["hit_at_10"], "f1": found["f1"]}


def paraphrased(
    options: argparse.Namespace, source: GraphSource, loaded: LoadedQuestions, config: GraphCompileConfig
) -> dict[str, Any]:
    """Figures of each set of paraphrases, of all, and of the questions with new words."""
    name = options.benchmark.partition("-")[0]
    known = json.loads((PARAPHRASES / f"{name}.json").read_text(encoding="utf-8"))
    paths = path_names(source, loaded.questions, config)
    kept = [one for one in loaded.questions if next(written(known, paths[one.id], 0), None) is not None]
    parts = folds(kept, 5, "topic", options.seed)
    test, train = parts[0], [one for part in parts[1:] for one in part]
    result: dict[str, Any] = {"train": len(train), "test": len(test), "without_a_paraphrase": len(paths) - len(kept)}
    rows, new = [], []
    program = None
    for number in range(SETS):
        draw = random.Random(options.seed + number)
        asked = [worded(one, known, paths[one.id], [number], draw) for one in test]
        others = [place for place in range(SETS) if place != number]
        extra = [worded(one, known, paths[one.id], others, draw) for one in train] if options.learn == "others" else []
        if program is None or extra:
            program, _ = fit_program(source, [*train, *extra], config)
        words = {word for one in [*train, *extra] for word in _content(one)}
        found = []
        for one in asked:
            graph = source.of(one)
            turn = program(question=one.question, graph=graph, topics=one.topics).turn
            score = score_question(one, turn, graph.index)
            found.append((score.rank == 1, turn.confidence or 0.0, score.group))
            new.append(not words.issuperset(_content(one)))
            if options.errors and score.rank != 1:
                print(f"{found[-1][1]:.2f} {one.question} -> {score.answer} ({one.answers[0]})")
        result[f"set {number + 1}"] = figures(found)
        rows += found
    result["all"] = figures(rows)
    result["new words"] = figures([row for row, is_new in zip(rows, new, strict=True) if is_new])
    return result


def path_names(
    source: GraphSource, questions: Sequence[KGQuestion], config: GraphCompileConfig
) -> dict[str, tuple[str, ...]]:
    """The relations of each question's path, with their direction: gold, or most frequent for the question's wording.

    Without gold paths, twelve questions of each wording are located in the graph.
    """
    if all(one.gold_paths for one in questions):
        return {one.id: tuple(one.gold_paths[0].split(" -> ")[1::2]) for one in questions}
    alike: dict[str, list[KGQuestion]] = {}
    for one in questions:
        alike.setdefault(f"{one.id.partition('_')[0]} {one.question.replace(one.topics[0], '{}')}", []).append(one)
    found: dict[str, tuple[str, ...]] = {}
    for members in alike.values():
        votes: Counter[tuple[str, ...]] = Counter()
        for paths in relations_of(source, members[:12], config, directed=True).values():
            votes.update(paths)
        best = votes.most_common(1)[0][0] if votes else ()
        found |= {one.id: best for one in members}
    return found


def worded(
    question: KGQuestion, known: dict[str, Any], path: tuple[str, ...], sets: Sequence[int], draw: random.Random
) -> KGQuestion:
    """A question in the words of a paraphrase of one of some sets."""
    texts = list(written(known, path, draw.choice(list(sets))))
    text = draw.choice(texts).replace("{}", question.topics[0])
    return dataclasses.replace(question, id=f"{question.id}-paraphrased", question=text)


def written(known: dict[str, Any], path: tuple[str, ...], number: int) -> Iterator[str]:
    """The paraphrases of a path in a set: of the whole path, or nested noun phrases in a question of the last one."""
    if "last" not in known:
        yield from known.get(" -> ".join(path), [[]] * SETS)[number]
        return
    if any(relation not in known["inner"] for relation in path[:-1]) or path[-1] not in known["last"]:
        return
    inner = ["{}"]
    for relation in path[:-1]:
        inner = [phrase.replace("{}", text) for text in inner for phrase in known["inner"][relation][number]]
    for text in inner:
        yield from (question.replace("{}", text) for question in known["last"][path[-1]][number])


def _content(question: KGQuestion) -> set[str]:
    text = question.question
    for topic in question.topics:
        text = text.replace(topic, " ")
    return {stem(word) for word in content_tokens(text)}


def figures(rows: Sequence[tuple[bool, float, str]]) -> dict[str, Any]:
    """Hit@1 with its 95% interval over topics, the shares at the limit, and the calibration error."""
    if not rows:
        return {"questions": 0}
    count = len(rows)
    given = [good for good, sure, _ in rows if sure >= ANSWER_FROM]
    hit = bootstrap_ratio(*group_sums([group for *_, group in rows], [float(good) for good, *_ in rows]), seed=0)
    return {
        "questions": count,
        "hit_at_1": round(hit.value, 4),
        "interval": [round(hit.low, 4), round(hit.high, 4)],
        "right": round(sum(given) / count, 4),
        "abstained": round(1 - len(given) / count, 4),
        "wrong": round((len(given) - sum(given)) / count, 4),
        "calibration_error": round(expected_calibration_error([row[1] for row in rows], [row[0] for row in rows]), 4),
    }


if __name__ == "__main__":
    main()
