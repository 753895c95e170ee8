from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from kg.errors import DataError
from programs.tools import WebLimits, read_prices

TABLE = "Date,Symbol,Open,Close\n2026-06-01,AAA,9,10.5\n2026-06-03,AAA,9,11\n"


def test_the_last_close_up_to_a_day(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(TABLE)
    prices = read_prices(str(path), WebLimits())
    assert prices.close("AAA", date(2026, 6, 2)) == (date(2026, 6, 1), 10.5)
    assert prices.close("AAA", date(2026, 5, 1)) is None
    assert prices.close("BBB", date(2026, 6, 2)) is None


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("date,close\n2026-06-01,3\n", "must have date, symbol and close"),
        ("date,symbol,close\n2026-06-01,AAA,-3\n", "close must be above 0, got -3"),
        ("date,symbol,close\nyesterday,AAA,3\n", "line 2"),
    ],
)
def test_a_malformed_table_is_refused(tmp_path: Path, table: str, problem: str) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(table)
    with pytest.raises(DataError, match=problem):
        read_prices(str(path), WebLimits())
