"""Names of millions of entities as arrays.

>>> table = StringTable.of(["Alma", "Bert"])
>>> table.find("Bert"), table.name(1)
(1, 'Bert')

The UTF-8 bytes of all names are one array. A sorted array of 32-bit checksums gives the number of a name. Each name
takes its bytes and 16 more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from zlib import crc32

import numpy as np
from numpy.typing import NDArray


class StringTable:
    """Names of any form.

    Args:
        blob: The joined UTF-8 bytes of all names.
        offsets: The start of each name and the end of the last; shape ``(names + 1,)``.
        checksums: The sorted CRC-32 of the names; shape ``(names,)``.
        order: The number of each checksum's name; shape ``(names,)``.
    """

    def __init__(
        self,
        blob: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        checksums: NDArray[np.uint32],
        order: NDArray[np.int32],
    ) -> None:
        self._blob, self._offsets, self._checksums, self._order = blob, offsets, checksums, order

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> StringTable:
        """The table of saved :meth:`arrays`; ``KeyError`` where one is missing."""
        return cls(
            arrays["blob"].astype(np.uint8, copy=False),
            arrays["offsets"].astype(np.int64, copy=False),
            arrays["checksums"].astype(np.uint32, copy=False),
            arrays["order"].astype(np.int32, copy=False),
        )

    @classmethod
    def of(cls, names: Iterable[str]) -> StringTable:
        """The table of distinct names, numbered in their order."""
        blob, lengths, checksums = bytearray(), [0], []
        for name in names:
            encoded = name.encode("utf-8", "surrogatepass")
            blob += encoded
            lengths.append(len(encoded))
            checksums.append(crc32(encoded))
        unsorted = np.array(checksums, dtype=np.uint32)
        order = np.argsort(unsorted, kind="stable").astype(np.int32)
        offsets = np.cumsum(np.array(lengths, dtype=np.int64))
        return cls(np.frombuffer(bytes(blob), dtype=np.uint8), offsets, unsorted[order], order)

    def __len__(self) -> int:
        return len(self._order)

    def name(self, number: int) -> str:
        """The name with a number."""
        return self._encoded(number).decode("utf-8", "surrogatepass")

    def find(self, name: str) -> int | None:
        """The number of a name, or ``None``."""
        encoded = name.encode("utf-8", "surrogatepass")
        checksum = np.uint32(crc32(encoded))
        place = int(np.searchsorted(self._checksums, checksum))
        while place < len(self._checksums) and self._checksums[place] == checksum:
            number = int(self._order[place])
            if self._encoded(number) == encoded:
                return number
            place += 1
        return None

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The arrays to save, by their names."""
        return {"blob": self._blob, "offsets": self._offsets, "checksums": self._checksums, "order": self._order}

    def _encoded(self, number: int) -> bytes:
        return self._blob[self._offsets[number] : self._offsets[number + 1]].tobytes()
