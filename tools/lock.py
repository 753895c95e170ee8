"""Rewrites ``requirements.lock`` and ``requirements-dev.lock`` from ``pyproject.toml``: what ``make lock`` runs.

The files hold versions and hashes for every platform and Python >= 3.11, and no index's address: pip takes the packages
from wherever it is set up to.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".venv-lock"
UV = "uv==0.13.9"
"""The resolver, pinned: a lock file is the work of one version."""
HEADER = "# Made by `make lock` from pyproject.toml ({groups}). Do not edit.\n"
OPTIONS = (
    "--universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links "
    "--no-annotate --no-header --quiet --upgrade"
).split()


def resolve(group: str, target: Path, constraints: list[str]) -> None:
    """Writes one lock file: the base dependencies with the extras that the demo installs, and one dependency group."""
    command = [str(TOOLS / "bin" / "uv"), "pip", "compile", "pyproject.toml"]
    command += ["--extra", "local", "--extra", "files", "--group", group]
    command += [*OPTIONS, *constraints]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    if re.search(r"https?:|file:", text):
        raise SystemExit(f"{target.name} would name an index or a folder of this machine; nothing was written")
    target.write_text(HEADER.format(groups=f"base, local, files and {group}") + text)


def main() -> None:
    """Resolves the base first; the development tools then get the same versions of everything shared."""
    if not (TOOLS / "bin" / "uv").exists():
        subprocess.run([sys.executable, "-m", "venv", str(TOOLS)], check=True)
        subprocess.run([str(TOOLS / "bin" / "python"), "-m", "pip", "install", "--quiet", UV], check=True)
    resolve("build", ROOT / "requirements.lock", [])
    resolve("dev", ROOT / "requirements-dev.lock", ["-c", "requirements.lock"])


if __name__ == "__main__":
    main()
