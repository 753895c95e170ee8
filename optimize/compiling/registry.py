"""The optimizers by name, and the chains that they form.

    >>> step, = parse_optimizers("bootstrap", ["bootstrap.max_bootstrapped_demos=2"])
    >>> step.optimizer()
    BootstrapOptimizer(max_bootstrapped_demos=2, max_labeled_demos=2, max_rounds=1)

An optimizer of a *conversation* is given the whole program and conversation examples. One of a *turn* is given the
program for one question and turn examples (:mod:`optimize.prompts.turns`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kg.errors import ConfigError
from optimize.encoders import EncoderOptimizer
from optimize.evidence import EvidenceOptimizer
from optimize.finetuning import FinetuneOptimizer
from optimize.optimizer import Optimizer
from optimize.prompts import (
    BootstrapOptimizer,
    COPROOptimizer,
    GEPAOptimizer,
    InferRulesOptimizer,
    LabeledOptimizer,
    MIPROOptimizer,
    NearestOptimizer,
    RandomSearchOptimizer,
    SIMBAOptimizer,
)
from optimize.scorers import ScorerOptimizer
from optimize.settings import with_setting

OPTIMIZERS: dict[str, type[Optimizer]] = {
    "scorer": ScorerOptimizer,
    "encoder": EncoderOptimizer,
    "evidence": EvidenceOptimizer,
    "finetune": FinetuneOptimizer,
    "labeled-few-shot": LabeledOptimizer,
    "bootstrap": BootstrapOptimizer,
    "bootstrap-random-search": RandomSearchOptimizer,
    "miprov2": MIPROOptimizer,
    "gepa": GEPAOptimizer,
    "simba": SIMBAOptimizer,
    "infer-rules": InferRulesOptimizer,
    "copro": COPROOptimizer,
    "knn-few-shot": NearestOptimizer,
}
"""All optimizers, by the name that the command takes."""

BETTER_TOGETHER = "better-together"
"""An optional prefix of a chain: ``better-together:scorer,bootstrap``."""


@dataclass(frozen=True)
class OptimizerStep:
    """One optimizer of a chain.

    Attributes:
        name: Its name in :data:`OPTIMIZERS`.
        settings: Its settings that differ from their defaults.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def optimizer(self) -> Optimizer:
        """Returns the optimizer with all its settings.

        Raises:
            ConfigError: There is no such setting, or it cannot have this value.
        """
        kind: Any = OPTIMIZERS[self.name]
        names = {one.name for one in dataclasses.fields(kind)}
        if unknown := sorted(set(self.settings) - names):
            raise ConfigError(
                f"optimizer {self.name!r} has no setting {unknown[0]!r}; it has {', '.join(sorted(names))}"
            )
        made: Optimizer = kind(**self.settings)
        return made

    def all_settings(self) -> dict[str, Any]:
        """Returns every setting with its value, nested ones with dots, as a run records them."""
        made: Any = self.optimizer()
        return _flat(dataclasses.asdict(made))


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return found


def parse_optimizers(text: str, settings: Sequence[str] = ()) -> tuple[OptimizerStep, ...]:
    """Reads a chain such as ``scorer`` or ``scorer,bootstrap``; ``none`` is the empty chain.

    Args:
        text: The names in order, with the optional prefix ``better-together:``.
        settings: ``NAME.KEY=VALUE`` texts; each applies to every step of that name.

    Raises:
        ConfigError: A name is not in the registry, or a setting is not one of an optimizer of the chain.
    """
    names = _names(text)
    made: dict[str, Any] = {}
    changed: dict[str, set[str]] = {}
    for one in settings:
        key, equals, value = one.partition("=")
        name, dot, setting = key.strip().partition(".")
        if not equals or not dot:
            raise ConfigError(f"an optimizer's setting is written NAME.KEY=VALUE, got {one!r}")
        if name not in names:
            raise ConfigError(f"the setting {one!r} is for {name!r}, which is not in the chain {text!r}")
        made[name] = with_setting(made.get(name, OPTIMIZERS[name]()), setting, value.strip())
        changed.setdefault(name, set()).add(setting.partition(".")[0])
    return tuple(
        OptimizerStep(name, {key: getattr(made[name], key) for key in sorted(changed.get(name, ()))}) for name in names
    )


def _names(text: str) -> list[str]:
    text = text.strip().removeprefix(f"{BETTER_TOGETHER}:")
    if text == "none":
        return []
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in OPTIMIZERS:
            raise ConfigError(f"optimizer must be none or a chain of {', '.join(OPTIMIZERS)}; got {name!r}")
    return names
