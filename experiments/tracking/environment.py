"""The environment of a result: versions and the code's revision, recorded on every run and saved program.

>>> describe_environment().finpath
'0.1.0'
"""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGES = ("dspy", "rdflib", "numpy", "mlflow", "datasets")
"""The packages whose versions can change a result."""

PROCESS_TAG = "finpath.process"
"""The tag with the process that writes a run."""

REVISION_TAG = "mlflow.source.git.commit"
"""MLflow's own tag for the revision of the code."""

MODEL_PACKAGES = ("dspy", "rdflib", "numpy", "mlflow")
"""The packages that a saved program needs to run."""


@dataclass(frozen=True)
class Environment:
    """Versions and revision.

    Attributes:
        finpath: Version of finpath.
        python: Version of Python.
        packages: Version of each of :data:`PACKAGES`.
        git_revision: The commit of finpath's checkout, followed by ``-dirty`` where files differ from it. ``None`` if
            finpath is installed or git is missing.
    """

    finpath: str
    python: str
    packages: dict[str, str]
    git_revision: str | None


@cache
def describe_environment() -> Environment:
    """The environment of this process."""
    return Environment(
        finpath=metadata.version("finpath"),
        python=platform.python_version(),
        packages={name: metadata.version(name) for name in PACKAGES},
        git_revision=_git_revision(Path(__file__).resolve().parents[2]),
    )


def run_tags(seed: int) -> dict[str, str]:
    """Returns the tags of the code's versions, which every run has."""
    environment = describe_environment()
    return {
        "finpath.version": environment.finpath,
        "finpath.seed": str(seed),
        "finpath.packages": json.dumps(environment.packages),
        "finpath.python": environment.python,
        **({REVISION_TAG: environment.git_revision} if environment.git_revision else {}),
    }


def _git_revision(folder: Path) -> str | None:
    if not (folder / ".git").exists():
        return None
    revision = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    if revision is None:
        return None
    return f"{revision}-dirty" if changes else revision


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def model_packages() -> dict[str, str]:
    """Returns the packages of :data:`MODEL_PACKAGES` with their versions."""
    versions = describe_environment().packages
    return {name: versions[name] for name in MODEL_PACKAGES}


def this_process() -> str:
    """``HOST:PID:START``: names this process, also after its number is given to another."""
    return f"{socket.gethostname()}:{os.getpid()}:{_start_of(os.getpid())}"


def is_gone(process: str) -> bool:
    """Whether a process of this machine, as :func:`this_process` wrote it, has ended; never true of other machines."""
    _, _, rest = process.rpartition(":")[0].rpartition(":")
    if not _is_here(process):
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it is there, and someone else's
    return _start_of(int(rest)) != process.rpartition(":")[2]


def is_alive(process: str) -> bool:
    """Whether a process of this machine, as :func:`this_process` wrote it, runs; never true of other machines."""
    return _is_here(process) and not is_gone(process)


def _is_here(process: str) -> bool:
    host, _, number = process.rpartition(":")[0].rpartition(":")
    return host == socket.gethostname() and number.isdecimal()


def _start_of(process: int) -> str:
    """Returns the start time of a process in the system's ticks, or ``-`` where it is not known."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "-"
    return status.rpartition(")")[2].split()[19]
