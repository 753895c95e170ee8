"""The interface of the fits of finpath's own models, their settings, and the log-linear models that they share.

>>> with_setting(TrainingConfig(), "hours", "0.5", "the training").hours
0.5
>>> fit_logistic(rows, labels, penalty=1.0)
array([ 0.4, -1.2])
>>> fit_choices([rows_of_a_choice], [right], penalty=1.0)
array([ 0.7,  0.1])

A setting is a text, ``key=value``, for a field of a dataclass. Both fits are by SciPy's L-BFGS, with an L2 penalty:
``penalty`` times the squared distance of each weight from where it starts, which is 0 by default.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

import dspy
import numpy as np
from dspy.teleprompt import Teleprompter
from pydantic import TypeAdapter, ValidationError

from kg.arrays import DoubleArray
from kg.errors import ConfigError, DataError
from programs.beam import BeamQA
from programs.conversation import ConversationQA

SettingsT = TypeVar("SettingsT")

Dialogues = Sequence[tuple[str, Sequence[str], Sequence[str]]]
"""Conversations without their reports: id, questions and gold programs."""

Progress = Callable[[str], None]
"""Receives a line for each stage of a fit as it begins."""


def folds_of(groups: Sequence[str], folds: int, seed: int) -> dict[str, int]:
    """Returns the fold of each group, drawn at random.

    Raises:
        DataError: There are fewer than two groups.
    """
    names = sorted(set(groups))
    if len(names) < 2:
        raise DataError("weights must be fitted on turns of at least two reports")
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[place]: number % folds for number, place in enumerate(order)}


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
        dialogues: Learned from too, where a fit can: those about a page of ``trainset`` count in full.
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
        dialogues: Dialogues = (),
        without_programs: Sequence[dspy.Example] = (),
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> None:
        super().__init__()
        self.settings = settings if settings is not None else self.Settings()
        self.seed, self.dialogues, self.without_programs = seed, dialogues, without_programs
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


def fit_logistic(
    rows: Any,
    labels: Any,
    *,
    penalty: float | Sequence[float],
    weights: Any = 1.0,
) -> DoubleArray:
    """Returns the weights of a logistic regression.

    Args:
        rows: The features, shape ``(examples, features)``, dense or sparse.
        labels: Whether each example is positive.
        penalty: Of all weights, or of each.
        weights: How much each example counts.
    """
    origin = np.zeros(rows.shape[1])
    penalties = np.broadcast_to(np.asarray(penalty, dtype=float), origin.shape)
    labels = np.asarray(labels, dtype=bool)

    def loss(found: DoubleArray) -> tuple[float, DoubleArray]:
        logits = rows @ found
        error = weights * (1 / (1 + np.exp(-np.clip(logits, -30, 30))) - labels)
        own = weights * np.logaddexp(0, np.where(labels, -logits, logits))
        return float(own.sum() + penalties @ found**2), rows.T @ error + 2 * penalties * found

    return _minimum(loss, origin)


def fit_choices(
    rows: Sequence[Any],
    right: Sequence[Any],
    *,
    penalty: float | Sequence[float],
    start: Any = None,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> DoubleArray:
    """Returns the weights under which the right alternatives of each choice are most probable together.

    Args:
        rows: The features of the alternatives of each choice.
        right: How right each alternative is, in [0, 1].
        penalty: Of all weights, or of each.
        start: The weights to begin with; 0 by default.
        bounds: The least and largest value of each weight.
    """
    sizes = [len(own) for own in rows]
    table, target = np.concatenate(rows).astype(np.float64), np.concatenate(right)
    starts, owner = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(sizes)), sizes)
    origin = np.zeros(table.shape[1]) if start is None else np.asarray(start, dtype=float)
    penalties = np.broadcast_to(np.asarray(penalty, dtype=float), origin.shape)

    def loss(found: DoubleArray) -> tuple[float, DoubleArray]:
        scores, moved = table @ found, found - origin
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        shares /= np.add.reduceat(shares, starts)[owner]
        good = shares * target
        totals = np.maximum(np.add.reduceat(good, starts), 1e-12)
        value = -float(np.log(totals).sum()) + float(penalties @ moved**2)
        return value, table.T @ (shares - good / totals[owner]) + 2 * penalties * moved

    return _minimum(loss, origin, bounds)


def _minimum(
    loss: Callable[[DoubleArray], tuple[float, DoubleArray]],
    origin: DoubleArray,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> DoubleArray:
    from scipy.optimize import minimize  # takes long to import

    result: DoubleArray = minimize(loss, origin, jac=True, method="L-BFGS-B", bounds=bounds).x
    return result
