"""Single questions of the commands as traces: written where tracking is on, and not where it is off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli
from experiments.traces import asked
from experiments.tracking import Tracker, TrackingConfig

FILMS = "Alien\tdirected by\tRidley Scott\nDuel\tdirected by\tSteven Spielberg\n"


def traces(uri: str, kind: str = "ask") -> list[Any]:
    """The traces of the newest run of a kind."""
    tracker = Tracker(TrackingConfig(uri))
    [record] = tracker.search([kind], limit=1)
    return list(tracker.client.search_traces(locations=[tracker.experiment_id], run_id=record.id))


@pytest.fixture
def films(tmp_path: Path) -> str:
    path = tmp_path / "films.tsv"
    path.write_text(f"subject\tpredicate\tobject\n{FILMS}", encoding="utf-8")
    return str(path)


def test_ask_and_chat_write_traces_of_their_questions(
    tracking_uri: str, films: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    assert cli.main(["ask", films, "who directed Alien?", "who directed Duel?"]) == 0
    found = traces(tracking_uri)
    assert sorted(json.loads(one.data.request)["question"] for one in found) == [
        "who directed Alien?",
        "who directed Duel?",
    ]
    assert {one.info.tags["finpath.answered"] for one in found} == {"true"}
    monkeypatch.setattr("sys.stdin", io.StringIO("who directed Alien?\n/why\n"))
    assert cli.main(["chat", films]) == 0
    [one] = traces(tracking_uri)
    assert one.info.tags["finpath.command"] == "chat"
    assert "Ridley Scott" in one.data.response


def test_nothing_is_logged_without_a_store_or_where_it_is_refused(
    tmp_path: Path, films: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["ask", films, "who directed Alien?"]) == 0
    assert not (tmp_path / "mlflow.db").exists()


def test_an_error_keeps_the_questions_before_it(tracking_uri: str) -> None:
    def ask() -> None:
        with asked(Tracker(TrackingConfig(tracking_uri)), "ask", "x") as log:
            with log.turn("first?") as seen:
                seen.outputs = {"answer": "yes"}
            with log.turn("second?"):
                raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        ask()
    states = {json.loads(one.data.request)["question"]: one.info.state.value for one in traces(tracking_uri)}
    assert states == {"first?": "OK", "second?": "ERROR"}
