"""Fits the reader of questions and sentences on passages with questions that people wrote.

$ python benchmarks/passage_readings.py --out rows.jsonl
$ python benchmarks/fit_reader.py rows.jsonl

It needs torch of the extra ``train``, and the weights of the extra ``news``. The upper eight layers of the
transformer get a change of low rank, and a head scores the spans of values. The loss is that of choosing each right
value among the wrong ones and "none". No question of the news sets is used, so ``benchmarks/fit_clauses.py`` can rank
all of them by this reader.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from low_rank import begun_from, span_scores, stored, train, transformer

from kg.arrays import read_arrays
from kg.comprehension.reader import FILE, Reading, pieces_of
from kg.transformer import word_pieces

RATE, QUESTIONS, MOST_SENTENCES = 5e-4, 8, 4
"""The largest learning rate, the questions of a step, and the most sentences of a question."""

NEAREST = 12
"""Sentences of which the wrong ones are taken, those that have most in common with the question."""

NONE_WEIGHT = 0.3
"""The weight of the loss of wrong values above "none" where there is an answer."""


def question_scores(model: Any, rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Returns for each question the scores of the spans of its sentences, in their order."""
    import torch

    pieces = [pieces_of(word_pieces(), row["question"], Reading(**one)) for row in rows for one in row["readings"]]
    found = span_scores(model, [one.numbers for one in pieces], [one.spans for one in pieces])
    return list(torch.split(torch.cat(found), [len(row["right"]) for row in rows]))


def span_loss(found: Any, right: Sequence[int]) -> Any:
    """Returns the loss of choosing each right value among the wrong ones and "none", whose score is 0.

    Args:
        found: The scores of the values.
        right: For each the number of the answer that it is, from 1; 0 if it is wrong, and -1 if it does not count.
    """
    import torch

    numbers = torch.tensor(right)
    wrong = torch.logsumexp(torch.cat([torch.zeros(1), found[numbers == 0]]), 0)
    answers = [torch.logsumexp(found[numbers == number], 0) for number in set(right) if number > 0]
    if not answers:
        return wrong
    choices = torch.stack([torch.logaddexp(one, wrong) - one for one in answers])
    return choices.mean() + NONE_WEIGHT * wrong


def question_losses(model: Any, rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Returns the loss of each question."""
    return [span_loss(found, row["right"]) for row, found in zip(rows, question_scores(model, rows), strict=True)]


def sampled(row: dict[str, Any], most: int, generator: random.Random) -> dict[str, Any]:
    """Returns a question with some of its sentences: those of its answers, and others at random."""
    if len(row["readings"]) <= most:
        return row
    starts = np.cumsum([0, *(len(one["spans"]) for one in row["readings"])]).tolist()
    places = range(len(row["readings"]))
    rights = [row["right"][starts[place] : starts[place + 1]] for place in places]
    kept = [place for place in places if any(number > 0 for number in rights[place])][:most]
    others = [place for place in places[:NEAREST] if place not in kept]
    kept = sorted([*kept, *generator.sample(others, min(most - len(kept), len(others)))])
    return {
        **row,
        "readings": [row["readings"][place] for place in kept],
        "right": [number for place in kept for number in rights[place]],
    }


def main() -> None:
    """Fits the reader and writes it."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, help="what benchmarks/passage_readings.py wrote")
    parser.add_argument("--epochs", type=int, default=1, help="how often each question is seen")
    parser.add_argument("--rate", type=float, default=RATE, help="the largest learning rate")
    parser.add_argument("--seed", type=int, default=0, help="of the questions and the weights")
    parser.add_argument("--begin", type=Path, metavar="FILE", help="a fitted reader to begin with")
    parser.add_argument("--out", type=Path, default=FILE, metavar="FILE", help="where the reader is written")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    generator = random.Random(arguments.seed)
    model = transformer()
    if arguments.begin:
        begun_from(model, read_arrays(arguments.begin))
    written = [json.loads(line) for line in arguments.rows.read_text(encoding="utf-8").splitlines()]
    rows = [
        sampled(row, MOST_SENTENCES, generator)
        for _ in range(arguments.epochs)
        for row in generator.sample(written, len(written))
    ]
    train(model, rows, partial(question_losses, model), arguments.rate, QUESTIONS)
    np.savez_compressed(arguments.out, **stored(model))


if __name__ == "__main__":
    main()
