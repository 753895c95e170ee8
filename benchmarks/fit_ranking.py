"""The fit of the ranking of parses, and of the confidence in the first, on collected evidence.

    python benchmarks/collect_parses.py parses
    python benchmarks/fit_ranking.py parses/*.npz --write
    python benchmarks/fit_ranking.py parses/*.npz --scores scores_*.npz --write

Both are small networks (:class:`kg.parsing.FeatureNetwork`), each the mean of some that are begun differently. The
ranking makes the right derivations of a turn most probable together. The confidence is fitted to first answers that
a ranking of other sets gives. It needs torch of the extra ``train``. The figures are of leaving sets out: a set has
one author. ``--scores`` is what ``fit_parse_reader.py`` wrote about graphs that the reader did not see.
``fit_confidence.py`` fits how the confidence depends on earlier turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from parse_files import Asked, read, with_scores

from kg.arrays import FloatArray
from kg.parsing import FEATURES, MORE_FEATURES, READ_FEATURES, FeatureNetwork, Parse, features
from kg.parsing.ranking import FILE, FILE_READ, RankedParse

FOLDS, MEMBERS = 5, 3
"""Parts of the sets that are left out in turn, and the networks whose mean is taken."""

OF_REMOVED = 0.25
"""The usual weight of a question whose relation was taken out."""

START = {"cost": -3.0, "read": 1.0}
"""What the linear part of the ranking begins with."""

_CONSTANT = 1e-6
"""The largest standard deviation of a feature that does not vary."""

LIMITS = (0.5, 0.6, 0.64, 0.68, 0.72, 0.76, 0.8)


class Shape(NamedTuple):
    """The size of a network and how it is fitted."""

    units: int
    epochs: int
    size: int
    rate: float
    decay: float
    dropout: float


RANKING = Shape(64, 16, 16, 3e-3, 0.01, 0.1)
CONFIDENCE = Shape(16, 16, 64, 3e-3, 0.1, 0.2)


class First(NamedTuple):
    """The features of a turn's first answer, and whether it is right."""

    values: FloatArray
    is_right: bool


def first(turn: Asked, network: FeatureNetwork) -> First | None:
    """The first answer of a turn; ``None`` without one."""
    if not len(turn.answers):
        return None
    scores = network(turn.evidence)
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    total = np.zeros(int(turn.answers.max()) + 1)
    add = np.maximum if turn.evidence[:, FEATURES.index("check")].any() else np.add
    add.at(total, turn.answers, shares)
    order = [int(one) for one in np.argsort(-total, kind="stable")]
    best = [max(np.flatnonzero(turn.answers == one).tolist(), key=lambda place: scores[place]) for one in order]
    ranked = [
        RankedParse(_parse(turn.evidence[place]), float(total[one])) for one, place in zip(order, best, strict=True)
    ]
    values = features(ranked, follows_abstention=turn.after)
    names = confidence_names(turn.evidence.shape[1])
    return First(np.array([values[name] for name in names], dtype=np.float32), bool(turn.right[best[0]]))


def _parse(evidence: FloatArray) -> Parse:
    return Parse(query=None, cost=0.0, nodes=(), evidence=tuple(evidence.tolist()))  # type: ignore[arg-type]


def evidence_names(columns: int) -> list[str]:
    """The features of derivations, those of reading among them if there are so many."""
    return [*FEATURES, *READ_FEATURES][:columns]


def confidence_names(columns: int) -> list[str]:
    """The features of first answers."""
    is_read = columns > len(FEATURES)
    return [*evidence_names(columns), *(one for one in MORE_FEATURES if is_read or one != "read_lead")]


def fitted(
    rows: FloatArray, names: Sequence[str], start: dict[str, float], shape: Shape, batches: Any
) -> FeatureNetwork:
    """The mean of networks that are fitted to some rows.

    Args:
        rows: The features of all rows.
        names: Their names.
        start: The weights that the linear part begins with.
        shape: The size of the network and how it is fitted.
        batches: Gives pairs of rows and the loss of their values, for a generator of random numbers.
    """
    import torch

    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(scale > _CONSTANT, scale, 1.0).astype(np.float32)
    members = []
    for seed in range(MEMBERS):
        torch.manual_seed(seed)
        drawn = np.random.default_rng(seed)
        linear = torch.nn.Linear(len(names), 1)
        with torch.no_grad():
            linear.weight[0] = torch.tensor([start.get(name, 0.0) for name in names]) * torch.tensor(scale)
            linear.bias.zero_()
        hidden, out = torch.nn.Linear(len(names), shape.units), torch.nn.Linear(shape.units, 1, bias=False)
        drop = torch.nn.Dropout(shape.dropout)
        model = torch.nn.ModuleList([linear, hidden, out, drop])
        steps = shape.epochs * len(list(batches(np.random.default_rng(0))))
        optimizer = torch.optim.AdamW(model.parameters(), lr=shape.rate, weight_decay=shape.decay)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=shape.rate, total_steps=steps + 1)
        for _ in range(shape.epochs):
            for some, loss_of in batches(drawn):
                scaled = torch.tensor((some - mean) / scale)
                values = (linear(scaled) + out(drop(torch.relu(hidden(scaled)))))[:, 0]
                optimizer.zero_grad()
                loss_of(values).backward()
                optimizer.step()
                schedule.step()
        members.append(
            [
                one.detach().numpy()
                for one in (linear.weight[0], linear.bias[0], hidden.weight.T, hidden.bias, out.weight[0])
            ]
        )
    weights, biases, units, unit_biases, outs = zip(*members, strict=True)
    varied = (rows.std(axis=0) > _CONSTANT).astype(np.float32)  # what never varied was not learned
    return FeatureNetwork(
        np.array(names),
        mean,
        scale,
        np.mean(weights, axis=0, dtype=np.float32) * varied,
        np.mean(biases, dtype=np.float32),
        np.concatenate(units, axis=1) * varied[:, None],
        np.concatenate(unit_biases),
        np.concatenate(outs) / np.float32(MEMBERS),
    )


def fitted_ranking(turns: Sequence[Asked]) -> FeatureNetwork:
    """The network that makes the right derivations of each turn most probable together."""
    kept = [one for one in turns if one.right.any() and not one.right.all() and not one.removed]

    def batches(drawn: np.random.Generator) -> Any:
        order = drawn.permutation(len(kept))
        for begin in range(0, len(order), RANKING.size):
            some = [kept[place] for place in order[begin : begin + RANKING.size]]
            yield np.concatenate([one.evidence for one in some]), partial(_choice_loss, [one.right for one in some])

    rows = np.concatenate([one.evidence for one in kept])
    return fitted(rows, evidence_names(rows.shape[1]), START, RANKING, batches)


def _choice_loss(right: Sequence[np.ndarray], values: Any) -> Any:
    import torch

    each = zip(torch.split(values, [len(one) for one in right]), right, strict=True)
    losses = [torch.logsumexp(own, 0) - torch.logsumexp(own[torch.tensor(one)], 0) for own, one in each]
    return torch.stack(losses).mean()


def fitted_confidence(firsts: Sequence[First], weights: FloatArray, columns: int) -> FeatureNetwork:
    """The network of the log-odds that first answers are right."""
    rows = np.stack([one.values for one in firsts])
    right = np.array([one.is_right for one in firsts], dtype=np.float32)

    def batches(drawn: np.random.Generator) -> Any:
        order = drawn.permutation(len(rows))
        for begin in range(0, len(order), CONFIDENCE.size):
            own = order[begin : begin + CONFIDENCE.size]
            yield rows[own], partial(_binary_loss, right[own], weights[own])

    return fitted(rows, confidence_names(columns), {}, CONFIDENCE, batches)


def _binary_loss(right: FloatArray, weights: FloatArray, values: Any) -> Any:
    import torch
    from torch.nn import functional

    return functional.binary_cross_entropy_with_logits(values, torch.tensor(right), torch.tensor(weights))


def report(turns: Sequence[Asked], firsts: Sequence[First | None], confidence: Sequence[float], label: str) -> None:
    """Prints the right answer's place and the shares of right and wrong turns at limits of confidence."""
    pairs = list(zip(turns, firsts, strict=True))
    answerable = [(turn, one) for turn, one in pairs if turn.has_answer]
    reached = np.mean([turn.right.any() for turn, _ in answerable])
    top = np.mean([one is not None and one.is_right for _, one in answerable])
    print(f"{label}, {len(turns)} turns: with the right answer {reached:.1%}, which is first {top:.1%}")
    for limit in LIMITS:
        given = [one is not None and own >= limit for one, own in zip(firsts, confidence, strict=True)]
        right = [
            one.is_right if own and one else not turn.has_answer for (turn, one), own in zip(pairs, given, strict=True)
        ]
        wrong = [own and one is not None and not one.is_right for one, own in zip(firsts, given, strict=True)]
        print(f"  from {limit:.2f}: right {np.mean(right):.1%}, wrong {np.mean(wrong):.1%}")


def main() -> None:
    """Fits the networks, prints figures of leaving sets out, and writes them."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="what collect_parses.py wrote")
    parser.add_argument(
        "--scores", type=Path, nargs="+", help="what fit_parse_reader.py scored, for parses that are read"
    )
    parser.add_argument("--removed", type=float, default=OF_REMOVED, help="the weight of questions without a relation")
    parser.add_argument("--write", action="store_true", help="write the networks that ship")
    options = parser.parse_args()
    torch.set_num_threads(1)
    turns = [turn for file in options.files for turn in read(file)]
    if options.scores:
        scores = {graph: own for file in options.scores for graph, own in np.load(file).items()}
        turns = with_scores([one for one in turns if one.graph in scores], scores)
    columns = turns[0].evidence.shape[1]
    names = [one.graph.split(".")[0] for one in turns]
    fold_of = {name: place % FOLDS for place, name in enumerate(sorted(set(names)))}
    folds = np.array([fold_of[name] for name in names])
    firsts: list[First | None] = [None] * len(turns)
    for fold in range(FOLDS):
        ranking = fitted_ranking([one for one, own in zip(turns, folds, strict=True) if own != fold])
        for place in np.flatnonzero(folds == fold):
            firsts[place] = first(turns[place], ranking)
    weights = np.array([options.removed if one.removed else 1.0 for one in turns], dtype=np.float32)
    answered = np.array([one is not None for one in firsts])
    confidence = np.zeros(len(turns))
    for fold in range(FOLDS):
        inside = np.flatnonzero(answered & (folds != fold))
        network = fitted_confidence([one for place in inside if (one := firsts[place])], weights[inside], columns)
        for place in np.flatnonzero(answered & (folds == fold)):
            own = firsts[place]
            assert own is not None
            confidence[place] = 1 / (1 + np.exp(-network(own.values[None])[0]))
    for label in [*dict.fromkeys(names), "all", "relation taken out"]:
        places = [
            place
            for place, (one, name) in enumerate(zip(turns, names, strict=True))
            if one.removed == (label == "relation taken out") and label in (name, "all", "relation taken out")
        ]
        report(*([some[place] for place in places] for some in (turns, firsts, confidence)), label)  # type: ignore[misc]
    if options.write:
        ranking = fitted_ranking(turns)
        network = fitted_confidence([one for one in firsts if one is not None], weights[answered], columns)
        file = FILE_READ if options.scores else FILE
        np.savez_compressed(file, **ranking.arrays("ranking_"), **network.arrays("confidence_"))


if __name__ == "__main__":
    main()
