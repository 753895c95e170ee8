"""Five-fold cross-validation of the beam's scorer on training conversations, with parts of the fit left out.

    python tests/benchmarks/cross_validate.py --train train.json --also finqa.json --dialogues dialogues.jsonl \\
        --without nothing ranker dialogues --json out.json

Folds are cut by document. The conversations of ``--train`` are evaluated, each by a scorer that was fitted without
their document; those of ``--also`` are fitted on only. This is how settings are chosen: dev is for measuring.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.data import Conversation, conversation_examples, load_conversations
from experiments.dialogues import Dialogue, read_dialogues
from kg.ontology import build_ontology
from optimize.metrics import TurnScore, score_conversation, summarise
from optimize.scorer import FitScorer
from optimize.scorer_training import ScorerConfig
from programs.registry import create_program

PARTS = ("nothing", "ranker", "dialogues", "also", "histories")
SHOWN = ("exe_accuracy", "recall_at_3", "recall_at_5", "recall_at_10", "recall_at_20", "exe_accuracy_turn_1")


def validate(
    conversations: Sequence[Conversation],
    also: Sequence[Conversation],
    dialogues: Sequence[Dialogue],
    *,
    without: str,
    folds: int,
    seed: int,
) -> list[TurnScore]:
    """The scores of all turns of ``conversations``, with own history."""
    documents = sorted({one.document for one in conversations})
    np.random.default_rng(seed).shuffle(documents)
    fold_of = {document: place % folds for place, document in enumerate(documents)}
    config = ScorerConfig(folds=0) if without == "ranker" else ScorerConfig()
    scores: list[TurnScore] = []
    for fold in range(folds):
        inside = [one for one in conversations if fold_of[one.document] != fold]
        inside += [one for one in also if without != "also" and fold_of.get(one.document, -1) != fold]
        held_out = {one.id for one in conversations if fold_of[one.document] == fold}
        held_documents = {document for document in documents if fold_of[document] == fold}
        known = held_out | {one.id for one in inside}
        extra = [
            one
            for one in dialogues
            if without != "dialogues" and one[0] not in known and _document(one[0]) not in held_documents
        ]
        ontology = build_ontology({one.report.id: one.report for one in inside}.values())
        student = create_program("beam", ontology=ontology)
        fitted = FitScorer(seed=seed, config=config, dialogues=extra).compile(
            student, trainset=conversation_examples(inside)
        )
        if without == "histories":
            fitted.turn.config = replace(fitted.config, histories=1)
        for one in conversations:
            if one.id in held_out:
                scores += score_conversation(one, fitted(report=one.report, questions=list(one.questions)).turns)
        print(f"  without {without}: fold {fold + 1} of {folds}, {len(scores)} turns", flush=True)
    return scores


def _document(conversation: str) -> str:
    name = conversation.partition("_")[2] or conversation
    head, dash, tail = name.rpartition("-")
    return head if dash and tail.isdigit() else name


def main() -> None:
    """Prints a row for each part left out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--also")
    parser.add_argument("--dialogues")
    parser.add_argument("--without", nargs="+", choices=PARTS, default=["nothing"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    conversations = load_conversations(options.train).conversations
    also = load_conversations(options.also).conversations if options.also else ()
    dialogues = read_dialogues(options.dialogues).items if options.dialogues else ()
    rows: dict[str, dict[str, float]] = {}
    with threadpool_limits(limits=1):
        for part in options.without:
            scores = validate(conversations, also, dialogues, without=part, folds=options.folds, seed=options.seed)
            rows[part] = summarise(scores, seed=options.seed)
    for part, figures in rows.items():
        print(f"without {part:10}", *(f"{name} {figures[name]:.3f}" for name in SHOWN))
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
