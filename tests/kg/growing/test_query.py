"""Isolated queries shared by threads, and queries that are interrupted."""

from __future__ import annotations

import selectors
from concurrent.futures import ThreadPoolExecutor

import pytest

from kg.errors import QueryError
from kg.growing.query import IsolatedReader, QueryLimits

LIMITS = QueryLimits(seconds=20)


@pytest.fixture
def reader() -> IsolatedReader:
    return IsolatedReader(lambda: "")


def asked(reader: IsolatedReader, number: int) -> str:
    return str(reader.query(f"SELECT ?x WHERE {{ BIND({number} AS ?x) }}", LIMITS).rows[0][0])


def test_ten_threads_get_the_answers_to_their_own_queries(reader: IsolatedReader) -> None:
    with ThreadPoolExecutor(10) as threads:
        found = list(threads.map(lambda number: asked(reader, number), range(300)))
    assert found == [str(number) for number in range(300)]


def test_an_interrupted_query_leaves_no_answer_for_the_next(
    reader: IsolatedReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(reader, 1) == "1"

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(selectors.DefaultSelector, "select", interrupted)
        with pytest.raises(KeyboardInterrupt):
            asked(reader, 2)
    assert [asked(reader, number) for number in (3, 4)] == ["3", "4"]


def test_the_size_of_an_answer_is_bounded_as_its_rows_are(reader: IsolatedReader) -> None:
    """A few doublings make a row of many megabytes, which would be read past the time limit."""
    doubled = "".join(f" BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(22))
    with pytest.raises(QueryError, match="more than 1000000 characters"):
        reader.query(f'SELECT ?x22 WHERE {{ BIND("ab" AS ?x0){doubled} }}', LIMITS)
    assert asked(reader, 5) == "5"
