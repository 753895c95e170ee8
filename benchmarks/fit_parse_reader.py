"""Fits the reader of questions and parses on the development parts of the graphs.

    python benchmarks/collect_parses.py parses
    python benchmarks/fit_parse_reader.py parses/*.npz --without 0 --scores scores_0.npz --keep half.pt
    python benchmarks/fit_parse_reader.py parses/*.npz --begin half.pt --most 0 --rate 4e-4 --write
    python benchmarks/fit_ranking.py parses/*.npz --scores scores_0.npz --write
    python benchmarks/fit_parse_reader.py new/*.npz --begin kg/parsing/reader.npz --some parses/*.npz --rate 4e-4 \
        --score other/*.npz --scores scores_other.npz --write

It needs torch of the extra ``train``, and the weights of the extra ``news``. The loss is that of choosing a
right parse among those that are read and "none". It begins with the reader of news, which already compares questions
with sentences. ``--without`` leaves a part of the graphs out and scores them, so that the ranking sees how good the
reader is on graphs that it was not fitted on. ``--most`` goes on with these graphs and some questions of the others.
``--some`` adds some questions of other graphs, and ``--score`` scores graphs that are not fitted on. ``--easy`` fits on
a share of the turns that the other evidence ranks rightly, or that have no right derivation.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from collect_parses import Asked, read
from low_rank import begun_from, choice_loss, span_scores, stored, train, transformer

from kg.arrays import read_arrays
from kg.news import spans as news
from kg.parsing import Ranker, chosen
from kg.parsing.reader import FILE, pieces_of

PARTS = 2
RATE, QUESTIONS, EPOCHS = 5e-4, 8, 1
FITTED = 8
"""Derivations of a turn that are fitted on; more take longer and are seldom right."""

AGAIN = 0.35
"""The share of the questions of the other parts that ``--most`` fits on, and of those of ``--some``."""

Row = tuple[Asked, list[int]]
"""A turn, and the places of its derivations that are read."""


def read_places(turn: Asked, ranker: Ranker) -> list[int]:
    """The derivations of a turn that are read, as the parser chooses them."""
    order = np.argsort(-ranker.scores_of(turn.evidence), kind="stable")
    return chosen(order.tolist(), turn.answers.tolist(), [tuple(pair) for pair in turn.texts.tolist()])


def fitted_places(turn: Asked, ranker: Ranker) -> list[int]:
    """The derivations of a turn that are fitted on: the first that are read, and a right one if there is any."""
    found = read_places(turn, ranker)
    kept = found[:FITTED]
    if not turn.right[kept].any() and turn.right.any():
        ranked = ranker.scores_of(turn.evidence)
        right = np.flatnonzero(turn.right)
        kept.append(int(right[ranked[right].argmax()]))
    return kept


def turn_scores(model: Any, turns: Sequence[Asked], places: Sequence[Sequence[int]]) -> list[Any]:
    """Returns the scores of the derivations of each turn that are read."""
    import torch

    given = [pieces_of(*turn.texts[place]) for turn, some in zip(turns, places, strict=True) for place in some]
    found = span_scores(model, [pieces for pieces, _ in given], [[span] for _, span in given])
    return list(torch.split(torch.cat(found), [len(some) for some in places]))


def rows_of(file: Path, ranker: Ranker, places: Callable[[Asked, Ranker], list[int]] = read_places) -> list[Row]:
    """The turns of a graph that have derivations, with the places of some of them."""
    return [(turn, places(turn, ranker)) for turn in read(file) if len(turn.answers)]


def _share(row: Row, easy: float) -> float:
    """The share of turns of a kind that are fitted on."""
    turn, places = row
    is_hard = turn.right[places].any() and not turn.right[places[0]]
    return 1.0 if is_hard else easy


def turn_losses(model: Any, rows: Sequence[Row]) -> list[Any]:
    """Returns the loss of each turn."""
    found = turn_scores(model, [turn for turn, _ in rows], [some for _, some in rows])
    return [choice_loss(one, turn.right[some]) for one, (turn, some) in zip(found, rows, strict=True)]


def main() -> None:
    """Fits the reader, and scores the graphs that are left out or writes it."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="what collect_parses.py wrote")
    parser.add_argument("--without", type=int, metavar="PART", help=f"a part of the graphs, below {PARTS}")
    parser.add_argument("--most", type=int, metavar="PART", help="fit on this part and some questions of the others")
    parser.add_argument("--some", type=Path, nargs="*", default=[], metavar="FILE", help="also some questions of these")
    parser.add_argument("--score", type=Path, nargs="*", default=[], metavar="FILE", help="also score these")
    parser.add_argument("--easy", type=float, default=1.0, help="the share of the turns that reading need not mend")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--rate", type=float, default=RATE, help="the largest learning rate")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    parser.add_argument("--begin", type=Path, metavar="FILE", help="weights to begin with: of torch, or a reader")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where weights of torch are written, to go on with")
    parser.add_argument("--scores", type=Path, metavar="FILE", help="where the scores of the part are written")
    parser.add_argument("--write", action="store_true", help="write the reader that ships")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    drawn, ranker = random.Random(0), Ranker.shipped()
    parts = [rows_of(file, ranker, fitted_places) for file in options.files]
    outside = [number for number in range(len(parts)) if number % PARTS == options.without]
    most = [number for number in range(len(parts)) if options.most in (None, number % PARTS)]
    rows = [
        row
        for number, part in enumerate(parts)
        for row in part
        if number not in outside and drawn.random() < (1.0 if number in most else AGAIN) * _share(row, options.easy)
    ]
    others = [row for file in options.some for row in rows_of(file, ranker, fitted_places)]
    rows += [row for row in others if drawn.random() < AGAIN * _share(row, options.easy)]
    print(f"{len(rows)} turns")
    model = transformer()
    if options.begin and options.begin.suffix != ".npz":
        model.load_state_dict(torch.load(options.begin))
    else:
        begun_from(model, read_arrays(options.begin or news.FILE))
    every = [row for _ in range(options.epochs) for row in drawn.sample(rows, len(rows))]
    if every:
        train(model, every, partial(turn_losses, model), options.rate, QUESTIONS)
    if options.keep:
        torch.save(model.state_dict(), options.keep)
    if options.scores:
        model.eval()
        with torch.no_grad():
            outside_files = [options.files[number] for number in outside]
            found = {file.stem: _scores(model, rows_of(file, ranker)) for file in (*outside_files, *options.score)}
        np.savez_compressed(options.scores, **found)
    if options.write:
        np.savez_compressed(FILE, **stored(model))


def _scores(model: Any, part: Sequence[Row]) -> np.ndarray:
    """The scores of all derivations of a graph, in order; NaN where one is not read."""
    found = []
    for turn, places in part:
        own = np.full(len(turn.answers), np.nan, dtype=np.float32)
        own[places] = turn_scores(model, [turn], [places])[0].numpy()
        found.append(own)
    return np.concatenate(found)


if __name__ == "__main__":
    main()
