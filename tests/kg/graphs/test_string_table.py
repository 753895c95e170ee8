"""Names as arrays."""

from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from kg.graphs import string_table as names_table
from kg.graphs.string_table import StringTable


@given(st.lists(st.text(), unique=True))
def test_every_name_is_found_and_read_back(names: list[str]) -> None:
    for table in (StringTable.of(names), StringTable.from_arrays(StringTable.of(names).arrays())):
        assert len(table) == len(names)
        assert [table.name(number) for number in range(len(names))] == names
        assert [table.find(name) for name in names] == list(range(len(names)))
        assert table.find("".join(names) + "?") is None


def test_names_with_the_same_checksum_are_told_apart() -> None:
    with mock.patch.object(names_table, "crc32", return_value=7):
        table = StringTable.of(["a", "b", "c"])
        assert [table.find(name) for name in ("a", "b", "c", "d")] == [0, 1, 2, None]
