"""Settings of a compile and the records made from them: its key, and the parameters, tags and origin of its result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from experiments.data import Dialogues, LoadedData
from experiments.evaluation import EvaluationConfig
from experiments.lms import LMConfig
from experiments.saved import REPORT_KINDS, Origin, find_program
from experiments.tracking import Run, Tracker, describe_environment, run_tags
from kg.report_graphs import Unmapped
from optimize.compiling import CompileSettings, OptimizerStep
from optimize.needs import Role


@dataclass(frozen=True)
class CompileConfig:
    """Settings of a compile.

    Attributes:
        optimizers: One after the other; none leaves the program as it starts out, with its ontology.
        evaluation: The settings of its evaluation, with the language model and the seed of the compile.
        dialogues: Further training conversations, without reports; those that the train split holds too are left out.
        log_model: Whether the program is also logged as an MLflow model, and its prompts registered.
        settings: The common settings of all prompt optimizers; its threads are those of the evaluation.
        teacher: The model that demonstrations are bootstrapped with; by default the program's own.
        prompt: The model that proposes instructions and rules; by default the program's own.
        reflection: The model that reflects on failures; by default the program's own.
        program_settings: ``KEY=VALUE`` texts: settings of how the program uses its language model.
        unmapped: The treatment of line items outside the ontology; ``None`` for the program's own.
        checkpoints: Folder of the state of stopped compiles, to resume from; ``None`` for none.
        fresh: Whether to start again in spite of a saved state.
    """

    optimizers: tuple[OptimizerStep, ...] = ()
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    dialogues: Dialogues | None = None
    log_model: bool = True
    settings: CompileSettings = field(default_factory=CompileSettings)
    teacher: LMConfig | None = None
    prompt: LMConfig | None = None
    reflection: LMConfig | None = None
    program_settings: tuple[str, ...] = ()
    unmapped: Unmapped | None = None
    checkpoints: Path | None = None
    fresh: bool = False

    @property
    def lms(self) -> dict[Role, LMConfig]:
        """The language models by what they are asked for."""
        others: dict[Role, LMConfig | None] = {
            "teacher": self.teacher,
            "prompt": self.prompt,
            "reflection": self.reflection,
        }
        named: dict[Role, LMConfig] = {role: one for role, one in others.items() if one is not None}
        return {"task": self.evaluation.lm, **named}


def origin_of(train: LoadedData, config: CompileConfig, run: Run) -> Origin:
    """The origin that is saved with the program."""
    known: dict[str, Any] = {"name": train.name, "sha256": train.sha256, "conversations": len(train.conversations)}
    if config.dialogues is not None:
        known["dialogues"] = {"name": config.dialogues.name, "sha256": config.dialogues.sha256}
    return Origin(
        optimizers=tuple({"name": step.name, "settings": dict(step.settings)} for step in config.optimizers),
        seed=config.evaluation.seed,
        train=known,
        lm=dataclasses.asdict(config.evaluation.lm),
        run_id=run.id,
    )


def compile_key(reference: str, train: LoadedData, config: CompileConfig, tracker: Tracker | None) -> str:
    """A hash of everything that shapes the compiled program; what only limits it (a budget, threads) is not in it."""
    environment = describe_environment()
    lms = {role: [lm.name, lm.api_base, lm.temperature, lm.max_tokens] for role, lm in sorted(config.lms.items())}
    shaping = {
        "program": reference if reference in REPORT_KINDS else find_program(reference, tracker).config["files"],
        "optimizers": [[step.name, step.all_settings()] for step in config.optimizers],
        "program_settings": sorted(config.program_settings),
        "unmapped": config.unmapped,
        "settings": dataclasses.asdict(dataclasses.replace(config.settings, threads=1)),
        "seed": config.evaluation.seed,
        "train": train.sha256,
        "conversations": len(train.conversations),
        "dialogues": config.dialogues.sha256 if config.dialogues is not None else None,
        "lms": lms,
        "code": code_sha256(),
        "packages": environment.packages,
    }
    return hashlib.sha256(json.dumps(shaping, sort_keys=True, default=str).encode()).hexdigest()[:16]


@cache
def code_sha256(root: Path = Path(__file__).parents[2]) -> str:
    """Returns a hash of the code and data files of programs and optimizers: a compile by others is not used again.

    Args:
        root: The folder that holds the rooms.
    """
    rooms = ("kg", "signatures", "programs", "optimize")
    digest = hashlib.sha256()
    files = (path for room in rooms for path in (root / room).rglob("*.*"))
    for path in sorted(path for path in files if path.suffix in (".py", ".json", ".ttl")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def compile_params(reference: str, train: LoadedData, config: CompileConfig) -> Mapping[str, object]:
    """The settings that the run shows."""
    settings = {
        f"optimizer.{place}.{step.name}.{key}": value
        for place, step in enumerate(config.optimizers)
        for key, value in step.all_settings().items()
    }
    others = {
        f"{role}_{key}": value
        for role, lm in config.lms.items()
        if role != "task"
        for key, value in lm.params().items()
    }
    return {
        "program": reference,
        "optimizers": ",".join(step.name for step in config.optimizers) or "none",
        **settings,
        **{f"compile.{key}": value for key, value in dataclasses.asdict(config.settings).items() if key != "threads"},
        **({"program_settings": " ".join(config.program_settings)} if config.program_settings else {}),
        "seed": config.evaluation.seed,
        "train": train.name,
        **config.evaluation.lm.params(),
        **others,
    }


def compile_tags(train: LoadedData, config: CompileConfig) -> dict[str, str]:
    """The tags that a run is found by."""
    return {
        **run_tags(config.evaluation.seed),
        "finpath.data": train.name,
        "finpath.data_sha256": train.sha256,
        "finpath.split": train.split,
        "finpath.optimizers": json.dumps([step.name for step in config.optimizers]),
    }
