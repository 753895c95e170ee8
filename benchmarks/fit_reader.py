"""Fits the reader of questions and sentences on made-up events.

$ python benchmarks/fit_reader.py --write

It needs torch and onnx of the extra ``train``, and the weights of the extra ``news``. The upper four layers of the
transformer get a change of low rank, and a head scores the spans of values. The loss is that of choosing the right
value among all values of a question's sentences and "none". No question of the news sets is used, so
``benchmarks/fit_clauses.py`` can rank all of them by this reader.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from low_rank import choice_loss, span_scores, stored, train, transformer

from kg.clauses.reader import FILE, Reading, pieces_of
from kg.transformer import word_pieces

RATE, QUESTIONS = 1e-3, 8
MADE, MOST_SENTENCES = 6400, 5
"""Made-up questions, and the most sentences of one."""


def question_scores(model: Any, rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Returns for each question the scores of the spans of its sentences, in their order."""
    import torch

    pieces = [
        pieces_of(word_pieces(), row["question"], Reading(one["context"], one["words"], one["spans"]))
        for row in rows
        for one in row["readings"]
    ]
    found = span_scores(model, pieces, [one.spans for one in pieces])
    return list(torch.split(torch.cat(found), [len(row["right"]) for row in rows]))


def question_losses(model: Any, rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Returns the loss of each question."""
    return [choice_loss(found, row["right"]) for row, found in zip(rows, question_scores(model, rows), strict=True)]


def main() -> None:
    """Fits the reader and writes it."""
    import torch
    from made_readings import made

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=MADE, help="made-up questions")
    parser.add_argument("--seed", type=int, default=0, help="of the questions and the weights")
    parser.add_argument("--begin", type=Path, metavar="FILE", help="weights of torch to begin with")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where weights of torch are written, to go on with")
    parser.add_argument("--write", action="store_true", help="write the reader that ships")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    model = transformer()
    if arguments.begin:
        model.load_state_dict(torch.load(arguments.begin))
    rows = made(arguments.questions, seed=arguments.seed, most=MOST_SENTENCES)
    train(model, rows, partial(question_losses, model), RATE, QUESTIONS)
    if arguments.keep:
        torch.save(model.state_dict(), arguments.keep)
    if arguments.write:
        np.savez_compressed(FILE, **stored(model))


if __name__ == "__main__":
    main()
