from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import finpath

ROOT = Path(finpath.__file__).resolve().parent


def run_beside(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The start-up check in a process whose path has ``folder`` before the rooms."""
    code = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(ROOT)!r}]; import finpath; sys.exit(finpath.main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, cwd=folder
    )


def test_our_own_rooms_are_not_foreign() -> None:
    assert finpath.find_foreign_rooms() == {}


def test_a_foreign_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "kg").mkdir()
    (tmp_path / "kg" / "__init__.py").touch()
    done = run_beside(tmp_path, "--version")
    assert done.returncode == 1
    assert f"another distribution provides the package 'kg': {tmp_path / 'kg'}" in done.stderr
    assert "python3 -m venv" in done.stderr
    assert "Traceback" not in done.stderr
