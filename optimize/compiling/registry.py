"""The optimizers by name, each with its settings and with what it takes of language models.

    >>> step, = parse_optimizers("bootstrap", ["bootstrap.max_bootstrapped_demos=2"])
    >>> step.config()
    BootstrapSettings(max_bootstrapped_demos=2, max_labeled_demos=2, max_rounds=1)

Every optimizer is a DSPy ``Teleprompter``. Those of a *conversation* are given the whole program and conversation
examples; those of a *turn* are given the program for one question and turn examples (:mod:`optimize.prompts.turns`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from kg.errors import ConfigError
from optimize.compiling.plan import need_evidence
from optimize.needs import NO_NEED, Extras, Need, Sizes
from optimize.prompts import settings as known
from optimize.scorers import EvidenceSettings, ScorerConfig
from optimize.settings import with_setting

if TYPE_CHECKING:
    from dspy.teleprompt import Teleprompter


@dataclass(frozen=True)
class OptimizerStep:
    """One optimizer of a chain.

    Attributes:
        name: Its name in :data:`OPTIMIZERS`.
        settings: Its own settings, those that differ from their defaults.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> Any:
        """All its settings, typed; ``None`` where the optimizer has none that are declared.

        Raises:
            ConfigError: There is no such setting, or it cannot have this value.
        """
        kind = OPTIMIZERS[self.name].settings
        if kind is None:
            return None
        names = {one.name for one in dataclasses.fields(kind)}
        if unknown := sorted(set(self.settings) - names):
            raise ConfigError(
                f"optimizer {self.name!r} has no setting {unknown[0]!r}; it has {', '.join(sorted(names))}"
            )
        return kind(**self.settings)

    def all_settings(self) -> dict[str, Any]:
        """Every setting with its value, nested ones with dots, as a run records them."""
        config = self.config()
        return dict(self.settings) if config is None else _flat(dataclasses.asdict(config))


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return found


def no_need(settings: Any, sizes: Sizes) -> Need:
    """What an optimizer takes that asks no language model."""
    del settings, sizes
    return NO_NEED


@dataclass(frozen=True)
class Optimizer:
    """An entry of the registry.

    Attributes:
        summary: What it changes, in a few words.
        needs_lm: Whether it asks a language model.
        make: Builds it from its settings, the seed and what else it is given.
        settings: The class of its settings; ``None`` where any mapping will do.
        level: Whether it works on the program for a conversation or on that for a turn.
        need: What it takes of language models at most, from its settings and the sizes of the data.
    """

    summary: str
    needs_lm: bool
    make: Callable[[Mapping[str, Any], int, Extras], Teleprompter]
    settings: type | None = None
    level: Literal["conversation", "turn"] = "conversation"
    need: Callable[[Any, Sizes], Need] = no_need


def _make_scorer_fitting(settings: Mapping[str, Any], seed: int, extras: Extras) -> Teleprompter:
    from optimize.scorers import FitScorer

    config = ScorerConfig(**settings)
    return FitScorer(seed=seed, config=config, dialogues=extras.dialogues, progress=extras.progress)


def _turn(name: str, summary: str, settings: type) -> Optimizer:
    """A prompt optimizer: made by the function of its name in :mod:`optimize.prompts.optimizers`."""
    function = name.replace("-", "_")

    def make(given: Mapping[str, Any], seed: int, extras: Extras) -> Teleprompter:
        from optimize.prompts import optimizers as prompt_optimizers

        made: Teleprompter = getattr(prompt_optimizers, f"make_{function}")(settings(**given), seed, extras)
        return made

    from optimize.compiling import plan

    need: Callable[[Any, Sizes], Need] = getattr(plan, f"need_{function}")
    return Optimizer(summary, needs_lm=True, make=make, settings=settings, level="turn", need=need)


def _make_evidence_fitting(settings: Mapping[str, Any], seed: int, extras: Extras) -> Teleprompter:
    from optimize.scorers import FitEvidence

    config = EvidenceSettings(**settings)
    return FitEvidence(seed=seed, settings=config, dialogues=extras.dialogues, progress=extras.progress)


OPTIMIZERS: dict[str, Optimizer] = {
    "scorer": Optimizer(
        "fits the weights of the beam's scorer", needs_lm=False, make=_make_scorer_fitting, settings=ScorerConfig
    ),
    "evidence": Optimizer(
        "fits how much the language model's evidence and the beam's score weigh, and how sure they are",
        needs_lm=False,
        make=_make_evidence_fitting,
        settings=EvidenceSettings,
        need=need_evidence,
    ),
    "labeled-few-shot": _turn("labeled-few-shot", "demonstrations from the gold programs", known.LabeledSettings),
    "bootstrap": _turn("bootstrap", "demonstrations from turns answered rightly", known.BootstrapSettings),
    "bootstrap-random-search": _turn(
        "bootstrap-random-search", "the best of several sets of demonstrations", known.RandomSearchSettings
    ),
    "miprov2": _turn("miprov2", "instructions and demonstrations, searched together", known.MIPROSettings),
    "gepa": _turn("gepa", "instructions, by reflection on our feedback", known.GEPASettings),
    "simba": _turn("simba", "rules and demonstrations from turns that vary", known.SIMBASettings),
    "infer-rules": _turn("infer-rules", "rules inferred from training turns", known.InferRulesSettings),
    "copro": _turn("copro", "instructions, by coordinate ascent", known.COPROSettings),
    "knn-few-shot": _turn("knn-few-shot", "demonstrations nearest to each question", known.NearestSettings),
    "reanchor": _turn("reanchor", "thresholds and weights of decisions", known.ReAnchorSettings),
}
"""All optimizers, by the name that the command takes."""

BETTER_TOGETHER = "better-together"
"""The name under which a chain may be written too: ``better-together:scorer,bootstrap``."""


def parse_optimizers(text: str, settings: Sequence[str] = ()) -> tuple[OptimizerStep, ...]:
    """Reads a chain such as ``scorer`` or ``scorer,bootstrap``; ``none`` is the empty chain.

    Args:
        text: The names, one after the other; ``better-together:`` may stand before them.
        settings: ``NAME.KEY=VALUE`` texts; each is for every step of that name.

    Raises:
        ConfigError: A name is not in the registry, or a setting is not one of an optimizer of the chain.
    """
    names = _names(text)
    configs: dict[str, Any] = {}
    changed: dict[str, set[str]] = {}
    for one in settings:
        key, equals, value = one.partition("=")
        name, dot, setting = key.strip().partition(".")
        if not equals or not dot:
            raise ConfigError(f"an optimizer's setting is written NAME.KEY=VALUE, got {one!r}")
        if name not in names:
            raise ConfigError(f"the setting {one!r} is for {name!r}, which is not in the chain {text!r}")
        kind = OPTIMIZERS[name].settings
        if kind is None:
            raise ConfigError(f"optimizer {name!r} has no settings, got {one!r}")
        config = configs.get(name, kind())
        configs[name] = with_setting(config, setting, value.strip())
        changed.setdefault(name, set()).add(setting.partition(".")[0])
    return tuple(
        OptimizerStep(name, {key: getattr(configs[name], key) for key in sorted(changed.get(name, ()))})
        for name in names
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
