"""The optimizers by name, with finpath's defaults: DSPy's own classes, and finpath's fits.

    >>> chain = parse_optimizers("scorer+bootstrap", ["bootstrap.max_rounds=2"])
    >>> chain[1].make({"metric": metric})
    (<dspy.teleprompt.bootstrap.BootstrapFewShot ...>, {})

A setting is an argument of the optimizer's constructor or of its ``compile``, by the optimizer's own name and type.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from dspy import teleprompt
from dspy.teleprompt import Teleprompter

from kg.errors import ConfigError
from optimize.dspy_fixes import BoundedSIMBA, LabeledTurns, OwnRules
from optimize.settings import read_value, with_setting

FITS = {
    "scorer": "optimize.scorers:FitScorer",
    "encoder": "optimize.encoders:FitEncoder",
    "evidence": "optimize.evidence:FitEvidence",
}
"""finpath's own optimizers, which learn from conversations: name, module and class."""

_DEMOS = {"max_bootstrapped_demos": 4, "max_labeled_demos": 2}
PROMPT_OPTIMIZERS: dict[str, tuple[type[Teleprompter], dict[str, Any]]] = {
    "labeled-few-shot": (LabeledTurns, {}),
    "bootstrap": (teleprompt.BootstrapFewShot, _DEMOS),
    "bootstrap-random-search": (
        teleprompt.BootstrapFewShotWithRandomSearch,
        {**_DEMOS, "num_candidate_programs": 4},
    ),
    "miprov2": (
        teleprompt.MIPROv2,
        {
            "auto": None,
            "num_candidates": 4,
            "num_trials": 6,
            "minibatch": False,
            "program_aware_proposer": False,
            "max_bootstrapped_demos": 2,
            "max_labeled_demos": 2,
        },
    ),
    "gepa": (teleprompt.GEPA, {"max_metric_calls": 150, "track_stats": True}),
    "simba": (BoundedSIMBA, {"bsize": 8, "num_candidates": 3, "max_steps": 3, "demo_input_field_maxlen": 600}),
    "infer-rules": (OwnRules, {}),
    "copro": (teleprompt.COPRO, {"breadth": 3, "depth": 2, "init_temperature": 1.0, "track_stats": True}),
}
"""Optimizers of prompts, which learn from turns: DSPy's class, with defaults for a small model on a few cores."""

_PRESET = {"num_candidates": None, "num_trials": None, "max_metric_calls": None}


@dataclass(frozen=True)
class OptimizerStep:
    """One optimizer of a chain.

    Attributes:
        name: Its name in :data:`FITS` or :data:`PROMPT_OPTIMIZERS`.
        settings: Its arguments that differ from finpath's defaults; those of a fit are one dataclass, ``settings``.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> Any:
        """The optimizer's class."""
        if self.name in PROMPT_OPTIMIZERS:
            return PROMPT_OPTIMIZERS[self.name][0]
        module, _, name = FITS[self.name].partition(":")
        return getattr(import_module(module), name)

    def with_text(self, key: str, text: str) -> OptimizerStep:
        """Returns the step with one setting read from a text.

        Raises:
            ConfigError: The optimizer has no such setting, or the text is not a value of its type.
        """
        if key == "folder" and key in _parameters(self.kind):  # keeps the state of a long training
            return OptimizerStep(self.name, {**self.settings, key: Path(text)})
        if self.name in FITS:
            settings = with_setting(self.settings.get("settings", self.kind.Settings()), key, text)
            return OptimizerStep(self.name, {**self.settings, "settings": settings})
        known = {**_parameters(self.kind.compile), **_parameters(self.kind)}
        if key not in known or key in _GIVEN:
            names = ", ".join(sorted(known.keys() - _GIVEN))
            raise ConfigError(f"optimizer {self.name!r} has no setting {key!r}; it has {names}")
        hint, default = known[key].annotation, known[key].default
        if isinstance(hint, str) or hint is inspect.Parameter.empty:
            hint = Any if default is None else type(default)
        return OptimizerStep(self.name, {**self.settings, key: read_value(hint, text, f"{self.name}.{key}")})

    def make(self, given: Mapping[str, Any]) -> tuple[Teleprompter, dict[str, Any]]:
        """Returns the optimizer, and the further arguments of its ``compile``.

        Args:
            given: Arguments that it gets where it has them.
        """
        defaults = PROMPT_OPTIMIZERS[self.name][1] if self.name in PROMPT_OPTIMIZERS else {}
        preset = _PRESET if self.settings.get("auto") is not None else {}  # DSPy takes it only without these
        values = {**given, **defaults, **{name: preset[name] for name in preset if name in defaults}, **self.settings}
        constructor = _parameters(self.kind)
        made: Teleprompter = self.kind(**{name: values[name] for name in constructor if name in values})
        further = _parameters(self.kind.compile).keys() - constructor.keys()
        return made, {name: values[name] for name in further if name in values}


_GIVEN = frozenset(
    {"student", "teacher", "trainset", "valset", "metric", "seed", "num_threads", "eval_kwargs", "self"}
    | {"prompt_model", "task_model", "reflection_lm", "teacher_settings"}
)
"""Arguments that no setting changes: the data, the metric, the seed, the threads and the models."""


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    named = inspect.signature(function).parameters.items()
    return {name: one for name, one in named if one.kind is not one.VAR_KEYWORD and not name.startswith("_")}


def parse_optimizers(text: str, settings: Sequence[str] = ()) -> tuple[OptimizerStep, ...]:
    """Reads a chain such as ``scorer`` or ``scorer+bootstrap``; ``none`` is the empty chain.

    Args:
        text: The names in order.
        settings: ``NAME.KEY=VALUE`` texts; each applies to every step of that name.

    Raises:
        ConfigError: There is no such optimizer, or it has no such setting.
    """
    names = [] if text.strip() == "none" else [name.strip() for name in text.split("+")]
    known = [*FITS, *PROMPT_OPTIMIZERS]
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"optimizer must be none or a chain (a+b) of {', '.join(known)}; got {unknown[0]!r}")
    steps = {name: OptimizerStep(name) for name in names}
    for setting in settings:
        key, equals, value = setting.partition("=")
        name, dot, rest = key.strip().partition(".")
        if not equals or not dot:
            raise ConfigError(f"an optimizer's setting is written NAME.KEY=VALUE, got {setting!r}")
        if name not in steps:
            raise ConfigError(f"the setting {setting!r} is for {name!r}, which is not in the chain {text!r}")
        steps[name] = steps[name].with_text(rest, value.strip())
    return tuple(steps[name] for name in names)
