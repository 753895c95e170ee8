"""The pages: their links lead somewhere, their commands exist, their Python compiles, and their English is plain."""

from __future__ import annotations

import ast
import functools
import importlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

import finpath

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def page_names(page: Path) -> str:
    return str(page.relative_to(ROOT))


def fences(page: Path) -> list[tuple[str, str]]:
    """Language and text of each block of code."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's titles, as GitHub and MkDocs make them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def commands(page: Path) -> Iterator[list[str]]:
    """The words after ``finpath`` of each command line in a block of code; those of output are left out."""
    for language, text in fences(page):
        if language not in ("bash", "console"):
            continue
        for line in text.replace("\\\n", " ").splitlines():
            found = re.match(r"\$ (finpath .*)" if language == "console" else r"(?:.*\| *)?(finpath .*)", line)
            if found:
                yield shlex.split(found.group(1), comments=True)[1:]


@functools.cache
def help_of(*words: str) -> str:
    """The command's own help, or nothing where there is no such command."""
    out = io.StringIO()
    given = ["finpath", *words, "--help"]
    with patch.object(sys, "argv", given), redirect_stdout(out), redirect_stderr(io.StringIO()):
        code = finpath.main()
    return out.getvalue() if code == 0 else ""


def verbs_of(*words: str) -> set[str]:
    """The verbs that a command lists in its help."""
    listed = re.search(r"^(?: +(?:COMMAND|ACTION)|Commands:)\n((?: +\S.*\n?)+)", help_of(*words), re.MULTILINE)
    lines = listed.group(1).splitlines() if listed else []
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return {line.split()[0] for line in lines if line[indent] != " "}


@pytest.mark.parametrize("page", PAGES, ids=page_names)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for address in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        if re.match(r"[a-z]+:", address):
            continue
        name, _, anchor = address.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_file(), f"{address}: no such file"
        assert not anchor or anchor in anchors(target), f"{address}: no such title"


@pytest.mark.parametrize("page", PAGES, ids=page_names)
def test_commands_exist_and_have_their_options(page: Path) -> None:
    for words in commands(page):
        name: tuple[str, ...] = ()
        while verbs_of(*name) and not (words[len(name)].startswith("--")):
            name = (*name, words[len(name)])
            assert help_of(*name), f"finpath {' '.join(words)}: no such command"
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        missing = {one for one in options if not re.search(rf"{one}\b", help_of(*name))}
        assert not missing, f"finpath {' '.join(words)}: no option {', '.join(sorted(missing))}"


def test_there_are_commands_to_check() -> None:
    verbs = {words[0] for page in PAGES for words in commands(page)}
    assert {"ask", "compile", "evaluate", "chat", "inspect"} <= verbs
    assert verbs <= verbs_of()


@pytest.mark.parametrize("page", PAGES, ids=page_names)
def test_python_imports_what_is_there(page: Path) -> None:
    for language, text in fences(page):
        for node in ast.walk(ast.parse(text)) if language == "python" else ():
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in finpath.ROOMS:
                module = importlib.import_module(str(node.module))
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(ROOT / "docs")) for page in PAGES[2:])


@pytest.mark.skipif(not (ROOT / "kg" / "search").is_dir(), reason="the pages name modules by their places in packages")
@pytest.mark.parametrize("page", PAGES, ids=page_names)
def test_files_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    rooms = "|".join([*finpath.ROOMS, "benchmarks", "tests", "tools"])
    named = re.findall(rf"(?<![\w/.-])((?:{rooms})/[\w/.-]*\w)", text)
    assert [one for one in named if not (ROOT / one).exists()] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ".join(["word"] * 26) + ".\n", "sentence of 26 words"),
        ("## What enters\n", "headless sentence or title"),
    ],
)
def test_the_check_of_english_finds(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "page.md").write_text(f"# Title\n\n{text}", encoding="utf-8")
    tool = [sys.executable, str(ROOT / "tools" / "check_english.py"), str(tmp_path)]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"page.md:3: {message}" in done.stdout
