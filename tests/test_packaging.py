from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import finpath

ROOT = Path(finpath.__file__).resolve().parent
LOCKS = ("requirements.lock", "requirements-dev.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="the wheel's metadata needs the README")
def test_the_wheel_holds_the_rooms_and_their_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / build.build_wheel(str(tmp_path))) as wheel:
        names = set(wheel.namelist())
    assert {f"{room}/__init__.py" for room in finpath.ROOMS} <= names
    for room in finpath.ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.is_file() and path.suffix in (".py", ".json", ".ttl", ".npz", ".gz", ".typed"):
                assert str(path.relative_to(ROOT)) in names
    assert {f"{room}/py.typed" for room in finpath.ROOMS} <= names
    assert {"finpath.py", "experiments/sample/train.json", "experiments/shipped/beam/scorer.json"} <= names
    assert not any(name.startswith(("tests/", "tools/")) for name in names)


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_hold_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text()
    assert not re.search(r"https?:|file:|--index|--find-links", text)
    entries = re.split(r"\n(?=\S)", text.split("\n", 1)[1].strip())
    assert len(entries) > 100
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries)


def test_lock_files_agree_and_hold_every_dependency() -> None:
    base, dev = (set(re.findall(r"^(\S+==\S+)", (ROOT / name).read_text(), re.MULTILINE)) for name in LOCKS)
    assert base <= dev
    names = {entry.split("==")[0] for entry in base}
    assert {re.split(r"[<>=]", requirement)[0] for requirement in PROJECT["project"]["dependencies"]} <= names


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


ROOMS = ("kg", "programs", "optimize", "experiments")
LAZY = [
    ".".join(path.parent.relative_to(ROOT).parts)
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("__init__.py"))
    if "lazy_exports" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("package", LAZY)
def test_every_export_is_there_and_is_no_module(package: str) -> None:
    module = importlib.import_module(package)
    names = dir(module)
    assert names
    for name in names:
        assert getattr(module, name) is not None
        assert find_spec(f"{package}.{name}") is None, f"{package}.{name} is a module, too"


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"'kg.graphs' has no attribute 'nothing'"):
        importlib.import_module("kg.graphs").nothing  # noqa: B018
