r"""The beam's accuracy on held-out pages by the amount and the kind of its training data.

    python benchmarks/learning_curve.py --base all-MiniLM-L6-v2 --train convfinqa/train.json written/train.json … \
        --measure convfinqa/train.json written/train.json --share 0.1 --epochs 4
    python benchmarks/learning_curve.py … --without written/train.json --light --json without.json

Scorer and encoder are fitted on a share of the pages that a compile fits on (or on all but the files of
``--without``). Their blend is fitted on half of the held-out pages, and both files of ``--measure`` are answered on
the other half, after the program's own answers. ``--light`` fits no encoder and no blend, which takes a third of the
time. ``--json`` keeps the rank of each gold answer. ``--against`` reads such a file and prints paired differences.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.search_parts import ranks, written
from experiments.data import conversation_examples, join_loaded, load_conversations
from kg.candidates import DerivationConfig
from kg.encoder import WordPiece
from kg.figures import Idf
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
from optimize.scorers.turns import TrainingTurn, training_turns
from programs.worlds.reader import ReportReader

BLEND_TURNS = 500


def main() -> None:
    """Fits on a share of the data and prints the accuracy on held-out pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, help="the folder of the encoder's base model")
    parser.add_argument("--light", action="store_true", help="the search without an encoder")
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--measure", nargs="+", required=True)
    parser.add_argument("--without", nargs="+", default=[])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--most", type=int, default=120, help="conversations of a measured file at the most (120)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where the ranks are written")
    parser.add_argument("--against", type=Path, help="the ranks of another fit, for paired differences")
    options = parser.parse_args()
    if options.base is None and not options.light:
        parser.error("--base is needed without --light")
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
    sides = _halves(outside, options.seed)
    if not options.light:
        scorer = _with_encoder(scorer, turns, sides[0], reader, idf, options)
    measured = {example.id for example in sides[1]}
    kept: dict[str, list[list[int]]] = {}
    for path in options.measure:
        asked = [one for one in parts[path].conversations if one.id in measured and one.answers is not None]
        indexes: dict[Report, object] = {}
        found = [
            ranks(one, indexes.setdefault(one.report, read_index(reader, one.report, idf)), scorer, DerivationConfig())
            for one in asked[: options.most]
        ]
        kept["/".join(Path(path).parts[-2:])] = found
    if options.json is not None:
        options.json.write_text(json.dumps(kept), encoding="utf-8")
    others = kept if options.against is None else json.loads(options.against.read_text(encoding="utf-8"))
    for name, found in kept.items():
        print(f"{name}: {sum(map(len, found))} turns, {written(found, others[name])}", flush=True)


def _with_encoder(
    scorer: DerivationScorer,
    turns: list[TrainingTurn],
    blending: list[Any],
    reader: ReportReader,
    idf: Idf,
    options: argparse.Namespace,
) -> DerivationScorer:
    """The scorer with an encoder that is fitted on the turns, and their blend, which is fitted on other pages."""
    vocabulary = base_vocabulary(options.base)
    data = encoder_data(turns, WordPiece(vocabulary))
    model = train_encoder(options.base, data, EncoderConfig(epochs=options.epochs), options.seed, progress=print)
    scorer = replace(scorer, encoder=export_encoder(model, vocabulary, data))
    order = np.random.default_rng(options.seed).permutation(len(blending))[:BLEND_TURNS]
    held_out = [
        turn
        for one in (blending[place] for place in order)
        for turn in training_turns(one.report.id, read_index(reader, one.report, idf), one.questions, one.programs)
    ][:BLEND_TURNS]
    return fit_blend(scorer, held_out, DerivationConfig())


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
