"""Malformed inputs of every format: each is read or refused by an error of finpath, in little time.

`make test` tries a few of each format, `make attack` many; the figures are in docs/results/attacks.md.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.errors import FinpathError
from tests.attacks.figures import figures_of, is_done, write_figures
from tests.attacks.formats import TARGETS, Target
from tests.attacks.strategies import damaged

TRIES = int(os.environ.get("FINPATH_ATTACKS", "8"))
"""Inputs of each format."""

PART = min(int(os.environ.get("FINPATH_ATTACKS_PART", str(TRIES))), TRIES)
"""Inputs of each format in this process, in addition to those of earlier ones."""

SECONDS = 20.0
"""CPU time of one input, above which it counts as a hang."""

KILOBYTES = 1_000_000
"""Growth of the peak memory by one input, above which it is too much."""

_FIGURES: Counter[tuple[str, str]] = Counter()


class _HangError(BaseException):
    """Raised in an input that takes too long; no ``except Exception`` of a reader catches it."""


@contextmanager
def _watched() -> Iterator[None]:
    """Ends an input that takes too much time: by a signal, or with the process where a library does not return."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise _HangError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    faulthandler.dump_traceback_later(20 * SECONDS, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def figures(target: Target) -> Iterator[None]:
    """Writes a format's figures once all of its inputs are tried; a format with figures is not tried again."""
    if is_done(target.name, TRIES):
        pytest.skip("has its figures")
    known = figures_of(target.name)
    if known.get("failed", 0):
        known = {}
    yield
    counted = ("tries", "read", "refused", "failed")
    write_figures(target.name, {how: known.get(how, 0) + _FIGURES[target.name, how] for how in counted})


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@settings(
    max_examples=PART,
    deadline=None,
    database=None,
    derandomize=TRIES < 100,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_a_malformed_input_is_read_or_refused(
    target: Target, figures: None, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "attacks"
    folder.mkdir(exist_ok=True)
    path = folder / f"a{target.ending}"
    path.write_bytes(data.draw(damaged(target.seed)))
    start, peak = time.process_time(), _peak()
    outcome = "failed"
    try:
        with warnings.catch_warnings(), _watched():
            warnings.simplefilter("ignore")
            target.read(path)
        outcome = "read"
    except FinpathError:
        outcome = "refused"
    except _HangError:
        pytest.fail(f"took more than {SECONDS} seconds")
    except KeyboardInterrupt:
        outcome = "stopped"
        raise
    finally:
        seconds, grown = time.process_time() - start, _peak() - peak
        fine = seconds < SECONDS and grown < KILOBYTES
        _FIGURES[target.name, "tries"] += outcome != "stopped"
        _FIGURES[target.name, outcome if fine else "failed"] += 1
    assert fine, f"took {seconds:.1f} seconds and {grown} kB"
