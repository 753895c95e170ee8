"""Figures under MLflow's sections: a name's part before a slash is a section of the run's page.

>>> sectioned({"exe_accuracy": 0.7, "exe_accuracy_low": 0.6, "recall_at_10": 0.9})
{'exe_accuracy': 0.7, 'ci/exe_accuracy_low': 0.6, 'recall/at_10': 0.9}

The first section of a page then has the headline figures alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SECTIONS = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"(.+_(?:low|high))", r"ci/\1"),
        (r"recall_(at_\d+)", r"recall/\1"),
        (r"(accuracy)_at_coverage_(\d+)", r"coverage/\1_at_\2"),
        (r"exe_accuracy_turn_(\d+)", r"by_turn/exe_accuracy_\1"),
        (r"exe_accuracy_calls_(\d+)", r"by_calls/exe_accuracy_\1"),
        (r"turns_with_calls_(\d+)", r"by_calls/turns_\1"),
        (r"(failures|escalated|stage|difference)_(.+)", r"\1/\2"),
        (r"(lm_.+|.*tokens.*|.*seconds.*|.*calls.*|turns_with_estimated_cache)", r"cost/\1"),
        (r"((?:data|graph)_problems|unreadable_questions|resumed_turns)", r"data/\1"),
    )
)


def sectioned(figures: Mapping[str, object]) -> dict[str, object]:
    """Returns the figures in their order, each under the name that MLflow shows it by."""
    return {metric_name(name): value for name, value in figures.items()}


def metric_name(name: str) -> str:
    """Returns the name of a figure in MLflow; a headline figure keeps its own."""
    for pattern, section in _SECTIONS:
        if match := pattern.fullmatch(name):
            return match.expand(section)
    return name
