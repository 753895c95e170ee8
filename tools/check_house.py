"""Checks the size and the order of the house: lines by room, circles of modules, class names with two meanings.

    $ python tools/check_house.py
    programs: 12,031 lines of Python (at most 12,000): delete before you add
    circle: programs.advisor.briefings, programs.advisor.profile
    class Step: programs.advisor.watch, kg.search.steps

The limits are in ``[tool.finpath.ceilings]`` of ``pyproject.toml``, one number for each room. Imports count wherever
they are written, those under ``TYPE_CHECKING`` and inside functions too. Classes of benchmarks, tools and tests are
not compared, and a program's module has the name of its signature: ``Understand`` of ``programs`` asks that of
``signatures``.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOMS = ("kg", "signatures", "programs", "optimize", "experiments")
"""The rooms of the product, whose modules and classes are compared."""
Modules = dict[str, ast.Module]


def read_modules(root: Path) -> Modules:
    """Parses the modules of the product, by dotted name."""
    files = (file for room in ROOMS for file in sorted((root / room).rglob("*.py")))
    dotted = {file: ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for file in files}
    return {name: ast.parse(file.read_text(encoding="utf-8")) for file, name in dotted.items()}


def oversized_rooms(root: Path, ceilings: dict[str, int]) -> Iterator[str]:
    """Yields a message for each room with more lines than its ceiling."""
    for room, ceiling in ceilings.items():
        lines = sum(file.read_bytes().count(b"\n") for file in (root / room).rglob("*.py"))
        if lines > ceiling:
            yield f"{room}: {lines:,} lines of Python (at most {ceiling:,}): delete before you add"


def imported(name: str, module: ast.Module, modules: Modules) -> set[str]:
    """Returns the modules that a module imports; ``from package import submodule`` is the submodule alone."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            names.update(path if path in modules else node.module for path in inner.values())
    return (names & modules.keys()) - {name}


def circles(modules: Modules) -> Iterator[str]:
    """Yields a message for each circle, without the modules of circles before it."""
    graph = {name: imported(name, module, modules) for name, module in modules.items()}
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = sorted(set(error.args[1]))
            yield f"circle: {', '.join(circle)}"
            graph = {name: targets.difference(circle) for name, targets in graph.items() if name not in circle}
        else:
            return


def ambiguous_classes(modules: Modules) -> Iterator[str]:
    """Yields a message for each class name that two modules define, a signature and its program apart."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, module in modules.items():
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    for name in sorted(places):
        if len(places[name]) > 1 and [place.split(".")[0] for place in places[name]] != ["signatures", "programs"]:
            yield f"class {name}: {', '.join(places[name])}"


def check_house(root: Path) -> list[str]:
    """Returns the findings about the tree below a folder; none where all is in order."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["finpath"]
    modules = read_modules(root)
    return [*oversized_rooms(root, settings["ceilings"]), *circles(modules), *ambiguous_classes(modules)]


if __name__ == "__main__":
    messages = check_house(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    sys.exit("\n".join(messages) or None)
