"""Malformed inputs of every format: each is read or refused by an error of finpath, in little time.

FUZZ_EXAMPLES=5000 pytest tests/attacks -n auto      # so many inputs of each format, drawn anew
"""

from __future__ import annotations

import copy
import io
import json
import os
import resource
import signal
import time
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.errors import FinpathError
from tests.attacks.formats import FORMATS, Format

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, 5, -1, 10**30, 1e308, float("nan"), float("inf")),
    *("", "x", "NaN", "-", "1e999999999", "9" * 400, "\ud800", "\x1b]0;x\x07", "a\x00b", "../../x", "x" * 5_000),
    *([], {}, [[]], [None], [5], ["x"], {"a": 1}, {"": None}, [[["x"]]]),
)
"""Values in places where others belong."""

FRAGMENTS: tuple[bytes, ...] = (
    *(b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\t", b"\n", b"\r", *(bytes([one]) for one in b'"<>[]{},|')),
    *(b"NaN", b"-", b"1e999999999", b"9" * 400, b"\\ud800", b"\\UFFFFFFFF", b"colspan=99999999999", b"<table>" * 300),
    *(b"[" * 3_000, b"(" * 300, b"#99", b"&#xFFFFFF;", b"\x1b[2J", b"<?xml version='1.0' encoding='utf-16'?>"),
)
"""Bytes in places where others belong."""


@st.composite
def damaged_bytes(draw: st.DrawFn, seed: bytes) -> bytes:
    """A valid input in which a few places are cut out, repeated or replaced."""
    content = seed
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 24)))
        how = draw(st.sampled_from(("replace", "repeat", "cut", "flip")))
        if how == "replace":
            content = content[:start] + draw(st.sampled_from(FRAGMENTS)) + content[end:]
        elif how == "repeat":
            content = content[:end] + content[start:end] * draw(st.integers(1, 40)) + content[end:]
        elif how == "cut":
            content = content[:start] + content[end:]
        elif start < len(content):
            content = content[:start] + bytes([draw(st.integers(0, 255))]) + content[start + 1 :]
    return content


@st.composite
def damaged_json(draw: st.DrawFn, seed: Any) -> bytes:
    """A valid value in which a few parts are replaced, removed or added, as JSON."""
    value = copy.deepcopy(seed)
    for _ in range(draw(st.integers(1, 3))):
        value = _damaged(draw, value, draw(st.integers(0, 5)))
    return json.dumps(value).encode()


def _damaged(draw: st.DrawFn, value: Any, depth: int) -> Any:
    if isinstance(value, dict) and value and depth:
        key = draw(st.sampled_from(sorted(value)))
        how = draw(st.sampled_from(("inside", "inside", "inside", "remove", "add")))
        if how == "remove":
            return {name: one for name, one in value.items() if name != key}
        if how == "add":
            return {**value, "other": draw(st.sampled_from(HOSTILE))}
        return {**value, key: _damaged(draw, value[key], depth - 1)}
    if isinstance(value, list) and value and depth:
        place = draw(st.integers(0, len(value) - 1))
        how = draw(st.sampled_from(("inside", "inside", "remove", "repeat")))
        if how == "remove":
            return value[:place] + value[place + 1 :]
        if how == "repeat":
            return value[:place] + [value[place]] * 3 + value[place:]
        return [*value[:place], _damaged(draw, value[place], depth - 1), *value[place + 1 :]]
    return draw(st.sampled_from(HOSTILE))


@st.composite
def damaged_archive(draw: st.DrawFn, seed: bytes) -> bytes:
    """A valid archive in which the content of one member is damaged; its checksum is right."""
    with zipfile.ZipFile(io.BytesIO(seed)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw(st.sampled_from(sorted(members)))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, content in members.items():
            damage = draw(damaged_bytes(content)) if one == name else content
            archive.writestr(zipfile.ZipInfo(one), damage, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def damaged(seed: Any) -> st.SearchStrategy[bytes]:
    """A damaged input: JSON is damaged as a value mostly, and as bytes."""
    if isinstance(seed, bytes):
        if not zipfile.is_zipfile(io.BytesIO(seed)):
            return damaged_bytes(seed)
        return st.one_of(damaged_archive(seed), damaged_archive(seed), damaged_bytes(seed))
    whole = json.dumps(seed).encode()
    deep = st.just(b"[" * 100_000)
    return st.one_of(damaged_json(seed), damaged_json(seed), damaged_json(seed), damaged_bytes(whole), deep)


_FEW = 8
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", _FEW))
"""Inputs of each format."""

SECONDS = 20.0
"""CPU time of one input, above which it counts as a hang."""

KILOBYTES = 1_000_000
"""Growth of the peak memory by one input, above which it is too much."""


class _HangError(BaseException):
    """Raised in an input that takes too long; no ``except Exception`` of a reader catches it."""


@contextmanager
def _limited() -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise _HangError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("format_", FORMATS, ids=lambda format_: format_.name)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES == _FEW,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_a_malformed_input_is_read_or_refused(
    format_: Format, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "attacks"
    folder.mkdir(exist_ok=True)
    path = folder / f"a{format_.ending}"
    path.write_bytes(data.draw(damaged(format_.seed)))
    start, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with warnings.catch_warnings(), _limited(), suppress(FinpathError):
        warnings.simplefilter("ignore")
        format_.read(path)
    assert time.process_time() - start < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < KILOBYTES
