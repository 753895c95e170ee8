"""Closing prices of instruments from a file or an address; they never enter the graph.

>>> read_prices("prices.csv", WebLimits()).close("HLXN", date(2026, 11, 20))
(datetime.date(2026, 11, 20), 41.5)

The table is CSV with the columns ``date``, ``symbol`` and ``close``; more columns are ignored.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from kg.errors import DataError
from programs.tools.addresses import WebLimits, fetch


@dataclass(frozen=True)
class Prices:
    """Closing prices.

    Attributes:
        source: The file or address.
        closes: The closes of each symbol by day, all above 0.
    """

    source: str
    closes: Mapping[str, Mapping[date, float]]

    def close(self, symbol: str, today: date) -> tuple[date, float] | None:
        """Returns the last close up to a day, with its day; ``None`` if there is none."""
        days = [day for day in self.closes.get(symbol, {}) if day <= today]
        return (max(days), self.closes[symbol][max(days)]) if days else None


def read_prices(source: str, limits: WebLimits) -> Prices:
    """Reads prices.

    Args:
        source: A CSV file, or an address that begins with http:// or https://.
        limits: The limits of a request.

    Raises:
        DataError: It cannot be read, a column is missing, or a value is malformed.
    """
    try:
        is_remote = source.startswith(("http://", "https://"))
        content = fetch(source, None, limits)[1] if is_remote else Path(source).read_bytes()
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig")))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=source) from error
    closes: dict[str, dict[date, float]] = {}
    for number, row in enumerate(rows, 2):
        named = {str(name).strip().lower(): value for name, value in row.items()}
        try:
            day, symbol, close = (
                date.fromisoformat(named["date"].strip()),
                named["symbol"].strip(),
                float(named["close"]),
            )
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            rule = f"must have date, symbol and close ({type(error).__name__}: {error})"
            raise DataError(rule, file=source, place=f"line {number}") from error
        if not math.isfinite(close) or close <= 0:
            raise DataError(f"close must be above 0, got {close}", file=source, place=f"line {number}")
        closes.setdefault(symbol, {})[day] = close
    return Prices(source, closes)
