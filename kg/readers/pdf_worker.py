"""The process that reads a PDF file's pages; :mod:`kg.readers.pdf_pages` starts it.

It imports nothing of finpath. Its arguments are ``words`` or ``text``, the file, the seconds of processor time and the
bytes of memory.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

_WORD = ("text", "x0", "x1", "top", "bottom", "size")


def main() -> None:
    """Writes the pages of a file as JSON."""
    what, path, seconds, memory = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    sys.stdout.write(json.dumps(reply_to(what, path)))


def reply_to(what: str, path: Path) -> dict[str, Any]:
    """The pages, or the reason why they cannot be read; where the memory is too small, the process ends."""
    try:
        return {"pages": _texts(path) if what == "text" else _read(path)}
    except Exception as error:  # noqa: BLE001 - the libraries raise whatever the file's objects raise; the parent too
        # pdfplumber wraps an error in one of its own
        if any(isinstance(one, MemoryError) for one in (error, *error.args)):
            raise SystemExit(1) from None
        secret = "assword" in f"{type(error).__name__} {error!r}"
        return {"error": "it needs a password" if secret else str(error) or type(error).__name__}


def _read(path: Path) -> list[dict[str, Any]]:
    import pdfplumber

    found: list[dict[str, Any]] = []
    with path.open("rb") as file, pdfplumber.open(file) as document:
        for page in document.pages:
            words = page.extract_words(extra_attrs=["size"])
            found.append(
                {
                    "number": int(page.page_number),
                    "height": float(page.height),
                    "words": [{name: word[name] for name in _WORD} for word in words],
                    "framed": [_framed(one) for one in page.find_tables()],
                    "is_image": bool(page.images) and not words,
                }
            )
            page.close()
    return found


def _texts(path: Path) -> list[str]:
    import pypdf

    with path.open("rb") as file:
        return [page.extract_text() for page in pypdf.PdfReader(file).pages]


def _framed(table: Any) -> dict[str, Any]:
    texts = [[cell or "" for cell in row] for row in table.extract()]
    rows = [
        [(text, [float(edge) for edge in box]) for box, text in zip(row.cells, line, strict=True) if box is not None]
        for row, line in zip(table.rows, texts, strict=True)
    ]
    return {"box": [float(edge) for edge in table.bbox], "texts": texts, "rows": rows}


if __name__ == "__main__":
    main()
