"""The optimizers by name: DSPy's own classes with finpath's defaults, and finpath's fits; and chains of them.

    >>> chain = parse_optimizers("scorer+bootstrap", ["bootstrap.max_rounds=2"])
    >>> compiled = compile_chain(program, chain, conversation_examples(train), lms={"task": lm})
    >>> compiled.program, compiled.scores
    (ConversationQA(...), (('start', 0.7), ('bootstrap', 0.85)))

A setting is an argument of the optimizer's constructor or of its ``compile``, by the optimizer's own name and type.
Prompt optimizers that follow each other are one ``dspy.BetterTogether``, which keeps the program with the best score on
validation turns, of equal ones the first. Classes that change one of DSPy name the reason and the place in
https://github.com/stanfordnlp/dspy/tree/3.4.1/dspy/teleprompt.
"""

from __future__ import annotations

import dataclasses
import inspect
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args, get_type_hints

import dspy
from dspy import teleprompt
from dspy.teleprompt import Teleprompter
from pydantic import TypeAdapter, ValidationError

from kg.errors import ConfigError, LMError
from optimize.examples import demonstrations, prompt_changes, split_turns, tidy_demonstrations, with_lines
from optimize.metrics import metric
from programs.aggregate import MODEL_DECIDES, name_of
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.lm import SuitedAdapter
from signatures.understand import UnderstandLines


class Registered(NamedTuple):
    """An optimizer with what a user must know to choose it.

    Attributes:
        kind: Its class; of a fit its module and name, as it is imported when it is used.
        changes: The part of a program that it changes.
        programs: The kinds of programs that it takes.
        needs: The data, models and extras that it needs.
        costs: About what it costs.
        defaults: Arguments that differ from the class's own.
    """

    kind: Any
    changes: str
    programs: str
    needs: str
    costs: str
    defaults: Mapping[str, Any] = MappingProxyType({})


_GOLD = "gold programs"
FITS = {
    "scorer": Registered("optimize.scorers:FitScorer", "weights", "beam", _GOLD, "minutes, no calls"),
    "encoder": Registered(
        "optimize.encoders:FitEncoder", "weights, transformer", "beam", f"{_GOLD} of thousands of turns; torch", "hours"
    ),
    "evidence": Registered(
        "optimize.evidence:FitEvidence", "use of the model", "beam", f"{_GOLD}, an encoder; a model", "1 call a turn"
    ),
    "finetune": Registered(
        "optimize.finetuning:FitAdapter", "the model (LoRA)", "beam", f"{_GOLD}; an embedded model, torch", "hours"
    ),
}
"""finpath's own optimizers, which learn from conversations."""

SettingsT = TypeVar("SettingsT")

Progress = Callable[[str], None]
"""Receives a line for each stage of a fit as it begins."""


def check_packages(names: Sequence[str], extra: str, optimizer: str) -> None:
    """Raises a :class:`ConfigError` where a package of an extra is missing."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        rule = f"{missing[0]}, which is not installed: pip install 'finpath[{extra}]'"
        raise ConfigError(f"optimizer {optimizer!r} needs {rule}")


def silent(line: str) -> None:
    """Drops the line: the progress of a fit whose caller asks for none."""


class ConversationFit(Teleprompter):
    """A fit on conversations, as a DSPy optimizer: a subclass fits a copy of the program in place.

    Args:
        settings: Settings of the fit, of the class ``Settings``.
        seed: Of all that is drawn at random; the same seed gives the same weights.
        without_programs: Examples with ``report``, ``questions`` and ``gold`` answers, which are ``None`` where the
            report does not answer; a confidence is fitted on them too.
        folder: The state of a long training, from which a stopped one continues; ``None`` keeps nothing.
        progress: Receives a line for each stage.
    """

    Settings: ClassVar[type[Any]]
    keeps_folder: ClassVar[bool] = False

    def __init__(
        self,
        settings: Any = None,
        *,
        seed: int = 0,
        without_programs: Sequence[dspy.Example] = (),
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> None:
        super().__init__()
        self.settings = settings if settings is not None else self.Settings()
        self.seed, self.without_programs = seed, without_programs
        self.folder, self.progress = folder, progress

    def compile(
        self,
        student: ConversationQA,
        *,
        trainset: list[dspy.Example],
        teacher: object = None,  # noqa: ARG002 - the signature of every optimizer
        valset: list[dspy.Example] | None = None,  # noqa: ARG002
    ) -> ConversationQA:
        """Returns a copy of ``student`` that is fitted on ``trainset``.

        Args:
            student: The program; it is not changed.
            trainset: Conversation examples: ``report``, ``questions``, ``programs`` and ``answers``.
            teacher: Not used.
            valset: Not used: a fit holds a part of ``trainset`` out itself.

        Raises:
            ConfigError: The program does not search by a scorer, or something is missing that the fit needs.
            DataError: Nothing can be fitted.
        """
        if not isinstance(student.turn, BeamQA):
            raise ConfigError(f"the {student.kind} has no scorer to fit: choose another optimizer")
        compiled: ConversationQA = student.deepcopy()
        assert isinstance(compiled.turn, BeamQA)
        self.fit(compiled, compiled.turn, trainset)
        compiled._compiled = True
        return compiled

    @abstractmethod
    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Fits a program, whose turns ``turn`` answers."""


def unknown_setting(owner: str, name: str, known: Collection[str]) -> ConfigError:
    """The error about a setting that there is not, which lists those that there are, the nearest first."""
    near = get_close_matches(name, known, len(known), cutoff=0.5)
    listed = ", ".join(dict.fromkeys([*near, *known])) or "none"
    return ConfigError(f"{owner} has no setting {name!r}; it has {listed}")


def with_setting(settings: SettingsT, key: str, text: str, owner: str) -> SettingsT:
    """Returns a copy of a dataclass with one field read from a text; a dot leads into settings within settings.

    Args:
        settings: The dataclass.
        key: The field, as ``hours`` or ``operands.hidden``.
        text: Its new value.
        owner: Who has the settings, in the words of an error message: ``optimizer 'scorer'``.

    Raises:
        ConfigError: There is no such setting, or the text is not a value of its type.
    """
    name, dot, rest = key.partition(".")
    known = [field.name for field in dataclasses.fields(settings)]  # type: ignore[arg-type]
    if name not in known:
        raise unknown_setting(owner, name, known)
    current = getattr(settings, name)
    if dot and not dataclasses.is_dataclass(current):
        raise ConfigError(f"{name} is one value, so there is no {key!r}")
    hint = get_type_hints(type(settings))[name]
    value = with_setting(current, rest, text, f"{name} of {owner}") if dot else read_value(hint, text, name)
    try:
        changed: SettingsT = dataclasses.replace(settings, **{name: value})  # type: ignore[type-var]
    except ValidationError as error:
        raise _refusal(name, text, error) from None
    return changed


def read_value(hint: Any, text: str, name: str) -> Any:
    """Returns the value of a type that a text is as JSON, or else by itself; ``none`` is ``None``.

    Raises:
        ConfigError: It is none.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    try:
        return adapter.validate_json("null" if text == "none" else text)
    except ValidationError:
        try:
            return adapter.validate_python(text)
        except ValidationError as error:
            raise _refusal(name, text, error) from None


def _refusal(name: str, text: str, error: ValidationError) -> ConfigError:
    return ConfigError(f"{name} cannot be {text!r}: {error.errors()[0]['msg']}")


class LabeledLines(teleprompt.Teleprompter):
    """``LabeledFewShot`` of the prompt over a few figures of a report, which the current language model then gets.

    Each question is shown the nearest of the ``k`` demonstrations, as by ``KNNFewShot`` of DSPy 3.4, which would
    bootstrap these for each question (teleprompt/knn_fewshot.py#L60).

    Args:
        k: Demonstrations of the pool.
        longest: Characters of a demonstration; longer ones are left out.
        seed: Of the choice.
    """

    def __init__(self, k: int = 300, longest: int = 600, seed: int = 0) -> None:
        super().__init__()
        self.k, self.longest, self.seed = k, longest, seed

    def compile(self, student: Any, *, trainset: list[dspy.Example]) -> Any:
        """Returns a copy of ``student`` that asks the current language model by this prompt.

        Raises:
            ConfigError: The program has no such prompt, or the gold programs give no demonstration.
        """
        compiled = student.deepcopy()
        turn = compiled.turn
        examples = with_lines(trainset, turn) if isinstance(turn, BeamQA) else []
        pool = demonstrations(examples, UnderstandLines, self.longest, self.seed)
        if not pool:
            raise ConfigError(
                f"none of the {len(trainset)} turns gives the {student.kind} a demonstration of {self.longest} signs"
            )
        # In order: the pool alternates between operations, and it is shuffled already.
        labeled = teleprompt.LabeledFewShot(self.k)
        turn.understand.lines = labeled.compile(dspy.Predict(UnderstandLines), trainset=pool, sample=False)
        plan = replace(MODEL_DECIDES, lines=True)
        plans = {**turn.evidence.plans, name_of(dspy.settings.lm): replace(plan, prompts=turn.prompts_for(plan))}
        turn.evidence = replace(turn.evidence, plans=plans)
        return compiled


_DEMOS = {"max_bootstrapped_demos": 4, "max_labeled_demos": 2}
_ANY, _MODEL = "any", "a model, answers"
PROMPT_OPTIMIZERS = {
    "labeled-few-shot": Registered(LabeledLines, "demonstrations", "beam", f"{_GOLD}; a model", "2 validations"),
    "bootstrap": Registered(
        teleprompt.BootstrapFewShot, "demonstrations", _ANY, _MODEL, "20 turns, 2 validations", _DEMOS
    ),
    "bootstrap-random-search": Registered(
        teleprompt.BootstrapFewShotWithRandomSearch,
        *("demonstrations", _ANY, _MODEL, "100 turns, 9 validations"),
        {**_DEMOS, "num_candidate_programs": 4},
    ),
    "miprov2": Registered(
        teleprompt.MIPROv2,
        *("instructions, demonstrations", _ANY, f"{_MODEL}; optuna", "60 turns, 9 validations"),
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
    "gepa": Registered(
        teleprompt.GEPA,
        *("instructions", _ANY, f"{_MODEL}, a strong one to reflect", "150 turns, 2 validations"),
        {"max_metric_calls": 150, "track_stats": True},
    ),
    "simba": Registered(
        teleprompt.SIMBA,
        *("rules, demonstrations", _ANY, _MODEL, "150 turns, 2 validations"),
        {"bsize": 8, "num_candidates": 3, "max_steps": 3, "demo_input_field_maxlen": 600},
    ),
    "copro": Registered(
        teleprompt.COPRO,
        *("instructions", _ANY, _MODEL, "6 trains a prompt, 2 validations"),
        {"breadth": 3, "depth": 2, "init_temperature": 1.0, "track_stats": True},
    ),
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
            return PROMPT_OPTIMIZERS[self.name].kind
        module, _, name = FITS[self.name].kind.partition(":")
        return getattr(import_module(module), name)

    def with_text(self, key: str, text: str) -> OptimizerStep:
        """Returns the step with one setting read from a text.

        Raises:
            ConfigError: The optimizer has no such setting, or the text is not a value of its type.
        """
        if key == "folder" and getattr(self.kind, "keeps_folder", False):
            return OptimizerStep(self.name, {**self.settings, key: Path(text)})
        if self.name in FITS:
            before = self.settings.get("settings", self.kind.Settings())
            settings = with_setting(before, key, text, f"optimizer {self.name!r}")
            return OptimizerStep(self.name, {**self.settings, "settings": settings})
        known = {**_parameters(self.kind.compile), **_parameters(self.kind)}
        if key not in known or key in _GIVEN:
            raise unknown_setting(f"optimizer {self.name!r}", key, sorted(known.keys() - _GIVEN))
        hint, default = known[key].annotation, known[key].default
        if isinstance(hint, str) or hint is inspect.Parameter.empty:
            hint = Any if default is None else type(default)
        return OptimizerStep(self.name, {**self.settings, key: read_value(hint, text, f"{self.name}.{key}")})

    def make(self, given: Mapping[str, Any]) -> tuple[Teleprompter, dict[str, Any]]:
        """Returns the optimizer, and the further arguments of its ``compile``.

        Args:
            given: Arguments that it gets where it has them.
        """
        defaults = (FITS | PROMPT_OPTIMIZERS)[self.name].defaults
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
    """Returns the arguments of a function or a class; those that a class hands on are of the next one."""
    known: dict[str, inspect.Parameter] = {}
    for each in [kind.__init__ for kind in getattr(function, "__mro__", ())] or [function]:
        named = inspect.signature(each).parameters
        known = {name: one for name, one in named.items() if one.kind in _BY_NAME} | known
        if all(one.kind is not one.VAR_KEYWORD for one in named.values()):
            break
    return {name: one for name, one in known.items() if name != "self" and not name.startswith("_")}


_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


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


Role = Literal["task", "teacher", "prompt", "reflection"]
"""The task of a language model in a compile."""


class Chain(teleprompt.BetterTogether):
    """BetterTogether that keeps the error that ended it; DSPy 3.4 only logs it (teleprompt/bettertogether.py#L489)."""

    error: Exception | None = None

    def _run_and_evaluate_step(self, *arguments: Any, **others: Any) -> Any:
        try:
            return super()._run_and_evaluate_step(*arguments, **others)
        except Exception as error:
            self.error = error
            raise


@dataclass(frozen=True)
class ChainResult:
    """The result of a chain.

    Attributes:
        program: The compiled program.
        scores: The scores in [0, 1] on validation turns at the start and after each prompt optimizer, by name.
        failure: The last error of a language model, in words; candidates after it were not scored fairly.
        changes: The difference of the prompts, as :func:`optimize.examples.prompt_changes` writes it.
    """

    program: Any
    scores: tuple[tuple[str, float], ...] = ()
    failure: str | None = None
    changes: str = ""


def compile_chain(
    student: Any,
    chain: Sequence[OptimizerStep],
    trainset: list[dspy.Example],
    *,
    lms: Mapping[Role, dspy.LM] | None = None,
    train_turns: int = 60,
    val_turns: int = 24,
    seed: int = 0,
    threads: int = 1,
    **fitted_with: Any,
) -> ChainResult:
    """Returns ``student`` after the optimizers of a chain, each of which continues from the program before it.

    Args:
        student: The program; it is not changed.
        chain: The optimizers; an empty chain returns a copy of ``student``.
        trainset: Conversation examples with gold.
        lms: The language models: ``task``, and others than that for ``teacher``, ``prompt`` and ``reflection``.
        train_turns: Turns that prompt optimizers learn from, at most.
        val_turns: Turns of other reports that select among programs, at most.
        seed: Given to every optimizer; it also shuffles and splits the turns.
        threads: Turns at a time.
        **fitted_with: Further arguments of the fits: ``progress``, ``without_programs`` ...

    Raises:
        ConfigError: A prompt optimizer has no language model or too few reports, or it cannot work on this program.
    """
    lms = lms if lms is not None else {}
    _check_programs(chain, student)
    compiled = ChainResult(student.deepcopy())
    for is_fit, group in groupby(chain, lambda step: step.name in FITS):
        steps = list(group)
        if is_fit:
            for step in steps:
                fit, _ = step.make({"seed": seed, **fitted_with})
                with dspy.context(lm=lms.get("task")):
                    compiled = replace(compiled, program=fit.compile(compiled.program, trainset=trainset))
            continue
        if "task" not in lms:
            raise ConfigError(f"optimizer {steps[0].name!r} asks a language model; name one with lm, got none")
        turns = split_turns(trainset, compiled.program, train=train_turns, val=val_turns, seed=seed)
        compiled = compile_prompts(compiled.program, steps, *turns, lms, seed, threads)
    return compiled


def _check_programs(steps: Sequence[OptimizerStep], program: Any) -> None:
    """Raises a :class:`ConfigError` where a step cannot change a program, before any model is asked."""
    about_reports = not isinstance(program, ConversationQA) or hasattr(program.turn.reader, "ontology")
    kind = program.kind if about_reports else "program about graphs"
    for step in steps:
        if (FITS | PROMPT_OPTIMIZERS)[step.name].programs not in (_ANY, kind):
            raise ConfigError(f"optimizer {step.name!r} cannot change the {kind}; choose one of `finpath optimizers`")


def compile_prompts(
    program: Any,
    steps: Sequence[OptimizerStep],
    train: list[dspy.Example],
    val: list[dspy.Example],
    lms: Mapping[Role, dspy.LM],
    seed: int,
    threads: int,
) -> ChainResult:
    """Returns ``program`` with prompts that optimizers choose on ``val``; the other arguments are those of a chain.

    Raises:
        ConfigError: There is no turn to learn from or to choose on, or an optimizer cannot change the program.
    """
    _check_programs(steps, program)
    if not train or not val:
        raise ConfigError(
            "prompt optimizers need turns to learn from and turns of other reports to choose on; the conversations "
            f"give {len(train)} and {len(val)}"
        )
    failures: list[str] = []

    def scored(gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None) -> Any:
        turn = getattr(pred, "turn", None)
        if turn is not None and turn.failure == "lm_error":  # no reply says nothing about a prompt
            failures.append(turn.message)
            raise LMError(turn.message)
        return metric(gold, pred, trace, pred_name, pred_trace)

    role = {name: lms.get(name, lms["task"]) for name in get_args(Role)}
    given = {
        "metric": scored,
        "prompt_model": role["prompt"],
        "task_model": role["task"],
        "reflection_lm": role["reflection"].copy(temperature=1.0),
        "teacher_settings": {"lm": role["teacher"]} if "teacher" in lms else None,
        "eval_kwargs": {"num_threads": threads, "display_progress": False},
        "num_threads": threads,
        "seed": seed,
    }
    made = {step.name: step.make(given) for step in steps}
    chain = Chain(metric=scored, **{name: optimizer for name, (optimizer, _) in made.items()})
    program._compiled = False  # DSPy's bootstrapping refuses a program that is compiled already
    program.set_lm(lms["task"])  # BetterTogether insists on it
    with dspy.context(lm=lms["task"], adapter=SuitedAdapter(), num_threads=threads):
        best = chain.compile(
            program,
            trainset=train,
            valset=val,
            num_threads=threads,
            seed=seed,
            strategy=Chain.STRAT_SEP.join(step.name for step in steps),
            optimizer_compile_args={name: arguments for name, (_, arguments) in made.items()},
        )
    if chain.error is not None and not failures:
        raise chain.error
    tidy_demonstrations(best)
    in_order = sorted(best.candidate_programs, key=lambda candidate: len(candidate["strategy"]))
    scores = [(one["strategy"].rpartition(Chain.STRAT_SEP)[2] or "start", one["score"] / 100) for one in in_order]
    return ChainResult(best, tuple(scores), failures[-1] if failures else None, prompt_changes(program, best))
