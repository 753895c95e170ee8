"""A demonstration on the shipped sample: conversations about countries; and the folder of the sample of news."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bench_followups import is_right, load_geography
from experiments.console import SAMPLE_FOLDER
from kg.encoders import installed_archive
from kg.news import ENCODER_PACKAGE
from programs.conversation import ConversationQA
from programs.turns import Turn
from programs.worlds.graph import GraphWorld

ADVISOR = SAMPLE_FOLDER / "advisor"

HAS_READER = installed_archive() is not None and find_spec(ENCODER_PACKAGE) is not None
"""Whether all that the extra ``news`` reads with is here: the packages may lack where the archive is in the cache."""

needs_reader = pytest.mark.skipif(not HAS_READER, reason="the extra news or its weights are not here")


def geography_turns() -> Iterator[tuple[str, Turn[Any, Any], bool]]:
    """Each turn of the scripted conversations, with the script's name and whether the answer is the expected one."""
    path = SAMPLE_FOLDER / "geography_conversations.json"
    graph, program = load_geography(), ConversationQA.for_graphs()
    for script in json.loads(path.read_text(encoding="utf-8")):
        state = program.start(GraphWorld(graph, "geography"))
        for expected in script["turns"]:
            state = program.ask(state, expected["question"])
            yield script["name"], state.turns[-1], is_right(state.turns[-1], expected)


TABLES = {
    "positions": "user_id TEXT, symbol TEXT, shares NUMERIC, avg_cost NUMERIC, added_at TEXT",
    "watchlist": "user_id TEXT, symbol TEXT, added_at TEXT",
}


def make_database(target: Path, folder: Path) -> None:
    """Makes a SQLite database of ``positions.csv`` and ``watchlist.csv`` of a folder."""
    with closing(sqlite3.connect(target)) as connection, connection:
        for table, columns in TABLES.items():
            connection.execute(f"DROP TABLE IF EXISTS {table}")
            connection.execute(f"CREATE TABLE {table} ({columns})")
            with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file))[1:]
            marks = ", ".join("?" for _ in columns.split(","))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
