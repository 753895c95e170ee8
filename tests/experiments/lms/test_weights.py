from __future__ import annotations

from pathlib import Path

import pytest

from experiments.commands import main as cli
from experiments.lms import LMConfig
from experiments.lms.config import _engine, make_lm
from experiments.lms.weights import find_weights, pull_from_hub
from kg.errors import ConfigError, LMError

NAME = "hf:Some/Model-GGUF/model-q4.gguf"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[object, ...]]:
    """A hub whose only file is on it, and on this machine after a download; the calls."""
    calls: list[tuple[object, ...]] = []
    path = tmp_path / "model-q4.gguf"

    def download(repository: str, file: str, *, revision: str | None, local_files_only: bool, **_: object) -> str:
        calls.append((repository, file, revision))
        if local_files_only and not path.exists():
            raise FileNotFoundError("not cached")
        path.touch()
        return str(path)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    return calls


def test_a_file_of_the_hub_is_used_after_it_was_fetched(hub: list[tuple[object, ...]]) -> None:
    with pytest.raises(LMError, match=f"fetch it with `finpath lm pull {NAME}`"):
        find_weights(NAME)
    path = pull_from_hub(f"{NAME}@0123abc")
    assert find_weights(NAME) == (NAME, path)
    assert hub[1:] == [("Some/Model-GGUF", "model-q4.gguf", "0123abc"), ("Some/Model-GGUF", "model-q4.gguf", None)]


@pytest.mark.parametrize("name", ["hf:model.gguf", "hf:a/b", "hf:a/b/c.bin", "hf:/b/c.gguf"])
def test_a_wrong_name_of_the_hub_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is named hf:OWNER/REPOSITORY/FILE"):
        find_weights(name)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "my.gguf"
    with pytest.raises(LMError, match="there is no file"):
        find_weights(str(path))
    path.touch()
    assert find_weights(str(path)) == ("my", path)
    pytest.importorskip("xllamacpp")
    _engine.cache_clear()
    lm = make_lm(LMConfig(f"local/{path}"))
    assert (lm.model, lm.engine.settings.path) == ("local/my", path)  # type: ignore[union-attr]


def test_the_command_fetches_from_the_hub(
    hub: list[tuple[object, ...]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert LMConfig(NAME).is_local
    assert cli.main(["lm", "pull", NAME]) == 0
    assert str(tmp_path / "model-q4.gguf") in capsys.readouterr().err
