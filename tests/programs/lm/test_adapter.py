from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Literal

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel, Field

from programs.lm.adapter import ShortPromptAdapter, layout_of, suited_adapter
from programs.lm.grammar import LINES
from programs.lm.guarded import GuardedLM


class Meaning(BaseModel):
    text: str = Field(description="the question spelled out")
    periods: list[int] = Field(description="years it asks about")
    operation: Literal["select", "divide"]


class Understood(dspy.Signature):
    """Say what a question asks for."""

    history: str = dspy.InputField()
    question: str = dspy.InputField()
    meaning: Meaning = dspy.OutputField()
    sure: bool = dspy.OutputField(desc="whether it is clear")


REPLY = "text: revenues in 2008\nperiods: 2008; 2007\noperation: divide\nsure: true"
VALUES = {"meaning": Meaning(text="revenues in 2008", periods=[2008, 2007], operation="divide"), "sure": True}


def test_the_prompt_is_short_and_whole() -> None:
    demo = {"history": "none", "question": "and in 2008?", **VALUES}
    inputs = {"history": "Q1: a -> 1\nQ2: b -> 2", "question": "and now?"}
    messages = ShortPromptAdapter().format(Understood, [demo], inputs)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[0]["content"] == (
        "Say what a question asks for.\n"
        "Reply with the lines text, periods, operation, sure.\n"
        "- text is the question spelled out\n"
        "- periods is years it asks about; several with ; between them, or none\n"
        "- operation is one of select, divide\n"
        "- sure is whether it is clear; true or false"
    )
    assert messages[1]["content"] == "history: none\nquestion: and in 2008?"
    assert messages[2]["content"] == REPLY
    assert messages[3]["content"] == "history:\nQ1: a -> 1\nQ2: b -> 2\nquestion: and now?"


def test_a_reply_becomes_typed_values() -> None:
    assert ShortPromptAdapter().parse(Understood, REPLY) == VALUES


def test_demonstrations_that_were_saved_as_json_are_written_alike() -> None:
    plain = {"meaning": VALUES["meaning"].model_dump(), "sure": True}  # type: ignore[attr-defined]
    assert ShortPromptAdapter().format_assistant_message_content(Understood, plain) == REPLY


def test_every_kind_of_value_comes_back() -> None:
    signature = dspy.Signature("x -> a: int, b: float, c: str, d: list[str], e: dict[str, int], f: Literal['u', 'v w']")
    values = {"a": -3, "b": 0.5, "c": "some: text", "d": [], "e": {"k": 1}, "f": "v w"}
    adapter = ShortPromptAdapter()
    reply = adapter.format_assistant_message_content(signature, values)
    assert reply == 'a: -3\nb: 0.5\nc: some: text\nd: none\ne: {"k": 1}\nf: v w'
    assert adapter.parse(signature, reply) == values


def test_text_of_several_lines_is_read_whole() -> None:
    signature = dspy.Signature("x -> thought: str, answer: int")
    assert ShortPromptAdapter().parse(signature, "thought: one\ntwo\nanswer: 3") == {"thought": "one\ntwo", "answer": 3}


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("text: a\nperiods: 2008\noperation: divide", "no line 'sure'"),
        (REPLY.replace("divide", "guess"), "'guess' is not one of select, divide"),
        (REPLY.replace("true", "perhaps"), "neither true nor false"),
        (REPLY.replace("2007", "last year"), "valid integer"),
        ("I cannot say.", "no line 'text'"),
    ],
)
def test_what_does_not_fit_the_types_is_refused(reply: str, message: str) -> None:
    with pytest.raises(AdapterParseError, match=message):
        ShortPromptAdapter().parse(Understood, reply)


def test_names_that_two_fields_share_are_told_apart() -> None:
    class Two(dspy.Signature):
        """Two of a kind."""

        first: Meaning = dspy.OutputField()
        second: Meaning = dspy.OutputField()

    names = [line.name for line in layout_of(Two).lines]
    assert names[:2] == ["first.text", "first.periods"]
    reply = "\n".join(f"{name}: {'select' if 'op' in name else 2000}" for name in names)
    values = ShortPromptAdapter().parse(Two, reply)
    assert values["first"] == values["second"] == Meaning(text="2000", periods=[2000], operation="select")


def test_long_choices_stay_out_of_the_instructions() -> None:
    names = tuple(f"a rather long name of a line item {number}" for number in range(20))
    signature = dspy.Signature("x -> item").with_updated_fields("item", type_=Literal[names])
    system = ShortPromptAdapter().format_system_message(signature)
    assert "line item 3" not in system
    assert "- item is one of the names given" in system


def _asked(engine: object) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    seen: dict[str, Any] = {}

    class LM:
        model = "scripted"

        def __call__(self, **settings: Any) -> list[str]:
            seen.update(settings)
            return [REPLY]

    lm = LM()
    lm.engine = engine  # type: ignore[attr-defined]
    inputs = {"history": "none", "question": "?"}
    return seen, ShortPromptAdapter()(lm, {"temperature": 0.0}, Understood, [], inputs)


def test_a_model_that_can_be_held_to_lines_is() -> None:
    seen, values = _asked(SimpleNamespace(reads_lines=True))
    schema = seen["response_format"]["json_schema"]
    assert schema["name"] == LINES
    assert list(schema["schema"]["properties"]) == ["text", "periods", "operation", "sure"]
    assert values == [VALUES]


def test_other_models_are_only_asked() -> None:
    seen, values = _asked("auto")
    assert "response_format" not in seen
    assert values == [VALUES]


def test_each_model_gets_the_adapter_that_suits_it() -> None:
    assert isinstance(suited_adapter(SimpleNamespace(engine=SimpleNamespace(reads_lines=True))), ShortPromptAdapter)
    own = GuardedLM("openai/m", own_server=True, api_base="http://localhost:1/v1", api_key="none")
    assert isinstance(suited_adapter(own), dspy.JSONAdapter)
    assert suited_adapter(dspy.LM("openai/gpt-4o-mini")) is None
    assert suited_adapter(None) is None


def test_a_reply_without_any_line_of_a_field_is_refused() -> None:
    class Part(BaseModel):
        number: int = 0

    signature = dspy.Signature("x -> part").with_updated_fields("part", type_=Part)
    assert ShortPromptAdapter().parse(signature, "number: 3")["part"].number == 3
    with pytest.raises(AdapterParseError, match="the reply has no line of 'part'"):
        ShortPromptAdapter().parse(signature, "nothing that fits")
