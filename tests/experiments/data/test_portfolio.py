"""Positions and watch-lists, read from the tables of a database that is only read."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from experiments.data import read_portfolio
from kg.errors import DataError
from tests.demonstrations import ADVISOR as SAMPLE
from tests.demonstrations import make_database


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "portfolio.db"
    make_database(path, SAMPLE)
    return path


def test_symbols_in_small_letters_are_those_in_capitals(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        for symbol in ("hlxn", "Hlxn", "BRKpB", "brk.b"):
            connection.execute("INSERT INTO positions VALUES ('ann', ?, 1, 40, '2026-11-01')", (symbol,))
        connection.execute("INSERT INTO watchlist VALUES ('ann', 'mrdn', '')")
    found = read_portfolio(str(database), "ann")
    assert found.held == {"BRK.B": 1.0, "BRKpB": 1.0, "CLDR": 40.0, "HLXN": 122.0, "OSPR": 15.0}
    assert found.watched == ("BRMB", "HLXN", "MRDN")


def test_a_user_sees_what_is_theirs_and_the_tables_are_only_read(database: Path) -> None:
    before = database.read_bytes()
    found = read_portfolio(f"sqlite:///{database}", "ben")
    assert (found.held, found.watched) == ({"QLPH": 60.0}, ("NRDL",))
    with pytest.raises(DataError, match="no position and no watch-list of user"):
        read_portfolio(str(database), "x' OR '1'='1")
    assert database.read_bytes() == before


def test_what_cannot_be_read_is_said_without_passwords(tmp_path: Path, database: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.db: is not there: give a file of SQLite or an SQLAlchemy URL"):
        read_portfolio(str(tmp_path / "nowhere.db"), "ann")
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TABLE watchlist")
    with pytest.raises(DataError, match="cannot be read: OperationalError"):
        read_portfolio(str(database), "ann")
    for address in ("nosuchdialect://ann:secret@host/db", "postgresql://ann:secret@localhost:abc/x"):
        with pytest.raises(DataError) as caught:
            read_portfolio(address, "ann")
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("shares", ["'abc'", "NULL", "'1e999'", "9e999"])
def test_shares_that_are_no_number_are_refused(database: Path, shares: str) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute("DROP TABLE positions")
        connection.execute("CREATE TABLE positions (user_id, symbol, shares, avg_cost, added_at)")
        connection.execute(f"INSERT INTO positions VALUES ('ann', 'HLXN', {shares}, 40, '2026-11-01')")
    with pytest.raises(DataError, match="positions of HLXN: shares must be a number"):
        read_portfolio(str(database), "ann")


def test_the_documented_tables_are_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "growing-graphs.md"
    (sql,) = re.findall(r"```sql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    with sqlite3.connect(tmp_path / "portfolio.db") as connection:
        connection.executescript(sql)
    found = read_portfolio(str(tmp_path / "portfolio.db"), "ann")
    assert (found.held, found.watched) == ({"HLXN": 120.0}, ("NRDL",))
    assert found.profile.startswith("risk tolerance: conservative; investment horizon: 10 years; goals: ")
