"""``finpath lm``: fetches, lists, checks and serves the embedded language models.

finpath lm pull                      # the 1.5B model, or a smaller one where disk or memory is short
finpath lm pull smollm2-135m         # by choice
finpath lm list
finpath lm check
finpath lm serve --port 8080         # the same model for any client that speaks the OpenAI protocol
"""

from __future__ import annotations

import argparse
import os
import threading
from contextlib import suppress

from experiments.console import format_table, say, show, write_json
from experiments.lms import catalogue as models
from experiments.lms.catalogue import find_model, installed_models, model_named, models_folder, verify, written_size
from kg.errors import LMError


def run_pull(options: argparse.Namespace) -> int:
    """``finpath lm pull``."""
    from experiments.lms.download import pull

    path = pull(options.model)
    say(f"* {path}: the sha256 is as expected")
    return 0


def run_list(options: argparse.Namespace) -> int:
    """``finpath lm list``."""
    here = {model.name for model in installed_models()}
    rows = [
        {"name": model.name, "size": model.size, "installed": model.name in here, "license": model.license}
        for model in models.CATALOGUE
    ]
    if options.json is not None:
        write_json(options.json, {"folder": str(models_folder()), "models": rows})
    if options.json != "-":
        cells = [
            [model.name, written_size(model.size), "yes" if model.name in here else "no", model.license]
            for model in models.CATALOGUE
        ]
        show(format_table(["model", "size", "here", "licence"], cells, right={1}))
        show(f"kept in {models_folder()}")
    return 0


def run_check(options: argparse.Namespace) -> int:
    """``finpath lm check``: hashes what is in the cache, whole."""
    chosen = [model_named(options.model)] if options.model is not None else installed_models()
    if not chosen:
        raise LMError(f"there is no model in {models_folder()}: fetch one with `finpath lm pull`")
    for model in chosen:
        path = models_folder() / model.file
        if not path.is_file():
            raise LMError(f"{model.name} is not in {models_folder()}: fetch it with `finpath lm pull {model.name}`")
        verify(model, path)
        show(f"{model.name}: the sha256 is as expected")
    return 0


def run_serve(options: argparse.Namespace) -> int:
    """``finpath lm serve``: the embedded model behind the OpenAI protocol, on this machine only, until Ctrl-C."""
    from experiments.lms.config import idle_cores
    from programs.lm import EngineSettings, serve

    model, path = find_model(options.model)
    threads = options.threads if options.threads is not None else idle_cores()
    settings = EngineSettings(path, model.name, threads=threads, context=options.context)
    # The key, if one is wanted, comes from the environment like every other.
    with serve(settings, options.port, os.environ.get("FINPATH_SERVE_KEY")) as address:
        say(f"* {model.name} answers at {address}/v1; stop it with Ctrl-C")
        say(f"* finpath evaluate beam --data sample:dev --lm openai/{model.name} --api-base {address}/v1")
        with suppress(KeyboardInterrupt):  # that is how it is meant to end
            threading.Event().wait()
    say("* stopped")
    return 0
