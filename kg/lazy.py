"""Lazy exports of packages (PEP 562): a module of a package is imported when one of its names is first used.

if TYPE_CHECKING:
    from kg.graphs.index import GraphIndex
else:
    __getattr__ = lazy_exports(__name__, __file__)
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def lazy_exports(package: str, file: str) -> Callable[[str], Any]:
    """Returns the ``__getattr__`` of a package for the names that its file imports while types are checked.

    Args:
        package: The package's ``__name__``.
        file: Its ``__file__``.
    """
    places = {
        alias.asname or alias.name: (node.module, alias.name)
        for block in ast.parse(Path(file).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module != package
        for alias in node.names
    }

    def export(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = places[name]
        value = getattr(importlib.import_module(module), original)
        setattr(sys.modules[package], name, value)
        return value

    vars(sys.modules[package])["__dir__"] = lambda: sorted(places)  # the exports, for dir() and completion
    return export
