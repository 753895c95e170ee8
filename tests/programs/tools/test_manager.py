"""Tools by name: what they take, what they return, and that no call raises."""

from __future__ import annotations

import time

import dspy
import pytest

from kg.errors import ConfigError
from programs.tools import ToolSettings, load_tools
from programs.tools.manager import ToolLimits, ToolManager


def look_up(name: str, year: int = 2026) -> str:
    """Looks a company up."""
    if name == "nobody":
        raise KeyError("no such company")
    return f"{name} {year}"


def nap(seconds: float) -> str:
    """Takes its time."""
    time.sleep(seconds)
    return "rested"


def test_a_tool_answers_and_is_described() -> None:
    tools = ToolManager([dspy.Tool(look_up)])
    made = tools.call("look_up", {"name": "Helixon"})
    assert (made.output, made.failed) == ("Helixon 2026", False)
    assert tools.described() == "look_up(name: string, year: integer): Looks a company up."


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("look_upp", {}, "the nearest are: look_up"),
        ("look_up", {"name": "nobody"}, "KeyError: 'no such company'"),
        ("look_up", {}, "missing 1 required"),
        ("look_up", {"name": "x", "colour": "red"}, "colour"),
        ("look_up", {"name": ["x"]}, "name"),
    ],
)
def test_what_goes_wrong_becomes_text(tool: str, arguments: dict[str, object], message: str) -> None:
    made = ToolManager([dspy.Tool(look_up)]).call(tool, arguments)
    assert made.failed
    assert message in made.output


def test_a_slow_tool_is_not_waited_for() -> None:
    tools = ToolManager([dspy.Tool(nap)], ToolLimits(seconds=0.2))
    started = time.perf_counter()
    made = tools.call("nap", {"seconds": 3.0})
    assert time.perf_counter() - started < 2
    assert (made.output, made.failed) == ("the tool took longer than 0.2 seconds", True)


def test_a_long_output_is_cut_and_it_is_said() -> None:
    tools = ToolManager([dspy.Tool(look_up)], ToolLimits(characters=100))
    made = tools.call("look_up", {"name": "x" * 500})
    assert made.output == "x" * 100 + "\n[cut: 505 characters in all]"


def test_the_same_call_is_answered_from_memory_and_a_failed_one_made_again() -> None:
    asked: list[str] = []

    def count(name: str) -> str:
        """Counts."""
        asked.append(name)
        if len(asked) == 1:
            raise OSError("not yet")
        return str(len(asked))

    tools = ToolManager([dspy.Tool(count)])
    outputs = [tools.call("count", {"name": "a"}).output for _ in range(3)]
    assert outputs == ["OSError: not yet", "2", "2"]


def test_tools_are_loaded_by_name() -> None:
    assert load_tools(["visit_page"], ToolSettings()).names == ("visit_page",)
    with pytest.raises(ConfigError, match="there is no tool 'visit'; the nearest are: visit_page"):
        load_tools(["visit"], ToolSettings())
    with pytest.raises(ConfigError, match="different names"):
        ToolManager([dspy.Tool(nap), dspy.Tool(nap)])


def test_a_tool_has_limits_of_its_own() -> None:
    own = {"look_up": ToolLimits(characters=100, calls=2), "nap": ToolLimits(seconds=0.1)}
    tools = ToolManager([dspy.Tool(look_up), dspy.Tool(nap)], ToolLimits(seconds=20), own)
    assert tools.call("look_up", {"name": "x" * 300}).output.endswith("[cut: 305 characters in all]")
    assert tools.call("nap", {"seconds": 5}).output == "the tool took longer than 0.1 seconds"
    assert not tools.call("look_up", {"name": "b"}).failed
    assert not tools.call("look_up", {"name": "b"}).failed  # from memory
    spent = tools.call("look_up", {"name": "c"})
    assert (spent.failed, spent.output) == (
        True,
        "look_up may be called 2 times for a question: use what it has returned",
    )
    assert not tools.for_question().call("look_up", {"name": "c"}).failed
    with pytest.raises(ConfigError, match="limits are given for 'sing', which is not loaded"):
        ToolManager([], own={"sing": ToolLimits()})
    with pytest.raises(ConfigError, match="calls must be at least 1, got 0"):
        ToolLimits(calls=0)


def test_settings_of_dspy_reach_a_tool() -> None:
    def model() -> str:
        """Names the model."""
        return str(dspy.settings.lm)

    with dspy.context(lm="a model"):
        assert ToolManager([dspy.Tool(model)]).call("model", {}).output == "a model"
