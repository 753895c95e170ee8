"""The page in a browser, the HTTP API and the tools over MCP, each with a real client."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Any

import dspy
import httpx
import pytest
from starlette.testclient import TestClient

from experiments.asking import asked
from experiments.lms import LMConfig, lm_settings
from experiments.tracking import Tracker
from kg.errors import ConfigError, QueryError
from tests.experiments.openai_server import ScriptedServer

pytest.importorskip("multipart", reason="needs the extra ui")

from experiments.ui import guard, server, worker
from experiments.ui.sessions import Backend, Limits, UserSession

REPORT = "MRLW/2020/page_49.pdf"
INCOME = "what was the net income in 2020?"
HOSTILE = b"""<html onload="top.hit = 1"><script>top.hit = 1</script><p>Hidden terms apply.</p>
<table><tr><td>in millions</td><td>2020</td><td>2019</td></tr>
<tr><td>net sales &lt;img src=x onerror="window.hit = 1"&gt;</td><td>$</td><td>4,120</td><td>3,980</td></tr></table>"""
SCRIPT = "Mara <img src=x onerror=top.hit=1>"
NAMES = f"s,p,o\nLarkspur,is a,ship\nLarkspur,captain,{SCRIPT}\nQuince,captain,Ann\n"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The address of a server, in the context of the test."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=copy_context().run, args=(server.run,))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def backend() -> Backend:
    """A server's subject, a report of the sample; one answer is calculated at a time."""
    return Backend([REPORT], limits=Limits(threads=1, sessions=70, upload=100_000))


@pytest.fixture(scope="module")
def address(backend: Backend) -> Iterator[str]:
    with serving(server.make_app(backend)) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    with api.sync_playwright() as play, play.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        yield browser


def run(work: Any) -> Any:
    """The result of a coroutine, in a thread of its own: Playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def ask(page: Any, question: str) -> Any:
    """Asks on a page by the keyboard; returns the article with the answer."""
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")
    page.locator(".turn", has_text=question).locator(".answer").last.wait_for(timeout=90_000)
    return page.locator(".turn").last


def upload(page: Any, name: str, content: bytes) -> None:
    with page.expect_navigation():
        page.set_input_files("#files", {"name": name, "mimeType": "text/plain", "buffer": content})


def test_the_api_answers_about_uploads_and_keeps_sessions_apart(address: str) -> None:
    openai = pytest.importorskip("openai")
    with httpx.Client(base_url=address, timeout=99) as first, httpx.Client(base_url=address, timeout=99) as other:
        [source] = first.post("/api/questions", json={"question": INCOME}).json()["sources"]
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
        assert "found 'DROP'" in other.post("/api/sparql", json={"query": "DROP ALL"}).json()["detail"]
        other.post("/api/files", files={"files": ("filing.html", HOSTILE)})
        filing = other.get("/place", params={"row": 1, "column": 1})
        assert 'id="lit">4,120</td>' in filing.text
        assert "top.hit" not in filing.text
        assert filing.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        other.post("/api/files", files={"files": ("ships.csv", NAMES.encode())})
        assert "captain" in other.get("/api/graph").text
        assert first.get("/export.json").json()["turns"][1]["program"] == "subtract(50652, 38220)"
        assert first.get("/export.csv").text.splitlines()[2].startswith("what was the change from 2018?,")
        assert first.get("/", headers={"Host": "evil.example"}).status_code == 421
        assert first.post("/api/reset", json={}, headers={"Origin": "http://evil.example"}).status_code == 403
        assert first.post("/api/questions/1/feedback", json={"right": True}).status_code == 400  # nothing is tracked
        paths = first.get("/openapi.json").json()["paths"]
        assert {"/api/files", "/api/graph", "/api/sparql", "/v1/chat/completions"} <= paths.keys()
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="none")
    messages: list[Any] = [{"role": "user", "content": INCOME}]
    messages.append({"role": "user", "content": "and in 2018?"})
    reply = client.chat.completions.create(model="finpath", messages=messages)
    assert reply.choices[0].message.content.startswith("$38,220 thousand (confidence 98%)\nRead in: table, row 2")
    stream = client.chat.completions.create(model="finpath", messages=messages, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in stream) == reply.choices[0].message.content


ROWS = "".join(f"<http://a/{n}> <http://a/p> <http://a/{n + 1}> .\n" for n in range(300)).encode()
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?a != ?l) }"


def test_a_query_reads_the_graph_alone_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        worker.work("sparql", {"query": "ASK { ?s ?p ?o }", "rows": 1}, ROWS)
        == b'{"rows": [{"answer": "yes"}], "more": false}'
    )
    assert b'"more": true' in worker.work("sparql", {"query": "SELECT ?s { ?s ?p ?o }", "rows": 3}, ROWS)
    files = "SELECT * FROM <file:///etc/passwd> { ?s ?p ?o }"
    assert worker.work("sparql", {"query": files, "rows": 3}, ROWS) == b'{"rows": [], "more": false}'
    refused = {
        "SELECT * { { SELECT * { OPTIONAL { SERVICE ?x { ?s ?p ?o } } } } }": "SERVICE is not allowed",
        "SELECT * { \\u0053ERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }": "SERVICE is not allowed",
        "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }": "only SELECT and ASK",
        "SELECT * WHERE {" + "(" * 500: "recursion",
    }
    for query, reason in refused.items():
        with pytest.raises(QueryError, match=reason):
            worker.work("sparql", {"query": query, "rows": 3}, ROWS)
    monkeypatch.setattr(worker, "SECONDS", 5)
    with pytest.raises(QueryError, match="more time or memory"):
        worker.work("sparql", {"query": ENDLESS, "rows": 3}, ROWS)


def test_another_address_needs_a_token() -> None:
    with pytest.raises(ConfigError, match="token must be set where others can reach the server"):
        guard.check_token("0.0.0.0", None)
    with TestClient(server.make_app(Backend(), "0.0.0.0", "a token of some length")) as client:
        assert client.get("/api/session").status_code == 401
        assert client.get("/").headers["www-authenticate"].startswith("Basic")  # a browser asks for the password
        assert client.get("/", auth=("me", "another")).status_code == 401
        assert client.get("/", auth=("me", "a token of some length")).status_code == 200
        bearer = {"Authorization": "Bearer a token of some length"}
        assert client.get("/api/session", headers=bearer).json()["kind"] is None


def test_an_answer_that_takes_too_long_is_stopped_and_the_session_goes_on(backend: Backend) -> None:
    program, running = backend.subject.program, threading.Event()

    class Endless(dspy.Module):
        def ask(self, state: Any, question: str) -> Any:
            while question == "for ever?":
                running.set()
            return program.ask(state, question)

        start = program.start

    short = Backend(limits=Limits(seconds=2, threads=1))
    short.subject = type(backend.subject)("report", "a report", Endless(), backend.subject.world)

    async def talk() -> list[Any]:
        session = UserSession(short)
        turns = [await session.ask("for ever?").wait()]
        object.__setattr__(short, "limits", Limits(threads=1))
        return [*turns, await session.ask(INCOME).wait()]  # in the same thread, which is free again

    slow, next_one = run(talk())
    assert running.is_set()
    assert (slow.failure, slow.message) == ("error", "no answer within 2 seconds")
    assert next_one.words == "$50,652 thousand"


def test_a_narrow_page_lights_up_cells_by_keyboard_and_survives_a_reload(
    browser: Any, address: str, backend: Backend
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page.goto(address)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 27)"
    gate = threading.Event()
    backend._pool.submit(gate.wait)  # the one thread is busy, so that the page is loaded again before the answer
    page.keyboard.type(f"{INCOME}\n")
    page.get_by_text("the question is read").wait_for()
    page.reload()
    page.get_by_text("the question is read").wait_for()
    gate.set()
    page.locator(".answer").get_by_text("$50,652 thousand").wait_for()
    page.keyboard.press("Shift+Tab")
    page.locator(".sources .figure").press("Enter")
    assert page.locator("#r1c1.lit mark").inner_text() == "$ 50652"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "figure"
    change = ask(page, "what percentage change is that from 2018?")
    assert change.locator(".steps").first.inner_text().startswith("50652 −38220 = 12432")
    page.context.close()


def test_a_hostile_filing_is_shown_as_it_is_and_runs_nothing(browser: Any, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    upload(page, "filing.html", HOSTILE)
    turn = ask(page, "what were net sales <script>window.hit = 1</script> in 2020?")
    turn.locator(".figure").first.click()
    frame = page.frame_locator("#frame")
    assert frame.locator("#lit").inner_text() == "4,120"
    assert frame.locator("script").count() == 0
    assert page.locator("#r1c1.lit mark").inner_text() == "$ 4,120"
    assert "<img src=x" in page.locator("#document td, #document th").nth(3).inner_text()
    drop = f"() => {{ const d = new DataTransfer(); d.items.add(new File([{NAMES!r}], 'ships.csv')); return d; }}"
    page.dispatch_event("body", "drop", {"dataTransfer": page.evaluate_handle(drop)})
    page.locator("header", has_text="ships.csv").wait_for()
    turn = ask(page, "who is the captain of the Larkspur?")
    assert turn.locator(".answer").inner_text() == SCRIPT
    picture = page.frame_locator("iframe.path")
    assert picture.locator("g[role=button]").count() == 2
    assert picture.locator("text", has_text="captain").count() == 1
    for window in page.frames:
        assert window.evaluate("window.hit") is None
    with page.expect_download() as saved:
        page.get_by_role("link", name="HTML").click()
    exported = Path(saved.value.path()).read_text(encoding="utf-8")
    assert "&lt;img src=x onerror=top.hit=1&gt;" in exported
    assert "<script" not in exported
    for name, content in {"x.exe": b"MZ", "locked.xlsx": b"\xd0\xcf\x11\xe0", "big.csv": b"1," * 60_000}.items():
        page.set_input_files("#files", {"name": name, "mimeType": "text/plain", "buffer": content})
        page.locator("#message").filter(has_not_text="Reading").wait_for()
        assert len(page.locator("#message").inner_text()) > 20
    assert ask(page, "who is the captain of the Quince?").locator("h2").count() == 1  # the session goes on
    page.context.close()


def test_a_place_on_a_page_of_a_pdf_file(browser: Any, address: str) -> None:
    fpdf = pytest.importorskip("fpdf")
    document = fpdf.FPDF(format="letter", unit="pt")
    document.set_font("Helvetica", size=9)
    document.add_page()
    with document.table() as table:
        for texts in (("in millions", "2020", "2019"), ("net sales", "4,120", "3,980"), ("net loss", "(95)", "(88)")):
            table.row(texts)
    page = browser.new_page()
    page.goto(address)
    upload(page, "filing.pdf", bytes(document.output()))
    ask(page, "what were net sales in 2020?").locator(".figure").first.click()
    width = page.locator("#picture").evaluate("async (picture) => (await picture.decode(), picture.naturalWidth)")
    assert width > 400
    page.context.close()


def test_a_model_that_costs_and_then_fails_and_thumbs_in_mlflow(
    browser: Any, tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    plan = '{"understanding": "u", "concepts": [], "steps": []}'
    done = {"next_thought": "t", "next_tool_name": "finish", "next_tool_args": '{"answer": "50652"}'}
    with ScriptedServer([{"plan": plan}, done]) as model, asked(tracker, "ui", "a report") as log:
        config = LMConfig("openai/gpt-4o-mini", api_base=model.url, retries=0)
        backend = Backend([REPORT], "agent", settings=lm_settings(config), log=log)
        with serving(server.make_app(backend)) as address:
            page = browser.new_page()
            page.goto(address)
            turn = ask(page, INCOME)
            assert turn.locator(".answer").inner_text() == "$50,652 thousand"
            assert "2 calls of the model" in turn.inner_text()
            assert "tokens, $0.0" in turn.inner_text()
            turn.get_by_role("button", name="Yes").click()
            turn.locator("[aria-pressed=true]").get_by_text("Yes").wait_for()
            turn.get_by_role("button", name="No").click()
            turn.locator("[aria-pressed=true]").get_by_text("No").wait_for()
            down = ask(page, "and in 2018?")
            assert "The language model does not answer" in down.inner_text()
            page.context.close()
    traces = tracker.client.search_traces([tracker.experiment("ask")])
    thumbs = {trace.info.request_preview: trace.search_assessments("thumbs") for trace in traces}
    assert [thumb.value for thumb in thumbs[INCOME]] == [False]
    assert thumbs[INCOME][0].source.source_type == "HUMAN"
    assert thumbs["and in 2018?"] == []


@pytest.mark.slow
def test_fifty_visitors_at_once(browser: Any, address: str) -> None:
    contexts = [browser.new_context() for _ in range(50)]
    pages = [context.new_page() for context in contexts]
    for number, page in enumerate(pages):
        page.goto(address)
        upload(page, f"r{number}.csv", f"in thousands,2020,2019\nnet income,{1000 + number},900\n".encode())
    for page in pages:
        page.locator("#question").fill(INCOME)
        page.keyboard.press("Enter")
    for number, page in enumerate(pages):
        page.locator(".answer").wait_for(timeout=200_000)
        assert page.locator(".answer").inner_text() == f"{1000 + number:,} thousand"
    for context in contexts:
        context.close()


CALLS: dict[str, dict[str, Any]] = {
    "ask": {"question": INCOME},
    "show_source": {"turn": 1},
    "query_kg": {"entity_type": "EarningsPerShare", "property": "net_income"},
    "list_entities": {"entity_type": "EarningsPerShare"},
    "calculate": {"operation": "subtract", "values": ["f1", "f3"]},
    "read_report": {"files": ["sales.csv"]},
    "introspect_ontology": {"action": "list_types"},
}


@pytest.mark.parametrize("is_http", [False, True])
def test_an_assistant_calls_each_tool_and_reads_each_resource(backend: Backend, tmp_path: Path, is_http: bool) -> None:
    mcp = pytest.importorskip("mcp")
    from experiments.mcp.server import make_server

    (tmp_path / "sales.csv").write_text("in millions,2020\nnet sales,7\n")
    app = make_server(backend, tmp_path).streamable_http_app()
    words = ["-m", "finpath", "mcp", REPORT, "--root", str(tmp_path)]
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    process = mcp.StdioServerParameters(command=sys.executable, args=words, env=variables)

    async def talk() -> dict[str, Any]:
        async with mcp.Client(f"{address}/mcp" if is_http else process) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == CALLS.keys()
            results = {name: await client.call_tool(name, arguments) for name, arguments in CALLS.items()}
            outside = await client.call_tool("read_report", {"files": ["../sales.csv"]})
            resources = {name: await client.read_resource(f"{name}://given") for name in ("graph", "report")}
            return {**results, **resources, "outside": outside}

    with serving(guard.Guard(app, token=None, host="127.0.0.1", largest=10_000)) as address:
        results = run(talk())
    assert results["ask"].structured_content["sources"][0]["text"] == "$ 50652"
    assert "net income | $ 50652 | $ 43890" in results["show_source"].content[0].text
    assert "EarningsPerShare_2020" in results["list_entities"].content[0].text
    assert results["calculate"].content[0].text == "r1 = 12432, subtract of f1, f3"
    assert results["introspect_ontology"].content[0].text == "IncomeStatement"
    assert results["outside"].is_error
    assert "whose files may be read" in results["outside"].content[0].text
    assert "net_income" in results["graph"].contents[0].text
    assert "net income | $ 50652" in results["report"].contents[0].text
