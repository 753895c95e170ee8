"""Question sets of outside writers, unpacked from ``benchmarks/data`` the first time that they are needed.

    $ python benchmarks/question_sets.py
    /tmp/finpath-question-sets-1000/graphs-0d4c8f6a31b2

``benchmarks/data/README.md`` says what each archive holds. A folder's name has the hash of its archive, so a
changed archive is unpacked again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

ARCHIVES = Path(__file__).parent / "data"


def unpacked(archive: str) -> Path:
    """Returns the folder with the files of ``benchmarks/data/ARCHIVE.tar.xz``; it is shared and not to be changed."""
    file = ARCHIVES / f"{archive}.tar.xz"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"finpath-question-sets-{os.getuid()}" / f"{archive}-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=folder.parent))
        with tarfile.open(file) as members:
            members.extractall(part, filter="data")
        try:
            part.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(part)
    return folder


if __name__ == "__main__":
    for file in sorted(ARCHIVES.glob("*.tar.xz")):
        print(unpacked(file.name.removesuffix(".tar.xz")))
