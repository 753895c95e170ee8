"""A language model that answers at once: any reply that its schema allows, chosen by a hash of the prompt."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from typing import Any

import dspy
import pytest
from dspy import lm15

from experiments.data import conversation_examples, load_conversations
from experiments.saved import find_program
from programs.lm.guarded import GuardedLM


class AnyReplyEngine:
    """Fills the schema of each request; ``stop_after`` requests it raises what Ctrl-C raises."""

    supports_response_schema = True
    supported_params = frozenset({"temperature", "max_tokens", "response_format", "n", "stop"})
    in_process = True

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.prompts: list[str] = []
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> AnyReplyEngine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        prompt = str(request.system) + "".join(part.text for one in request.messages for part in one.parts)
        with self._lock:
            self.prompts.append(prompt)
            if self.stop_after is not None and len(self.prompts) > self.stop_after:
                raise KeyboardInterrupt
        wanted = request.config.response_format
        schema = wanted["schema"] if wanted and wanted.get("schema") else None
        text = json.dumps(_value("", schema, schema, prompt)) if schema is not None else "ok"
        usage = lm15.Usage(input_tokens=len(prompt) // 4, output_tokens=len(text) // 4)
        message = lm15.Message.assistant(text)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


def _value(name: str, schema: Mapping[str, Any], root: Mapping[str, Any], prompt: str) -> Any:
    drawn = int.from_bytes(hashlib.sha256((name + prompt).encode()).digest()[:4])
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if allowed := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return allowed[drawn % len(allowed)]
    values = {"integer": drawn % 3, "number": (drawn % 100) / 100, "boolean": drawn % 2 == 0}
    kind = schema.get("type")
    if kind == "array":
        return [_value(name, schema.get("items", {"type": "string"}), root, prompt)]
    if kind == "object":
        return {key: _value(key, one, root, prompt) for key, one in schema.get("properties", {}).items()}
    return values.get(str(kind), f"be careful, case {drawn % 1000}")


@pytest.fixture
def any_lm() -> GuardedLM:
    """Such a model, under a name to which the shipped program gives no weight; its engine is ``.engine``."""
    return GuardedLM("local/qwen2.5-coder-1.5b", engine=AnyReplyEngine(), temperature=0.0, free=True, num_retries=0)


@pytest.fixture(scope="session")
def shipped_beam() -> Any:
    """The program that ships."""
    return find_program("beam").program


@pytest.fixture(scope="session")
def sample_train() -> list[dspy.Example]:
    """Twelve conversations of the sample's train split."""
    return conversation_examples(load_conversations("sample:train").conversations[:12])
