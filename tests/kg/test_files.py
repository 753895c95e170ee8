"""Files and folders that are written completely or not at all, also by processes that are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kg.arrays import MAPPED_FROM, read_arrays
from kg.errors import DataError
from kg.files import BusyError, FileLock, locked, replacing

ROOT = Path(__file__).parents[2]


def killed(code: str) -> None:
    """Runs code in a process that kills itself."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    head = "import os, signal\ndie = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
    done = subprocess.run([sys.executable, "-c", head + textwrap.dedent(code)], env=environment, check=False)
    assert done.returncode == -9


def aged(folder: Path) -> list[Path]:
    """The hidden files of a folder, made older than a minute."""
    found = [path for path in folder.iterdir() if path.name.startswith(".")]
    for path in found:
        os.utime(path, (time.time() - 90, time.time() - 90))
    return found


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_its_leftovers_none(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old", encoding="utf-8")
    killed(f"""
        from kg.files import replacing
        with replacing({str(path)!r}) as file:
            file.write(b"new")
            die()
    """)
    assert path.read_text(encoding="utf-8") == "old"
    for own in (".a.json.original", ".a.json.20260101"):  # a user's own
        (tmp_path / own).write_text("mine", encoding="utf-8")
    assert len(aged(tmp_path)) == 3
    with replacing(path) as file:
        file.write(b"newer")
    assert sorted(one.name for one in tmp_path.iterdir()) == [".a.json.20260101", ".a.json.original", "a.json"]
    assert path.read_bytes() == b"newer"


def test_an_error_while_writing_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match=r"a: cannot be written: No space left on device"):
        full()
    assert (path.read_bytes(), len(list(tmp_path.iterdir()))) == (b"old", 1)
    with pytest.raises(DataError, match="cannot be written"), replacing("/proc/none/a.json") as file:
        file.write(b"new")


def test_a_lock_is_of_one_process_and_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path):
        for shared in (False, True):
            with pytest.raises(BusyError, match="in use by another process"):
                FileLock(path, shared=shared, wait=False)
    readers = [FileLock(path, shared=True, wait=False) for _ in range(2)]
    for reader in readers:
        reader.release()
    killed(f"""
        from pathlib import Path
        from kg.files import FileLock
        lock = FileLock(Path({str(path)!r}))
        die()
    """)
    FileLock(path, wait=False).release()


def _bomb(path: Path) -> None:
    np.savez_compressed(path, format=np.zeros(100_000_000, dtype=np.uint8))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(b"no zip"), "cannot be read as arrays"),
        (lambda path: path.write_bytes(path.read_bytes()[:-30]), "cannot be read as arrays"),
        (_bomb, "unpacks to 100000128 bytes"),
    ],
)
def test_a_damaged_file_of_arrays_is_refused(tmp_path: Path, damage: Callable[[Path], None], message: str) -> None:
    path = tmp_path / "films.npz"
    np.savez(path, targets=np.arange(3))
    damage(path)
    with pytest.raises(DataError, match=message):
        read_arrays(path)


@pytest.mark.parametrize(("save", "is_mapped"), [(np.savez, True), (np.savez_compressed, False)])
def test_large_arrays_of_an_uncompressed_file_stay_in_it(tmp_path: Path, save: Any, is_mapped: bool) -> None:
    path = tmp_path / "arrays.npz"
    large = np.random.default_rng(0).integers(0, 1000, (MAPPED_FROM // 8, 2)).astype(np.int32)
    given = {"large": large, "turned": np.asfortranarray(large), "small": np.arange(3), "none": np.zeros(0)}
    save(path, **given)
    found = read_arrays(path, mapped=True)
    assert all(np.array_equal(found[name], array) for name, array in given.items())
    assert found["large"].flags.writeable is not is_mapped
    assert found["small"].flags.writeable
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="cannot be read as arrays"):
        read_arrays(path, mapped=True)
