"""Positions and watch-lists, read from the tables of a database that is only read."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import pytest

from experiments.data import make_database, read_portfolio
from experiments.tasks.advisor import SAMPLE
from kg.errors import DataError


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "portfolio.db"
    make_database(path, SAMPLE)
    return path


def test_positions_are_added_up_by_symbol(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO positions VALUES ('ann', 'HLXN', 0.5, 40, '2026-11-01')")
    found = read_portfolio(str(database), "ann")
    assert found.held == {"CLDR": 40.0, "HLXN": 120.5, "OSPR": 15.0}
    assert found.watched == ("BRMB", "HLXN", "MRDN")


def test_a_user_sees_what_is_theirs(database: Path) -> None:
    found = read_portfolio(f"sqlite:///{database}", "ben")
    assert (found.held, found.watched) == ({"QLPH": 60.0}, ("NRDL",))


def test_the_tables_are_only_read(database: Path) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    read_portfolio(str(database), "ann")
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before


def test_a_user_s_name_is_no_sql(database: Path) -> None:
    with pytest.raises(DataError, match="no position and no watch-list of user"):
        read_portfolio(str(database), "x' OR '1'='1")


def test_what_cannot_be_read_is_said_without_passwords(tmp_path: Path, database: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.db: is not there: give a file of SQLite or an SQLAlchemy URL"):
        read_portfolio(str(tmp_path / "nowhere.db"), "ann")
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TABLE watchlist")
    with pytest.raises(DataError, match="cannot be read: OperationalError"):
        read_portfolio(str(database), "ann")
    with pytest.raises(DataError) as caught:
        read_portfolio("nosuchdialect://ann:secret@host/db", "ann")
    assert "secret" not in str(caught.value)


def test_a_database_is_made_anew(database: Path) -> None:
    make_database(database, SAMPLE)
    assert read_portfolio(str(database), "ann").held["HLXN"] == 120.0


@pytest.mark.parametrize("shares", ["'abc'", "NULL", "'1e999'", "9e999"])
def test_shares_that_are_no_number_are_refused(database: Path, shares: str) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute("DROP TABLE positions")
        connection.execute("CREATE TABLE positions (user_id, symbol, shares, avg_cost, added_at)")
        connection.execute(f"INSERT INTO positions VALUES ('ann', 'HLXN', {shares}, 40, '2026-11-01')")
    with pytest.raises(DataError, match="positions of HLXN: shares must be a number"):
        read_portfolio(str(database), "ann")


def test_an_address_of_a_database_that_is_none_is_refused() -> None:
    with pytest.raises(DataError, match="cannot be read") as failed:
        read_portfolio("postgresql://ann:hunter2@localhost:abc/x", "ann")
    assert "hunter2" not in str(failed.value)
