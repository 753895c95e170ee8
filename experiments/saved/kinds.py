"""Kinds of saved programs: the files and settings that each kind has of its own.

    kind_of(program).write(program, folder)         # {"kind": "beam", "settings": ..., "scorer_sha256": ...}
    kind_named("kgqa").read(folder, config)         # the program

A new kind of program needs one class here, with ``write`` and ``read``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from experiments.lms import install_adapters, save_adapters
from experiments.saved.references import path_reader, shipped_encoder
from kg.arrays import read_arrays
from kg.errors import TrackingError

if TYPE_CHECKING:
    from kg.ontology import Ontology
    from kg.paths import PathRanker
    from kg.scoring import DerivationScorer
    from programs.conversation import ConversationQA

REPORT_KINDS = ("beam", "agent")
"""Kinds of programs about reports: the beam search, and the tool agent, which needs a language model."""

_KEPT = 2
"""Ontologies and scorers that stay in memory, since a compile reads its program several times."""

ONTOLOGY, SCORER, EVIDENCE, ENCODER = "ontology.ttl", "scorer.json", "evidence.json", "encoder"
RELATIONS, RANKER = "relations.json", "ranker.npz"
UNTRAINED = "untrained"
"""The name of the program for graphs that knows relations only by the words of their names."""


class ProgramKind(Protocol):
    """The format of one kind of program."""

    def write(self, program: Any, folder: Path) -> dict[str, Any]:
        """Writes the program's own files; returns its part of ``config.json``, with ``kind`` and ``settings``."""

    def read(self, folder: Path, config: Mapping[str, Any]) -> Any:
        """Returns the program, without DSPy's state."""


class ReportProgram:
    """Programs for reports: ``beam`` and ``agent``."""

    def write(self, program: Any, folder: Path) -> dict[str, Any]:
        """Writes the ontology, the scorer and the use of language models."""
        (folder / ONTOLOGY).write_text(program.ontology.to_turtle(), encoding="utf-8")
        if program.scorer is not None:
            (folder / SCORER).write_text(program.scorer.to_json() + "\n", encoding="utf-8")
            if program.scorer.encoder is not None:
                program.scorer.encoder.write(folder / ENCODER)
        if (evidence := program.evidence) is not None:
            (folder / EVIDENCE).write_text(json.dumps(evidence.to_dict(), indent=1, ensure_ascii=False) + "\n", "utf-8")
            save_adapters(evidence.plans, folder)
        return {
            "kind": program.kind,
            "settings": dataclasses.asdict(program.config),
            "unmapped": program.unmapped,
            "ontology_sha256": program.ontology.sha256,
            "scorer_sha256": program.scorer.sha256 if program.scorer is not None else None,
        }

    def read(self, folder: Path, config: Mapping[str, Any]) -> Any:
        """Returns the program."""
        from programs.evidence import EvidenceConfig

        scorer = _read_scorer(folder, config["files"]) if SCORER in config["files"] else None
        ontology = _ontology_of(read_file(folder / ONTOLOGY))
        program = unfitted_program(config["kind"], ontology, scorer, _tuples(config["settings"]))
        # The first programs were saved without it.
        if config.get("unmapped", "keep") != program.unmapped:
            program = program.with_unmapped(config["unmapped"])
        if EVIDENCE in config["files"]:
            program.evidence = EvidenceConfig.from_dict(json.loads(read_file(folder / EVIDENCE)))
            install_adapters(folder)
        return program


class GraphProgram:
    """Programs for questions about graphs: ``kgqa``.

    A program that was fitted on one graph answers on another with similar relations: its weights are those of the
    relations' names and their words.
    """

    def write(self, program: Any, folder: Path) -> dict[str, Any]:
        """Writes the relation scorer, and the ranker of paths where there is one."""
        (folder / RELATIONS).write_text(program.scorer.to_json(), encoding="utf-8")
        ranked: dict[str, Any] = {}
        if program.ranker is not None:
            np.savez_compressed(folder / RANKER, **program.ranker.to_arrays())
            ranked = {"ranker_encoder_sha256": shipped_encoder().sha256}
        return {
            "kind": "kgqa",
            "settings": dataclasses.asdict(program.config),
            "aggregation": program.aggregation,
            "scorer_sha256": program.scorer.sha256,
            **ranked,
        }

    def read(self, folder: Path, config: Mapping[str, Any]) -> Any:
        """Returns the program."""
        from kg.paths import LearnedRelationScorer, PathConfig
        from programs.kgqa import KGQA

        scorer = LearnedRelationScorer.from_json(read_file(folder / RELATIONS))
        settings = PathConfig.from_saved(config["settings"])
        return KGQA(scorer, settings, config["aggregation"], _read_ranker(folder, config))


class QueryProgram:
    """Programs for questions about any graph: ``queries``. DSPy's state and the confidence in replies are fitted."""

    def write(self, program: Any, folder: Path) -> dict[str, Any]:  # noqa: ARG002
        """Returns the kind, the limits of confidence and the confidence in replies."""
        fitted = program.config.reply_confidence
        settings = {
            "answer_from": program.config.answer_from,
            "trust": program.config.trust,
            "reply_confidence": dataclasses.asdict(fitted) if fitted is not None else None,
        }
        return {"kind": "queries", "settings": settings, "scorer_sha256": None}

    def read(self, folder: Path, config: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """Returns the program."""
        from programs.conversation import ConversationQA
        from programs.graphs import ReplyConfidence
        from programs.worlds.graph import GraphConfig

        settings = dict(config["settings"])
        fitted = settings.pop("reply_confidence", None)
        confidence = ReplyConfidence(**fitted) if fitted else None
        return ConversationQA.for_graphs(GraphConfig(**settings, reply_confidence=confidence))


def _read_ranker(folder: Path, config: Mapping[str, Any]) -> PathRanker | None:
    """Returns the ranker of a program's folder; its vectors are those of the shipped encoder.

    Without the weights of the reader, which are fetched if the extra ``news`` is installed, it ranks without reading.
    """
    from kg.paths import PathRanker

    if RANKER not in config["files"]:
        return None
    encoder = shipped_encoder()
    if config.get("ranker_encoder_sha256") != encoder.sha256:
        raise TrackingError(f"{folder}: the ranker was fitted with another encoder than the shipped one: fit it again")
    ranker = PathRanker.from_arrays(encoder.vectors, read_arrays(folder / RANKER))
    if ranker.reading:
        ranker.reader = path_reader()
    return ranker


def _read_scorer(folder: Path, files: Mapping[str, str]) -> DerivationScorer:
    from kg.encoder import TextEncoder

    has_encoder = any(name.startswith(f"{ENCODER}/") for name in files)
    encoder = TextEncoder.read(folder / ENCODER) if has_encoder else None
    return _scorer_of(read_file(folder / SCORER), tuple(encoder.files.items()) if encoder is not None else None)


@lru_cache(maxsize=_KEPT)
def _ontology_of(turtle: str) -> Ontology:
    """The ontology of a text; programs that are read one after the other share it."""
    from kg.ontology import Ontology

    return Ontology.from_turtle(turtle)


@lru_cache(maxsize=_KEPT)
def _scorer_of(weights: str, encoder: tuple[tuple[str, bytes], ...] | None) -> DerivationScorer:
    """The scorer of a text, with the encoder of some files; programs that are read one after the other share it."""
    from kg.encoder import TextEncoder
    from kg.scoring import DerivationScorer

    return DerivationScorer.from_json(weights, TextEncoder(dict(encoder)) if encoder is not None else None)


_OWN_KINDS: dict[str, ProgramKind] = {
    "kgqa": GraphProgram(),
    "queries": QueryProgram(),
}


def kind_named(name: str) -> ProgramKind:
    """Returns the format of a kind.

    Raises:
        ValueError: There is no such kind.
    """
    if name in _OWN_KINDS:
        return _OWN_KINDS[name]
    if name in REPORT_KINDS:
        return ReportProgram()
    raise ValueError(f"kind must be one of {', '.join((*REPORT_KINDS, *_OWN_KINDS))}, got {name!r}")


def unfitted_program(
    kind: str,
    ontology: Ontology,
    scorer: DerivationScorer | None = None,
    settings: Mapping[str, Any] | None = None,
) -> ConversationQA:
    """Returns a program for reports over an ontology, with given weights and settings or those of the start.

    Args:
        kind: One of :data:`REPORT_KINDS`.
        ontology: The frozen ontology.
        scorer: The beam's weights.
        settings: The saved settings of the kind.
    """
    from programs.conversation import ConversationQA

    if kind == "agent":
        from kg.scoring import DerivationScorer
        from programs.agent import AgentConfig, AgentQA
        from programs.worlds.reader import ReportReader

        reader = ReportReader(ontology, DerivationScorer.untrained())
        return ConversationQA(AgentQA(reader, AgentConfig.from_saved(settings if settings is not None else {})))
    from kg.candidates import DerivationConfig

    config = DerivationConfig.from_saved(settings) if settings is not None else None
    return ConversationQA.unfitted(ontology, scorer=scorer, config=config)


def kind_of(program: Any) -> ProgramKind:
    """Returns the format of a program."""
    if hasattr(program, "ontology"):
        return ReportProgram()
    return _OWN_KINDS["queries" if hasattr(program.config, "answer_from") else "kgqa"]


def read_file(path: Path) -> str:
    """Returns the text of one of a program's files.

    Raises:
        TrackingError: It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TrackingError(f"{path.parent}: the saved program's {path.name} cannot be read: {error}") from error


def _tuples(value: Any) -> Any:
    """Returns JSON's lists as the tuples of frozen settings."""
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    return value
