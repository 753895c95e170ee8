"""The one folder that tools may read from and write to: a path that leads out of it is refused.

>>> Workspace(Path("reports")).path("2026/q3.pdf")
PosixPath('/home/ann/reports/2026/q3.pdf')
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kg.errors import DataError


@dataclass(frozen=True)
class Workspace:
    """A folder.

    Attributes:
        root: The folder.
        largest: Bytes that a file which is read may have, at least 1.
    """

    root: Path
    largest: int = 50_000_000

    def path(self, name: str) -> Path:
        """Returns the path of a name in the folder, whether it exists or not.

        Raises:
            DataError: It is outside of the folder, also by a link.
        """
        root = self.root.resolve()
        found = (root / name).resolve()
        if not found.is_relative_to(root):
            raise DataError("lies outside of the folder that tools may use", file=name)
        return found

    def file(self, name: str) -> Path:
        """Returns the path of an existing file that is not too large.

        Raises:
            DataError: It is missing, too large or outside of the folder.
        """
        found = self.path(name)
        if not found.is_file():
            known = ", ".join(self.names()[:20]) or "none"
            raise DataError(f"there is no such file; there are: {known}", file=name)
        if found.stat().st_size > self.largest:
            raise DataError(f"has {found.stat().st_size} bytes, more than the {self.largest} allowed", file=name)
        return found

    def names(self) -> list[str]:
        """Returns the names of all files of the folder and its subfolders, without hidden ones, in their order."""
        root = self.root.resolve()
        files = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        return sorted(path.as_posix() for path in files if not any(part.startswith(".") for part in path.parts))
