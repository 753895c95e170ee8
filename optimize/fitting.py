"""Types that the fits of finpath's own models share: further data, and progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Dialogues = Sequence[tuple[str, Sequence[str], Sequence[str]]]
"""Conversations without their reports: id, questions and gold programs."""

Progress = Callable[[str], None]
"""Receives a line for each stage of a fit as it begins."""

Plot = Callable[[Mapping[str, float], int], None]
"""Receives the values of curves at a step."""


def silent(line: str) -> None:
    """Drops the line: the progress of a fit whose caller asks for none."""
