"""Relations between the figures of a report: to those of earlier turns, and of a second operand to a first.

A question is searched under several histories, most of which speak of the same figures, so every relation is computed
once a question::

    relations = FigureRelations(index)
    relations.pairs(3)          # how each figure lies to figure 3, shape (figures + 1, PAIR_FEATURES)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np

from kg.arrays import FloatArray, IntArray
from kg.calculations.report_index import ReportIndex


class FigureRelations:
    """The relations of a report's observations to others of them; each is computed once.

    Args:
        index: The report.

    Attributes:
        to_any: :func:`relation_to_any` of the report, for some figures.
        around: :func:`relation_around` of the report, for a figure or none.
        pairs: :func:`relation_to_first` of the report, for a figure or -1.
    """

    def __init__(self, index: ReportIndex) -> None:
        self.index = index
        self.to_any = cache(partial(relation_to_any, index))
        self.around = cache(partial(relation_around, index))
        self.pairs = cache(partial(relation_to_first, index))


def relation_to_first(index: ReportIndex, first: int) -> FloatArray:
    """Returns how every observation lies to one, which is -1 for none.

    Returns:
        Shape ``(observations + 1, PAIR_FEATURES)``; the last row is for no observation, so that -1 finds it.
    """
    every = np.append(np.arange(len(index.row)), -1)
    return pair_features(index, np.full(len(every), first), every)


def relation_to_any(index: ReportIndex, figures: Sequence[int]) -> FloatArray:
    """Returns whether each observation has the row, column or sentence of any of ``figures``, or is one of them.

    Returns:
        Shape ``(observations, 5)``.
    """
    chosen = np.array(figures, dtype=np.int64)
    rows, columns, sentences = index.row[chosen], index.column[chosen], index.sentence[chosen]
    same_row = np.isin(index.row, rows[rows >= 0])
    same_column = np.isin(index.column, columns[columns >= 0])
    same_sentence = np.isin(index.sentence, sentences[sentences >= 0])
    same = np.isin(np.arange(len(index.row)), chosen)
    return np.stack([same_row, same_column, same_sentence, same, same_row & ~same_column], axis=1).astype(np.float32)


def relation_around(index: ReportIndex, anchor: int | None = None) -> FloatArray:
    """Returns position and period of each observation relative to one; zeros without one.

    Returns:
        Shape ``(observations, 11)``.
    """
    if anchor is None:
        return np.zeros((len(index.row), 11), dtype=np.float32)
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


PAIR_FEATURES = 20
"""The number of relations of a second operand to the first one."""


def pair_features(index: ReportIndex, first: IntArray, second: IntArray) -> FloatArray:
    """The relations of second operands to first ones.

    Args:
        index: The report.
        first: Observations (-1 for none), broadcast against ``second``.
        second: Observations.

    Returns:
        Shape ``(*broadcast shape, PAIR_FEATURES)``.
    """
    known = (first >= 0) & (second >= 0)
    across, down = index.column[second] - index.column[first], index.row[second] - index.row[first]
    in_table = index.row[first] >= 0, index.row[second] >= 0
    cells = known & in_table[0] & in_table[1]
    texts = known & (index.sentence[first] >= 0) & (index.sentence[second] >= 0)
    apart = index.sentence[second] - index.sentence[first]
    dated = known & (index.period[first] >= 0) & (index.period[second] >= 0)
    later = index.period[first] - index.period[second]
    row, column = cells & (down == 0), cells & (across == 0)
    same_unit = index.unit[first] == index.unit[second]
    relations = {  # Fitted weights depend on the order.
        "same_figure": known & (first == second),
        "same_row": row,
        "same_column": column,
        "next_column": row & (across == 1),
        "previous_column": row & (across == -1),
        "next_row": column & (down == 1),
        "previous_row": column & (down == -1),
        "other_row_and_column": cells & ~row & ~column,
        "same_sentence": texts & (apart == 0),
        "neighbouring_sentence": texts & (np.abs(apart) == 1),
        "table_and_text": known & (in_table[0] != in_table[1]),
        "same_year": dated & (later == 0),
        "one_year_later": dated & (later == 1),
        "later": dated & (later > 0),
        "earlier": dated & (later < 0),
        "unknown": ~known,
        "same_unit": known & same_unit,
        "other_unit": known & ~same_unit,
        "other_scale": known & (index.scale[first] != index.scale[second]),
        "same_amount": known & (index.amounts[first] == index.amounts[second]),
    }
    return np.stack(list(relations.values()), axis=-1).astype(np.float32)
