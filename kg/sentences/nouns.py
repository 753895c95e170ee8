"""Classes of common nouns by WordNet: people, groups, places, possessions, quantities and times.

>>> noun_class("curator"), noun_class("salary"), noun_class("roof")
('person', 'possession', '')
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("nouns.json.gz")


@cache
def _classes() -> dict[str, str]:
    with gzip.open(_FILE, "rt", encoding="ascii") as stored:
        content: dict[str, str] = json.load(stored)
    return {noun: kind for kind, nouns in content.items() for noun in nouns.split()}


def noun_class(noun: str) -> str:
    """Returns the class of a singular noun in lower case, or ``""`` for another noun."""
    return _classes().get(noun, "")
