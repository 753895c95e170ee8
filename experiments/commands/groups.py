"""Click commands whose help has sections and examples, and a group that imports a command at its first use.

    @click.group(cls=LazyGroup, package="experiments.commands", modules={"ask": "Answer questions"})
    def finpath() -> None: ...

The module ``experiments.commands.ask`` is imported when ``finpath ask`` runs or shows its own help. Its
click command is named ``command``.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem


class Option(click.Option):
    """An option in a section of its command's help.

    Attributes:
        section: Title of the section.
        several: Whether one mention takes several values: ``--set evidence=index understand=true``.
    """

    def __init__(self, *args: Any, section: str = "Options", several: bool = False, **settings: Any) -> None:
        super().__init__(*args, **{"multiple": several, **settings})
        self.section = section
        self.several = several


class _Examples:
    """Help that ends with examples, one a line, as they are written."""

    epilog: str | None

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in inspect.cleandoc(self.epilog).splitlines():
                    formatter.write(f"{' ' * formatter.current_indent}{line}\n")


class Command(_Examples, click.Command):
    """A command whose options may take several values, and whose help is divided into sections."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the command line, after a name was put before each value of an option that takes several."""
        several = {name for one in self.params if isinstance(one, Option) and one.several for name in one.opts}
        return super().parse_args(ctx, list(_named(args, several)))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options by their sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None and not isinstance(one, click.Argument):
                sections.setdefault(getattr(one, "section", "Options"), []).append(record)
        for title, records in sorted(sections.items(), key=lambda item: item[0] != "Options"):
            with formatter.section(title):
                formatter.write_dl(records)


def _named(arguments: Sequence[str], several: set[str]) -> Iterator[str]:
    """``--set a b`` as ``--set a --set b``, for the options ``several``."""
    name = None
    for place, argument in enumerate(arguments):
        if argument == "--":
            yield from arguments[place:]
            return
        if argument.startswith("-"):
            name = argument if argument in several else None
        elif name is not None and arguments[place - 1] != name:
            yield name
        yield argument


class Group(_Examples, click.Group):
    """A group of commands, listed in the order in which they were added."""

    command_class: ClassVar[type[click.Command]] = Command  # type: ignore[misc]

    def list_commands(self, _: click.Context) -> list[str]:
        """The names, in order."""
        return list(self.commands)


class _Modules(dict[str, click.Command]):
    """Commands by name; one is imported when it is looked up."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        super().__init__(dict.fromkeys(modules))  # type: ignore[arg-type]
        self.modules = modules

    def get(self, name: str, default: Any = None) -> Any:
        """The command, or ``default``."""
        return importlib.import_module(self.modules[name]).command if name in self else default


class LazyGroup(Group):
    """A group that knows the names and summaries of its commands without importing them.

    Args:
        package: The package of the modules.
        modules: A line about each command by its module's name inside the package; the name's last part is the
            command's.
    """

    commands: MutableMapping[str, click.Command]

    def __init__(self, *args: Any, package: str, modules: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.commands = _Modules({module.rpartition(".")[2]: f"{package}.{module}" for module in modules})
        self.summaries = {module.rpartition(".")[2]: text for module, text in modules.items()}

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the names with their summaries."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names that begin with ``incomplete``, and the group's options."""
        named = [
            CompletionItem(name, help=text) for name, text in self.summaries.items() if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)
