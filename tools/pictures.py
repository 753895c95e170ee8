"""Pictures of the command and of a Python session for the documentation, made from real output.

python tools/pictures.py terminal docs/images/terminal.svg
python tools/pictures.py session docs/images/session.html    # a browser makes a picture of it
"""

from __future__ import annotations

import code
import html
import os
import pty
import re
import shlex
import sys
from pathlib import Path
from typing import Any

WIDTH = 100
QUESTIONS = "'what was the net income in 2020?' 'and in 2018?' 'what percentage change is that?'"
COMMANDS = (
    f"finpath ask MRLW/2020/page_49.pdf {QUESTIONS}",
    "finpath compare 'uncompiled on sample/dev.json' 'compiled on sample/dev.json'",
    "finpath compare latest --htlm page.html",
)
CELLS = (
    """import finpath

report = finpath.read("MRLW/2020/page_49.pdf")
report""",
    """questions = "what was the net income in 2020?", "and in 2018?", "what percentage change is that?"
finpath.ask(report, *questions)""",
    """program = finpath.load("beam")
program(report=report, question=questions[0]).answer""",
    "program(report=report, question=questions[0]).turn",
)
STYLE = """
body { font: 14px system-ui, sans-serif; margin: 16px; width: 900px; color: #222; background: #fff }
pre { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; margin: 0; white-space: pre-wrap }
.in { background: #f6f6f6; border: 1px solid #ddd; border-radius: 3px; padding: 8px 10px }
.out { padding: 6px 10px 18px }
table { border-collapse: collapse; margin: 4px 0 8px; font-size: 12.5px }
td, th { padding: 3px 9px; text-align: left; vertical-align: top; font-weight: normal }
tr:nth-child(odd) { background: #f4f6f8 } th { color: #667 }
"""


def output_of(command: str) -> str:
    """Returns the output of a command on a terminal of :data:`WIDTH` columns, with its colours but without messages."""
    words = [sys.executable, "-m", "finpath", *shlex.split(command)[1:]]
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": str(WIDTH), "PYTHONWARNINGS": "ignore"}
        if "--htlm" not in words:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.execv(words[0], words)  # noqa: S606 - the commands are above
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the end of a terminal
            break
        if not part:
            break
        parts.append(part)
    os.waitpid(process, 0)
    return b"".join(parts).decode().replace("\r\n", "\n")


def terminal_picture(path: Path) -> None:
    """Writes the commands and their output as SVG."""
    from rich.console import Console
    from rich.text import Text

    with Path(os.devnull).open("w") as nothing:
        console = Console(record=True, width=WIDTH, file=nothing, force_terminal=True, color_system="truecolor")
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "bold cyan"), (command, "bold")), soft_wrap=False)
            console.print(Text.from_ansi(output_of(command)))
        picture = console.export_svg(title="finpath")
    # The picture loads no font from the web.
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL), encoding="utf-8")


def session_page(path: Path) -> None:
    """Writes the cells with what a notebook shows for them."""
    shown: list[Any] = []
    sys.displayhook = shown.append
    session = code.InteractiveInterpreter()
    parts = [f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>"]
    for number, cell in enumerate(CELLS, start=1):
        for statement in re.split(r"\n+", cell):
            session.runsource(statement)
        value = shown[-1]
        out = value._repr_html_() if hasattr(value, "_repr_html_") else f"<pre>{html.escape(repr(value))}</pre>"
        parts.append(f"<div class=in><pre>[{number}]  {html.escape(cell)}</pre></div><div class=out>{out}</div>")
    path.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    kind, target = sys.argv[1:]
    {"terminal": terminal_picture, "session": session_page}[kind](Path(target))
