"""Writes the ``__init__`` of a package from the names that other packages import, and points their imports at it.

    python tools/interfaces.py kg.search kg.paths

A name that another package of the rooms takes from a module of the package becomes part of its ``__all__``. Modules
inside the package, tests and benchmarks go on importing from the modules themselves.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("kg", "signatures", "programs", "optimize", "experiments")


def modules() -> dict[str, Path]:
    """Every module of the rooms by its dotted name."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def outside_imports(package: str, known: dict[str, Path]) -> dict[str, list[tuple[Path, ast.ImportFrom]]]:
    """The imports of names from a package's modules by modules outside of it, by module."""
    found = defaultdict(list)
    for name, path in known.items():
        if name == package or name.startswith(package + "."):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(package + "."):
                found[node.module].append((path, node))
    return found


def rewrite(package: str, known: dict[str, Path]) -> None:
    """Adds the names to the package's ``__all__`` and rewrites the imports."""
    found = outside_imports(package, known)
    init = known[package]
    text = init.read_text(encoding="utf-8")
    names: dict[str, set[str]] = defaultdict(set)
    doc = ast.get_docstring(ast.parse(text)) or f"The package ``{package}``."
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names[node.module] |= {alias.name for alias in node.names}
    edits: dict[Path, list[ast.ImportFrom]] = defaultdict(list)
    for module, uses in found.items():
        for path, node in uses:
            names[module] |= {alias.name for alias in node.names}
            edits[path].append(node)
    imports = [f"from {module} import ({', '.join(sorted(names[module]))})" for module in sorted(names)]
    lines = [f'"""{doc}"""', "", *imports]
    every = sorted({name for some in names.values() for name in some})
    lines += ["", "__all__ = [", *(f"    {name!r}," for name in every), "]", ""]
    init.write_text("\n".join(lines), encoding="utf-8")
    for path, nodes in edits.items():
        source = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for node in sorted(nodes, key=lambda one: -one.lineno):
            line = source[node.lineno - 1]
            source[node.lineno - 1] = line.replace(f"from {node.module} import", f"from {package} import", 1)
        path.write_text("".join(source), encoding="utf-8")


if __name__ == "__main__":
    for one in sys.argv[1:]:
        rewrite(one, modules())
