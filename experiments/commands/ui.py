"""``finpath ui`` and ``finpath mcp``: a page to ask with an HTTP API, and tools for assistants.

$ finpath ui annual-report.pdf
* report annual-report.pdf: 214 table rows, 1032 sentences
* http://127.0.0.1:8080 - Ctrl-C ends
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.ask import ABOUT
from experiments.commands.main import FILE, data_option, finpath, lm_options, program_option, track_option
from experiments.console import say, waiting
from experiments.lms import LMConfig, reach_lm
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.tracking import Tracker


def _serving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a server: its subject, its program and model, its address."""
    options = (
        click.argument(
            "about", type=FILE, nargs=-1, metavar="[ABOUT...]", help=f"{ABOUT}; a user may open others instead"
        ),
        data_option,
        program_option,
        lm_options,
        click.option("--host", default="127.0.0.1", help="the address (127.0.0.1: this machine alone)"),
        click.option("--port", type=click.IntRange(1, 65535), default=8080, help="the port (8080)"),
        click.option(
            "--token",
            envvar="FINPATH_TOKEN",
            help="what a user must know, of at least 16 characters; needed where others can reach the address. The "
            "environment variable FINPATH_TOKEN has it where no other user of the machine may see it",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Raises ConfigError where the packages of an extra are not installed."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"finpath {name} needs its extra: pip install 'finpath[{name}]' ({error})") from error


def _backend(about: tuple[str, ...], data: str, program: str, lm: LMConfig | None) -> Any:
    """The program and model of a server; the files that are given are read now."""
    from experiments.ui.sessions import Backend

    with waiting("read what the questions are about"):
        backend = Backend(about, program, data)
    if backend.subject is not None:
        say(f"* {backend.subject.title}")
    backend.settings = reach_lm(lm, backend.subject.program if backend.subject is not None else None)
    return backend


def _serve(app: Any, host: str, port: int, path: str = "") -> None:
    import uvicorn

    say(f"* http://{host}:{port}{path} - Ctrl-C ends")
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=2)


@finpath.command(
    "ui",
    epilog="""
    finpath ui
    finpath ui annual-report.pdf --lm openai/gpt-4o-mini
    FINPATH_TOKEN=$(openssl rand -hex 16) finpath ui films.ttl --host 0.0.0.0
    """,
)
@_serving_options
@track_option
def serve_page(host: str, port: int, token: str | None, tracker: Tracker | None, **given: Any) -> None:
    """Serves a page to ask, with an HTTP API (/openapi.json) and the OpenAI chat protocol (/v1).

    Where a tracking store is set, each question has a trace in MLflow, and takes the feedback of its user.
    """
    with _extra("ui"):
        import_module("multipart")  # FastAPI asks for it when a form arrives

        from experiments.ui.server import make_app
    from experiments.asking import asked
    from experiments.ui.guard import check_token

    check_token(host, token)
    backend = _backend(**given)
    title = backend.subject.title if backend.subject is not None else "uploads"
    with asked(tracker, "ui", title, {"lm.name": backend.model}) as backend.log, suppress(KeyboardInterrupt):
        _serve(make_app(backend, host, token), host, port)


@finpath.command(
    "mcp",
    epilog="""
    finpath mcp
    finpath mcp --root reports --lm local
    finpath mcp annual-report.pdf --http --port 8081
    """,
)
@_serving_options
@click.option("--http", is_flag=True, help="streamable HTTP at /mcp in place of standard input and output")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="the folder whose files may be read (the current one)",
)
def serve_tools(host: str, port: int, token: str | None, http: bool, root: Path, **given: Any) -> None:
    """Serves tools for assistants that speak the Model Context Protocol: read, ask, query, calculate, show sources."""
    with _extra("mcp"):
        from experiments.mcp.server import make_server
    from experiments.ui.guard import Guard, check_token, is_loopback

    check_token(host, token)
    backend = _backend(**given)
    server = make_server(backend, root)
    if not http:
        server.run("stdio")
        return
    # The SDK would otherwise refuse the name of any other host; the guard has the token for these.
    app = server.streamable_http_app(host=host if is_loopback(host) else "0.0.0.0")  # noqa: S104
    _serve(Guard(app, token=token, host=host, largest=backend.limits.upload), host, port, "/mcp")
