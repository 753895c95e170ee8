"""Tools that ask a language model: another one for what it knows, one that sees for images, and sandboxed Python."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import dspy
from dspy import primitives

from kg.errors import ConfigError, DataError
from programs.tools.workspace import Workspace
from signatures.thoughts import AnswerAboutImage, AnswerFromKnowledge

IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


def ask_model(lm: dspy.LM) -> Callable[[str], str]:
    """The tool that asks another language model."""
    predict = dspy.Predict(AnswerFromKnowledge)

    def ask(question: str) -> str:
        """Asks another language model what it knows; its answer may be wrong."""
        with dspy.context(lm=lm):
            return str(predict(question=question).answer)

    return ask


def ask_about_image(lm: dspy.LM, workspace: Workspace) -> Callable[[str, str], str]:
    """The tool that asks a language model that sees about an image of a folder."""
    predict = dspy.Predict(AnswerAboutImage)

    def ask(file: str, question: str) -> str:
        """Answers a question about an image (PNG, JPEG or WebP) of the folder, given by its name."""
        path = workspace.file(file)
        if path.suffix.lower() not in IMAGES:
            raise DataError(f"is no image of a known kind ({', '.join(IMAGES)})", file=file)
        with dspy.context(lm=lm):
            return str(predict(image=dspy.Image.from_path(str(path)), question=question).answer)

    return ask


OFFLINE = "FINPATH_DENO"
"""The variable of the environment that names a folder with the sandbox's modules, for machines without a network."""


def run_python(seconds: float = 30.0) -> Callable[[str], str]:
    """The tool that runs Python in DSPy's sandbox, which sees neither files nor network.

    Args:
        seconds: The sandbox is ended after this time, whatever runs in it.

    Raises:
        ConfigError: The sandbox's runtime, Deno, is not installed, or the folder of its modules is none.
    """
    if shutil.which("deno") is None and find_spec("deno") is None:
        raise ConfigError("run_python needs Deno, which is not installed: pip install 'dspy[deno]'")
    command = _offline_command(os.environ.get(OFFLINE, ""))

    def run(code: str) -> str:
        """Runs Python code in a sandbox without files and network, and returns what it prints."""
        with dspy.PythonInterpreter(deno_command=command) as interpreter:
            timer = threading.Timer(seconds, _end, [interpreter])
            timer.daemon = True
            timer.start()
            try:
                return str(interpreter(code))
            finally:
                timer.cancel()

    return run


def _offline_command(folder: str) -> list[str] | None:
    """Returns the command of a sandbox that downloads nothing; ``None`` where no folder is named.

    It may read its runner and the folder alone, as the one of DSPy, and has no network.
    """
    if not folder:
        return None
    config = Path(folder).resolve() / "deno.json"
    if not config.is_file():
        raise ConfigError(f"{OFFLINE} must name a folder with deno.json and node_modules, got {folder!r}")
    deno = shutil.which("deno")
    if deno is None:
        deno = str(import_module("deno").find_deno_bin())
    runner = Path(primitives.__file__).resolve().with_name("runner.js")
    readable = f"--allow-read={runner},{config.parent}"
    return [deno, "run", "--no-remote", f"--config={config}", readable, str(runner)]


def _end(interpreter: dspy.PythonInterpreter) -> None:
    if interpreter.deno_process is not None:
        interpreter.deno_process.kill()
