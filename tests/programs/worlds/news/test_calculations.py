"""Calculations with amounts and days as sentences write them."""

from __future__ import annotations

import pytest

from programs.worlds.news.calculations import LONGEST, calculate


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("$340 million - $300 million", "$40 million"),
        ("$1.2 billion - $300 million", "$0.9 billion"),
        ("($48 million - $40 million) / $40 million * 100%", "20%"),
        ("1,240 jobs - 320 places", "920 jobs"),
        ("12% * €3 million", "€0.36 million"),
        ("€3 million / 12%", "€25 million"),
        ("14% − 11%", "3%"),
        ("six aircraft - two aircraft", "4 aircraft"),
        ("2026 - 1998", "28"),
        ("2026-05-09 - 2026-03-31", "39 days"),
        ("2026-03-31 - 2026-04-01", "1 day"),
        ("2026-05-09 + 10 days", "2026-05-19"),
        ("count(Ostrava; Brno; ostrava)", "2"),
    ],
)
def test_results_keep_the_unit_and_the_scale(written: str, result: str) -> None:
    assert calculate(written, str) == result


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("$5 - €4", "have other units"),
        ("$5 * $4", "both have a unit"),
        ("2026-05-09 * 2", "cannot be multiplied"),
        ("2026-05-09 + $3", "only joined with days"),
        ("$5 - ", "is no calculation"),
        ("($5 - $4", "is no calculation"),
        ("$5 - $4) * 2", "is no calculation"),
        ("$5 / ($4 - $4)", "has no result"),
        ("blue - $4", "no amount and no day"),
        ("$1 + " * LONGEST + "$1", f"more than {LONGEST}"),
    ],
)
def test_what_is_no_calculation_is_refused(written: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        calculate(written, str)


def test_every_part_is_looked_up_and_small_counts_need_no_sentence() -> None:
    seen: list[str] = []

    def lookup(text: str) -> str:
        seen.append(text)
        return text

    assert calculate("$340 million / 4 * 100%", lookup) == "$85 million"
    assert seen == ["$340 million"]
