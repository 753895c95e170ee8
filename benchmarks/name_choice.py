r"""Cross-validation of the choice among names, on questions whose gold answer is a name.

    python benchmarks/written_questions.py --pages finqa/train_single_questions.json … --answers own.json
    python benchmarks/name_choice.py beam --questions own.json --also written/questions_train.json

Questions of ``--questions`` count if the program's encoder has not seen their page; those of ``--also`` count in any
case, as they are in no training file. Each fold's names are chosen by weights that are fitted on the pages of the
others. With ``--seen``, the weights are also fitted on those of ``--questions`` whose page the encoder has seen. The
difference is paired, with a 95% interval over pages.
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

from experiments.data import ConversationRecord, load_conversations
from experiments.saved import find_program
from kg.candidates import START, WeightedHistory, named_answers, search_turn
from kg.scoring import NamingModel
from kg.search import merge_key
from optimize.encoders.held_out import pages_of
from optimize.metrics import answers_match
from optimize.metrics.statistics import Interval, paired_difference
from optimize.scorers import ChoiceExample, fit_choice, page_keys
from programs.beam import BeamQA

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
    example: ChoiceExample
    answers: tuple[object, ...]
    own: bool


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
            found.append(Asked(page, ChoiceExample(named.features, right), keys, own))
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


def written(gain: Interval) -> str:
    """A difference in percentage points with its interval."""
    return f"{100 * gain.value:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"


def main() -> None:
    """Answers the questions, fits each fold and prints both accuracies and their difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--questions", nargs="*", default=[])
    parser.add_argument("--also", nargs="*", default=[])
    parser.add_argument("--seen", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    turn = find_program(options.program).program.turn
    encoder = turn.reader.scorer.encoder
    seen = frozenset() if encoder is None else encoder.pages
    files = [load_conversations(path).conversations for path in options.questions]
    known = [bool(page_keys(one.report) & seen) for file in files for one in file]
    every = [one for file in files for one in file]
    measured = [one for one, is_known in zip(every, known, strict=True) if not is_known]
    measured += [one for path in options.also for one in load_conversations(path).conversations]
    fitted = [one for one, is_known in zip(every, known, strict=True) if is_known and options.seen]
    both = [*measured, *fitted]
    of_page = dict(zip([one.id for one in both], pages_of([one.report for one in both]), strict=True))
    with threadpool_limits(limits=1):
        asked = [one for conversation in measured for one in asked_of(turn, conversation, of_page[conversation.id])]
        more = [one for conversation in fitted for one in asked_of(turn, conversation, of_page[conversation.id])]
    names = sorted({one.page for one in asked})
    rng = np.random.default_rng(options.seed)
    fold_of = {name: place % FOLDS for place, name in enumerate(rng.permutation(names))}
    right = np.zeros(len(asked), dtype=bool)
    for fold in range(FOLDS):
        examples = [one.example for one in (*asked, *more) if fold_of.get(one.page) != fold]
        model = fit_choice(NamingModel, examples)
        for place, one in enumerate(asked):
            if fold_of[one.page] == fold:
                right[place] = is_chosen(one, model.scores(one.example.features))
    own = np.array([one.own for one in asked], dtype=float)
    gain = paired_difference([one.page for one in asked], own, right, seed=options.seed, resamples=RESAMPLES)
    print(f"{len(asked)} questions, {len(names)} pages: the search alone {100 * own.mean():.1f}% right")
    print(f"chosen among names: {100 * right.mean():.1f}%, {written(gain)}")


if __name__ == "__main__":
    main()
