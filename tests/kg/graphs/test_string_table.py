"""Names as arrays."""

from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from kg.graphs import string_table as names_table
from kg.graphs.string_table import NumberedNames, StringTable, names_from


@given(st.lists(st.text(), unique=True))
def test_every_name_is_found_and_read_back(names: list[str]) -> None:
    for table in (StringTable.of(names), names_from(StringTable.of(names).arrays())):
        assert len(table) == len(names)
        assert [table.name(number) for number in range(len(names))] == names
        assert [table.find(name) for name in names] == list(range(len(names)))
        assert table.find("".join(names) + "?") is None


def test_names_with_the_same_checksum_are_told_apart() -> None:
    with mock.patch.object(names_table, "crc32", return_value=7):
        table = StringTable.of(["a", "b", "c"])
        assert [table.find(name) for name in ("a", "b", "c", "d")] == [0, 1, 2, None]


def test_numbered_names_are_written_in_one_way_only() -> None:
    names = NumberedNames("e", 12)
    assert names.name(11) == "e11"
    found = {name: names.find(name) for name in ("e0", "e11", "e12", "e01", "e+1", "e", "x1", "e1_0", "e²")}
    assert found == {name: {"e0": 0, "e11": 11}.get(name) for name in found}
    assert names_from(names.arrays()).find("e11") == 11
