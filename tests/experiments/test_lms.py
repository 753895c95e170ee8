from __future__ import annotations

import pytest

from experiments.lms import LMConfig, make_lm
from kg.errors import ConfigError


def test_none_is_no_model() -> None:
    assert make_lm(LMConfig()) is None


def test_settings_reach_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = make_lm(LMConfig("openai/qwen", api_base="http://localhost:1/v1", max_tokens=99))
    assert lm is not None
    assert lm.model == "openai/qwen"
    assert (lm.kwargs["temperature"], lm.kwargs["max_tokens"], lm.cache) == (0.0, 99, True)
    assert lm.kwargs["api_base"] == "http://localhost:1/v1"
    assert "api_key" not in lm.dump_state()


def test_a_key_of_the_environment_is_left_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    lm = make_lm(LMConfig("openai/qwen", api_base="http://localhost:1/v1"))
    assert lm is not None
    assert "api_key" not in lm.kwargs


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "gpt"}, "provider/model"),
        ({"name": ""}, "got ''"),
        ({"temperature": -1.0}, "temperature must be at least 0, got -1.0"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LMConfig(**settings)  # type: ignore[arg-type]
