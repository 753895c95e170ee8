"""The holdings and the watchlist of a user, read from the tables of a relational database.

    positions(user_id, symbol, shares, avg_cost, added_at)      watchlist(user_id, symbol, added_at)
    user_investment_profiles(user_id, risk_tolerance, investment_horizon, goals, preferences)      if there is one

    read_portfolio("portfolio.db", "ann")        # SQLite by its file; any other database by its SQLAlchemy URL

The tables are read and never written, and nothing of them enters the graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from kg.errors import DataError
from programs.advisor import Portfolio

PROFILES = "user_investment_profiles"


def read_portfolio(database: str, user: str) -> Portfolio:
    """A user's positions, added up by symbol, and watch-list.

    Args:
        database: A file of SQLite, or an SQLAlchemy URL.
        user: The user's id.

    Raises:
        DataError: The database cannot be reached, lacks a table, or knows nothing of the user.
    """
    from sqlalchemy import create_engine, inspect, text
    from sqlalchemy.exc import SQLAlchemyError

    if "://" not in database and not Path(database).is_file():
        raise DataError("is not there: give a file of SQLite or an SQLAlchemy URL", file=database)
    try:
        engine = create_engine(database if "://" in database else f"sqlite:///{database}")
        with engine.connect() as connection:
            held = connection.execute(
                text("SELECT symbol, shares FROM positions WHERE user_id = :user ORDER BY symbol"), {"user": user}
            ).all()
            watched = connection.execute(
                text("SELECT DISTINCT symbol FROM watchlist WHERE user_id = :user ORDER BY symbol"), {"user": user}
            ).all()
            profiles: Sequence[Any] = ()
            if inspect(engine).has_table(PROFILES):
                columns = "risk_tolerance, investment_horizon, goals, preferences"
                asked = text(f"SELECT {columns} FROM {PROFILES} WHERE user_id = :user")  # noqa: S608 - constants
                profiles = connection.execute(asked, {"user": user}).mappings().all()
        engine.dispose()
    except (SQLAlchemyError, ImportError, ValueError) as error:
        shown = database.partition("://")[0] if "://" in database else database  # a URL may hold a password
        raise DataError(f"cannot be read: {type(error).__name__}", file=shown) from None
    if not held and not watched:
        raise DataError(f"holds no position and no watch-list of user {user!r}", file=database.rpartition("@")[2])
    shares: dict[str, float] = {}
    for given, count in held:
        symbol = _symbol(given)
        shares[symbol] = shares.get(symbol, 0.0) + _shares(count, given)
    symbols = dict.fromkeys(_symbol(row[0]) for row in watched)
    profile = "; ".join(f"{name}: {value}" for row in profiles for name, value in row.items() if value)
    return Portfolio(dict(sorted(shares.items())), tuple(sorted(symbols)), profile.replace("_", " "))


def _symbol(value: object) -> str:
    """Returns a symbol in capitals; one with small letters among more capitals stays, as exchanges write "BRKpB"."""
    symbol = str(value).strip()
    capitals, small = (sum(map(is_case, symbol)) for is_case in (str.isupper, str.islower))
    return symbol if capitals > small else symbol.upper()


def _shares(value: object, symbol: object) -> float:
    if not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        raise DataError(f"shares must be a number, got {value!r}", place=f"positions of {symbol}")
    return float(value)
