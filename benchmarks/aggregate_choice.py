r"""Cross-validation of the choice of aggregates, on pages that the program's encoder has not seen.

    python benchmarks/aggregate_choice.py beam --data convfinqa/train.json written/train.json --most 200

Each fold's aggregates are chosen by weights that are fitted on the pages of the others. The first lines count the turns
whose gold program adds up, averages or compares three and more figures; the others count all turns of a file. Both
columns are after the search's own earlier answers. Differences are paired, with 95% intervals over pages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.name_choice import FOLDS, RESAMPLES, written
from experiments.data import ConversationRecord, load_conversations
from experiments.saved import find_program
from kg.arrays import BoolArray
from kg.candidates import START, WeightedHistory, aggregate_answers, may_aggregate, search_turn
from kg.derivations import LABELLED_OPERATIONS, LONG_OPERATIONS, Derivation
from kg.errors import ProgramError
from kg.scoring import AggregateModel
from kg.search import merge_key
from optimize.encoders.held_out import AGGREGATE_PENALTY, pages_of
from optimize.metrics import answers_match
from optimize.metrics.statistics import paired_difference
from optimize.scorers import ChoiceExample, fit_choice, page_keys
from programs.beam import BeamQA

FIRST = 10


@dataclass(frozen=True)
class Asked:
    """A turn.

    Attributes:
        page: Its page.
        source: Its file.
        many: Whether its gold program aggregates three and more figures.
        rank: The rank of the gold answer among the search's own candidates, from 0.
        example: Its readings; ``None`` if it does not ask for an aggregate.
        answers: The key of the answer of each reading.
    """

    page: str
    source: str
    many: bool
    rank: int
    example: ChoiceExample | None
    answers: tuple[object, ...] = ()


def aggregates_many(program: str) -> bool:
    """Whether a program adds up, averages or compares three and more figures."""
    try:
        steps = Derivation.parse(program).steps
    except ProgramError:
        return False
    if any(step.operation in LABELLED_OPERATIONS for step in steps):
        return False
    long = any(step.operation in LONG_OPERATIONS and len(step.operands) > 2 for step in steps)
    return long or sum(step.operation == "add" for step in steps) >= 2


def asked_of(turn: BeamQA, one: ConversationRecord, page: str, source: str) -> list[Asked]:
    """The turns of a conversation, after the program's own answers without aggregates."""
    scorer = replace(turn.reader.scorer, aggregates=None)
    _, index = turn.reader.read(one.report)
    histories: Sequence[WeightedHistory] = START
    found = []
    for place, (gold, program) in enumerate(zip(one.answers or (), one.programs or (), strict=True)):
        search = search_turn(index, one.questions[: place + 1], histories, scorer, turn.config)
        histories = search.next_histories(turn.config.histories)
        ranks = [number for number, own in enumerate(search.candidates) if answers_match(own.answer, gold)]
        asked = Asked(page, source, aggregates_many(program), ranks[0] if ranks else FIRST, None)
        if search.candidates and may_aggregate(search.space):
            readings = aggregate_answers(search.space, search.ranked)
            right = np.array([answers_match(answer, gold) for answer in readings.answers], dtype=bool)
            example = ChoiceExample(readings.features, right)
            asked = replace(asked, example=example, answers=tuple(map(merge_key, readings.answers)))
        found.append(asked)
    return found


def rank_of(asked: Asked, model: AggregateModel) -> int:
    """The rank of the gold answer with a choice of aggregates."""
    if asked.example is None:
        return asked.rank
    scores = model.scores(asked.example.features)
    weights = np.exp(scores - scores.max())
    totals: dict[object, float] = {}
    for key, weight in zip(asked.answers, weights, strict=True):
        totals[key] = totals.get(key, 0.0) + float(weight)
    right = {key for key, is_right in zip(asked.answers, asked.example.right, strict=True) if is_right}
    order = sorted(totals, key=lambda key: -totals[key])
    return next((rank for rank, key in enumerate(order) if key in right), FIRST)


def compared(asked: Sequence[Asked], ranks: Sequence[int], chosen: BoolArray, seed: int) -> str:
    """Both accuracies before and after, with the interval of their difference."""
    columns = []
    pages = [one.page for one, own in zip(asked, chosen, strict=True) if own]
    for title, least in (("top-1", 1), (f"recall@{FIRST}", FIRST)):
        before = np.array([one.rank < least for one in asked], dtype=float)[chosen]
        after = np.array([rank < least for rank in ranks], dtype=float)[chosen]
        gain = paired_difference(pages, before, after, seed=seed, resamples=RESAMPLES)
        columns.append(f"{title} {100 * before.mean():.1f} to {100 * after.mean():.1f} ({written(gain)})")
    return f"{chosen.sum()} turns, {'   '.join(columns)}"


def main() -> None:
    """Answers the conversations, fits each fold and prints both accuracies and their difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--data", nargs="+", required=True, help="files whose pages without the fitted ones count")
    parser.add_argument("--most", type=int, default=200, help="conversations of a file at the most (200)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    turn = find_program(options.program).program.turn
    encoder = turn.reader.scorer.encoder
    seen = frozenset() if encoder is None else encoder.pages
    rng = np.random.default_rng(options.seed)
    chosen: list[tuple[ConversationRecord, str]] = []
    for path in options.data:
        unseen = [one for one in load_conversations(path).conversations if one.programs is not None]
        unseen = [one for one in unseen if one.answers is not None and not page_keys(one.report) & seen]
        order = rng.permutation(len(unseen))
        # Conversations with such a program come first, since they are few.
        order = order[
            np.argsort([not any(map(aggregates_many, unseen[at].programs or ())) for at in order], kind="stable")
        ]
        chosen += [(unseen[at], "/".join(Path(path).parts[-2:])) for at in order[: options.most]]
    pages = pages_of([one.report for one, _ in chosen])
    with threadpool_limits(limits=1):
        asked = [
            found for (one, name), page in zip(chosen, pages, strict=True) for found in asked_of(turn, one, page, name)
        ]
    names = sorted({one.page for one in asked})
    fold_of = {name: place % FOLDS for place, name in enumerate(rng.permutation(names))}
    ranks = [one.rank for one in asked]
    for fold in range(FOLDS):
        inside = [one.example for one in asked if one.example is not None and fold_of[one.page] != fold]
        model = fit_choice(AggregateModel, inside, penalty=AGGREGATE_PENALTY)
        for place, one in enumerate(asked):
            if fold_of[one.page] == fold:
                ranks[place] = rank_of(one, model)
    many = np.array([one.many for one in asked])
    sources = np.array([one.source for one in asked])
    print(f"three and more figures: {compared(asked, ranks, many, options.seed)}")
    for name in np.unique(sources):
        print(f"{name}, three and more figures: {compared(asked, ranks, many & (sources == name), options.seed)}")
        print(f"{name}, all: {compared(asked, ranks, sources == name, options.seed)}")


if __name__ == "__main__":
    main()
