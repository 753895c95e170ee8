"""Relations between the figures of a report: to those of earlier turns, and of a second operand to a first.

A question is searched under several histories, most of which speak of the same figures, so every relation is computed
once a question::

    relations = FigureRelations(index)
    relations.pairs(3)          # how each figure lies to figure 3, shape (figures + 1, PAIR_FEATURES)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kg.arrays import BoolArray, FloatArray, IntArray
from kg.calculations.report_index import ReportIndex

_AROUND = 11


class FigureRelations:
    """The relations of a report's observations to others of them; each is computed once.

    Args:
        index: The report.
    """

    def __init__(self, index: ReportIndex) -> None:
        self.index = index
        self._to_any: dict[tuple[int, ...], FloatArray] = {}
        self._around: dict[int | None, FloatArray] = {}
        self._pairs: dict[int, FloatArray] = {}

    def to_any(self, figures: tuple[int, ...]) -> FloatArray:
        """Returns whether each observation has the row, column or sentence of any of ``figures``, or is one of them.

        Returns:
            Shape ``(observations, 5)``.
        """
        if figures not in self._to_any:
            self._to_any[figures] = _relation_to_any(self.index, figures)
        return self._to_any[figures]

    def around(self, anchor: int | None = None) -> FloatArray:
        """Returns position and period of each observation relative to one; zeros without one.

        Returns:
            Shape ``(observations, 11)``.
        """
        if anchor not in self._around:
            none = np.zeros((len(self.index.row), _AROUND), dtype=np.float32)
            self._around[anchor] = none if anchor is None else _relative(self.index, anchor)
        return self._around[anchor]

    def pairs(self, first: int) -> FloatArray:
        """Returns how every observation lies to one, which is -1 for none.

        Returns:
            Shape ``(observations + 1, PAIR_FEATURES)``; the last row is for no observation, so that -1 finds it.
        """
        if first not in self._pairs:
            every = np.append(np.arange(len(self.index.row)), -1)
            self._pairs[first] = pair_features(self.index, np.full(len(every), first), every)
        return self._pairs[first]


def _relation_to_any(index: ReportIndex, figures: Sequence[int]) -> FloatArray:
    """Same row, same column, same sentence, and the same figure, as any of ``figures``."""
    chosen = np.array(figures, dtype=np.int64)
    rows, columns, sentences = index.row[chosen], index.column[chosen], index.sentence[chosen]
    same_row = np.isin(index.row, rows[rows >= 0])
    same_column = np.isin(index.column, columns[columns >= 0])
    same_sentence = np.isin(index.sentence, sentences[sentences >= 0])
    same = np.isin(np.arange(len(index.row)), chosen)
    return np.stack([same_row, same_column, same_sentence, same, same_row & ~same_column], axis=1).astype(np.float32)


def _relative(index: ReportIndex, anchor: int) -> FloatArray:
    in_table = index.row[anchor] >= 0
    down = index.row - index.row[anchor]
    across = index.column - index.column[anchor]
    apart = index.sentence - index.sentence[anchor]
    cells = (index.row >= 0) & in_table
    later = np.where((index.period >= 0) & (index.period[anchor] >= 0), index.period - index.period[anchor], 99)
    after = index.ordinal - index.ordinal[anchor]
    texts = (index.sentence >= 0) & (not in_table)
    parts = [
        cells & (down == 1) & (across == 0),
        cells & (down == -1) & (across == 0),
        cells & (down == 0) & (across == 1),
        cells & (down == 0) & (across == -1),
        later == 1,
        later == -1,
        later == 0,
        texts & (apart == 0) & (after == 1),
        texts & (np.abs(apart) == 1),
        (index.row >= 0) != in_table,
        np.arange(len(index.row)) == anchor,
    ]
    return np.stack(parts, axis=1).astype(np.float32)


class _Pair:
    """Two operands, as arrays of observations: what :data:`_PAIRS` compares.

    Args:
        index: The report.
        first: Observations, -1 for none.
        second: Observations, -1 for none.
    """

    def __init__(self, index: ReportIndex, first: IntArray, second: IntArray) -> None:
        self.known = (first >= 0) & (second >= 0)
        self.same = self.known & (first == second)
        self.across = index.column[second] - index.column[first]
        self.down = index.row[second] - index.row[first]
        self.apart = index.sentence[second] - index.sentence[first]
        self.later = index.period[first] - index.period[second]
        in_table = index.row[first] >= 0, index.row[second] >= 0
        self.cells = self.known & in_table[0] & in_table[1]
        self.mixed = self.known & (in_table[0] != in_table[1])
        self.dated = self.known & (index.period[first] >= 0) & (index.period[second] >= 0)
        self.texts = self.known & (index.sentence[first] >= 0) & (index.sentence[second] >= 0)
        self.row, self.column = self.cells & (self.down == 0), self.cells & (self.across == 0)
        self.unit = index.unit[first] == index.unit[second]
        self.scale = index.scale[first] == index.scale[second]
        self.amount = index.amounts[first] == index.amounts[second]


_PAIRS: dict[str, Callable[[_Pair], BoolArray]] = {
    "same_figure": lambda pair: pair.same,
    "same_row": lambda pair: pair.row,
    "same_column": lambda pair: pair.column,
    "next_column": lambda pair: pair.row & (pair.across == 1),
    "previous_column": lambda pair: pair.row & (pair.across == -1),
    "next_row": lambda pair: pair.column & (pair.down == 1),
    "previous_row": lambda pair: pair.column & (pair.down == -1),
    "other_row_and_column": lambda pair: pair.cells & ~pair.row & ~pair.column,
    "same_sentence": lambda pair: pair.texts & (pair.apart == 0),
    "neighbouring_sentence": lambda pair: pair.texts & (np.abs(pair.apart) == 1),
    "table_and_text": lambda pair: pair.mixed,
    "same_year": lambda pair: pair.dated & (pair.later == 0),
    "one_year_later": lambda pair: pair.dated & (pair.later == 1),
    "later": lambda pair: pair.dated & (pair.later > 0),
    "earlier": lambda pair: pair.dated & (pair.later < 0),
    "unknown": lambda pair: ~pair.known,
    "same_unit": lambda pair: pair.known & pair.unit,
    "other_unit": lambda pair: pair.known & ~pair.unit,
    "other_scale": lambda pair: pair.known & ~pair.scale,
    "same_amount": lambda pair: pair.known & pair.amount,
}
"""The relations of a second operand to the first one, in the order on which fitted weights depend."""

PAIR_FEATURES = len(_PAIRS)


def pair_features(index: ReportIndex, first: IntArray, second: IntArray) -> FloatArray:
    """The relations of second operands to first ones.

    Args:
        index: The report.
        first: Observations (-1 for none), broadcast against ``second``.
        second: Observations.

    Returns:
        Shape ``(*broadcast shape, PAIR_FEATURES)``.
    """
    pair = _Pair(index, first, second)
    return np.stack([feature(pair) for feature in _PAIRS.values()], axis=-1).astype(np.float32)
