"""Contribution of each part of the beam, on pages that the program's encoder has not seen.

    python benchmarks/search_parts.py beam --data convfinqa/train.json written/train.json --most 70

For each file the script prints the share of right answers and of right answers among the first ten, after the program's
own answers, and the paired difference of every variant from the whole program, with 95% intervals over conversations.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.data import ConversationRecord, load_conversations
from experiments.saved import find_program
from kg.candidates import START, DerivationConfig, search_turn
from kg.derivations import COMPOUNDS, SERIES_OPERATIONS, Answer
from kg.figures import ReportIndex
from kg.reports import Report
from kg.scoring import DerivationScorer, EncoderBlend, FormScorer
from kg.search import merge_key
from optimize.scorers import page_keys
from programs.worlds.reader import ReportReader

FIRST = 10
RESAMPLES = 2000


@dataclass(frozen=True)
class Variant:
    """A program with a part left out.

    Attributes:
        name: The part.
        change: From the whole scorer to the variant's.
        defined: Whether items that tables define are proposed.
    """

    name: str
    change: Callable[[DerivationScorer], DerivationScorer]
    defined: bool = True


def without_forms(scorer: DerivationScorer, operations: Sequence[str]) -> DerivationScorer:
    """The scorer without the forms of some operations."""
    kept = [place for place, form in enumerate(scorer.parsed) if form.operation not in operations]
    names = [scorer.forms.forms[place] for place in kept]
    return replace(scorer, forms=FormScorer(names, scorer.forms.features, scorer.forms.weights[:, kept]))


def encoder_alone(scorer: DerivationScorer) -> DerivationScorer:
    """The encoder's templates and pointers, without the fitted scorer and its ranker."""
    blend = EncoderBlend(forms=(0.0, 1.0), figures=(0.0, 1.0), answers=(0.0, 1.0))
    return replace(scorer, blend=blend, ranker=None)


VARIANTS = (
    Variant("the whole program", lambda scorer: scorer),
    Variant("without the encoder", lambda scorer: replace(scorer, encoder=None, blend=EncoderBlend())),
    Variant("the encoder alone", encoder_alone),
    Variant("without the ranker", lambda scorer: replace(scorer, ranker=None)),
    Variant("without series", lambda scorer: without_forms(scorer, SERIES_OPERATIONS)),
    Variant("without operations of several steps", lambda scorer: without_forms(scorer, tuple(COMPOUNDS))),
    Variant("without defined items", lambda scorer: scorer, defined=False),
)


def ranks(
    conversation: ConversationRecord, index: ReportIndex, scorer: DerivationScorer, config: DerivationConfig
) -> list[int]:
    """The rank of the gold answer of each turn, counted from 0; ``FIRST`` and more if it is not among the first."""
    histories: Any = START
    found: list[int] = []
    answers: Sequence[Answer] = conversation.answers or ()
    for place, gold in enumerate(answers):
        search = search_turn(index, conversation.questions[: place + 1], histories, scorer, config)
        keys = [merge_key(one.answer) for one in search.candidates]
        found.append(keys.index(merge_key(gold)) if merge_key(gold) in keys else FIRST)
        histories = search.next_histories(config.histories)
    return found


def main() -> None:
    """Answers the conversations with every variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--data", nargs="+", required=True, help="files whose pages without the fitted ones count")
    parser.add_argument("--most", type=int, default=200, help="conversations of a file at the most (200)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    program = find_program(options.program).program
    reader, config = program.turn.reader, program.turn.config
    for path in options.data:
        found = load_conversations(path).conversations
        unseen = [one for one in found if not page_keys(one.report) & reader.scorer.encoder.pages]
        asked = [one for one in unseen if one.programs is not None and one.answers is not None]
        order = np.random.default_rng(options.seed).permutation(len(asked))[: options.most]
        _measure([asked[place] for place in order], "/".join(Path(path).parts[-2:]), reader, reader.scorer, config)


def _measure(
    asked: Sequence[ConversationRecord],
    name: str,
    reader: ReportReader,
    scorer: DerivationScorer,
    config: DerivationConfig,
) -> None:
    print(f"{name}: {len(asked)} conversations, {sum(len(one.questions) for one in asked)} turns", flush=True)
    whole: list[list[int]] = []
    with threadpool_limits(limits=1):
        for variant in VARIANTS:
            changed = variant.change(scorer)
            built: dict[Report, ReportIndex] = {}
            found = []
            for one in asked:
                if one.report not in built:
                    graph, _ = reader.read(one.report)
                    built[one.report] = ReportIndex(
                        graph.observations, one.report.sentences, scorer.idf, define=variant.defined
                    )
                found.append(ranks(one, built[one.report], changed, config))
            whole = whole or found
            print(f"  {variant.name:38}{written(found, whole)}", flush=True)


def written(found: Sequence[Sequence[int]], whole: Sequence[Sequence[int]]) -> str:
    """Top-1 and recall of the variant, and its difference from the whole program."""
    sizes = np.array([len(one) for one in found])
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(sizes), (RESAMPLES, len(sizes)))
    columns = []
    for title, least in (("top-1", 1), (f"recall@{FIRST}", FIRST)):
        own, other = (np.array([sum(rank < least for rank in ranks_) for ranks_ in part]) for part in (found, whole))
        apart = 100 * (own - other)
        low, high = np.percentile(apart[draws].sum(1) / sizes[draws].sum(1), [2.5, 97.5])
        difference = f"({apart.sum() / sizes.sum():+.1f} [{low:+.1f}, {high:+.1f}])"
        columns.append(f"{title} {100 * own.sum() / sizes.sum():5.1f}  {difference}")
    return "   ".join(columns)


if __name__ == "__main__":
    main()
