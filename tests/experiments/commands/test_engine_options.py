"""The options of engines and pools on the command line."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from experiments.commands.options import RunOptions, lm_options, run_options
from experiments.lms import LMConfig


@click.command()
@lm_options
@run_options("turns")
def shown(lm: LMConfig, run: RunOptions) -> None:
    engine = run.engine_for(lm)
    click.echo(f"{lm.addresses} {engine.description if engine is not None else None}")


def test_several_addresses_are_taken_in_their_order() -> None:
    given = ["--lm", "openai/m", "--api-base", "http://a/v1", "--api-base", "http://b/v1"]
    assert CliRunner().invoke(shown, given).output == "('http://a/v1', 'http://b/v1') None\n"
    assert CliRunner().invoke(shown, []).output == "() None\n"


@pytest.mark.parametrize("given", [["--address", "auto"], ["--workers", "2"]])
def test_options_of_a_cluster_need_the_engine(given: list[str]) -> None:
    done = CliRunner().invoke(shown, given)
    assert done.exit_code == 2
    assert f"{given[0]} needs --engine ray" in done.output


def test_a_remote_model_gets_eight_threads_in_each_process() -> None:
    pytest.importorskip("ray")
    given = ["--engine", "ray", "--workers", "3"]
    assert "'workers': 3, 'threads': 1" in CliRunner().invoke(shown, given).output
    assert "'workers': 3, 'threads': 8" in CliRunner().invoke(shown, [*given, "--lm", "openai/m"]).output
    assert "'threads': 2" in CliRunner().invoke(shown, [*given, "--lm", "openai/m", "--threads", "2"]).output
