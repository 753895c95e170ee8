"""The page to ask and its HTTP API, described by ``/openapi.json``.

    $ finpath ui annual-report.pdf
    $ curl -c jar -F files=@annual-report.pdf http://127.0.0.1:8080/api/files
    $ curl -b jar -H 'Content-Type: application/json' -d '{"question": "what were net sales in 2020?"}' \
        http://127.0.0.1:8080/api/questions

A cookie names the session.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, Depends, FastAPI, HTTPException, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from experiments.ui.answers import turn_content
from experiments.ui.chat import chat_router
from experiments.ui.graphs import query_graph, turtle_of
from experiments.ui.guard import Guard
from experiments.ui.pages import document_view, export_csv, file_view, render
from experiments.ui.pictures import graph_page, path_edges
from experiments.ui.sessions import Backend, Question, SessionBusyError, Sessions, UserSession
from kg.errors import FinpathError, LMError
from kg.reports import CellSource, SentenceSource

COOKIE = "finpath-session"
"""The name of the cookie that names a session."""

_FOLDER = Path(__file__).parent
_UNSAFE = re.compile(r"[^\w.,()+ -]")
_LONGEST_NAME, _PAUSE = 100, 0.1


Text = Annotated[str, Body()]
Switch = Annotated[bool, Body()]


async def current_session(request: Request, response: Response) -> UserSession:
    """The session of a request, which begins with the first one."""
    sessions: Sessions = request.app.state.sessions
    session = sessions.get(request.cookies.get(COOKIE))
    if session is None:
        session = sessions.new()
        response.set_cookie(COOKIE, session.key, httponly=True, samesite="strict")
    return session


Current = Annotated[UserSession, Depends(current_session)]


def make_app(backend: Backend, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """The application, with its guard.

    Args:
        backend: What is read and answered with.
        host: The address of the server.
        token: The token that its users need; ``None`` on loopback only.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        app.state.sessions.close()

    # The pages of FastAPI with the description would load scripts from elsewhere.
    app = FastAPI(title="finpath", docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.sessions = Sessions(backend)
    app.mount("/static", StaticFiles(directory=_FOLDER / "static"))
    for error, status in ((SessionBusyError, 409), (LMError, 502), (FinpathError, 400), (TimeoutError, 504)):
        app.add_exception_handler(error, _handler(status))
    _add_pages(app)
    _add_api(app)
    app.include_router(chat_router(backend))
    return Guard(app, token=token, host=host, largest=backend.limits.upload)


def _handler(status: int) -> Any:
    async def handle(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": " ".join(str(error).split()) or "it takes too long"}, status)

    return handle


def _add_pages(app: FastAPI) -> None:
    """Adds the page, its parts and the exports."""

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page(session: Current) -> str:
        return render("page.html", session=session, content=content_of, view=document_view(session))

    @app.get("/turns/{number}", response_class=HTMLResponse, include_in_schema=False)
    async def turn(session: Current, number: int) -> str:
        question = question_of(session, number)
        return render("turn.html", session=session, content=content_of, question=question, number=number)

    @app.get("/document", response_class=HTMLResponse, include_in_schema=False)
    async def document(session: Current, row: int = 0, sentence: int = 0) -> str:
        return render("document.html", view=document_view(session, row, sentence))

    @app.get("/turns/{number}/path.html", include_in_schema=False)
    async def path(session: Current, number: int) -> Response:
        question = question_of(session, number)
        edges = path_edges(content_of(session, question)["paths"] if question.turn is not None else [])
        return _framed(graph_page(question.text, edges), "sandbox allow-scripts; script-src 'unsafe-inline'")

    @app.get("/place", include_in_schema=False)
    async def place(session: Current, row: int = -1, column: int = -1, sentence: int = -1) -> Response:
        report = session.subject.world.report if session.subject and session.subject.kind == "report" else None
        is_cell = report and 0 <= row < len(report.table) and 0 <= column < len(report.table[0])
        if report is None or not (is_cell or 0 <= sentence < len(report.sentences)):
            raise HTTPException(404, "there is no such place")
        source = CellSource(row, column, 0, 0) if is_cell else SentenceSource(sentence, 0, 0)
        view = await session.backend.run(file_view, session, source)
        return Response(view, media_type="image/png") if isinstance(view, bytes) else _framed(view, "sandbox")

    @app.get("/export.{form}", include_in_schema=False)
    async def export(session: Current, form: str) -> Response:
        answered = [one for one in session.questions if one.turn is not None]
        turns = [content_of(session, one) for one in answered]
        if form == "html":
            style = (_FOLDER / "static" / "page.css").read_text(encoding="utf-8")
            text = render("export.html", session=session, content=content_of, questions=answered, style=style)
        elif form == "csv":
            text = export_csv(turns)
        elif form == "json":
            text = json.dumps({**_described(session), "turns": turns}, indent=1, ensure_ascii=False)
        else:
            raise HTTPException(404, "there are export.html, export.csv and export.json")
        kind = {"html": "text/html", "csv": "text/csv", "json": "application/json"}[form]
        return Response(text, media_type=kind, headers={"Content-Disposition": f"attachment; filename=answers.{form}"})


def _framed(page: str, policy: str) -> Response:
    """A page for a frame, which knows nothing of the session and loads nothing."""
    common = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
    return HTMLResponse(page, headers={"Content-Security-Policy": f"{policy}; {common}"})


def content_of(session: UserSession, question: Question) -> dict[str, Any]:
    """The content of an answered question."""
    assert session.subject is not None
    assert question.turn is not None
    return {**turn_content(session.subject, question.turn), "model_failed": question.model_failed, "usd": question.usd}


def question_of(session: UserSession, number: int) -> Question:
    """The question of a number, from 1; raises the error of a page that is not there."""
    if not 1 <= number <= len(session.questions):
        raise HTTPException(404, f"there is no question {number}")
    return session.questions[number - 1]


def _described(session: UserSession) -> dict[str, Any]:
    subject = session.subject
    problems = list(subject.document.problems) if subject is not None and subject.document is not None else []
    about = {"kind": subject.kind, "title": subject.title} if subject is not None else {"kind": None, "title": None}
    return {**about, "problems": problems, "questions": len(session.questions), "model": session.backend.model}


def _add_api(app: FastAPI) -> None:
    """Adds the API of a session."""

    @app.get("/api/session")
    async def describe_session(session: Current) -> dict[str, Any]:
        """The subject of the session, the number of its questions, and the language model."""
        return _described(session)

    @app.post("/api/files")
    async def upload_files(session: Current, files: list[UploadFile]) -> dict[str, Any]:
        """Reads files, and begins a conversation about them: a report, a graph, or several texts."""
        most = session.backend.limits.files
        if len(files) > most:
            raise HTTPException(413, f"at most {most} files may be uploaded, got {len(files)}")
        contents: dict[str, bytes] = {}
        for place, file in enumerate(files):
            name = _name(file.filename, place)
            contents[f"{place + 1} {name}" if name in contents else name] = await file.read()
        await session.open(contents)
        return _described(session)

    @app.post("/api/reset")
    async def reset(session: Current) -> dict[str, Any]:
        """Begins another conversation about the same subject."""
        session.reset()
        return _described(session)

    @app.post("/api/questions")
    async def ask(session: Current, question: Text, wait: Switch = True, model: Switch = True) -> dict[str, Any]:
        """Asks the next question: the reply has its ``number`` and, with ``wait``, its answer and sources."""
        session.ask(question, model=model)
        number = len(session.questions)
        return await read_answer(session, number) if wait else {"number": number}

    @app.get("/api/questions")
    async def list_questions(session: Current) -> list[dict[str, Any]]:
        """The conversation so far."""
        return [content_of(session, one) for one in session.questions if one.turn is not None]

    @app.get("/api/questions/{number}")
    async def read_answer(session: Current, number: int) -> dict[str, Any]:
        """The answer of a question, once it is there, with its steps, paths and sources."""
        question = question_of(session, number)
        await question.wait()
        return {"number": number, **content_of(session, question)}

    @app.get("/api/questions/{number}/events")
    async def stream_steps(session: Current, number: int) -> StreamingResponse:
        """The steps of an answer from its first, as server-sent events ``step``, then ``done``."""
        return StreamingResponse(_events(question_of(session, number)), media_type="text/event-stream")

    @app.post("/api/questions/{number}/feedback")
    async def judge(session: Current, number: int, right: Annotated[bool, Body(embed=True)]) -> dict[str, Any]:
        """Writes on the trace of an answer in MLflow whether its user finds it right."""
        question = question_of(session, number)
        if question.trace is None or question.turn is None:
            raise HTTPException(404, f"question {number} has no answer yet")
        await session.backend.run(session.backend.log.give_feedback, question.trace, right)
        question.is_right = right
        return {"right": right}

    @app.get("/api/graph", response_class=PlainTextResponse)
    async def graph(session: Current) -> Response:
        """The graph of the session's subject as Turtle."""
        return PlainTextResponse(await session.backend.run(turtle_of, session.subject), media_type="text/turtle")

    @app.post("/api/sparql")
    async def sparql(session: Current, query: Annotated[str, Body(embed=True, max_length=8_000)]) -> dict[str, Any]:
        """Answers a SELECT or an ASK over that graph; it reads nothing else."""
        result: dict[str, Any] = await session.backend.run(query_graph, session.subject, query)
        return result


def _name(given: str | None, place: int) -> str:
    """A safe name of an uploaded file: no folder, no sign with a meaning, its ending kept."""
    path = Path((given or "").replace("\\", "/"))
    stem = _UNSAFE.sub("_", path.stem)[:_LONGEST_NAME].strip(". ")
    ending = _UNSAFE.sub("", path.suffix)[:_LONGEST_NAME]
    return f"{stem or f'file {place + 1}'}{ending}"


async def _events(question: Question) -> AsyncIterator[str]:
    sent = 0
    while True:
        steps, is_done = list(question.steps), question.turn is not None
        for step in steps[sent:]:
            yield f"event: step\ndata: {json.dumps(step)}\n\n"
        sent = len(steps)
        if is_done:
            yield "event: done\ndata: {}\n\n"
            return
        await asyncio.sleep(_PAUSE)
