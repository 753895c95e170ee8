"""Malformed inputs of every format: each is read or refused by an error of finpath, in little time."""

from __future__ import annotations

import resource
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.errors import FinpathError
from tests.attacks.formats import FORMATS, Format
from tests.attacks.strategies import damaged

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
@settings(max_examples=8, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
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
