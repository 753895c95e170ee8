"""Names as arrays: millions of them need no object each, and may stay in a file.

>>> table, _ = builder.table()
>>> table[1], table.find("Alien"), table.find("Aliens")
('Ridley Scott', 0, None)
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kg.arrays import IntArray

Ids = NDArray[np.int32]
_Keys = NDArray[np.uint64]

_PART = 100_000
"""Texts that are held as objects while names are numbered."""


class Postings(NamedTuple):
    """Numbers by text, which is known by 64 bits of its hash, as words lead to the entities whose names have them.

    Attributes:
        keys: The hash of each entry's text, sorted.
        values: The number of each entry.
    """

    keys: _Keys
    values: Ids

    def find(self, text: str) -> Ids:
        """The numbers of a text, in the order in which they were given."""
        key = _hashes([_encoded(text)])[0]
        return self.values[self.keys.searchsorted(key) : self.keys.searchsorted(key, side="right")]


@dataclass(frozen=True, eq=False)
class NameTable(Sequence[str]):
    """Distinct names by number.

    Attributes:
        text: The bytes of all names.
        starts: The start of each name among them.
        lengths: The bytes of each name.
        numbers: The number of each name.
    """

    text: NDArray[np.uint8]
    starts: IntArray
    lengths: Ids
    numbers: Postings

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: Any) -> Any:
        start = self.starts[number]
        return self.text[start : start + self.lengths[number]].tobytes().decode("utf-8", "surrogatepass")

    def find(self, name: str) -> int | None:
        """The number of a name, or ``None``."""
        return next((number for number in self.numbers.find(name).tolist() if self[number] == name), None)

    def postings(self, numbers: Ids, values: Ids) -> Postings:
        """Values by the names of some numbers, one each; the values of a name stay in their order."""
        keys: _Keys = np.empty(len(self), dtype=np.uint64)
        keys[self.numbers.values] = self.numbers.keys
        return _sorted(keys[numbers], values)


class NameBuilder:
    """Numbers texts in the order in which they first come; equal texts get one number in the end."""

    def __init__(self) -> None:
        self._part: dict[str, int] = {}
        self._count, self._text = 0, bytearray()
        self._lengths, self._keys = array("i"), array("Q")

    def number(self, text: str) -> int:
        """A number of a text, from which :meth:`table` leads to its number among the names."""
        number = self._part.get(text)
        if number is None:
            if len(self._part) == _PART:
                self._put()
            number = self._part[text] = self._count
            self._count += 1
        return number

    def _put(self) -> None:
        encoded = list(map(_encoded, self._part))
        self._text += b"".join(encoded)
        self._lengths.extend(map(len, encoded))
        self._keys.frombytes(_hashes(encoded).tobytes())
        self._part = {}

    def table(self) -> tuple[NameTable, Ids]:
        """The names, and for each number that :meth:`number` gave the one that its text has among them."""
        self._put()
        every = np.array(self._keys, dtype=np.uint64)
        keys, first, inverse = np.unique(every, return_index=True, return_inverse=True)
        names = np.sort(first)
        numbers = names.searchsorted(first).astype(np.int32)
        lengths = np.array(self._lengths, dtype=np.int32)
        starts = lengths.cumsum(dtype=np.int64) - lengths.astype(np.int64)
        text = np.frombuffer(bytes(self._text), dtype=np.uint8)
        table = NameTable(text, starts[names], lengths[names], Postings(keys, numbers))
        return table, numbers[inverse.reshape(-1)]


def postings(pairs: Iterable[tuple[str, int]]) -> Postings:
    """The numbers of texts, from pairs of both; a text may have several."""
    values = array("i")

    def encoded() -> Iterator[bytes]:
        for text, value in pairs:
            values.append(value)
            yield _encoded(text)

    keys = _hashes(encoded())
    return _sorted(keys, np.array(values, dtype=np.int32))


def _sorted(keys: _Keys, values: Ids) -> Postings:
    order = keys.argsort(kind="stable")
    return Postings(keys[order], values[order])


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hashes(texts: Iterable[bytes]) -> _Keys:
    digests = bytearray()
    for text in texts:
        digests += blake2b(text, digest_size=8).digest()
    return np.frombuffer(digests, dtype="<u8")
