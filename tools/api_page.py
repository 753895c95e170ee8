"""Adds the functions for Python to their page of the documentation, while MkDocs builds it."""

from __future__ import annotations

import inspect
import re
from typing import Any

import finpath


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Returns the text of a page; MkDocs calls this for each one."""
    parts = [markdown]
    for name in finpath.__all__ if page.file.src_uri == "reference/python.md" else ():
        function = getattr(finpath, name)
        text = re.sub(r"^(\w+):$", r"\n**\1**\n", inspect.getdoc(function) or "", flags=re.MULTILINE)
        text = re.sub(r"^    (\w+): ", r"- `\1`: ", re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text), flags=re.MULTILINE)
        text = re.sub(r"^    ", "", text, flags=re.MULTILINE)
        parts += [f"## {name}", f"```python\nfinpath.{name}{inspect.signature(function)}\n```", text]
    return "\n\n".join(parts)
