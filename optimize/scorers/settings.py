"""The settings of the fit of evidence, :class:`optimize.scorers.evidence.FitEvidence`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from optimize.settings import OptimizerSettings, at_least


@dataclass(frozen=True)
class EvidenceSettings(OptimizerSettings):
    """``evidence``: :class:`optimize.scorers.evidence.FitEvidence`.

    Attributes:
        mode: What the model is asked for; ``auto`` for likelihoods where it gives them, else an index.
        understand: Whether it says what a question means before the search.
        demonstrations: Turns that are shown in likelihood mode.
        shown: Candidates that are judged.
        ask_below: The beam's probability of its best candidate below which the model is asked while fitting; how far
            it is asked afterwards is fitted.
        turns: Turns that it is asked about at the most; by default all.
        prior: Whether the candidates' prior is asked for too.
        parts: Parts into which the reports are cut.
    """

    mode: Literal["auto", "index", "likelihood", "per-path"] = "auto"
    understand: bool = False
    demonstrations: int = at_least(1, 10)
    shown: int = at_least(2, 10)
    ask_below: float = at_least(0, 0.92)
    turns: int | None = at_least(1, None)
    prior: bool = False
    parts: int = at_least(2, 5)
