"""The ``finpath`` command: reads arguments, calls the Python API, prints the result.

    finpath evaluate beam --data sample:dev --lm none --json out.json

Exit codes: 0 done, 1 a mistake in the input (reported in one line, without a traceback), 2 wrong usage, 130 stopped by
Ctrl-C, 143 by SIGTERM. What is heavy is imported when a command runs.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import threading
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from experiments.commands.options import Group
from experiments.console import say, without_password
from kg.errors import FinpathError

_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# The matrices are small: more threads are never much faster, and three times slower on a busy machine.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
COMPLETION = "_FINPATH_COMPLETE"
"""The environment variable by which a shell asks for completions: ``_FINPATH_COMPLETE=bash_source finpath``."""


@click.group(
    cls=Group,
    context_settings={"max_content_width": 120, "help_option_names": ["-h", "--help"]},
    epilog="""
    finpath demo
    finpath evaluate beam --data sample:dev
    finpath compile beam --optimizer scorer --train sample:train --dev sample:dev --out my-beam
    """,
)
@click.version_option(package_name="finpath", prog_name="finpath", message="%(prog)s %(version)s")
def finpath() -> None:
    """Answers questions about financial reports by paths through a graph.

    The programs are compiled in DSPy and compared as MLflow runs.
    """


_TRACKED = ("compile", "evaluate", "compare", "inspect", "promote", "demo")
_ANSWERING = ("ask", "chat", "thoughts", "ingest", "brief")
_SUPPORTING = ("data", "graph", "ontology", "lm")
for _name in (*_TRACKED, *_ANSWERING, *_SUPPORTING):
    finpath.add_command(importlib.import_module(f"experiments.commands.{_name}").command, _name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: The command line after ``finpath``; by default that of this process.

    Returns:
        The exit code.
    """
    for name in _BLAS_THREADS:
        os.environ.setdefault(name, "1")
    if COMPLETION in os.environ:
        return shell_complete(finpath, {}, "finpath", COMPLETION, os.environ[COMPLETION])
    try:
        _stop_on_sigterm()
        with finpath.make_context("finpath", sys.argv[1:] if arguments is None else list(arguments)) as context:
            return finpath.invoke(context) or 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.UsageError as error:
        error.show()
        return error.exit_code
    except FinpathError as error:
        say(f"finpath: {' '.join(str(error).split())}")
        return 1
    except BrokenPipeError:
        # The reader (head, less) has gone; Python must not complain about it while it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        reason = _outside(error)
        if reason is None:
            raise
        say(f"finpath: {reason}")
        return 1
    except KeyboardInterrupt as stop:
        say("; ".join(["finpath: stopped", *getattr(stop, "__notes__", [])[:1]]))
        return 143 if isinstance(stop, _Terminated) else 130


def _outside(error: Exception) -> str | None:
    """Returns what failed outside finpath: a language model, the tracking store, a disk; otherwise ``None``.

    DSPy and MLflow are not imported to find out.
    """
    # What follows the first line is advice on DSPy's Python API, or the store's statement with its values.
    first = without_password(str(error).strip().partition("\n")[0])
    models, stores = sys.modules.get("dspy.utils.exceptions"), sys.modules.get("mlflow.exceptions")
    if models is not None and isinstance(error, models.LMError):
        return f"the language model does not answer: {first}"
    if stores is not None and isinstance(error, stores.MlflowException):
        return f"the tracking store does not take it: {first}; what was done before is kept, --resume goes on"
    if isinstance(error, OSError) and error.errno in _DISK:
        return f"{error.filename or 'a file'}: cannot be written: {error.strerror}"
    return None


class _Terminated(KeyboardInterrupt):
    """SIGTERM: the work under way ends as it does on Ctrl-C, and its run is marked as killed."""


def _stop_on_sigterm() -> None:
    def stop(*_: object) -> None:
        raise _Terminated

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)
