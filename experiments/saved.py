"""Saved programs: a folder with all parts of a program, in files that a person can read.

    NAME/config.json     the kind of program, its settings, and its origin (optimizers, seed, data, versions)
    NAME/program.json    DSPy's state: instructions and demonstrations
    NAME/ontology.ttl    the ontology (beam, agent)
    NAME/scorer.json     the weights of the beam's scorer (beam)
    NAME/encoder/        the encoder that the scorer was fitted with: transformer, heads, vocabulary (beam)
    NAME/evidence.json   the use of language models, with the weights for each (beam)
    NAME/relations.json  the weights of the relation scorer, a line for each feature of a question (graph)
    NAME/ranker.json     the weights of the ranker of whole paths (graph)

A reference is the name of a shipped program (``beam``, ``agent``, ``untrained``), a folder, an MLflow URI
(``runs:/ID/program``, ``models:/NAME/1``), or the name of the run that compiled the program. A logged model
(:func:`log_model`) is the folder and the code that serves it, with no pickle to load or serve.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ValidationError

from experiments.console import SHIPPED_FOLDER
from experiments.readers import shipped_encoder
from kg.errors import ConfigError, FinpathError, TrackingError
from kg.files import OLD, folder_beside, restore, sync_folder

if TYPE_CHECKING:
    import dspy

    from experiments.lms import LMConfig
    from experiments.tracking import Run, Tracker
    from kg.calculations import DerivationScorer
    from kg.paths import PathRanker
    from kg.reports import Ontology
    from programs.conversation import ConversationQA

CONFIG, STATE = "config.json", "program.json"
ONTOLOGY, SCORER, EVIDENCE, ENCODER = "ontology.ttl", "scorer.json", "evidence.json", "encoder"
RELATIONS, RANKER = "relations.json", "ranker.json"

SHIPPED = "shipped:"
"""The prefix of a shipped program's name, where the name alone is a kind of program with nothing fitted."""

REPORT_KINDS = ("beam", "agent")
"""Kinds of programs about reports: the beam search, and the tool agent, which needs a language model."""

_UNTRAINED, _THOUGHTS = "untrained", "thoughts"
_NO_NAME = re.compile(r"[/:.%\"']")
_KEY_TAG = "finpath.program_sha256"
_DEMONSTRATIONS = 8  # MLflow takes no prompt of 100,000 characters


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
    return sorted({*(path.parent.name for path in SHIPPED_FOLDER.glob(f"*/{CONFIG}")), "agent", _UNTRAINED})


def save_program(program: Any, folder: str | Path, origin: Mapping[str, Any] | None = None) -> Path:
    """Writes a program's folder completely or not at all; replaces an earlier saved program.

    Args:
        program: A program of any kind.
        folder: The folder.
        origin: The program's origin: optimizers with their settings, seed, train data, language model, MLflow run.

    Raises:
        ConfigError: ``folder`` holds other files.
        OSError: It cannot be written; the error names ``folder``.
    """
    target = Path(folder)
    check_replaceable(target)
    with folder_beside(target) as temporary:
        new = temporary / "new"
        new.mkdir()
        try:
            _write(program, new, origin or {})
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


def _write(program: Any, folder: Path, origin: Mapping[str, Any]) -> None:
    from experiments.tracking import describe_environment

    own: dict[str, Any] = {"kind": _THOUGHTS, "settings": {}, "scorer_sha256": None}
    if getattr(program, "kind", None) != _THOUGHTS:
        own = (_write_graph_program if _is_about_graphs(program) else _write_report_program)(program, folder)
    if any(predictor.demos for predictor in program.predictors()):
        from optimize.examples import tidy_demonstrations

        program = program.deepcopy()  # DSPy's optimizers leave whole examples in it, with reports and gold answers
        tidy_demonstrations(program)
    program.save(str(folder / STATE))
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    config = {
        "format": 1,  # of the folder's layout
        **own,
        **origin,
        **describe_environment(),
        "files": {path.relative_to(folder).as_posix(): _sha256(path) for path in files},
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_report_program(program: ConversationQA, folder: Path) -> dict[str, Any]:
    (folder / ONTOLOGY).write_text(program.ontology.to_turtle(), encoding="utf-8")
    if program.scorer is not None:
        (folder / SCORER).write_text(program.scorer.to_json(), encoding="utf-8")
        if program.scorer.encoder is not None:
            program.scorer.encoder.write(folder / ENCODER)
    if (evidence := program.evidence) is not None:
        (folder / EVIDENCE).write_text(json.dumps(evidence.to_dict(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    return {
        "kind": program.kind,
        "settings": asdict(program.config),
        "ontology_sha256": program.ontology.sha256,
        "scorer_sha256": program.scorer.sha256 if program.scorer is not None else None,
    }


def _is_about_graphs(program: Any) -> bool:
    from kg.paths import PathConfig

    return isinstance(getattr(program, "config", None), PathConfig)


def _write_graph_program(program: ConversationQA, folder: Path) -> dict[str, Any]:
    """Writes a program about graphs; its weights are those of the relations' names and their words."""
    reader, settings = program.turn.reader, asdict(program.config)
    (folder / RELATIONS).write_text(reader.scorer.to_json(), encoding="utf-8")
    ranked: dict[str, Any] = {}
    if reader.ranker is not None:
        (folder / RANKER).write_text(json.dumps(reader.ranker.weights, indent=1) + "\n", encoding="utf-8")
        ranked = {"ranker_encoder_sha256": shipped_encoder().sha256}
    del settings["today"]  # of the question
    return {"kind": "graph", "settings": settings, "scorer_sha256": reader.scorer.sha256, **ranked}


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
    _check_files(folder, config["files"])
    try:
        readers: dict[str, Any] = {"graph": _read_graph_program, _THOUGHTS: _read_thoughts}
        program = readers.get(config["kind"], _read_report_program)(folder, config)
        # dspy's own load warns of every other version of Python; config.json has the versions.
        parts = {name: part for name, part in json.loads(_text(folder / STATE)).items() if name != "metadata"}
        # A model of the program's own would be asked in place of the user's, with the user's key.
        state = {name: {**part, "lm": None} if "lm" in part else part for name, part in parts.items()}
        _check_fields(program, state)
        program.load_state(state)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError, FinpathError) as error:
        raise TrackingError(f"{folder}: the saved program cannot be read: {error}") from error
    return SavedProgram(program, name if name is not None else folder.resolve().name, folder, config)


def _read_report_program(folder: Path, config: Mapping[str, Any]) -> Any:
    from kg.encoders import TextEncoder
    from programs.aggregate import EvidenceConfig

    files, encoder = config["files"], None
    if any(name.startswith(f"{ENCODER}/") for name in files):
        encoder = tuple(TextEncoder.read(folder / ENCODER).files.items())
    scorer = _scorer_of(_text(folder / SCORER), encoder) if SCORER in files else None
    program = unfitted_program(config["kind"], _ontology_of(_text(folder / ONTOLOGY)), scorer, config["settings"])
    if EVIDENCE in files:
        program.evidence = EvidenceConfig.from_dict(json.loads(_text(folder / EVIDENCE)))
    return program


def unfitted_program(
    kind: str, ontology: Ontology, scorer: DerivationScorer | None = None, settings: Mapping[str, Any] | None = None
) -> ConversationQA:
    """Returns a program for reports over an ontology, with given weights and settings or those of the start."""
    from programs.conversation import ConversationQA

    if kind == "agent":
        from kg.calculations import DerivationScorer
        from programs.agent import AgentConfig, AgentQA
        from programs.worlds.report import ReportReader

        reader = ReportReader(ontology, DerivationScorer.untrained())
        return ConversationQA(AgentQA(reader, AgentConfig(**(settings or {}))))
    from kg.calculations import DerivationConfig

    config = DerivationConfig(**_tuples(settings)) if settings is not None else None
    return ConversationQA.unfitted(ontology, scorer=scorer, config=config)


def _read_graph_program(folder: Path, config: Mapping[str, Any]) -> Any:
    from kg.paths import LearnedRelationScorer
    from programs.conversation import ConversationQA
    from programs.worlds.graph import GraphConfig, GraphReader

    scorer = LearnedRelationScorer.from_json(_text(folder / RELATIONS))
    ranker = _read_ranker(folder, config) if "ranker_encoder_sha256" in config else None
    return ConversationQA.for_graphs(GraphConfig(**config["settings"]), GraphReader(scorer, ranker))


def _read_thoughts(*_: Any) -> Any:
    """The loop of thoughts, whose prompts are all that is saved of it."""
    from programs.thoughts import KnowledgeGraphOfThoughts
    from programs.tools import ToolSettings, load_tools

    return KnowledgeGraphOfThoughts(load_tools((), ToolSettings()))


def _read_ranker(folder: Path, config: Mapping[str, Any]) -> PathRanker:
    """Returns the ranker of a program's folder; its vectors are those of the shipped encoder."""
    from kg.paths import PathRanker

    encoder = shipped_encoder()
    if config.get("ranker_encoder_sha256") != encoder.sha256:
        raise TrackingError(f"{folder}: the ranker was fitted with another encoder than the shipped one: fit it again")
    return PathRanker(encoder.vectors, json.loads(_text(folder / RANKER)))


@lru_cache(maxsize=2)
def _ontology_of(turtle: str) -> Ontology:
    """The ontology of a text; programs that are read one after the other share it, and the scorer."""
    from kg.reports import Ontology

    return Ontology.from_turtle(turtle)


@lru_cache(maxsize=2)
def _scorer_of(weights: str, encoder: tuple[tuple[str, bytes], ...] | None) -> DerivationScorer:
    from kg.calculations import DerivationScorer
    from kg.encoders import TextEncoder

    return DerivationScorer.from_json(weights, TextEncoder(dict(encoder)) if encoder is not None else None)


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


def find_program(reference: str, tracker: Tracker | None = None) -> SavedProgram:
    """Returns the saved program of a reference.

    Args:
        reference: The name of a shipped program, also as ``shipped:NAME``; a folder; an MLflow URI; or the name of a
            compile run.
        tracker: The store of runs and models; without one only shipped programs and folders are found.

    Raises:
        TrackingError: There is no such program, or it cannot be read.
    """
    name = reference.removeprefix(SHIPPED)
    if name in shipped_programs():
        return _shipped(name)
    if tracker is None or Path(reference).is_dir():
        return load_program(_program_folder(Path(reference)))
    uri = reference
    if not reference.startswith(("runs:/", "models:/")):
        try:
            uri = f"runs:/{tracker.find(reference, kinds=('compile', 'kgqa')).id}/program"
        except TrackingError as error:
            shipped = ", ".join(shipped_programs())
            rule = f"it neither ships ({shipped}) nor is a folder, and there is {error}"
            raise TrackingError(f"no program {reference!r}: {rule}") from error
    return load_program(_program_folder(tracker.download(uri)), reference)


def _shipped(name: str) -> SavedProgram:
    """A shipped program; one that is not fitted has no folder, and for reports the ontology of the shipped beam."""
    if (SHIPPED_FOLDER / name / CONFIG).is_file():
        return load_program(SHIPPED_FOLDER / name, name)
    if name == _UNTRAINED:
        from programs.conversation import ConversationQA

        program = ConversationQA.for_graphs()
        config: dict[str, Any] = {"kind": "graph", "scorer_sha256": program.scorer.sha256}
        return SavedProgram(program, name, SHIPPED_FOLDER, config)
    ontology = load_program(SHIPPED_FOLDER / "beam").program.ontology
    config = {"kind": name, "ontology_sha256": ontology.sha256, "scorer_sha256": None, "optimizers": []}
    return SavedProgram(unfitted_program(name, ontology), name, SHIPPED_FOLDER / "beam", config)


def _program_folder(path: Path) -> Path:
    """Returns the folder itself, or the saved program inside an MLflow model or run."""
    places = (path, path / "program", *path.glob("artifacts/*"))
    return next((place for place in places if (place / CONFIG).exists()), path)


class _Config(BaseModel, extra="allow"):
    """The entries that every ``config.json`` has; the others depend on the kind."""

    format: Literal[1]
    kind: Literal["beam", "agent", "graph", "thoughts"]
    settings: dict[str, Any]
    files: dict[str, str]
    scorer_sha256: str | None


def _read_config(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        restore(folder)
    if not (folder / CONFIG).is_file():
        what = "is not a saved program (it has no config.json)" if folder.is_dir() else "is not there"
        raise TrackingError(f"{folder} {what}")
    try:
        return _Config.model_validate_json(_text(folder / CONFIG)).model_dump()
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join([*map(str, first["loc"]), *([str(first["input"])] if first["loc"] == ("format",) else [])])
        raise TrackingError(f"{folder}: the saved program's {CONFIG}: {place}: {first['msg']}") from error


def _check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Raises TrackingError if a file's hash differs from the one in ``config.json``.

    A folder with exchanged parts would answer as none of the programs that they come from.
    """
    for name, sha256 in files.items():
        try:
            same = _sha256(folder / name) == sha256
        except OSError as error:
            raise TrackingError(f"{folder}: the saved program's {name} cannot be read: {error}") from error
        if not same:
            raise TrackingError(f"{folder}: {name} is not the file that {CONFIG} names (its hash differs)")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TrackingError(f"{path.parent}: the saved program's {path.name} cannot be read: {error}") from error


def _tuples(value: Any) -> Any:
    """Returns JSON's lists as the tuples of frozen settings."""
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return {key: _tuples(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def model_of(tracker: Tracker, saved: SavedProgram, lm_name: str = "none") -> str:
    """Returns the id of a program's model in MLflow; the first time it gets an entry without files.

    Args:
        tracker: The tracking store.
        saved: The program; its files, its settings and the language model determine the model.
        lm_name: The name of the language model.
    """
    from mlflow.entities import LoggedModelStatus

    parts = [saved.config.get("files", saved.name), saved.changes, lm_name]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
    client, place = tracker.client, tracker.experiment("compile")
    for model in client.search_logged_models([place], filter_string=f"tags.`{_KEY_TAG}` = '{key}'", max_results=1):
        return str(model.model_id)
    name = " ".join([saved.name, *([lm_name] if lm_name != "none" else []), *saved.changes])
    model = client.create_logged_model(place, _NO_NAME.sub("-", name), tags={_KEY_TAG: key})
    return str(client.finalize_logged_model(model.model_id, LoggedModelStatus.READY).model_id)


def log_model(tracker: Tracker, run: Run, saved: SavedProgram, lm: LMConfig | None = None) -> str:
    """Logs a saved program as a model: its folder, the code that serves it in place of a pickle, and its prompts.

    The run may have ended; its status stays as it is, also where this is stopped.

    Args:
        tracker: The tracking store.
        run: The run that the model is an output of.
        saved: The program.
        lm: The language model that the served program asks; its budget is left out.

    Returns:
        Its URI, ``models:/m-…``.
    """
    from experiments.tracking import at_store, describe_environment

    model_id = model_of(tracker, saved, lm.name if lm is not None else "none")
    packages = describe_environment()["packages"]
    with at_store(tracker), tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        import mlflow
        from mlflow.entities import LoggedModelOutput

        warnings.simplefilter("ignore")  # MLflow's advice on types
        folder = saved.folder
        if "files" not in saved.config:  # a shipped program with nothing fitted has no folder
            folder = save_program(saved.program, Path(temporary) / "program")
        logged = mlflow.pyfunc.log_model(
            model_id=model_id,
            python_model=str(Path(__file__).with_name("serve.py")),
            artifacts={"program": str(folder)},
            model_config={"lm": asdict(replace(lm, budget=None)) if lm is not None else None},
            pip_requirements=[f"{package}=={packages[package]}" for package in packages if package != "datasets"],
            signature=False,
        )
        _register_prompts(tracker, saved, model_id)
    place = tracker.experiment("compile")
    for empty in tracker.client.search_logged_models([place], f"name = 'dspy' AND source_run_id = '{run.id}'"):
        tracker.client.delete_logged_model(empty.model_id)  # MLflow's own for any compile by DSPy
    tracker.client.log_outputs(run.id, [LoggedModelOutput(model_id, step=0)])
    return str(logged.model_uri)


def _register_prompts(tracker: Tracker, saved: SavedProgram, model_id: str) -> None:
    """Registers the program's prompts as MLflow shows them, a new version of each one that has changed."""
    import dspy

    client, place = tracker.client, tracker.experiment("compile")
    for predictor, predict in saved.program.named_predictors():
        fields = predict.signature.input_fields.items()
        blanks = {field: f"{{{{{field}}}}}" for field, about in fields if about.annotation is not dspy.History}
        template = dspy.ChatAdapter().format(predict.signature, predict.demos[:_DEMONSTRATIONS], blanks)
        name = f"{saved.config['kind']}.{predictor.partition('.')[2]}"
        prompt = client.load_prompt(f"prompts:/{name}@latest", allow_missing=True)
        if prompt is None or prompt.template != template:
            prompt = client.register_prompt(name, template, tags={"_mlflow_experiment_ids": f",{place},"})
        client.link_prompt_version_to_model(prompt.name, str(prompt.version), model_id)


def with_program_settings(program: ConversationQA, settings: Mapping[str, str]) -> ConversationQA:
    """A copy of a program with other settings.

    Args:
        program: The program.
        settings: For reports the use of its language model, as ``page_tokens`` and ``3000``; for graphs its beam, as
            ``max_depth``.

    Raises:
        ConfigError: It has no such setting.
    """
    from optimize.optimizers import with_setting

    is_graph = _is_about_graphs(program)
    changed: ConversationQA = program.deepcopy() if settings else program
    for key, value in settings.items():
        if is_graph:
            changed.turn.config = with_setting(changed.config, key, value, "a program about graphs")
        elif (evidence := getattr(changed.turn, "evidence", None)) is None:
            raise ConfigError(f"{program.kind} has no settings, got {key}={value}")
        else:
            changed.evidence = with_setting(evidence, key, value, program.kind)
    return changed
