r"""Cross-validation of the choice among names, on questions whose gold answer is a name.

    python benchmarks/written_questions.py --pages finqa/train_single_questions.json … --answers own.json
    python benchmarks/name_choice.py beam --train convfinqa/train.json written/train.json … \
        --questions own.json --also written/questions_train.json

``--train`` are the training files of the compile, in their order. Questions of ``--questions`` count if their page was
held out from it; those of ``--also`` count in any case, as they are in no training file. Each fold's names are chosen
by weights that are fitted on the pages of the others. The difference is paired, with a 95% interval over pages.
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

from experiments.data import ConversationRecord, conversation_examples, join_loaded, load_conversations
from experiments.saved import find_program
from kg.candidates import START, WeightedHistory, named_answers, search_turn
from kg.search import merge_key
from optimize.encoders.encoder import split_reports
from optimize.encoders.held_out import pages_of
from optimize.metrics import answers_match
from optimize.scorers import NamingExample, fit_naming
from programs.reports import BeamQA

FOLDS = 10
RESAMPLES = 2000


@dataclass(frozen=True)
class Asked:
    """A question for a name.

    Attributes:
        page: Its page.
        example: Its readings.
        answers: The key of the names of each reading.
        own: Whether the search's own best candidate is right.
    """

    page: str
    example: NamingExample
    answers: tuple[object, ...]
    own: bool


def held_out_pages(paths: Sequence[str], held_out: float, seed: int) -> set[str]:
    """The pages that a compile with these training files held out."""
    loaded = join_loaded([load_conversations(path) for path in paths]).conversations
    _, outside = split_reports(
        conversation_examples([one for one in loaded if one.programs is not None]), held_out, seed
    )
    return {example.id for example in outside}


def asked_of(turn: BeamQA, conversation: ConversationRecord, page: str) -> list[Asked]:
    """The questions of a conversation for names, after the program's own answers without a choice among names."""
    scorer = replace(turn.reader.scorer, naming=None)
    _, index = turn.reader.read(conversation.report)
    histories: Sequence[WeightedHistory] = START
    found = []
    for place, gold in enumerate(conversation.gold or ()):
        search = search_turn(index, conversation.questions[: place + 1], histories, scorer, turn.config)
        histories = search.next_histories(turn.config.histories)
        if isinstance(gold, tuple):
            named = named_answers(search.space, search.ranked)
            right = np.array([answers_match(answer, gold) for answer in named.answers], dtype=bool)
            own = bool(search.candidates) and answers_match(search.candidates[0].answer, gold)
            keys = tuple(map(merge_key, named.answers))
            found.append(Asked(page, NamingExample(named.features, right), keys, own))
    return found


def is_chosen(asked: Asked, scores: np.ndarray) -> bool:
    """Whether the names with the largest probability are right."""
    if not len(scores):
        return False
    weights = np.exp(scores - scores.max())
    totals: dict[object, float] = {}
    for key, weight in zip(asked.answers, weights, strict=True):
        totals[key] = totals.get(key, 0.0) + float(weight)
    best = max(totals, key=lambda key: totals[key])
    return bool(asked.example.right[asked.answers.index(best)])


def main() -> None:
    """Answers the questions, fits each fold and prints both accuracies and their difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--questions", nargs="*", default=[])
    parser.add_argument("--also", nargs="*", default=[])
    parser.add_argument("--held-out", type=float, default=0.15)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    turn = find_program(options.program).program.turn
    outside = held_out_pages(options.train, options.held_out, options.seed)
    parts = [(path, load_conversations(path).conversations) for path in (*options.train, *options.questions)]
    every = [one for _, part in parts for one in part]
    pages = dict(zip([one.id for one in every], pages_of([one.report for one in every]), strict=True))
    unseen = {pages[name] for name in outside}
    chosen = [one for path, part in parts if path in options.questions for one in part if pages[one.id] in unseen]
    chosen += [one for path in options.also for one in load_conversations(path).conversations]
    of_page = dict(zip([one.id for one in chosen], pages_of([one.report for one in chosen]), strict=True))
    with threadpool_limits(limits=1):
        asked = [one for conversation in chosen for one in asked_of(turn, conversation, of_page[conversation.id])]
    names = sorted({one.page for one in asked})
    rng = np.random.default_rng(options.seed)
    fold_of = {name: place % FOLDS for place, name in enumerate(rng.permutation(names))}
    right = np.zeros(len(asked), dtype=bool)
    for fold in range(FOLDS):
        model = fit_naming([one.example for one in asked if fold_of[one.page] != fold])
        for place, one in enumerate(asked):
            if fold_of[one.page] == fold:
                right[place] = is_chosen(one, model.scores(one.example.features))
    own = np.array([one.own for one in asked])
    apart = 100 * (right.astype(float) - own)
    sums = np.array(
        [[apart[[one.page == name for one in asked]].sum(), sum(o.page == name for o in asked)] for name in names]
    )
    drawn = sums[rng.integers(0, len(names), (RESAMPLES, len(names)))].sum(axis=1)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    print(f"{len(asked)} questions, {len(names)} pages: the search alone {100 * own.mean():.1f}% right")
    print(f"chosen among names: {100 * right.mean():.1f}%, {apart.mean():+.1f} [{low:+.1f}, {high:+.1f}]")


if __name__ == "__main__":
    main()
