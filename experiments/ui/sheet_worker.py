"""The process that draws a place on a page of a PDF file; :func:`experiments.ui.pages.sheet_picture` starts it.

Its arguments are the file, the number of the page, and left, top, right and bottom of the place in points.
"""

from __future__ import annotations

import contextlib
import io
import sys

import pdfplumber

AROUND, WIDEST, RESOLUTION = 130, 1400, 110
"""Points that are shown above and below the place; pixels of the picture's width at the most, and of an inch."""

_SECONDS, _MEMORY = 20, 3 * 1024**3


def main() -> None:
    """Writes the part of the page around the place, which has a frame, as PNG."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    left, top, right, bottom = map(float, sys.argv[3:7])
    with pdfplumber.open(sys.argv[1], pages=[int(sys.argv[2])]) as document:
        page = document.pages[0]
        box = (page.bbox[0], max(page.bbox[1], top - AROUND), page.bbox[2], min(page.bbox[3], bottom + AROUND))
        picture = page.crop(box).to_image(resolution=min(RESOLUTION, 72 * WIDEST / float(page.width)))
        picture.draw_rect((left - 3, top - 2, right + 3, bottom + 2), (255, 200, 0, 70), (29, 95, 168), 2)
        out = io.BytesIO()
        picture.save(out, format="PNG")
        sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    main()
