"""DSPy's fine-tuning for embedded models: ``lm.finetune`` and ``BootstrapFinetune`` work as with any other provider.

    >>> job = lm.finetune(train_data, TrainDataFormat.CHAT, {"name": "mine", "hours": 0.5})
    >>> job.status()
    'step 40 of 700, 520 replies, 51200 tokens (85 a second), loss 1.204; '
    >>> tuned = job.result()
    >>> tuned.model
    'local/qwen2.5-coder-0.5b+mine'

The data are chats as DSPy's ``BootstrapFinetune`` makes them; the replies of all their turns are learned. The settings
(``train_kwargs``) are those of :class:`optimize.finetuning.settings.TrainingConfig`, with ``name``, ``seed``,
``folder`` for checkpoints, and ``held_out``, the share of the chats on which the curves are measured. If an MLflow run
is active when a job begins, the curves are its metrics.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from dspy.clients.provider import Provider, TrainingJob
from dspy.clients.utils_finetune import TrainDataFormat

from kg.errors import ConfigError
from optimize.finetuning.sequences import ChatExample
from optimize.finetuning.settings import TrainingConfig
from optimize.finetuning.tune import tune
from optimize.needs import Plot
from programs.lm import EmbeddedEngine

_OWN = {"name": "finetuned", "seed": 0, "folder": None, "held_out": 0.05}


class EmbeddedTrainingJob(TrainingJob):
    """A training in a thread of this process."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.line = "waiting"
        self.plot = _active_plot()
        self.cancelled_by_user = Event()

    def status(self) -> str:
        """The last line of progress."""
        return self.line

    def cancel(self) -> bool:
        """Ends the training after its current step; the adapter so far is written, and is the result."""
        self.cancelled_by_user.set()
        return not self.done()


class EmbeddedProvider(Provider):
    """The training of the embedded models' adapters.

    Args:
        engine: The embedded model.
    """

    def __init__(self, engine: EmbeddedEngine) -> None:
        super().__init__()
        self.engine = engine
        self.finetunable = True
        self.TrainingJob = EmbeddedTrainingJob

    @staticmethod
    def is_provider_model(model: str) -> bool:
        """Whether a model runs in this process."""
        return model.startswith("local/")

    def finetune(
        self,
        job: EmbeddedTrainingJob,
        model: str,
        train_data: list[dict[str, Any]],
        train_data_format: TrainDataFormat | str | None,
        train_kwargs: Mapping[str, Any] | None = None,
    ) -> str:
        """Trains an adapter; returns the name under which the model has it. A model with an adapter continues from it.

        Raises:
            ConfigError: The data are no chats, or a setting is unknown.
            DataError: No chat has a reply that can be learned.
        """
        if train_data_format not in (TrainDataFormat.CHAT, "chat"):
            raise ConfigError(f"embedded models learn chats (TrainDataFormat.CHAT), got {train_data_format}")
        settings = {**_OWN, **(train_kwargs or {})}
        names = {one.name for one in dataclasses.fields(TrainingConfig)}
        if unknown := sorted(set(settings) - names - set(_OWN)):
            raise ConfigError(f"there is no training setting {unknown[0]!r}; there are {', '.join(sorted(names))}")
        config = TrainingConfig(**{name: value for name, value in settings.items() if name in names})
        learned, held_out = _split(list(map(ChatExample.of_record, train_data)), settings["held_out"], settings["seed"])
        folder = Path(settings["folder"]) if settings["folder"] is not None else None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

        def keep(line: str) -> None:
            job.line = line

        engine = self.engine if model == self.engine.name else self.engine.with_adapter(model)
        tune(
            engine,
            learned,
            held_out,
            name=settings["name"],
            config=config,
            seed=settings["seed"],
            folder=folder,
            progress=keep,
            is_cancelled=job.cancelled_by_user.is_set,
            plot=job.plot,
        )
        return f"{model.partition('+')[0]}+{settings['name']}"


def _active_plot() -> Plot | None:
    """Logs points on the MLflow run that is active in this thread, which begins the job; ``None`` without one."""
    mlflow = sys.modules.get("mlflow")  # no run is active where nothing has imported it
    active = mlflow.active_run() if mlflow is not None else None
    if mlflow is None or active is None:
        return None
    client, run_id = mlflow.MlflowClient(mlflow.get_tracking_uri()), active.info.run_id

    def plot(values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            client.log_metric(run_id, name, value, step=step)

    return plot


def _split(examples: Sequence[ChatExample], held_out: float, seed: int) -> tuple[list[ChatExample], list[ChatExample]]:
    """The examples to learn, and a share that is held out; all are learned where that would be less than one."""
    order = np.random.default_rng(seed).permutation(len(examples)).tolist()
    count = int(held_out * len(examples))
    return [examples[place] for place in order[count:]], [examples[place] for place in order[:count]]
