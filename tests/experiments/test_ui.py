"""The page in a browser, the HTTP API and the tools over MCP, each with a real client."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from kg.errors import ConfigError

pytest.importorskip("multipart", reason="needs the extra ui")

REPORT = "MRLW/2020/page_49.pdf"
HOSTILE = b"""<table><tr><td>in millions</td><td>2020</td><td>2019</td></tr>
<tr><td>net sales &lt;img src=x onerror="window.hit = 1"&gt;</td><td>4,120</td><td>3,980</td></tr></table>"""
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Any]]:
    """The address of a server about a report of the sample, and its backend."""
    import uvicorn

    from experiments.ui.server import make_app
    from experiments.ui.sessions import Backend, Limits

    backend = Backend([REPORT], limits=Limits(threads=1, sessions=12, upload=100_000))
    server = uvicorn.Server(uvicorn.Config(make_app(backend), port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", backend
    server.should_exit = True
    thread.join()


def test_the_api_answers_about_uploads_and_keeps_sessions_apart(served: tuple[str, Any]) -> None:
    openai = pytest.importorskip("openai")
    address, _ = served
    with httpx.Client(base_url=address) as first, httpx.Client(base_url=address) as other:
        [source] = first.post("/api/questions", json={"question": "what was the net income in 2020?"}).json()["sources"]
        assert (source["text"], source["row"], source["column"]) == ("$ 50652", 1, 1)
        change = first.post("/api/questions", json={"question": "what was the change from 2018?"}).json()
        assert [step["result"] for step in change["steps"]] == ["12432"]
        assert "event: done" in first.get("/api/questions/2/events").text
        assert other.get("/api/questions/2").status_code == 404
        file = ("../../a report.csv", "in millions,2020\nnet sales,7\n")
        title = other.post("/api/files", files={"files": file}).json()["title"]
        assert title.startswith("report a report.csv: ")
        assert other.post("/api/questions", json={"question": "what were net sales in 2020?"}).json()["exact"] == "7"
        assert other.post("/api/files", files={"files": ("x.pdf", b"")}).json()["detail"].startswith("x.pdf: ")
        assert other.post("/api/files", files={"files": b"1" * 100_000}).status_code == 413
        query = "SELECT ?v { ?x kg:net_sales ?v }"
        assert other.post("/api/sparql", json={"query": query}).json()["rows"] == [{"v": "7"}]
        elsewhere = [
            {"query": f"SELECT * {text}"}
            for text in ("{ SERVICE <http://a> { ?s ?p ?o } }", "FROM <http://a> { ?s ?p ?o }")
        ]
        assert "not allowed" in other.post("/api/sparql", json=elsewhere[0]).json()["detail"]
        assert other.post("/api/sparql", json=elsewhere[1]).json()["rows"] == []
        assert first.get("/export.json").json()["turns"][1]["program"] == "subtract(50652, 38220)"
        assert first.get("/", headers={"Host": "evil.example"}).status_code == 421
        assert first.post("/api/reset", json={}, headers={"Origin": "http://evil.example"}).status_code == 403
        assert {"/api/files", "/v1/chat/completions"} <= first.get("/openapi.json").json()["paths"].keys()
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="none")
    messages: list[Any] = [{"role": "user", "content": "what was the net income in 2020?"}]
    messages.append({"role": "user", "content": "and in 2018?"})
    reply = client.chat.completions.create(model="finpath", messages=messages)
    assert reply.choices[0].message.content.startswith("$38,220 thousand (confidence 99%)\nRead in: table, row 2")
    stream = client.chat.completions.create(model="finpath", messages=messages, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in stream) == reply.choices[0].message.content


def test_another_address_needs_a_token() -> None:
    from experiments.ui import guard, server, sessions

    with pytest.raises(ConfigError, match="token must be set where others can reach the server"):
        guard.check_token("0.0.0.0", None)
    with TestClient(server.make_app(sessions.Backend(), "0.0.0.0", "a token of some length")) as client:
        assert client.get("/api/session").status_code == 401
        assert 'name="token"' in client.get("/").text
        assert client.get("/").headers["referrer-policy"] == "same-origin"  # else browsers send "Origin: null"
        assert client.post("/token", data={"token": "another"}).status_code == 401
        assert client.post("/token", data={"token": "a token of some length"}).status_code == 200
        assert client.get("/api/session").json()["kind"] is None


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_page_lights_up_cells_survives_a_reload_and_runs_no_foreign_script(served: tuple[str, Any]) -> None:
    api = pytest.importorskip("playwright.sync_api")
    address, backend = served
    with api.sync_playwright() as play, play.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto(address)
        gate = threading.Event()
        backend._pool.submit(gate.wait)  # the one thread is busy, so that the page is loaded again before the answer
        page.keyboard.type("what was the net income in 2020?\n")
        page.get_by_text("the question is read").wait_for()
        page.reload()
        page.get_by_text("the question is read").wait_for()
        gate.set()
        page.locator(".answer").get_by_text("$50,652 thousand").wait_for()
        page.keyboard.press("Shift+Tab")
        page.locator(".sources .figure").press("Enter")
        assert page.locator("#r1c1.lit mark").inner_text() == "$ 50652"
        with page.expect_navigation():
            page.set_input_files("#files", {"name": "a.html", "mimeType": "text/html", "buffer": HOSTILE})
        page.fill("#question", "what were net sales <script>window.hit = 1</script> in 2020?")
        page.keyboard.press("Enter")
        page.locator(".answer").wait_for()
        page.get_by_text('net sales <img src=x onerror="window.hit = 1">').first.wait_for()
        assert page.evaluate("window.hit") is None


def test_an_assistant_reads_asks_calculates_and_sees_sources(tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp")
    (tmp_path / "sales.csv").write_text("in millions,2020\nnet sales,7\n")
    words = ["-m", "finpath", "mcp", REPORT, "--root", str(tmp_path)]
    place = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    server = mcp.StdioServerParameters(command=sys.executable, args=words, env=place)
    calls: dict[str, dict[str, Any]] = {
        "ask": {"question": "what was the net income in 2020?"},
        "show_source": {"turn": 1},
        "query_kg": {"entity_type": "EarningsPerShare", "property": "net_income"},
        "calculate": {"operation": "subtract", "values": ["f1", "f3"]},
        "read_report": {"files": ["sales.csv"]},
        "introspect_ontology": {"action": "list_types"},
    }

    async def talk() -> dict[str, Any]:
        async with mcp.Client(mcp.client.stdio.stdio_client(server)) as client:
            results = {name: await client.call_tool(name, arguments) for name, arguments in calls.items()}
            outside = await client.call_tool("read_report", {"files": ["../sales.csv"]})
            return {**results, "outside": outside, "graph": await client.read_resource("graph://given")}

    results = asyncio.run(talk())
    assert results["ask"].structured_content["sources"][0]["text"] == "$ 50652"
    assert "net income | $ 50652 | $ 43890" in results["show_source"].content[0].text
    assert results["calculate"].content[0].text == "r1 = 12432, subtract of f1, f3"
    assert results["introspect_ontology"].content[0].text == "IncomeStatement"
    assert "whose files may be read" in results["outside"].content[0].text
    assert "net_income" in results["graph"].contents[0].text
