"""The fit of the ranking of parses and of the confidence in the first, on collected evidence.

    python benchmarks/collect_parses.py parses --read --set writers_graphs_ay writers_graphs_az
    python benchmarks/fit_ranking.py parses/*.pickle --write
    python benchmarks/fit_ranking.py parses/*.pickle --read --write

Both are small networks (:class:`kg.parsing.FeatureNetwork`). The fit goes on from the networks that ship, and a weight
that moves away from its start costs, so that few turns are enough for a few new features. The ranking makes the right
derivations of a turn most probable together. The confidence is fitted to first answers that a ranking of other graphs
gives. The figures are of leaving writers out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from collect_parses import Asked, read

from kg.arrays import FloatArray
from kg.parsing import FEATURES, MORE_FEATURES, READ_FEATURES, FeatureNetwork, Parse, Ranker, features
from kg.parsing.ranking import FILE, FILE_READ

FOLDS = 5
LIMITS = (0.5, 0.6, 0.64, 0.68, 0.72, 0.76, 0.8)
FITTED = ("linear", "bias", "hidden", "hidden_bias", "out")


EPOCHS, RATE = 12, 1e-3
"""Passes over the turns, and the length of a step."""

RANKING, CONFIDENCE = (16, 1e-3), (64, 1e-2)
"""The turns of a step, and the pull to the start, of each network."""

First = tuple[FloatArray, bool]
"""The features of a turn's first answer, and whether it is right."""


def begun(names: Sequence[str], rows: FloatArray, known: FeatureNetwork) -> FeatureNetwork:
    """The known network with the weights 0 for further features."""
    mean, scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-3)
    old = known.names.tolist()
    linear, hidden = np.zeros(len(names), np.float32), np.zeros((len(names), known.hidden.shape[1]), np.float32)
    new = [place for place, name in enumerate(names) if name in old]
    own = [old.index(names[place]) for place in new]
    mean[new], scale[new], linear[new], hidden[new] = (
        values[own] for values in (known.mean, known.scale, known.linear, known.hidden)
    )
    return FeatureNetwork(np.array(names), mean, scale, linear, known.bias, hidden, known.hidden_bias, known.out)


def tuned(network: FeatureNetwork, pull: float, batches: Callable[[np.random.Generator], Any]) -> FeatureNetwork:
    """A network after Adam; ``batches`` gives rows, and a function from their values to the gradient of the loss."""
    start = {name: np.asarray(getattr(network, name), dtype=np.float64) for name in FITTED}
    now = {name: value.copy() for name, value in start.items()}
    first, second = ({name: np.zeros_like(value) for name, value in start.items()} for _ in range(2))
    step, drawn = 0, np.random.default_rng(0)
    total = EPOCHS * len(list(batches(np.random.default_rng(0))))
    for _ in range(EPOCHS):
        for rows, gradient_of in batches(drawn):
            scaled = (rows - network.mean) / network.scale
            inside = scaled @ now["hidden"] + now["hidden_bias"]
            units = np.maximum(inside, 0)
            by_value = gradient_of(scaled @ now["linear"] + now["bias"] + units @ now["out"])
            by_unit = by_value[:, None] * now["out"] * (inside > 0)
            gradients = {
                "linear": scaled.T @ by_value, "bias": by_value.sum(), "hidden": scaled.T @ by_unit,
                "hidden_bias": by_unit.sum(axis=0), "out": units.T @ by_value,
            }  # fmt: skip
            step += 1
            for name, gradient in gradients.items():
                gradient = gradient + pull * (now[name] - start[name])
                first[name] = 0.9 * first[name] + 0.1 * gradient
                second[name] = 0.999 * second[name] + 0.001 * gradient**2
                length = RATE * (1 - step / (total + 1)) / (1 - 0.9**step)
                now[name] = now[name] - length * first[name] / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
    return replace(network, **{name: np.asarray(value, dtype=np.float32) for name, value in now.items()})


def fitted_ranking(turns: Sequence[Asked], names: Sequence[str], known: FeatureNetwork) -> FeatureNetwork:
    """The network that makes the right derivations of each turn most probable together."""
    kept = [one for one in turns if one.right.any() and not one.right.all()]

    def batches(drawn: np.random.Generator) -> Any:
        order = drawn.permutation(len(kept))
        for begin in range(0, len(order), RANKING[0]):
            some = [kept[place] for place in order[begin : begin + RANKING[0]]]
            rows = np.concatenate([one.evidence[:, : len(names)] for one in some])
            yield rows, lambda values, some=some: np.concatenate(_choice_gradients(values, some)) / len(some)

    rows = np.concatenate([one.evidence[:, : len(names)] for one in kept])
    return tuned(begun(names, rows, known), RANKING[1], batches)


def _choice_gradients(values: FloatArray, turns: Sequence[Asked]) -> list[FloatArray]:
    """The gradients of the log-probabilities of the right derivations together."""
    found, begin = [], 0
    for turn in turns:
        own = values[begin : begin + len(turn.right)]
        begin += len(own)
        every = np.exp(own - own.max())
        good = every * turn.right
        found.append(every / every.sum() - good / good.sum())
    return found


def fitted_confidence(firsts: Sequence[First], names: Sequence[str], known: FeatureNetwork) -> FeatureNetwork:
    """The network of the log-odds that first answers are right."""
    rows = np.stack([values for values, _ in firsts])
    right = np.array([is_right for _, is_right in firsts], dtype=np.float32)

    def batches(drawn: np.random.Generator) -> Any:
        order = drawn.permutation(len(rows))
        for begin in range(0, len(order), CONFIDENCE[0]):
            own = order[begin : begin + CONFIDENCE[0]]
            yield rows[own], lambda values, own=own: (1 / (1 + np.exp(-values)) - right[own]) / len(own)

    return tuned(begun(names, rows, known), CONFIDENCE[1], batches)


def first(turn: Asked, network: FeatureNetwork, names: Sequence[str]) -> First | None:
    """The first answer of a turn; ``None`` without one."""
    if not len(turn.answers):
        return None
    check, false = FEATURES.index("check"), FEATURES.index("false")
    parses: list[Any] = [
        Parse(place, 0.0, (int(answer),), None, row[false] == 0 if row[check] else None, evidence=tuple(row))  # type: ignore[arg-type]
        for place, (answer, row) in enumerate(zip(turn.answers, turn.evidence.tolist(), strict=True))
    ]
    ranked = Ranker(network, network).ranked(parses)
    best: Any = ranked[0].parse.query
    values = features(ranked, follows_abstention=turn.after, trusted=float(turn.trusted[best]))
    return np.array([values.get(name, 0.0) for name in names], dtype=np.float32), bool(turn.right[best])


def report(turns: Sequence[Asked], firsts: Sequence[First | None], confidence: FloatArray, label: str) -> None:
    """Prints the right answer's place and the shares of right and wrong turns at limits of confidence."""
    answerable = [(turn, one) for turn, one in zip(turns, firsts, strict=True) if turn.has_answer]
    reached = np.mean([turn.right.any() for turn, _ in answerable])
    top = np.mean([one is not None and one[1] for _, one in answerable])
    print(f"{label}, {len(turns)} turns: with the right answer {reached:.1%}, which is first {top:.1%}")
    is_right = np.array([one is not None and one[1] for one in firsts])
    has_answer = np.array([one.has_answer for one in turns])
    for limit in LIMITS:
        given = confidence >= limit
        right, wrong = np.where(given, is_right, ~has_answer), given & ~is_right
        print(f"  from {limit:.2f}: right {right.mean():.1%}, wrong {wrong.mean():.1%}")


def main() -> None:
    """Fits the networks, prints figures of leaving graphs out, and writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="what collect_parses.py wrote")
    parser.add_argument("--read", action="store_true", help="of parses that are read")
    parser.add_argument("--write", action="store_true", help="write the networks that ship")
    options = parser.parse_args()
    turns = [turn for file in options.files for turn in read(file)]
    writers = list(dict.fromkeys(turn.graph for turn in turns))
    folds = np.array([writers.index(turn.graph) % FOLDS for turn in turns])
    names = [*FEATURES, *(READ_FEATURES if options.read else ())]
    more = [*names, *(one for one in MORE_FEATURES if options.read or one != "read_lead")]
    shipped = Ranker.shipped(read=options.read)
    firsts: list[First | None] = [None] * len(turns)
    for fold in range(FOLDS):
        ranking = fitted_ranking(
            [one for one, own in zip(turns, folds, strict=True) if own != fold], names, shipped.ranking
        )
        for place in np.flatnonzero(folds == fold):
            firsts[place] = first(turns[place], ranking, more)
    confidence = np.zeros(len(turns), np.float32)
    for fold in range(FOLDS):
        inside = [one for one, own in zip(firsts, folds, strict=True) if one is not None and own != fold]
        network = fitted_confidence(inside, more, shipped.confidence)
        for place in np.flatnonzero(folds == fold):
            own = firsts[place]
            confidence[place] = 0.0 if own is None else 1 / (1 + np.exp(-network(own[0][None])[0]))
    report(turns, firsts, confidence, "writers left out")
    if options.write:
        ranking = fitted_ranking(turns, names, shipped.ranking)
        network = fitted_confidence([one for one in firsts if one is not None], more, shipped.confidence)
        file = FILE_READ if options.read else FILE
        np.savez_compressed(file, **ranking.arrays("ranking_"), **network.arrays("confidence_"))


if __name__ == "__main__":
    main()
