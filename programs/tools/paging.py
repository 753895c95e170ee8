"""Long texts by pages, and passages found in them: the reading of a document or a page of the web by a model.

>>> print(page_of("a long text ...", 2))
[page 2 of 3]
...
>>> print(found_in("The Rhine is 1,230 km long.", "long"))
[page 1] The Rhine is 1,230 km long.
"""

from __future__ import annotations

from kg.errors import DataError

PAGE = 6_000
"""Characters of a page."""

MOST_FOUND = 12
"""Lines that a search in a text shows."""

NOTHING = "nothing found"
"""The beginning of the output of a tool that looked for something and found nothing."""

_LONGEST_LINE = 400


def pages_of(text: str, size: int = PAGE) -> list[str]:
    """Returns a text as pages that end with a line where that is possible; at least one page."""
    pages, rest = [], text
    while len(rest) > size:
        end = rest.rfind("\n", size // 2, size) + 1
        end = end if end else rest.rfind(" ", size // 2, size) + 1
        end = end if end else size
        pages.append(rest[:end].rstrip())
        rest = rest[end:]
    return [*pages, rest] if rest.strip() or not pages else pages


def page_of(text: str, page: int, size: int = PAGE) -> str:
    """Returns one page of a text, with its number where there are several.

    Raises:
        DataError: There is no such page.
    """
    pages = pages_of(text, size)
    if not 1 <= page <= len(pages):
        raise DataError(f"page must be from 1 to {len(pages)}, got {page}")
    return pages[0] if len(pages) == 1 else f"[page {page} of {len(pages)}]\n{pages[page - 1]}"


def found_in(text: str, wanted: str, size: int = PAGE) -> str:
    """Returns the lines of a text that hold some words, with the numbers of their pages.

    A line that holds the words as written comes before lines that hold all of them, and these before the rest.

    Raises:
        DataError: ``wanted`` is empty.
    """
    words = wanted.casefold().split()
    if not words:
        raise DataError("the text to find must not be empty")
    whole = " ".join(words)
    scored = []
    for number, page in enumerate(pages_of(text, size), 1):
        for line in page.splitlines():
            flat = " ".join(line.casefold().split())
            held = sum(word in flat for word in words)
            if held == len(words) or (len(words) > 2 and held * 2 > len(words)):
                scored.append((whole in flat, held, f"[page {number}] {_around(line, words)}"))
    scored.sort(key=lambda one: (not one[0], -one[1]))
    if not scored:
        return f"{NOTHING} for {wanted!r}"
    left = len(scored) - MOST_FOUND
    lines = [line for _, _, line in scored[:MOST_FOUND]]
    return "\n".join([*lines, f"and {left} more lines"] if left > 0 else lines)


def _around(line: str, words: list[str]) -> str:
    """Returns a line, or of a long one the part around the first word."""
    if len(line) <= _LONGEST_LINE:
        return line
    places = [place for word in words if (place := line.casefold().find(word)) >= 0]
    start = max(min(places, default=0) - _LONGEST_LINE // 3, 0)
    return f"…{line[start : start + _LONGEST_LINE]}…"
