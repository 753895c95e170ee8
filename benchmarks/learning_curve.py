r"""The beam's accuracy on held-out pages by the amount and the kind of its training data.

    python benchmarks/learning_curve.py --base all-MiniLM-L6-v2 --train convfinqa/train.json written/train.json … \
        --measure convfinqa/train.json written/train.json --share 0.1 --epochs 4
    python benchmarks/learning_curve.py … --without written/train.json

Scorer and encoder are fitted on a share of the pages that a compile fits on (or on all but the files of
``--without``). Their blend is fitted on half of the held-out pages, and both files of ``--measure`` are answered on
the other half, after the program's own answers.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.search_parts import FIRST, ranks
from experiments.data import conversation_examples, join_loaded, load_conversations
from kg.candidates import DerivationConfig
from kg.encoder import WordPiece
from kg.ontology import build_ontology
from kg.reports import Report
from kg.scoring import DerivationScorer
from optimize.encoders.blend import fit_blend
from optimize.encoders.encoder import pages_of, split_reports
from optimize.encoders.examples import base_vocabulary, encoder_data
from optimize.encoders.export import export_encoder
from optimize.encoders.settings import EncoderConfig
from optimize.encoders.training import train_encoder
from optimize.scorers.derivation_training import ScorerConfig, fit_scorer
from optimize.scorers.derivations import read_index, training_data
from optimize.scorers.turns import training_turns
from programs.reports import ReportReader

BLEND_TURNS = 500


def main() -> None:
    """Fits on a share of the data and prints the accuracy on held-out pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--measure", nargs="+", required=True)
    parser.add_argument("--without", nargs="+", default=[])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--most", type=int, default=120, help="conversations of a measured file at the most (120)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    parts = {path: load_conversations(path) for path in options.train}
    known = [one for one in join_loaded([*parts.values()]).conversations if one.programs is not None]
    inside, outside = split_reports(conversation_examples(known), 0.15, options.seed)
    left_out = {one.id for path in options.without for one in parts[path].conversations}
    pages = pages_of([example.report for example in inside])
    names = sorted(set(pages))
    drawn = set(np.random.default_rng(options.seed).permutation(names)[: round(options.share * len(names))].tolist())
    fitted = [one for one, page in zip(inside, pages, strict=True) if page in drawn and one.id not in left_out]
    reader = ReportReader(
        build_ontology({one.report.id: one.report for one in fitted}.values()), DerivationScorer.untrained()
    )
    turns, idf = training_data(reader, fitted, ())
    print(f"{len(fitted)} conversations, {len(turns)} turns", flush=True)
    scorer = fit_scorer(turns, idf, ScorerConfig(ensemble=1, folds=2), options.seed, "", print)
    vocabulary = base_vocabulary(options.base)
    data = encoder_data(turns, WordPiece(vocabulary))
    model = train_encoder(options.base, data, EncoderConfig(epochs=options.epochs), options.seed, progress=print)
    scorer = replace(scorer, encoder=export_encoder(model, vocabulary, data))
    sides = _halves(outside, options.seed)
    rng = np.random.default_rng(options.seed)
    blending = [sides[0][place] for place in rng.permutation(len(sides[0]))[:BLEND_TURNS]]
    held_out = [
        turn
        for one in blending
        for turn in training_turns(one.report.id, read_index(reader, one.report, idf), one.questions, one.programs)
    ][:BLEND_TURNS]
    scorer = fit_blend(scorer, held_out, DerivationConfig())
    measured = {example.id for example in sides[1]}
    for path in options.measure:
        asked = [one for one in parts[path].conversations if one.id in measured and one.answers is not None]
        indexes: dict[Report, object] = {}
        found = [
            ranks(one, indexes.setdefault(one.report, read_index(reader, one.report, idf)), scorer, DerivationConfig())
            for one in asked[: options.most]
        ]
        flat = np.array([rank for one in found for rank in one])
        top, recall = 100 * (flat < 1).mean(), 100 * (flat < FIRST).mean()
        print(f"{Path(path).name}: {len(flat)} turns, top-1 {top:.1f}, recall@{FIRST} {recall:.1f}", flush=True)


def _halves(outside: list[Any], seed: int) -> tuple[list[Any], list[Any]]:
    """The held-out conversations, their pages in two halves."""
    pages = pages_of([example.report for example in outside])
    names = sorted(set(pages))
    first = set(np.random.default_rng(seed + 1).permutation(names)[: len(names) // 2].tolist())
    sides: tuple[list[Any], list[Any]] = ([], [])
    for example, page in zip(outside, pages, strict=True):
        sides[page not in first].append(example)
    return sides


if __name__ == "__main__":
    main()
