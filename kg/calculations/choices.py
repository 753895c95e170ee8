"""The choice among readings of a question: among the names that it may ask for, and among aggregates.

A linear model over the features of each reading (:mod:`kg.calculations.comparisons`, :mod:`kg.calculations.aggregates`)
and over what the search itself thinks of the same answer::

    >>> model.scores(comparisons.features)
    array([-1.2, 3.4], dtype=float32)

Fitted by :mod:`optimize.scorers.choices` on reports that the search has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from kg.arrays import FloatArray
from kg.errors import DataError

NAMING_FEATURES = (
    "form", "first", "second", "timed_asked", "timed_unasked", "untimed_asked", "named", "named_either",
    "named_share", "section", "part", "fixed_words", "fixed_agreement", "other_words", "year_fits", "year_differs",
    "latest", "across", "size", "spread", "difference", "change", "bounded", "unbounded", "signed", "structural",
    "support", "unsupported", "total", "looked_up", "weakest", "count_fits", "count_differs", "years_between",
    "years_unused", "same_figures", "same_rows", "same_columns", "same_measure", "length_fits", "length_differs",
    "demands", "closing", "options", "largest_below", "smallest_below", "falls_largest", "falls_smallest",
    "falls_below", "plural_one", "plural_several", "several", "date", "date_extreme", "date_sentence", "date_near",
    "other",
)  # fmt: skip
"""The features of a comparison; ``support`` is the log-probability that the search gives to the same names."""

AGGREGATE_FEATURES = (
    "support", "unsupported", "names", "structural", "form", "first", "second", "mean", "weakest", "sum", "average",
    "max", "min", "range", "cued", "uncued", "cued_sum", "cued_average", "cued_max", "cued_min", "cued_range",
    "ratio_asked", "change_asked", "power_asked", "per", "member", "into", "less", "convert", "difference", "change",
    "outer_form", "outer_pointed", "outer_total", "outer_aligned", "outer_unit", "row", "column", "text", "block",
    "earlier", "whole", "section", "part", "years", "listed", "named", "count", "except", "dated", "timed", "size",
    "count_fits",
    "count_differs", "time_differs", "years_covered", "years_missing", "years_beyond", "named_share", "fixed_words",
    "fixed_agreement", "other_words", "year_fits", "year_differs", "latest", "spread", "cue_in_label", "with_total",
    "percent", "as_percent", "as_positive",
)  # fmt: skip
"""The features of an aggregate; ``support`` is the log-probability that the search gives to the same answer."""


def feature_matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> FloatArray:
    """Returns named features as rows of numbers, 0 where a feature is missing; shape ``(rows, names)``."""
    columns = [[row.get(name, 0.0) for name in names] for row in rows]
    return np.array(columns, dtype=np.float32).reshape(len(rows), len(names))


@dataclass(frozen=True)
class LinearChoice:
    """The weights of a choice.

    Attributes:
        weights: Of each feature.
        fitted_on: Description of the data.
    """

    weights: Mapping[str, float]
    fitted_on: str = ""
    features: ClassVar[tuple[str, ...]] = ()
    part: ClassVar[str] = ""

    def scores(self, features: FloatArray) -> FloatArray:
        """Returns the unnormalised log-probability of each row of features."""
        weights = np.array([self.weights.get(name, 0.0) for name in self.features], dtype=np.float32)
        result: FloatArray = features @ weights
        return result

    def to_dict(self) -> dict[str, Any]:
        """Returns the weights with four digits."""
        weights = {name: round(float(value), 4) for name, value in self.weights.items()}
        return {"weights": weights, "fitted_on": self.fitted_on}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Reads what :meth:`to_dict` wrote.

        Raises:
            DataError: A part is missing, or a weight is of no feature.
        """
        try:
            weights = {str(name): float(value) for name, value in record["weights"].items()}
            model = cls(weights, str(record["fitted_on"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"the scorer's {cls.part} cannot be read: {error!r}") from error
        unknown = sorted(set(model.weights) - set(cls.features))
        if unknown:
            raise DataError(f"the scorer's {cls.part} has a weight for {unknown[0]!r}, which is no feature")
        return model


@dataclass(frozen=True)
class NamingModel(LinearChoice):
    """The choice among names."""

    features: ClassVar[tuple[str, ...]] = NAMING_FEATURES
    part: ClassVar[str] = "naming"


@dataclass(frozen=True)
class AggregateModel(LinearChoice):
    """The choice among aggregates and the search's own candidates."""

    features: ClassVar[tuple[str, ...]] = AGGREGATE_FEATURES
    part: ClassVar[str] = "aggregates"
