"""Every name that a package exports lazily is there, and no module of the package has the same name."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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
