"""Saved programs: a folder that holds all that a program is, in files that a person can read.

    NAME/config.json     the kind of program, its settings, and how it came to be (optimizers, seed, data, versions)
    NAME/program.json    DSPy's state: instructions and demonstrations
    NAME/ontology.ttl    the ontology
    NAME/scorer.json     the weights of the beam's scorer
    NAME/evidence.json   how language models help to choose: modes, weights for each model, demonstrations

A program is named by the name of one that ships with finpath (``beam``, ``agent``), by its folder, by an MLflow URI
(``runs:/ID/program``, ``models:/NAME/1``), or by the name of the run that compiled it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.files import SHIPPED_FOLDER, sync_folder
from experiments.tracking.environment import describe_environment
from kg.errors import ConfigError, FinpathError, TrackingError

if TYPE_CHECKING:
    from experiments.tracking.tracker import Tracker
    from programs.reports import ConversationQA

FORMAT = 1
"""Version of the folder's layout."""

CONFIG, STATE, ONTOLOGY, SCORER = "config.json", "program.json", "ontology.ttl", "scorer.json"
EVIDENCE = "evidence.json"


@dataclass(frozen=True)
class Origin:
    """How a program came to be.

    Attributes:
        optimizers: Name and settings of each optimizer that compiled it, in order; empty when none did.
        seed: The seed they were given.
        train: Name and hash of the data it was compiled on.
        lm: Name and settings of the language model it was compiled with.
        run_id: The MLflow run that compiled it.
    """

    optimizers: tuple[Mapping[str, Any], ...] = ()
    seed: int | None = None
    train: Mapping[str, Any] | None = None
    lm: Mapping[str, Any] | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class SavedProgram:
    """A program, where it was loaded from, and what its ``config.json`` says.

    Attributes:
        program: Ready to be called.
        name: As the user named it.
        folder: Where its files are; of an agent that nothing was compiled for, where its ontology is.
        config: What ``config.json`` holds.
    """

    program: ConversationQA
    name: str
    folder: Path
    config: Mapping[str, Any] = field(default_factory=dict)


def shipped_programs() -> list[str]:
    """The names of the programs that ship with finpath."""
    from programs.registry import UNFITTED

    return sorted({*(path.parent.name for path in SHIPPED_FOLDER.glob(f"*/{CONFIG}")), *UNFITTED})


def save_program(program: ConversationQA, folder: str | Path, origin: Origin) -> Path:
    """Writes a program's folder, whole or not at all; a saved program that was there is replaced.

    Raises:
        ConfigError: ``folder`` holds something else.
    """
    return replace_folder(Path(folder), lambda new: _write(program, new, origin))


def replace_folder(target: Path, write: Callable[[Path], None]) -> Path:
    """Writes a saved program's folder, whole or not at all, in place of the one that was there.

    Args:
        target: The folder.
        write: Fills a new folder.

    Raises:
        ConfigError: ``target`` holds something else.
    """
    check_replaceable(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as temporary:
        new = Path(temporary) / "new"
        new.mkdir()
        write(new)
        for file in (path for path in new.rglob("*") if path.is_file()):
            with file.open("rb") as written:
                os.fsync(written.fileno())
        if target.exists():
            target.rename(Path(temporary) / "old")
        new.rename(target)
    sync_folder(target.parent)
    return target


def check_replaceable(folder: Path) -> None:
    """Raises ConfigError when saving a program to ``folder`` would remove something that is not a saved program."""
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / CONFIG).exists()):
        raise ConfigError(f"out must be a new or empty folder, or a saved program to replace; got {str(folder)!r}")


def _write(program: ConversationQA, folder: Path, origin: Origin) -> None:
    (folder / ONTOLOGY).write_text(program.ontology.to_turtle(), encoding="utf-8")
    if program.scorer is not None:
        (folder / SCORER).write_text(program.scorer.to_json() + "\n", encoding="utf-8")
    if (evidence := program.evidence) is not None:
        (folder / EVIDENCE).write_text(json.dumps(evidence.to_dict(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    program.save(str(folder / STATE))
    environment = describe_environment()
    config = {
        "format": FORMAT,
        "kind": program.kind,
        "settings": dataclasses.asdict(program.config),
        **dataclasses.asdict(origin),
        "ontology_sha256": program.ontology.sha256,
        "scorer_sha256": program.scorer.sha256 if program.scorer is not None else None,
        "finpath": environment.finpath,
        "git_revision": environment.git_revision,
        "packages": environment.packages,
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())},
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load_program(folder: str | Path, name: str | None = None) -> SavedProgram:
    """Reads a program's folder.

    Args:
        folder: What :func:`save_program` wrote.
        name: What to call it; by default the folder's name.

    Raises:
        TrackingError: The folder is not there, or a file in it is missing or broken; the message names the file.
    """
    from kg.derivations import DerivationScorer
    from kg.reports import Ontology
    from programs.evidence import EvidenceConfig
    from programs.registry import create_program, read_config

    folder = Path(folder)
    config = _read_config(folder)
    check_files(folder, config["files"])
    try:
        program = create_program(
            config["kind"],
            ontology=Ontology.from_turtle(_read(folder / ONTOLOGY)),
            scorer=DerivationScorer.from_json(_read(folder / SCORER)) if SCORER in config["files"] else None,
            config=read_config(config["kind"], _tuples(config["settings"])),
        )
        if EVIDENCE in config["files"]:
            program.evidence = EvidenceConfig.from_dict(json.loads(_read(folder / EVIDENCE)))
        # dspy's own load warns of every other version of Python; the versions stand in config.json.
        program.load_state(
            {key: value for key, value in json.loads(_read(folder / STATE)).items() if key != "metadata"}
        )
    except (OSError, KeyError, TypeError, ValueError, FinpathError) as error:
        raise TrackingError(f"{folder}: the saved program cannot be read: {error}") from error
    return SavedProgram(program, name if name is not None else folder.resolve().name, folder, config)


def find_program(reference: str, tracker: Tracker | None = None) -> SavedProgram:
    """The saved program that ``reference`` names.

    Args:
        reference: The name of a shipped program, a folder, an MLflow URI, or the name of a compile run or of a
            registered model.
        tracker: Where to look for runs and models; without one only shipped programs and folders are found.

    Raises:
        TrackingError: There is none of that name, or it cannot be read.
    """
    if reference.startswith(("runs:/", "models:/")):
        if tracker is None:
            raise TrackingError(f"{reference} needs a tracking store")
        return load_program(_program_folder(tracker.download(reference)), reference)
    is_path = os.sep in reference or "/" in reference or reference.startswith(".")
    if not is_path and (SHIPPED_FOLDER / reference / CONFIG).is_file():
        return load_program(SHIPPED_FOLDER / reference, reference)
    if not is_path and reference in shipped_programs():
        return _unfitted(reference)
    if is_path or Path(reference).is_dir():
        return load_program(_program_folder(Path(reference)))
    if tracker is not None and (uri := _tracked_uri(reference, tracker)) is not None:
        return load_program(_program_folder(tracker.download(uri)), reference)
    raise TrackingError(
        f"no program {reference!r}: it is neither one that ships with finpath ({', '.join(shipped_programs())}), "
        "nor a folder, nor the name of a compile run or registered model"
    )


def _unfitted(kind: str) -> SavedProgram:
    """A kind of program of which nothing needs to be fitted, with the ontology of the beam that ships."""
    from programs.registry import create_program

    ontology = load_program(SHIPPED_FOLDER / "beam").program.ontology
    config: dict[str, Any] = {"kind": kind, "ontology_sha256": ontology.sha256, "scorer_sha256": None, "optimizers": []}
    return SavedProgram(create_program(kind, ontology=ontology), kind, SHIPPED_FOLDER / "beam", config)


def _tracked_uri(reference: str, tracker: Tracker) -> str | None:
    try:
        return f"runs:/{tracker.find(reference, kinds=('compile',)).id}/program"
    except TrackingError:
        return tracker.latest_model(reference)


def _program_folder(path: Path) -> Path:
    """The folder itself, or the saved program inside an MLflow model or run."""
    inner = [path / name for name in ("finpath", "program") if (path / name / CONFIG).exists()]
    return inner[0] if inner and not (path / CONFIG).exists() else path


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TrackingError(f"{path.parent}: the saved program's {path.name} cannot be read: {error}") from error


def _read_config(folder: Path) -> dict[str, Any]:
    if not (folder / CONFIG).is_file():
        what = "is not a saved program (it has no config.json)" if folder.is_dir() else "is not there"
        raise TrackingError(f"{folder} {what}")
    try:
        config = json.loads(_read(folder / CONFIG))
    except ValueError as error:
        raise TrackingError(f"{folder}: the saved program's {CONFIG} is not JSON: {error}") from error
    missing = {"format", "kind", "settings", "files", "scorer_sha256", "ontology_sha256"} - set(config)
    if missing:
        raise TrackingError(f"{folder}: the saved program's {CONFIG} lacks {', '.join(sorted(missing))}")
    if config["format"] != FORMAT:
        raise TrackingError(f"{folder}: {CONFIG} has format {config['format']}; this finpath reads format {FORMAT}")
    return dict(config)


def check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Raises TrackingError when a file is not the one that ``config.json`` names.

    A folder whose parts were exchanged would answer as none of the programs it is made of.
    """
    for name, sha256 in files.items():
        try:
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError as error:
            raise TrackingError(f"{folder}: the saved program's {name} cannot be read: {error}") from error
        if found != sha256:
            raise TrackingError(f"{folder}: {name} is not the file that {CONFIG} names (its hash differs)")


def _tuples(value: Any) -> Any:
    """JSON's lists as the tuples that frozen settings hold."""
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    return value
