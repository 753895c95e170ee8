"""finpath in Python, and the first step of its command: a check that the rooms that Python would import are finpath's.

    import finpath
    report = finpath.read("annual-report.pdf")
    finpath.ask(report, "what were net sales in 2020?", "and in 2019?")

    $ finpath ask ...
    finpath: another distribution provides the package 'kg': kglab 1.0 (/env/lib/python3.12/site-packages/kg)

finpath's rooms are top-level packages with general names. In an environment that is shared with other projects a
foreign distribution may provide one of them, and the two would be mixed silently. This module has a name of its own and
needs nothing but the standard library, so it can report them before anything else is imported.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from experiments.facade import Answers, ReportAnswer, ReportFiles
    from programs.conversation import ConversationQA

__version__ = "0.1.0"

__all__ = ["ask", "load", "read", "save"]

ROOMS = ("kg", "signatures", "programs", "optimize", "experiments")
"""The top-level packages of finpath."""


@dataclass(frozen=True)
class ForeignRoom:
    """A package of one of finpath's names that is not from finpath.

    Attributes:
        room: The name that collides.
        place: Where the foreign files are.
        distributions: Installed distributions that provide the name, with versions; empty for loose folders.
    """

    room: str
    place: Path
    distributions: tuple[str, ...]

    def __str__(self) -> str:
        origin = ", ".join(self.distributions) or "a folder on Python's path"
        return f"the package {self.room!r} is also provided by {origin} ({self.place})"


def find_foreign_rooms(root: Path | None = None) -> list[ForeignRoom]:
    """The rooms that Python would not import from finpath; empty when all is well.

    Args:
        root: The folder that should hold the rooms; by default the one of this file.
    """
    root = (root if root is not None else Path(__file__).parent).resolve()
    found = [(room, place) for room in ROOMS if (place := _foreign_place(room, root)) is not None]
    if not found:
        return []
    providers = _providers([room for room, _ in found])
    return [ForeignRoom(room, place, tuple(providers.get(room, ()))) for room, place in found]


def _foreign_place(room: str, root: Path) -> Path | None:
    """The place of ``room`` where it is not finpath's."""
    spec = importlib.util.find_spec(room)
    if spec is None:
        return None  # nothing foreign: importing it will say what is missing
    if not spec.submodule_search_locations:
        return Path(spec.origin or room).resolve()
    place = Path(next(iter(spec.submodule_search_locations))).resolve()
    return place if place != root / room else None


def _providers(rooms: list[str]) -> dict[str, list[str]]:
    """The installed distributions, other than finpath, that have files under each of ``rooms``."""
    from importlib import metadata

    found: dict[str, list[str]] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name is None or name.lower() == "finpath":
            continue
        tops = {file.parts[0] for file in distribution.files or () if len(file.parts) > 1}
        for room in rooms:
            provider = f"{name} {distribution.version}"
            if room in tops and provider not in found.setdefault(room, []):
                found[room].append(provider)
    return found


def read(*documents: Any) -> ReportFiles:
    """A report of one's own, read from files; several files make one report.

    Args:
        documents: Paths of files (PDF, HTML, Excel, CSV, Parquet, Markdown, text, JSON), the id of a report of the
            sample, or the JSON object of a report.

    Raises:
        DataError: A file cannot be read or holds nothing, or there is no such report.
    """
    from experiments import facade

    return facade.read(*documents)


def load(program: str = "beam") -> ConversationQA:
    """A program, which is a ``dspy.Module``: ``program(report=report, question="...")``.

    Args:
        program: ``beam``, ``agent``, a folder of ``finpath compile``, ``models:/NAME/1``, or a run's name.

    Raises:
        TrackingError: There is no such program.
    """
    from experiments import facade

    return facade.load(program)


@overload
def ask(report: Any, question: str, /, *, program: ConversationQA | str = "beam") -> ReportAnswer: ...


@overload
def ask(report: Any, first: str, second: str, /, *more: str, program: ConversationQA | str = "beam") -> Answers: ...


def ask(report: Any, *questions: str, program: ConversationQA | str = "beam") -> ReportAnswer | Answers:
    """Answers questions about a report; each sees the answers before it.

    Args:
        report: What :func:`read` returns, or takes.
        questions: One question, or those of a conversation.
        program: A program of :func:`load`, or its name.

    Returns:
        The answer to one question, or the answers to several.

    Raises:
        FinpathError: There is no question, or the report cannot be read.
    """
    from experiments import facade

    return facade.ask(report, *questions, program=program)


def save(program: ConversationQA, folder: str | Path) -> Path:
    """Writes all parts of a program to a folder: weights, ontology, settings and prompts. :func:`load` reads it.

    Raises:
        ConfigError: The folder holds other files.
    """
    from experiments.saved import save_program

    return save_program(program, folder)


def main() -> int:
    """Runs the command line, unless a foreign package would be mixed in.

    Returns:
        The exit code: 0 done, 1 a mistake in the input or the environment, 2 wrong usage, 130 stopped by Ctrl-C.
    """
    foreign = find_foreign_rooms()
    if foreign:
        for room in foreign:
            sys.stderr.write(f"finpath: {room}\n")
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
