"""Axes of the plots in ``templates/plots.html``: accuracies against a cost, and differences with their intervals.

scatter([Point("A", cost=0.03, value=0.36, low=0.27, high=0.46)], "seconds a turn")
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEFT, RIGHT, TOP, BOTTOM = 52, 436, 14, 254
"""The area of a scatter plot, in pixels of an image of 460 by 300."""


@dataclass(frozen=True)
class Point:
    """A run in a plot: accuracies in [0, 1], and a cost of at least 0."""

    name: str
    cost: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Axis:
    """An axis from ``start`` to ``end``, in pixels.

    Attributes:
        low: The value at its start; on a logarithmic axis, the exponent of ten.
        high: The value at its end.
        ticks: The values that are labelled.
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()
    is_log: bool = False

    def place(self, value: float) -> float:
        """The position of a value, in pixels."""
        value = math.log10(value) if self.is_log else value
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)


@dataclass(frozen=True)
class Plot:
    """A plot.

    Attributes:
        points: The runs.
        across: The horizontal axis.
        cost: The horizontal axis's label.
        up: The vertical axis; ``None`` if the runs are listed from top to bottom.
    """

    points: Sequence[Point]
    across: Axis
    cost: str = ""
    up: Axis | None = None


def scatter(points: Sequence[Point], cost: str) -> Plot:
    """Accuracies against a cost, on a logarithmic axis where the costs differ tenfold."""
    highest, lowest = max(one.cost for one in points), min(one.cost for one in points)
    if lowest > 0 and highest / lowest > 10:
        across = _log_axis(lowest, highest, LEFT, RIGHT)
    else:
        across = _linear_axis(0.0, 1.12 * highest if highest > 0 else 1.0, LEFT, RIGHT)
    top = min(1.0, math.ceil(max(one.high for one in points) * 10) / 10)
    bottom = max(0.0, math.floor(min(one.low for one in points) * 10) / 10)
    return Plot(points, across, cost, _linear_axis(bottom, top if top > bottom else bottom + 0.1, BOTTOM, TOP))


def differences(points: Sequence[Point]) -> Plot:
    """Differences of accuracies with their intervals, one below the other; ``cost`` is not read."""
    widest = max(0.01, *(abs(edge) for one in points for edge in (one.low, one.high)))
    reach = math.ceil(widest * 20) / 20
    return Plot(points, Axis(-reach, reach, LEFT, RIGHT, (-reach, 0.0, reach)))


def _linear_axis(low: float, high: float, start: float, end: float) -> Axis:
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw)
    count = math.floor((high - low) / step + 1e-9)
    return Axis(low, high, start, end, tuple(low + step * place for place in range(count + 1)))


def _log_axis(low: float, high: float, start: float, end: float) -> Axis:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return Axis(first, last, start, end, tuple(10.0**power for power in range(first, last + 1)), is_log=True)
