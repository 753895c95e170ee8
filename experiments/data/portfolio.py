"""The holdings and the watchlist of a user, read from the tables of a relational database.

    positions(user_id, symbol, shares, avg_cost, added_at)      watchlist(user_id, symbol, added_at)
    user_investment_profiles(user_id, risk_tolerance, investment_horizon, goals, preferences)      if there is one
        goals '["income", "growth"]' or 'income, growth'      preferences '{"dividends": true}' or 'dividends'

    read_portfolio("portfolio.db", "ann")        # SQLite by its file; any other database by its SQLAlchemy URL

The tables are read and never written, and nothing of them enters the graph.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from kg.errors import DataError
from programs.advisor import Portfolio, Profile

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
            rows: Sequence[Any] = ()
            if inspect(engine).has_table(PROFILES):
                columns = "risk_tolerance, investment_horizon, goals, preferences"
                asked = text(f"SELECT {columns} FROM {PROFILES} WHERE user_id = :user")  # noqa: S608 - constants
                rows = connection.execute(asked, {"user": user}).all()
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
    return Portfolio(dict(sorted(shares.items())), tuple(sorted(symbols)), _profile(rows))


def _symbol(value: object) -> str:
    """Returns a symbol in capitals; one with small letters among more capitals stays, as exchanges write "BRKpB"."""
    symbol = str(value).strip()
    capitals, small = (sum(map(is_case, symbol)) for is_case in (str.isupper, str.islower))
    return symbol if capitals > small else symbol.upper()


def _profile(rows: Sequence[Sequence[Any]]) -> Profile | None:
    if not rows:
        return None
    tolerance, horizon, goals, preferences = rows[0]
    wanted = tuple(name for name, value in _named("goals", goals).items() if value)
    liked = _named("preferences", preferences)
    try:
        return Profile(str(tolerance or "moderate"), str(horizon or ""), wanted, liked)
    except DataError as error:
        raise DataError(error.rule, place=PROFILES) from error


def _named(column: str, text: str | None) -> dict[str, object]:
    """Values by name: of a JSON object; true for each name of a JSON list, or of words with commas."""
    words = (text or "").strip()
    try:
        read = json.loads(words) if words.startswith(("[", "{")) else [word.strip() for word in words.split(",")]
    except ValueError as error:
        rule = f"must be a JSON object, a JSON list or words with commas, got {text!r}"
        raise DataError(rule, place=f"{PROFILES}.{column}") from error
    return read if isinstance(read, dict) else dict.fromkeys((str(name) for name in read if name), True)


def _shares(value: object, symbol: object) -> float:
    if not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        raise DataError(f"shares must be a number, got {value!r}", place=f"positions of {symbol}")
    return float(value)
