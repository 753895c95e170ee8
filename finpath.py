"""finpath in Python, and the first step of its command: a check that the rooms that Python would import are finpath's.

    import finpath
    report = finpath.read("annual-report.pdf")
    answer = finpath.ask(report, "what were net sales in 2020?")
    answer.answer, answer.confidence, [report.describe(source) for source in answer.sources]

    $ finpath ask ...
    finpath: another distribution provides the package 'kg': /env/lib/python3.12/site-packages/kg

finpath's rooms are top-level packages with general names. In an environment that is shared with other projects a
foreign distribution may provide one of them, and the two would be mixed silently. This module has a name of its own and
needs nothing but the standard library, so it can report them before anything else is imported.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.facade import ask, compare, compile, evaluate, load, read  # noqa: A004 - DSPy's word
    from experiments.saved import save_program as save
    from optimize.metrics import metric

__version__ = "0.1.0"

__all__ = ["ask", "compare", "compile", "evaluate", "load", "metric", "read", "save"]

ROOMS = ("kg", "signatures", "programs", "optimize", "experiments")
"""The top-level packages of finpath."""


def __getattr__(name: str) -> Any:
    """The functions for Python, which import the rooms when they are first used."""
    if name == "save":
        from experiments.saved import save_program

        return save_program
    if name == "metric":
        from optimize.metrics import metric

        return metric
    if name in __all__:
        from experiments import facade

        return getattr(facade, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def find_foreign_rooms() -> dict[str, Path]:
    """The places of the rooms that Python would not import from finpath; empty when all is well."""
    root = Path(__file__).parent.resolve()
    foreign: dict[str, Path] = {}
    for room in ROOMS:
        if (spec := importlib.util.find_spec(room)) is not None:
            place = Path(next(iter(spec.submodule_search_locations or [spec.origin or room]))).resolve()
            if place != root / room:
                foreign[room] = place
    return foreign


def main() -> int:
    """Runs the command line, unless a foreign package would be mixed in.

    Returns:
        The exit code: 0 done, 1 a mistake in the input or the environment, 2 wrong usage, 130 stopped by Ctrl-C.
    """
    foreign = find_foreign_rooms()
    if foreign:
        for room, place in foreign.items():
            sys.stderr.write(f"finpath: another distribution provides the package {room!r}: {place}\n")
        sys.stderr.write("finpath: install finpath into an environment of its own: python3 -m venv finpath-env\n")
        return 1
    try:
        from experiments.commands.main import main as command
    except KeyboardInterrupt:
        sys.stderr.write("finpath: stopped\n")
        return 130
    return command()


if __name__ == "__main__":
    sys.exit(main())
