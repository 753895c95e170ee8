"""Briefings as a page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from experiments.rendering.html import render
from programs.advisor import Briefing, Profile

CAUTION = "This is news with its sources, derived by rules. It is no advice."


def briefings_page(briefings: Sequence[Briefing], profile: Profile | None, today: date, left_out: str = "") -> str:
    """Returns briefings as one HTML page.

    Args:
        briefings: The briefings.
        profile: The profile that shaped them, if there is one.
        today: Their day.
        left_out: What the profile leaves out, in words.
    """
    return render(
        "briefings.html",
        title="Briefing",
        today=today.isoformat(),
        profile=profile,
        briefings=briefings,
        left_out=left_out,
        caution=CAUTION,
    )
