"""Each test starts from DSPy's own settings, an empty cache and an MLflow store of its own."""

from __future__ import annotations

import copy
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files of the whole project first: as the last one, the demo's half a minute would leave other cores idle."""
    items.sort(key=lambda item: item.path.parent != ROOT / "tests")


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reads the user's tracking settings, or what an earlier test set in DSPy."""
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_RUN_ID", "OPENAI_API_KEY", "FINPATH_LM"):
        monkeypatch.delenv(name, raising=False)
    yield
    if "dspy" in sys.modules:
        import dspy
        from dspy.dsp.utils.settings import DEFAULT_CONFIG

        dspy.configure(**copy.deepcopy(dict(DEFAULT_CONFIG)))
        dspy.configure_cache(enable_disk_cache=False)
    if "mlflow" in sys.modules:
        import mlflow

        mlflow.clear_active_model()
        mlflow.set_tracking_uri(None)  # type: ignore[arg-type]


@pytest.fixture(scope="session", autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """DSPy's and datasets' caches lie in a folder of this session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSPY_CACHEDIR", str(tmp_path_factory.mktemp("dspy")))
        patch.setenv("HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("datasets")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _quantized_readers() -> Iterator[None]:
    """The readers' quantized files are in one cache for all tests: each file takes seconds to make."""
    from kg.encoders import transformer

    folder = transformer.cache_folder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transformer, "cache_folder", lambda: folder)
        yield


@pytest.fixture(scope="session")
def mlflow_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty MLflow database: making one takes seconds, copying it does not."""
    from mlflow import MlflowClient

    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    MlflowClient(f"sqlite:///{path}").search_experiments(max_results=1)
    return path


@pytest.fixture
def tracking_uri(mlflow_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tracking store of the test's own, in its working folder, which becomes the current one."""
    shutil.copy(mlflow_template, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    return uri


@pytest.fixture(scope="session")
def embedded_model() -> Callable[[str], Path]:
    """Finds the file of an embedded model; a test is skipped where that or the runtime is not here."""
    from experiments.lms.weights import model_named, models_folder

    def find(name: str) -> Path:
        pytest.importorskip("xllamacpp")
        path = models_folder() / model_named(name).file
        if not path.is_file():
            pytest.skip(f"needs `finpath lm pull {name}`")
        return path

    return find


@pytest.fixture(scope="session")
def smallest_model(embedded_model: Callable[[str], Path]) -> Path:
    """The file of the smallest embedded model."""
    return embedded_model("smollm2-135m")


@pytest.fixture
def scripted_lm() -> Callable[..., Any]:
    """Makes a language model whose replies are written down in the chat adapter's form; an exception is raised in turn.

    It may have a budget. The libraries are loaded only where it is asked for.
    """
    from dspy import lm15

    from programs.lm.guarded import GuardedLM

    class ScriptedEngine:
        def __init__(self, replies: Sequence[Mapping[str, str] | BaseException]) -> None:
            self.replies = list(replies)

        def __deepcopy__(self, memo: dict[int, Any]) -> ScriptedEngine:
            return self

        def complete(self, request: lm15.Request) -> lm15.Response:
            reply = self.replies.pop(0)
            if isinstance(reply, BaseException):
                raise reply
            text = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in reply.items())
            usage = lm15.Usage(input_tokens=100, output_tokens=7)
            message = lm15.Message.assistant(text)
            return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)

        def stream(self, request: lm15.Request) -> Iterator[Any]:
            yield lm15.StreamStartEvent(model=request.model)
            for token in re.findall(r"\s*\S+", self.complete(request).text):
                yield lm15.StreamDeltaEvent(lm15.TextDelta(token))
            yield lm15.StreamEndEvent("stop")

    def make(replies: Sequence[Mapping[str, str] | BaseException], **settings: Any) -> GuardedLM:
        engine = ScriptedEngine(replies)
        return GuardedLM("local/scripted", engine=engine, **{"cache": False, "num_retries": 0, **settings})

    return make


def has_recorded_arithmetic() -> bool:
    """Whether numpy has AVX-512, with which near ties were recorded: other processors round them in another order."""
    from numpy._core._multiarray_umath import __cpu_features__ as features

    return bool(features.get("AVX512F"))


@pytest.fixture
def recorded_arithmetic() -> None:
    """Skips where near ties are in another order."""
    if not has_recorded_arithmetic():
        pytest.skip("recorded on a processor with AVX-512; near ties are in another order here")


@pytest.fixture(scope="session")
def geography() -> Any:
    """The graph of countries, whose questions are read without the extra's reader, which is not everywhere."""
    from benchmarks.bench_followups import load_geography

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.readers.parse_reader", lambda: None)
        return load_geography()
