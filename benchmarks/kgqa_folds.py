"""Questions about a graph by five folds: the rows of PathQuestion, WorldCup2014 and WebQSP in docs/results.md.

    python benchmarks/kgqa_folds.py --graph 2H-kb.txt --questions PQ-2H.txt --format pathquestion

Questions about one topic are in the same fold.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from experiments.data import load_graph, load_questions
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.kgqa import KGQuestions, fit_graphs
from experiments.saved import SavedProgram
from optimize.fitting import folds_of
from optimize.metrics import KGQAScore, summarise_kgqa
from programs.worlds.graph import GraphConfig

FOLDS = 5


def main() -> None:
    """Fits on all folds but one, scores that one, and prints the figures over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--graph", "--questions", "--format"):
        parser.add_argument(name, required=True)
    parser.add_argument("--rank-paths", action="store_true", help="with the ranker of whole paths")
    parser.add_argument("--max-depth", type=int, default=3)
    options = parser.parse_args()
    search = GraphConfig(max_depth=options.max_depth)
    source = load_graph(options.graph)
    loaded = load_questions(options.questions, options.format)
    topics = [" | ".join(question.topics) or question.id for question in loaded.questions]
    fold_of = folds_of(topics, FOLDS, seed=0)
    pairs = [(fold_of[topic], question) for topic, question in zip(topics, loaded.questions, strict=True)]
    scores: list[KGQAScore] = []
    for fold in range(FOLDS):
        part = tuple(question for own, question in pairs if own == fold)
        rest = [question for own, question in pairs if own != fold]
        saved = SavedProgram(fit_graphs(source.graph, rest, search, ranked=options.rank_paths), "fold", Path())
        task = KGQuestions(source, dataclasses.replace(loaded, questions=part, problems=()))
        scores += evaluate(saved, task, EvaluationConfig()).scores
    print(json.dumps(summarise_kgqa(scores, seed=0), indent=1))


if __name__ == "__main__":
    main()
