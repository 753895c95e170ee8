"""DSPy's prompt optimizers, made from our settings for the program of one turn.

    >>> optimizer = make_bootstrap(BootstrapSettings(), seed=0, extras=Extras(lms={"teacher": strong}))
    >>> compiled = optimizer.compile(TurnStudent(turn), trainset=train, valset=val)

Each is DSPy's own ``Teleprompter``, called as it wants to be; what they have in common is in :class:`Bound`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import dspy
from dspy.teleprompt import (
    COPRO,
    GEPA,
    SIMBA,
    BootstrapFewShot,
    BootstrapFewShotWithRandomSearch,
    InferRules,
    LabeledFewShot,
    MIPROv2,
    Teleprompter,
)
from dspy.teleprompt.reanchor import ReAnchor
from dspy.teleprompt.reanchor.calibrate import predictors as decision_predictors

from kg.errors import ConfigError
from optimize.metrics import keep_turn, score_turn
from optimize.needs import Extras
from optimize.prompts import settings as known
from optimize.prompts.turns import demonstrations
from programs.lm import NearestPredict


class Bound(Teleprompter):
    """One of DSPy's optimizers with what its ``compile`` wants besides the program and the data.

    Args:
        optimizer: The optimizer, or what makes it from the training data (some must know how much there is).
        options: Further arguments of its ``compile``.
        trains_on: Which training examples it is given; all by default.
    """

    def __init__(
        self,
        optimizer: Teleprompter | Callable[[list[dspy.Example]], Teleprompter],
        options: Mapping[str, Any] | None = None,
        trains_on: Callable[[list[dspy.Example]], list[dspy.Example]] = list,
    ) -> None:
        super().__init__()
        self.optimizer = optimizer
        self.options = dict(options if options is not None else {})
        self.trains_on = trains_on

    def compile(
        self,
        student: dspy.Module,
        *,
        trainset: list[dspy.Example],
        teacher: dspy.Module | None = None,
        valset: list[dspy.Example] | None = None,
    ) -> dspy.Module:
        """What the optimizer makes of a copy of ``student``; arguments that it does not take are left out."""
        shown = self.trains_on(trainset)
        optimizer = self.optimizer if isinstance(self.optimizer, Teleprompter) else self.optimizer(shown)
        copied = student.deepcopy()
        for module in [copied, *(module for _, module in copied.named_sub_modules())]:
            module._compiled = False  # DSPy's bootstrapping refuses a program that another optimizer has been at
        given = {"trainset": shown, "teacher": teacher, "valset": valset, **self.options}
        taken = inspect.signature(optimizer.compile).parameters
        compiled: dspy.Module = optimizer.compile(copied, **{name: given[name] for name in given if name in taken})
        return compiled


def _teacher(extras: Extras) -> dict[str, Any]:
    """The settings that turns are bootstrapped with: those of the teacher's role, also where it is the same model."""
    return {"lm": extras.lms["teacher"]}


class _PerPredictor(Teleprompter):
    """Gives each predictor demonstrations of its own, from examples that have all of its fields.

    Args:
        longest: Characters of a demonstration at most.
        seed: Of the choice.
        give: Gives a predictor demonstrations out of a pool, and says whether it could.
    """

    def __init__(self, longest: int, seed: int, give: Callable[[Any, list[dspy.Example]], bool]) -> None:
        super().__init__()
        self.longest, self.seed, self.give = longest, seed, give

    def compile(self, student: dspy.Module, *, trainset: list[dspy.Example], **_: Any) -> dspy.Module:
        """A copy of ``student`` with demonstrations.

        Raises:
            ConfigError: No predictor can be shown any: the gold programs say nothing about their fields.
        """
        compiled: dspy.Module = student.deepcopy()
        shown = 0
        for _, predictor in compiled.named_predictors():
            pool = demonstrations(trainset, predictor.signature, self.longest, self.seed)
            shown += bool(pool) and self.give(predictor, pool)
        if not shown:
            raise ConfigError(
                f"none of the {len(trainset)} training turns makes a demonstration of at most {self.longest} "
                f"characters for {', '.join(name for name, _ in compiled.named_predictors())}"
            )
        return compiled


def make_labeled_few_shot(settings: known.LabeledSettings, seed: int, extras: Extras) -> Teleprompter:
    """``LabeledFewShot`` for each predictor, from the labels that the gold programs give."""
    del extras

    def give(predictor: Any, pool: list[dspy.Example]) -> bool:
        # In order: the pool has operations in turns, and the shuffling is done.
        predictor.demos = LabeledFewShot(k=settings.k).compile(predictor, trainset=pool, sample=False).demos
        return True

    return _PerPredictor(settings.longest, seed, give)


def make_knn_few_shot(settings: known.NearestSettings, seed: int, extras: Extras) -> Teleprompter:
    """A pool of demonstrations to each predictor, which shows the nearest to each question.

    DSPy's ``KNNFewShot`` bootstraps its neighbours anew at every question, and patches a method that no saved program
    keeps. The search for neighbours, ``dspy.KNN``, is the same; what is shown are labelled demonstrations.
    """
    del extras

    def give(predictor: Any, pool: list[dspy.Example]) -> bool:
        if not isinstance(predictor, NearestPredict):
            return False
        predictor.demos = pool[: settings.pool]
        predictor.nearest = settings.k
        return True

    return _PerPredictor(settings.longest, seed, give)


def make_bootstrap(settings: known.BootstrapSettings, seed: int, extras: Extras) -> Teleprompter:
    """``BootstrapFewShot``; its order is that of the examples, which are shuffled by the seed before."""
    del seed
    return Bound(BootstrapFewShot(keep_turn, teacher_settings=_teacher(extras), **_bootstrapping(settings)))


def _bootstrapping(settings: known.BootstrapSettings) -> dict[str, Any]:
    return {
        "max_bootstrapped_demos": settings.max_bootstrapped_demos,
        "max_labeled_demos": settings.max_labeled_demos,
        "max_rounds": settings.max_rounds,
    }


def make_bootstrap_random_search(settings: known.RandomSearchSettings, seed: int, extras: Extras) -> Teleprompter:
    """``BootstrapFewShotWithRandomSearch``; its seeds are fixed, so ours is in the order of the examples."""
    del seed
    search = BootstrapFewShotWithRandomSearch(
        keep_turn,
        teacher_settings=_teacher(extras),
        num_candidate_programs=settings.num_candidate_programs,
        num_threads=extras.threads,
        **_bootstrapping(settings),
    )
    return Bound(search)


def make_miprov2(settings: known.MIPROSettings, seed: int, extras: Extras) -> Teleprompter:
    """``MIPROv2`` without its presets, which are made for hundreds of validation examples.

    Raises:
        ConfigError: Optuna, which it searches with, is not installed.
    """
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise ConfigError("miprov2 needs optuna: pip install optuna") from error
    optimizer = MIPROv2(
        keep_turn,
        prompt_model=extras.lms["prompt"],
        task_model=extras.lms["task"],
        teacher_settings=_teacher(extras),
        max_bootstrapped_demos=settings.max_bootstrapped_demos,
        max_labeled_demos=settings.max_labeled_demos,
        auto=None,
        num_candidates=settings.num_candidates,
        num_threads=extras.threads,
        seed=seed,
        init_temperature=settings.init_temperature,
    )
    options = {
        "num_trials": settings.num_trials,
        "seed": seed,
        "minibatch": False,
        "program_aware_proposer": settings.program_aware,
        "data_aware_proposer": settings.data_aware,
        "tip_aware_proposer": settings.tip_aware,
        "fewshot_aware_proposer": settings.fewshot_aware,
    }
    return Bound(optimizer, options)


def make_gepa(settings: known.GEPASettings, seed: int, extras: Extras) -> Teleprompter:
    """``GEPA``; its own log folder lets a search that was stopped go on."""
    optimizer = GEPA(
        score_turn,
        max_metric_calls=settings.max_metric_calls,
        reflection_minibatch_size=settings.reflection_minibatch_size,
        candidate_selection_strategy=settings.candidate_selection,
        reflection_lm=extras.lms["reflection"].copy(temperature=settings.reflection_temperature),
        use_merge=settings.use_merge,
        num_threads=extras.threads,
        log_dir=str(extras.folder / "gepa") if extras.folder is not None else None,
        track_stats=True,
        seed=seed,
    )
    return Bound(optimizer)


def make_simba(settings: known.SIMBASettings, seed: int, extras: Extras) -> Teleprompter:
    """``SIMBA``; a batch is never larger than the training data."""

    def make(trainset: list[dspy.Example]) -> Teleprompter:
        # SIMBA writes a rollout_id into it, so it must be a copy.
        teacher = {"lm": extras.lms["teacher"].copy(temperature=1.0)} if extras.has_teacher else None
        return SIMBA(
            metric=score_turn,
            bsize=min(settings.bsize, len(trainset)),
            num_candidates=settings.num_candidates,
            max_steps=settings.max_steps,
            max_demos=settings.max_demos,
            prompt_model=extras.lms["prompt"],
            teacher_settings=teacher,
            demo_input_field_maxlen=settings.demo_input_field_maxlen,
            num_threads=extras.threads,
        )

    return Bound(make, {"seed": seed})


class _InferRules(InferRules):
    """``InferRules``, but for writing instructions into the signature's class.

    DSPy 3.4 sets ``predictor.signature.instructions``, and copies of a program share the class: all candidates would
    end up with the instructions of the last.
    """

    def update_program_instructions(self, predictor: Any, natural_language_rules: str) -> None:
        signature = predictor.signature
        text = f"{signature.instructions}\n\nKeep to these rules:\n{natural_language_rules}"
        predictor.signature = signature.with_instructions(text)


def make_infer_rules(settings: known.InferRulesSettings, seed: int, extras: Extras) -> Teleprompter:
    """``InferRules``; the rules are the prompt model's, which it calls a teacher."""
    del seed
    optimizer = _InferRules(
        metric=keep_turn,
        num_candidates=settings.num_candidates,
        num_rules=settings.num_rules,
        num_threads=extras.threads,
        teacher_settings=_teacher(extras),
        **_bootstrapping(settings),
    )
    optimizer.rules_induction_program.teacher_settings = {"lm": extras.lms["prompt"]}
    return Bound(optimizer, trains_on=lambda examples: examples[: settings.shown])


def make_copro(settings: known.COPROSettings, seed: int, extras: Extras) -> Teleprompter:
    """``COPRO``; nothing in it is random but the proposals, which the language model's own sampling makes."""
    del seed
    optimizer = COPRO(
        prompt_model=extras.lms["prompt"],
        metric=keep_turn,
        breadth=settings.breadth,
        depth=settings.depth,
        init_temperature=settings.init_temperature,
        track_stats=True,
    )
    return Bound(optimizer, {"eval_kwargs": {"num_threads": extras.threads, "display_progress": False}})


class _Calibrate(Teleprompter):
    """``ReAnchor``, which refuses a program without decision outputs in the words of this project."""

    def __init__(self, threads: int, folder: str | None) -> None:
        super().__init__()
        self.optimizer = ReAnchor(keep_turn, num_threads=threads, log_dir=folder, require_cache=False)

    def compile(
        self,
        student: dspy.Module,
        *,
        trainset: list[dspy.Example],
        valset: list[dspy.Example] | None = None,
        **_: Any,
    ) -> dspy.Module:
        """A calibrated copy of ``student``.

        Raises:
            ConfigError: It has no decision outputs.
        """
        asked = dict(student.named_predictors())
        if not any(name in asked for name, _ in decision_predictors(student)):
            raise ConfigError(
                f"reanchor calibrates decisions (bool, Literal, Choice); {', '.join(asked)} have none "
                "(the optimizer evidence fits the beam's choice)"
            )
        calibrated: dspy.Module = self.optimizer.compile(student, trainset=trainset, valset=valset)
        return calibrated


def make_reanchor(settings: known.ReAnchorSettings, seed: int, extras: Extras) -> Teleprompter:
    """``ReAnchor``; its folds are fixed."""
    del settings, seed
    return _Calibrate(extras.threads, str(extras.folder / "reanchor") if extras.folder is not None else None)
