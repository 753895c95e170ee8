"""Promotion of a program: an alias of a registered model moves to it if a paired test shows that it is better.

    promote(tracker.find("latest"), tracker)["reason"]
    find_program("models:/beam@champion", tracker)

The baseline is the evaluation of the program that has the alias now, on the same turns. The gain holds if its 95%
interval is above zero and McNemar's test rejects at 5% that both are equally good. The model has the name of the
program's kind.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from experiments.compare import compare
from experiments.runs import RunRecord
from experiments.saved import find_program, log_model, model_of
from experiments.tracking import MODEL_TAG, Run, Tracker
from kg.errors import TrackingError
from optimize.metrics import Comparison

ALIAS = "champion"
"""The alias of the promoted version."""

LEVEL = 0.05
"""The level of McNemar's test."""

EVALUATION_TAG = "finpath.evaluation_run"
"""The tag of a model's version that names the evaluation it was promoted by."""

_COMPARED = ("difference", "difference_low", "difference_high", "mcnemar_p", "turns", "better", "worse")


def promote(
    record: RunRecord, tracker: Tracker, *, against: RunRecord | None = None, force: bool = False
) -> dict[str, Any]:
    """Sets the alias on the program of an evaluation, if it is better than what has the alias now.

    Args:
        record: The evaluation; a finished one.
        tracker: The store.
        against: The baseline evaluation, in place of that of the version that has the alias.
        force: Whether to promote without a gain; the run and the version then show it.

    Returns:
        ``promoted``, ``forced`` (without a gain that holds), ``reason``, ``alias``, ``name`` and ``version`` of the
        model that has the alias (``None`` without one), and the figures of the comparison with the baseline.

    Raises:
        TrackingError: The evaluation did not finish, its program cannot be had, or it shares no turn with what it is to
            be compared with.
    """
    if record.status != "FINISHED":
        raise TrackingError(
            f"the run {record.name} did not finish ({record.status}): a part shows nothing of the whole"
        )
    name = record.params.get("kind", "program")
    incumbent = _aliased(tracker, name)
    version, evaluation = (incumbent.version, incumbent.tags.get(EVALUATION_TAG)) if incumbent else (None, None)
    if evaluation == record.id:
        return _figures(name, version, None, promoted=False, forced=False, reason=f"it is {ALIAS} already")
    if incumbent is not None and against is None:
        if evaluation is None:
            rule = "does not say by which evaluation it was promoted; name one with --against"
            raise TrackingError(f"models:/{name}/{version} {rule}")
        against = tracker.find(str(evaluation))
    comparison = compare([against, record], tracker) if against is not None else None
    holds, reason = _gain(comparison, against)
    own = Run(tracker, record.id, record.name)
    if holds or force:
        words = reason if holds else f"FORCED without a gain that holds: {reason}"
        tags = {EVALUATION_TAG: record.id, "finpath.promotion": words}
        version = _register(tracker, _model_of(record, tracker), name, tags)
        tracker.client.set_registered_model_alias(name, ALIAS, str(version))
        promoted = {"finpath.promotion": f"{name}@{ALIAS} is version {version}: {words}"}
        own.log_tags({**promoted, "finpath.promotion_forced": str(not holds).lower()})
    else:
        own.log_tags({"finpath.promotion": f"refused as {name}@{ALIAS}: {reason}"})
    forced = force and not holds
    return _figures(name, version, comparison, promoted=holds or force, forced=forced, reason=reason)


def _figures(name: str, version: Any, comparison: Comparison | None, **result: Any) -> dict[str, Any]:
    compared = comparison.figures() if comparison is not None else {}
    return {
        **result,
        "alias": ALIAS,
        "name": name if version is not None else None,
        "version": int(version) if version is not None else None,
        "compare_run_id": compared.get("run_id"),
        **{figure: compared.get(figure) for figure in _COMPARED},
    }


def _gain(comparison: Comparison | None, against: RunRecord | None) -> tuple[bool, str]:
    """Whether the gain holds, and why."""
    if comparison is None or against is None:
        return False, f"nothing has the alias {ALIAS} yet: name an evaluation to be better than, with --against"
    figures = comparison.differences[0].figures
    points, low, high = (100 * figures[name] for name in ("difference", "difference_low", "difference_high"))
    measured = (
        f"{points:+.1f} points [{low:+.1f}, {high:+.1f}] against {against.name} on {comparison.turns} turns, "
        f"McNemar p = {figures['mcnemar_p']:.3g}"
    )
    if comparison.left_out:
        return False, f"the runs were evaluated on different turns ({comparison.left_out} are not shared); {measured}"
    if low > 0 and figures["mcnemar_p"] < LEVEL:
        return True, measured
    return False, f"the gain does not hold: {measured}"


def _aliased(tracker: Tracker, name: str) -> Any:
    """MLflow's version that the alias means, if it is set."""
    from mlflow.exceptions import MlflowException

    with suppress(MlflowException):  # neither the model nor its alias need be there
        return tracker.client.get_model_version_by_alias(name, ALIAS)
    return None


def _register(tracker: Tracker, model_uri: str, name: str, tags: dict[str, str]) -> int:
    """The version of ``name`` that a logged model is; a new one, where it is none yet, with these tags."""
    from mlflow.exceptions import MlflowException

    client, model_id = tracker.client, model_uri.rpartition("/")[2]
    with suppress(MlflowException):  # it is there already
        client.create_registered_model(name)
    versions = {version.model_id: version for version in client.search_model_versions(f"name = '{name}'")}
    version = versions.get(model_id) or client.create_model_version(name, model_uri, model_id=model_id)
    for key, value in tags.items():
        client.set_model_version_tag(name, version.version, key, value)
    return int(version.version)


def _model_of(record: RunRecord, tracker: Tracker) -> str:
    """The URI of the model that was evaluated; the files of a program that was not compiled here are logged now."""
    uri = record.tags.get(MODEL_TAG, "")
    if uri and tracker.client.list_logged_model_artifacts(uri.rpartition("/")[2]):
        return uri
    saved = find_program(record.params["program"], tracker)
    if uri != f"models:/{model_of(tracker, saved, record.params.get('lm.name', 'none'))}":
        raise TrackingError(f"the program {saved.name} is not the one that the run {record.name} evaluated")
    return log_model(tracker, Run(tracker, record.id, record.name), saved)
