"""Saved programs: a folder with all parts of a program, in files that a person can read.

    NAME/config.json     the kind of program, its settings, and its origin (optimizers, seed, data, versions)
    NAME/program.json    DSPy's state: instructions and demonstrations (all that queries have)
    NAME/ontology.ttl    the ontology (beam, agent)
    NAME/scorer.json     the weights of the beam's scorer (beam)
    NAME/encoder/        the encoder that the scorer was fitted with: transformer, heads, vocabulary (beam)
    NAME/evidence.json   the use of language models: modes, weights for each model, demonstrations (beam)
    NAME/relations.json  the weights of the relation scorer, a line for each feature of a question (kgqa)
    NAME/ranker.npz      the weights of the ranker of whole paths and the questions that it remembers (kgqa)

A reference is the name of a shipped program (``beam``, ``agent``, ``untrained``), a folder, an MLflow URI
(``runs:/ID/program``, ``models:/NAME/1``), or the name of the run that compiled the program.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.console import say
from experiments.files import SHIPPED_FOLDER
from experiments.saved.kinds import RELATIONS, SCORER, UNTRAINED, kind_named, kind_of, read_file, unfitted_program
from experiments.tracking import describe_environment
from kg.errors import ConfigError, FinpathError, TrackingError
from kg.files import OLD, folder_beside, restore, sync_folder

if TYPE_CHECKING:
    import dspy

    from experiments.tracking import Tracker

FORMAT = 1
"""Version of the folder's layout."""

CONFIG, STATE = "config.json", "program.json"
SHIPPED = "shipped:"
"""The prefix of a shipped program's name, where the name alone is a kind of program with nothing fitted."""


@dataclass(frozen=True)
class Origin:
    """The origin of a program.

    Attributes:
        optimizers: Name and settings of each optimizer that compiled it, in order; empty without any.
        seed: The optimizers' seed.
        train: Name and hash of the data that it was compiled on.
        lm: Name and settings of the language model that it was compiled with.
        run_id: The MLflow run that compiled it.
    """

    optimizers: tuple[Mapping[str, Any], ...] = ()
    seed: int | None = None
    train: Mapping[str, Any] | None = None
    lm: Mapping[str, Any] | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class SavedProgram:
    """A program with its folder and its ``config.json``.

    Attributes:
        program: The program, ready to be called.
        name: The name that the user gave.
        folder: The folder of its files; of an agent that was not compiled, the folder of its ontology.
        config: The content of ``config.json``.
        changes: Settings that differ from the saved ones, as a person writes them.
    """

    program: Any
    name: str
    folder: Path
    config: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[str, ...] = ()


def shipped_programs() -> list[str]:
    """Returns the names of the programs that ship with finpath."""
    return sorted({*(path.parent.name for path in SHIPPED_FOLDER.glob(f"*/{CONFIG}")), "agent", UNTRAINED})


def save_program(program: Any, folder: str | Path, origin: Origin | Mapping[str, Any]) -> Path:
    """Writes a program's folder completely or not at all; replaces an earlier saved program.

    Args:
        program: A program of any kind.
        folder: The folder.
        origin: The program's origin.

    Raises:
        ConfigError: ``folder`` holds other files.
    """
    return replace_folder(Path(folder), lambda new: _write(program, new, origin))


def replace_folder(target: Path, write: Callable[[Path], None]) -> Path:
    """Writes a saved program's folder completely or not at all, in place of an earlier one.

    Args:
        target: The folder.
        write: Fills a new folder.

    Raises:
        ConfigError: ``target`` holds other files.
        OSError: It cannot be written; the error names ``target``.
    """
    check_replaceable(target)
    with folder_beside(target) as temporary:
        new = temporary / "new"
        new.mkdir()
        try:
            write(new)
        except OSError as error:
            error.filename = str(target)
            raise
        for file in (path for path in new.rglob("*") if path.is_file()):
            with file.open("rb") as written:
                os.fsync(written.fileno())
        if target.exists():
            target.rename(temporary / OLD)
        new.rename(target)
    sync_folder(target.parent)
    return target


def check_replaceable(folder: Path) -> None:
    """Raises ConfigError if saving a program to ``folder`` would remove files of no saved program."""
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / CONFIG).exists()):
        raise ConfigError(f"out must be a new or empty folder, or a saved program to replace; got {str(folder)!r}")


def _write(program: Any, folder: Path, origin: Origin | Mapping[str, Any]) -> None:
    own = kind_of(program).write(program, folder)
    program.save(str(folder / STATE))
    environment = describe_environment()
    config = {
        "format": FORMAT,
        **own,
        **(dataclasses.asdict(origin) if isinstance(origin, Origin) else origin),
        "finpath": environment.finpath,
        "git_revision": environment.git_revision,
        "packages": environment.packages,
        "files": {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        },
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load_program(folder: str | Path, name: str | None = None) -> SavedProgram:
    """Reads a program's folder.

    Args:
        folder: A folder of :func:`save_program`.
        name: The program's name; by default the folder's.

    Raises:
        TrackingError: The folder does not exist, or a file in it is missing or broken; the message names the file.
    """
    folder = Path(folder)
    config = _read_config(folder)
    check_files(folder, config["files"])
    try:
        program = kind_named(config["kind"]).read(folder, config)
        # dspy's own load warns of every other version of Python; config.json has the versions.
        state = json.loads(read_file(folder / STATE))
        state = _without_models({key: value for key, value in state.items() if key != "metadata"}, folder)
        _check_fields(program, state)
        program.load_state(state)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError, FinpathError) as error:
        raise TrackingError(f"{folder}: the saved program cannot be read: {error}") from error
    return SavedProgram(program, name if name is not None else folder.resolve().name, folder, config)


def _check_fields(program: dspy.Module, state: Mapping[str, Any]) -> None:
    """Refuses prompts with other fields than today's: DSPy would give their descriptions to the wrong ones.

    Raises:
        ValueError: The prompts of a predictor have another number of fields.
    """
    for name, predictor in program.named_predictors():
        saved = state.get(name, {}).get("signature", {}).get("fields")
        count = len(predictor.signature.fields)
        if saved is not None and len(saved) != count:
            raise ValueError(f"prompts of {name} have {len(saved)} fields, finpath's have {count}: compile it again")


def _without_models(state: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Returns a program's state without language models of its own.

    One would be asked in place of the user's model, with the user's key and outside of the budget.
    """
    named = [name for name, part in state.items() if isinstance(part, dict) and part.get("lm") is not None]
    if named:
        say(f"note: {folder} names a language model for {', '.join(named)}; it is not used, --lm decides")
    return {
        name: {**part, "lm": None} if isinstance(part, dict) and "lm" in part else part for name, part in state.items()
    }


def find_program(reference: str, tracker: Tracker | None = None) -> SavedProgram:
    """Returns the saved program of a reference.

    Args:
        reference: The name of a shipped program, also as ``shipped:NAME``; a folder; an MLflow URI; or the name of a
            compile run or of a registered model.
        tracker: The store of runs and models; without one only shipped programs and folders are found.

    Raises:
        TrackingError: There is no such program, or it cannot be read.
    """
    if reference.startswith(SHIPPED) and reference.removeprefix(SHIPPED) in shipped_programs():
        return find_program(reference.removeprefix(SHIPPED))
    if reference.startswith(("runs:/", "models:/")):
        if tracker is None:
            raise TrackingError(f"{reference} needs a tracking store")
        return load_program(_program_folder(tracker.download(reference)), reference)
    is_path = os.sep in reference or "/" in reference or reference.startswith(".")
    if not is_path and (SHIPPED_FOLDER / reference / CONFIG).is_file():
        return load_program(SHIPPED_FOLDER / reference, reference)
    if not is_path and reference in shipped_programs():
        return _untrained() if reference == UNTRAINED else _unfitted(reference)
    if Path(reference).is_dir():
        return load_program(_program_folder(Path(reference)))
    if tracker is not None and (uri := _tracked_uri(reference, tracker)) is not None:
        return load_program(_program_folder(tracker.download(uri)), reference)
    if is_path:  # a run's name may hold a slash, too
        return load_program(_program_folder(Path(reference)))
    raise TrackingError(
        f"no program {reference!r}: it is neither one that ships with finpath ({', '.join(shipped_programs())}), "
        "nor a folder, nor the name of a compile run or registered model"
    )


def _unfitted(kind: str) -> SavedProgram:
    """Returns a program for reports that needs no fitting, with the ontology of the shipped beam."""
    ontology = load_program(SHIPPED_FOLDER / "beam").program.ontology
    config: dict[str, Any] = {"kind": kind, "ontology_sha256": ontology.sha256, "scorer_sha256": None, "optimizers": []}
    return SavedProgram(unfitted_program(kind, ontology), kind, SHIPPED_FOLDER / "beam", config)


def _untrained() -> SavedProgram:
    """Returns the program for graphs that is not fitted."""
    from kg.paths import LearnedRelationScorer, PathConfig
    from programs.graphs import KGQA

    scorer = LearnedRelationScorer.untrained()
    config = {"kind": "kgqa", "scorer_sha256": scorer.sha256}
    return SavedProgram(KGQA(scorer, PathConfig()), UNTRAINED, SHIPPED_FOLDER, config)


def _tracked_uri(reference: str, tracker: Tracker) -> str | None:
    try:
        return f"runs:/{tracker.find(reference, kinds=('compile', 'kgqa')).id}/program"
    except TrackingError:
        return tracker.latest_model(reference)


def _program_folder(path: Path) -> Path:
    """Returns the folder itself, or the saved program inside an MLflow model or run."""
    places = (path, path / "finpath", path / "program", *path.glob("artifacts/*"))
    return next((place for place in places if (place / CONFIG).exists()), path)


def _read_config(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        restore(folder)
    if not (folder / CONFIG).is_file():
        what = "is not a saved program (it has no config.json)" if folder.is_dir() else "is not there"
        raise TrackingError(f"{folder} {what}")
    try:
        config = json.loads(read_file(folder / CONFIG))
    except (ValueError, RecursionError) as error:
        raise TrackingError(f"{folder}: the saved program's {CONFIG} is not JSON: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("files", {}), dict):
        raise TrackingError(f"{folder}: the saved program's {CONFIG} must be an object with files by name")
    missing = {"format", "settings", "files", "scorer_sha256"} - set(config)
    if missing:
        raise TrackingError(f"{folder}: the saved program's {CONFIG} lacks {', '.join(sorted(missing))}")
    if config["format"] != FORMAT:
        raise TrackingError(f"{folder}: {CONFIG} has format {config['format']}; this finpath reads format {FORMAT}")
    # The first programs were saved without a kind.
    inferred = "kgqa" if RELATIONS in config["files"] else "beam" if SCORER in config["files"] else "agent"
    return {"kind": inferred, **config}


def check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Raises TrackingError if a file's hash differs from the one in ``config.json``.

    A folder with exchanged parts would answer as none of the programs that they come from.
    """
    for name, sha256 in files.items():
        try:
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError as error:
            raise TrackingError(f"{folder}: the saved program's {name} cannot be read: {error}") from error
        if found != sha256:
            raise TrackingError(f"{folder}: {name} is not the file that {CONFIG} names (its hash differs)")
