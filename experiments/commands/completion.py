"""``finpath completion``: the script by which a shell completes commands, options and names.

$ finpath completion bash > ~/.local/share/bash-completion/completions/finpath
"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from experiments.commands.groups import Command
from experiments.console import show

VARIABLE = "_FINPATH_COMPLETE"
"""The environment variable by which a shell asks for completions."""


@click.command(
    cls=Command,
    epilog="""
    finpath completion bash > ~/.local/share/bash-completion/completions/finpath
    finpath completion zsh > ~/.zfunc/_finpath    # a folder of $fpath
    finpath completion fish > ~/.config/fish/completions/finpath.fish
    """,
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL", help="bash, zsh or fish")
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Prints the script by which a shell completes commands, options, and names of runs, programs and reports."""
    found = get_completion_class(shell)
    assert found is not None
    show(found(context.find_root().command, {}, "finpath", VARIABLE).source().rstrip())
