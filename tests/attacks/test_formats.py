"""Malformed inputs of every format: each is read or refused by an error of finpath, in little time.

make fuzz                                        # 5,000 inputs of each format, drawn at random
FUZZ_EXAMPLES=100 FUZZ_SEED=1 pytest tests/attacks -k Excel

A failure names the number of its input: the seed, the format and the number make the input again.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest
from dspy.lm15 import LM15Error

from kg.errors import FinpathError
from tests.attacks.formats import FORMATS, Format

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, 5, -1, 10**30, 1e308, float("nan"), float("inf")),
    *("", "x", "NaN", "-", "1e999999999", "9" * 400, "\ud800", "\x1b]0;x\x07", "a\x00b", "../../x", "x" * 5_000),
    *([], {}, [[]], [None], [5], ["x"], {"a": 1}, {"": None}, [[["x"]]]),
)
"""Values in places where others belong."""

FRAGMENTS: tuple[bytes, ...] = (
    *(b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\t", b"\n", b"\r", *(bytes([mark]) for mark in b'"<>[]{},|')),
    *(b"NaN", b"-", b"1e999999999", b"9" * 400, b"\\ud800", b"\\UFFFFFFFF", b"colspan=99999999999", b"<table>" * 300),
    *(b"[" * 3_000, b"(" * 300, b"#99", b"&#xFFFFFF;", b"\x1b[2J", b"<?xml version='1.0' encoding='utf-16'?>"),
)
"""Bytes in places where others belong."""

OTHERS = (b"", b"null", b"[]", b"5", b"<html>no</html>", b"[" * 100_000, b'{"a": ' * 9_000, b"{} endless")
"""Whole inputs in place of a value of JSON."""

EXAMPLES, SEED = int(os.environ.get("FUZZ_EXAMPLES", "20")), os.environ.get("FUZZ_SEED", "0")
"""Inputs of each format, in the tests a minute in all, and the seed."""

SECONDS, KILOBYTES = 20.0, 1_000_000
"""CPU time of one input above which it counts as a hang, and the most growth of the peak memory."""


def damaged(seed: Any, draw: Random) -> bytes:
    """Returns a damaged input: JSON is damaged as a value mostly, an archive in one member with its right checksum."""
    if not isinstance(seed, bytes):
        if draw.random() < 0.1:
            return draw.choice(OTHERS)
        for _ in range(draw.randint(1, 3)):
            seed = _damaged_value(seed, draw, draw.randint(0, 5))
        content = json.dumps(seed).encode()
        return content if draw.random() < 0.75 else _damaged_bytes(content, draw)
    if not zipfile.is_zipfile(io.BytesIO(seed)) or draw.random() < 0.3:
        return _damaged_bytes(seed, draw)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(seed)) as archive, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as written:
        chosen = draw.choice(archive.namelist())
        for name in archive.namelist():
            content = archive.read(name)
            written.writestr(zipfile.ZipInfo(name), _damaged_bytes(content, draw) if name == chosen else content)
    return packed.getvalue()


def _damaged_bytes(content: bytes, draw: Random) -> bytes:
    """Returns bytes in which a few places are cut out, repeated or replaced."""
    for _ in range(draw.randint(1, 4)):
        start = draw.randint(0, len(content))
        end = min(len(content), start + draw.randint(0, 24))
        placed = (draw.choice(FRAGMENTS), content[start:end] * draw.randint(2, 41), b"", draw.randbytes(end - start))
        content = content[:start] + draw.choice(placed) + content[end:]
    return content


def _damaged_value(value: Any, draw: Random, depth: int) -> Any:
    """Returns a value in which a part is replaced, removed, repeated or added."""
    how = draw.choice(("inside", "inside", "inside", "remove", "add"))
    if not isinstance(value, dict | list) or not value or not depth:
        return draw.choice(HOSTILE)
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    place = draw.choice(places)
    if isinstance(value, dict):
        added = {"other": draw.choice(HOSTILE)} if how == "add" else {}
        inside = {place: _damaged_value(value[place], draw, depth - 1)} if how == "inside" else {}
        return {key: part for key, part in value.items() if how != "remove" or key != place} | added | inside
    changed = {"remove": [], "add": [value[place]] * 3}.get(how, [_damaged_value(value[place], draw, depth - 1)])
    return [*value[:place], *changed, *value[place + 1 :]]


class _HangError(BaseException):
    """Raised in an input that takes too long; no ``except Exception`` of a reader catches it."""


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _HangError


@pytest.mark.parametrize("format_", FORMATS, ids=lambda format_: format_.name)
def test_malformed_inputs_are_read_or_refused(format_: Format, tmp_path: Path) -> None:
    path = tmp_path / f"a{format_.ending}"
    signal.signal(signal.SIGPROF, _end)
    for number in range(EXAMPLES):
        path.write_bytes(damaged(format_.seed, Random(f"{SEED} {format_.name} {number}")))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            with warnings.catch_warnings(), suppress(FinpathError, LM15Error):
                warnings.simplefilter("ignore")
                format_.read(path)
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < KILOBYTES
        except BaseException as error:
            raise AssertionError(f"input {number} of seed {SEED}") from error
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
