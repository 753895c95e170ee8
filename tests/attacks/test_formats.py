"""Malformed inputs of every format: each is read or refused by an error of finpath, in little time.

`make test` tries a few of each format, `make attack` many; the figures are in docs/results/attacks.md.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.errors import FinpathError
from tests.attacks.formats import TARGETS, Target
from tests.attacks.strategies import damaged

TRIES = int(os.environ.get("FINPATH_ATTACKS", "8"))
"""Inputs of each format."""

SECONDS = 20.0
"""CPU time of one input, above which it counts as a hang."""

_FIGURES: Counter[tuple[str, str]] = Counter()


@pytest.fixture(scope="module", autouse=True)
def _figures() -> Iterator[None]:
    """Writes the figures to the file that FINPATH_ATTACK_FIGURES names."""
    yield
    if target := os.environ.get("FINPATH_ATTACK_FIGURES"):
        rows = {one.name: {how: _FIGURES[one.name, how] for how in ("tries", "read", "refused")} for one in TARGETS}
        Path(target).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@settings(
    max_examples=TRIES,
    deadline=None,
    database=None,
    derandomize=TRIES < 100,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_a_malformed_input_is_read_or_refused(
    target: Target, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "attacks"
    folder.mkdir(exist_ok=True)
    path = folder / f"a{target.ending}"
    path.write_bytes(data.draw(damaged(target.seed)))
    start = time.process_time()
    _FIGURES[target.name, "tries"] += 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(path)
        _FIGURES[target.name, "read"] += 1
    except FinpathError:
        _FIGURES[target.name, "refused"] += 1
    assert time.process_time() - start < SECONDS
