"""Small plots as SVG inside a page: accuracies against a cost, and differences with their intervals.

scatter([Point("A", cost=0.03, value=0.36, low=0.27, high=0.46)], "seconds a turn")
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.rendering.html import Html, escape

_WIDTH, _HEIGHT = 460, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 24, 14, 46


@dataclass(frozen=True)
class Point:
    """A run in a plot: accuracies in [0, 1], and a cost of at least 0."""

    name: str
    cost: float
    value: float
    low: float
    high: float


def scatter(points: Sequence[Point], cost: str) -> Html:
    """Accuracy with its interval against a cost, on a logarithmic axis where the costs differ tenfold."""
    highest, lowest = max(one.cost for one in points), min(one.cost for one in points)
    is_log = lowest > 0 and highest / lowest > 10
    across = _log_axis(lowest, highest) if is_log else _linear_axis(0.0, 1.12 * highest if highest > 0 else 1.0)
    top = min(1.0, math.ceil(max(one.high for one in points) * 10) / 10)
    bottom = max(0.0, math.floor(min(one.low for one in points) * 10) / 10)
    up = _linear_axis(bottom, top if top > bottom else bottom + 0.1)
    parts = [_frame(across, up, cost, is_log=is_log)]
    for one in points:
        x, y = _x(across.place(one.cost)), _y(up.place(one.value))
        low, high = _y(up.place(one.low)), _y(up.place(one.high))
        title = f"{one.name}: {100 * one.value:.1f}% [{100 * one.low:.1f}, {100 * one.high:.1f}], {one.cost:.4g} {cost}"
        parts.append(
            f'<g><title>{escape(title)}</title><line class="bar" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" '
            f'y2="{high:.1f}"/><circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
            f'<text x="{x + 8:.1f}" y="{y - 6:.1f}">{escape(one.name)}</text></g>'
        )
    label = f"Accuracy against {cost}"
    return _svg(label, _HEIGHT, parts)


def differences(points: Sequence[Point]) -> Html:
    """Differences of accuracies, in points, with their intervals, one below the other; ``cost`` is not looked at."""
    widest = max(0.01, *(abs(edge) for one in points for edge in (one.low, one.high)))
    reach = math.ceil(widest * 20) / 20
    axis, height = _linear_axis(-reach, reach), 34 * len(points) + 40
    parts = [f'<line class="zero" x1="{_x(0.5):.1f}" x2="{_x(0.5):.1f}" y1="4" y2="{height - 30}"/>']
    for place, one in enumerate(points):
        y = 22 + 34 * place
        low, mid, high = (_x(axis.place(edge)) for edge in (one.low, one.value, one.high))
        parts.append(
            f'<line class="bar" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
            f'<circle class="point" cx="{mid:.1f}" cy="{y}" r="5"/><text x="4" y="{y + 4}">{escape(one.name)}</text>'
        )
    for edge in (-reach, 0.0, reach):
        x = _x(axis.place(edge))
        parts.append(f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{100 * edge:+.0f}</text>')
    label = "Differences of accuracy in points, with intervals"
    return _svg(label, height, parts)


def _svg(label: str, height: int, parts: Sequence[str]) -> Html:
    size = f'width="{_WIDTH}" viewBox="0 0 {_WIDTH} {height}"'
    return Html(f'<svg role="img" aria-label="{escape(label)}" {size}>{"".join(parts)}</svg>')


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    is_log: bool
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Where a value stands, from 0 to 1."""
        if self.is_log:
            return (math.log10(value) - self.low) / (self.high - self.low)
        return (value - self.low) / (self.high - self.low)


def _linear_axis(low: float, high: float) -> _Axis:
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw)
    count = math.floor((high - low) / step + 1e-9)
    return _Axis(low, high, is_log=False, ticks=tuple(low + step * place for place in range(count + 1)))


def _log_axis(low: float, high: float) -> _Axis:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return _Axis(first, last, is_log=True, ticks=tuple(10.0**power for power in range(first, last + 1)))


def _frame(across: _Axis, up: _Axis, cost: str, *, is_log: bool) -> str:
    parts = []
    for tick in up.ticks:
        y = _y(up.place(tick))
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{100 * tick:.0f}%</text>')
    bottom = _HEIGHT - _BOTTOM
    for tick in across.ticks:
        x = _x(across.place(tick))
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:.4g}</text>')
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>')
    label = f"{cost} (logarithmic)" if is_log else cost
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(label)}</text>')
    return "".join(parts)


def _x(place: float) -> float:
    return _LEFT + place * (_WIDTH - _LEFT - _RIGHT)


def _y(place: float) -> float:
    return _HEIGHT - _BOTTOM - place * (_HEIGHT - _TOP - _BOTTOM)
