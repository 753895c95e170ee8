"""Cross-validation of the beam's scorer on training conversations: how settings are chosen. Dev is for measuring.

    python benchmarks/cross_validate.py --train train.json --also finqa.json --set ranker_ensemble=1

Folds are cut by document. The conversations of ``--train`` are evaluated, each by a scorer that was fitted without
their document; those of ``--also`` are fitted on only.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.data import ConversationRecord, conversation_examples, load_conversations
from kg.calculations import START, DerivationConfig, WeightedHistory, search_turn
from kg.reports import build_ontology
from kg.search import merge_key
from optimize.fitting import folds_of
from optimize.metrics.turns import with_intervals
from optimize.optimizers import with_setting
from optimize.scorers import FitScorer, ScorerConfig
from programs.conversation import ConversationQA

MISSED = 999
"""The rank of a gold answer that is not proposed."""

Row = dict[str, Any]


Conversations = Sequence[ConversationRecord]


def fitted_without(outside: set[str], given: Conversations, config: ScorerConfig, seed: int) -> ConversationQA:
    """The beam, fitted without some documents."""
    inside = [one for one in given if one.document not in outside]
    ontology = build_ontology({one.report.id: one.report for one in inside}.values())
    program: ConversationQA = FitScorer(config, seed=seed).compile(
        ConversationQA.unfitted(ontology), trainset=conversation_examples(inside)
    )
    return program


def answer(program: ConversationQA, one: ConversationRecord) -> Row:
    """The ranks of the gold answers of a conversation, from 0, after the beam's own earlier answers."""
    scorer, config = program.scorer, program.config
    assert scorer is not None
    assert isinstance(config, DerivationConfig)
    _, index = program.turn.reader.read(one.report)
    histories: Sequence[WeightedHistory] = START
    ranks: list[int] = []
    for place, gold in enumerate(one.answers or ()):
        searched = search_turn(index, one.questions[: place + 1], histories, scorer, config)
        keys = [merge_key(candidate.answer) for candidate in searched.candidates]
        ranks.append(keys.index(merge_key(gold)) if merge_key(gold) in keys else MISSED)
        histories = searched.next_histories(config.histories)
    return {"document": one.document, "ranks": ranks}


def share(rows: Sequence[Row], name: str, depth: int) -> str:
    """The share of turns whose gold answer is among the first so many, in percent, with a 95% interval."""
    documents = [row["document"] for row in rows for _ in row["ranks"]]
    right = [float(rank < depth) for row in rows for rank in row["ranks"]]
    value, low, high = with_intervals(documents, {name: (right, None)}, seed=0).values()
    return f"{name} {100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def main() -> None:
    """Fits and evaluates every fold and prints the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--also")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE of the fit, such as ranker_ensemble=1")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    train = load_conversations(options.train).conversations
    also = load_conversations(options.also).conversations if options.also else ()
    config = ScorerConfig()
    for setting in options.set:
        key, _, value = setting.partition("=")
        config = with_setting(config, key, value, "the fit")
    fold_of = folds_of([one.document for one in train], options.folds, options.seed)
    rows: list[Row] = []
    with threadpool_limits(limits=1):
        for fold in range(options.folds):
            outside = {document for document, place in fold_of.items() if place == fold}
            program = fitted_without(outside, (*train, *also), config, options.seed)
            rows += [answer(program, one) for one in train if one.document in outside]
            print(f"after fold {fold}: {share(rows, 'top-1', 1)}", flush=True)
    print(share(rows, "top-1", 1), share(rows, "recall@10", 10), sep="\n")


if __name__ == "__main__":
    main()
