"""Tools that ask a model: another one, one that sees, and Python in DSPy's sandbox where it is installed."""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from kg.errors import ConfigError
from programs.tools import models
from programs.tools.catalogue import ToolSettings, load_tools
from programs.tools.manager import ToolManager


def png() -> bytes:
    """A red image of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


@pytest.fixture
def tools(tmp_path: Path) -> Callable[..., tuple[ToolManager, DummyLM]]:
    """A tool that asks a model with one reply."""
    (tmp_path / "chart.png").write_bytes(png())
    (tmp_path / "notes.txt").write_text("no image", encoding="utf-8")

    def make(name: str, answer: str) -> tuple[ToolManager, DummyLM]:
        lm = DummyLM([{"answer": answer}])
        return load_tools([name], ToolSettings(folder=tmp_path, lm=lm, seeing_lm=lm)), lm

    return make


def asked(tools: ToolManager, name: str, **arguments: Any) -> tuple[str, bool]:
    with dspy.context(lm=None, adapter=dspy.ChatAdapter()):
        made = tools.call(name, arguments)
    return made.output, made.failed


def test_another_model_is_asked_and_not_the_programs_own(tools: Callable[..., Any]) -> None:
    manager, lm = tools("ask_model", "Varna is a port in Bulgaria.")
    assert asked(manager, "ask_model", question="where is Varna?") == ("Varna is a port in Bulgaria.", False)
    assert "where is Varna?" in lm.history[0]["messages"][-1]["content"]


def test_a_model_that_sees_is_shown_the_image(tools: Callable[..., Any]) -> None:
    manager, lm = tools("ask_about_image", "It is red.")
    arguments = {"file": "chart.png", "question": "which colour is it?"}
    assert asked(manager, "ask_about_image", **arguments) == ("It is red.", False)
    parts = lm.history[0]["messages"][-1]["content"]
    [image] = [part for part in parts if part["type"] == "image_url"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    assert "which colour is it?" in str(parts)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("notes.txt", "is no image of a known kind"),
        ("none.png", "there is no such file"),
        ("../chart.png", "lies outside of the folder"),
    ],
)
def test_what_is_no_image_of_the_folder_is_refused(tools: Callable[..., Any], file: str, message: str) -> None:
    manager, lm = tools("ask_about_image", "never said")
    output, failed = asked(manager, "ask_about_image", file=file, question="what is it?")
    assert failed
    assert message in output
    assert lm.history == []


@pytest.mark.parametrize(("name", "missing"), [("ask_model", "lm"), ("ask_about_image", "seeing_lm")])
def test_a_model_that_is_not_set_up_is_said(tmp_path: Path, name: str, missing: str) -> None:
    with pytest.raises(ConfigError, match=f"{missing} must be a language model, got None"):
        load_tools([name], ToolSettings(folder=tmp_path))


def test_python_without_its_sandbox_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models.shutil, "which", lambda _: None)
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="run_python needs Deno, which is not installed"):
        load_tools(["run_python"], ToolSettings())


def test_a_folder_without_the_modules_of_the_sandbox_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(models.shutil, "which", lambda _: "/bin/deno")
    monkeypatch.setenv(models.OFFLINE, str(tmp_path))
    with pytest.raises(ConfigError, match=r"FINPATH_DENO must name a folder with deno\.json"):
        load_tools(["run_python"], ToolSettings())
    (tmp_path / "deno.json").write_text("{}", encoding="utf-8")
    assert load_tools(["run_python"], ToolSettings()).names == ("run_python",)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # DSPy leaves pipes of Deno open
@pytest.mark.skipif(shutil.which("deno") is None and find_spec("deno") is None, reason="needs Deno")
def test_python_runs_where_it_sees_nothing(tmp_path: Path) -> None:
    """Without a network its modules come from the folder that FINPATH_DENO names; without either it is skipped."""
    tools = load_tools(["run_python"], ToolSettings())
    found, failed = asked(tools, "run_python", code="print(6 * 7)")
    if failed and "health check" in found and models.OFFLINE not in os.environ:
        pytest.skip("the sandbox cannot download its modules here, and FINPATH_DENO names none")
    assert (found.strip(), failed) == ("42", False)
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret", encoding="utf-8")
    output, _ = asked(tools, "run_python", code=f"print(open({str(secret)!r}).read())")
    assert "a secret" not in output
