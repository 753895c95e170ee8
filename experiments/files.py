"""Files of the product: each one written completely or not at all.

write_text("figures.json", "{}")                # a crash leaves the earlier file, never half of the new one
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kg.errors import ConfigError, DataError
from kg.files import replacing

SHIPPED_FOLDER = Path(__file__).parent / "shipped"
"""The folder of the programs that ship with finpath."""

SAMPLE_FOLDER = Path(__file__).parent / "sample"
"""The folder of the data that ships with finpath."""

TRACKING_URI = "sqlite:///mlflow.db"
"""The tracking store where the environment names none; its path is relative to the working folder."""


def check_address(address: str) -> None:
    """Raises ConfigError where an address is malformed, or holds a user or a password: addresses are written down."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise ConfigError(f"this is no address: {error}") from None
    if "@" in parts.netloc:
        raise ConfigError("an address must hold no user and no password")


def read_text(path: str | Path) -> str:
    """Returns the text of a UTF-8 file.

    Raises:
        DataError: It cannot be read.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"cannot be read: {reason}", file=str(path)) from error


def read_object(path: str | Path, content: str) -> dict[str, Any]:
    """Returns the JSON object in a file.

    Raises:
        DataError: The file cannot be read, or is no object with ``content``.
    """
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {error}", file=str(path)) from error
    if not isinstance(value, dict):
        raise DataError(f"must be an object with {content}", file=str(path))
    return value


def check_target(path: str | Path, name: str, *, folder: bool | None = False, inside: bool = False) -> None:
    """Raises ConfigError where a file or folder cannot be written; nothing of the check remains.

    Args:
        path: The file or folder; its parents need not exist.
        name: Its name in the message.
        folder: Whether it is a folder; ``None`` for either.
        inside: Whether files are added to the folder, in place of a new folder that takes its place.
    """
    kind = {True: "folder", False: "file", None: "file or folder"}[folder]
    target = Path(os.path.realpath(path))
    if folder is not None and target.exists() and folder != target.is_dir() and not _is_device(target):
        raise ConfigError(f"{name} must be a {kind}, {path} is a {'file' if folder else 'folder'}")
    reason = why_unwritable(target, inside=inside)
    if reason is not None:
        raise ConfigError(f"{name} must be a {kind} that can be written, got {path}: {reason}")


def why_unwritable(target: Path, *, inside: bool = False) -> str | None:
    """Returns the reason why a file or folder cannot be written, if so: a file system may be full or read-only."""
    if target.exists() and _is_device(target):
        return None
    beside = target if inside and target.is_dir() else target.absolute().parent
    place = next(parent for parent in (beside, *beside.parents) if parent.exists())
    probe = place / f".finpath-{secrets.token_hex(4)}"
    try:
        probe.open("xb").close()
        probe.unlink()
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    return None


def _is_device(path: Path) -> bool:
    return not path.is_dir() and not stat.S_ISREG(path.stat().st_mode)


def write_text(path: str | Path, text: str) -> None:
    """Writes a UTF-8 file completely or not at all; makes its folder.

    Raises:
        DataError: It cannot be written; half a character of a pair is one reason.
    """
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(f"cannot be written: {error}", file=str(path)) from error
    with replacing(path) as file:
        file.write(content)
