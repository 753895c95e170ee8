"""Keeps what a library prints while it works out of the way, in a file.

with printed_to(folder / "compile.log") as speak:
optimizer.compile(...)              # its prints, bars and log lines go to the file
speak("3 of 8 candidates")          # and this to the terminal
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path


@contextmanager
def printed_to(path: Path) -> Iterator[Callable[[str], None]]:
    """Sends standard output, standard error and DSPy's log to a file, added at its end, while the context lasts.

    Yields:
        Writes a line to the standard error of before.
    """
    terminal = sys.stderr

    def speak(text: str) -> None:
        terminal.write(f"{text}\n")
        terminal.flush()

    path.parent.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger("dspy")
    before, passed_on = list(logger.handlers), logger.propagate
    with path.open("a", encoding="utf-8") as file:
        handler = logging.StreamHandler(file)
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
        logger.handlers, logger.propagate = [handler], False
        try:
            with redirect_stdout(file), redirect_stderr(file):
                yield speak
        finally:
            logger.handlers, logger.propagate = before, passed_on
