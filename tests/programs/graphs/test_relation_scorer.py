"""The language model as the scorer of relations: with replies that are written down, and with a real small model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dspy
import numpy as np
import pytest
from dspy import lm15
from dspy.utils.exceptions import AdapterParseError
from pydantic import TypeAdapter, ValidationError

from kg.errors import ConfigError, LMError
from kg.graphs.index import GraphIndex
from kg.paths.scorer import RelationStep, TopicRules
from kg.paths.space import PathConfig, answer_question
from programs.graphs.relation_scorer import UNRATED, LMRelationConfig, LMRelationScorer, rated_steps
from programs.lm.adapter import SuitedAdapter
from programs.lm.meter import CallMeter

FILMS = GraphIndex.from_triples(
    [
        ("Alien", "directed_by", "Scott"),
        ("Blade Runner", "directed_by", "Scott"),
        ("Alien", "starred", "Weaver"),
        ("Alien", "year", "1979"),
    ]
)
NARROW = PathConfig(beam_width=2, max_depth=2, answer_threshold=0.1)
ScriptedLM = Callable[..., dspy.LM]


def _rated(*pairs: tuple[int, float]) -> dict[str, str]:
    return {"rated": json.dumps({"steps": [{"step": step, "probability": share} for step, share in pairs]})}


def _step(paths: Sequence[Sequence[int]], offered: Any) -> RelationStep:
    followed = np.array(paths, dtype=np.int64).reshape(len(paths), -1)
    return RelationStep("who?", ("Alien",), FILMS.relations, followed, np.array(offered, dtype=np.bool_))


def _prompt(lm: dspy.LM) -> str:
    return str(lm.history[-1]["messages"][-1]["content"])


def test_a_question_is_answered_with_one_call_a_step(scripted_lm: ScriptedLM) -> None:
    # Steps of depth 0: directed_by, starred, year. Of depth 1: Alien -> directed_by -> ^directed_by, stop here, …
    lm = scripted_lm([_rated((1, 0.9), (2, 0.1)), _rated((1, 0.2), (2, 0.8))])
    meter = CallMeter()
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(), callbacks=[meter]):
        answer = answer_question(FILMS, "who directed Alien", ["Alien"], LMRelationScorer(), NARROW)
    assert answer.answers[0][0] == "Scott"
    assert meter.calls == 2
    assert answer.relation_paths[0].score == pytest.approx(
        np.log(0.891 + 0.01 / 3) + np.log(0.792 + 0.01 / 4), abs=2e-3
    )


def test_all_states_are_in_one_prompt_by_number(scripted_lm: ScriptedLM) -> None:
    lm = scripted_lm([_rated((3, 1.0))])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        LMRelationScorer().log_probabilities(_step([[0], [1]], [[0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]]))
    lines = ["1. Alien -> directed_by -> ^directed_by", "2. Alien -> directed_by: stop here"]
    lines += ["3. Alien -> starred -> directed_by", "4. Alien -> starred: stop here"]
    assert "\n".join(lines) in _prompt(lm)


def test_what_is_not_rated_keeps_a_little_and_what_is_not_offered_nothing(scripted_lm: ScriptedLM) -> None:
    lm = scripted_lm([_rated((1, 0.6), (1, 0.1), (4, 0.0))])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        scores = LMRelationScorer().log_probabilities(_step([[0], [1]], [[1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]))
    expected = np.full((2, 7), UNRATED / 5)
    expected[0, 0] += 0.6 * (1 - UNRATED)
    assert np.isneginf(scores[0, 2:6]).all()
    assert np.isneginf(scores[1, 1:6]).all()
    assert np.allclose(np.exp(scores)[np.isfinite(scores)], expected[np.isfinite(scores)])
    assert (np.exp(scores).sum(axis=1) <= 1 + 1e-6).all()


def test_probabilities_that_sum_to_more_than_one_are_shared_out(scripted_lm: ScriptedLM) -> None:
    lm = scripted_lm([_rated((1, 1.0), (2, 1.0))])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        scores = LMRelationScorer().log_probabilities(_step([[]], [[1, 1, 0, 0, 0, 0]]))
    assert np.allclose(np.exp(scores[0, :2]), 0.5)
    assert np.isneginf(scores[0, -1])


def test_nothing_is_asked_where_there_is_no_choice() -> None:
    with dspy.context(lm=None):
        scorer = LMRelationScorer()
        assert scorer.log_probabilities(_step([[0]], [[0] * 6]))[0].tolist() == [-np.inf] * 6 + [0.0]
        assert np.isneginf(scorer.log_probabilities(_step([[]], [[0] * 6]))).all()


def test_too_many_steps_are_narrowed_and_stopping_stays(scripted_lm: ScriptedLM) -> None:
    names = [*(f"r{n}" for n in range(200)), "director"]
    offered = np.ones((2, len(names)), dtype=np.bool_)
    step = RelationStep("the director of X", ("X",), names, np.array([[0], [1]]), offered)
    lm = scripted_lm([_rated((1, 1.0))])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        scores = LMRelationScorer(config=LMRelationConfig(most_shown=10)).log_probabilities(step)
    assert np.isfinite(scores).sum() == 10
    assert np.isfinite(scores[:, [-2, -1]]).all()
    assert "r0 -> director" in _prompt(lm)


@pytest.mark.parametrize(
    "reply",
    [
        _rated((4, 0.9)),
        _rated((0, 0.9)),
        _rated((1, 1.5)),
        {"rated": '{"steps": []}'},
        {"rated": '{"steps": [{"step": "directed_by", "probability": 1}]}'},
        {"other": "x"},
    ],
)
def test_a_reply_that_names_no_offered_step_is_refused(scripted_lm: ScriptedLM, reply: dict[str, str]) -> None:
    lm = scripted_lm([reply] * 3)
    with (
        dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)),
        pytest.raises(LMError, match="did not rate the steps of 'who directed Alien'") as caught,
    ):
        answer_question(FILMS, "who directed Alien", ["Alien"], LMRelationScorer(), NARROW)
    assert isinstance(caught.value.__cause__, AdapterParseError)


def test_a_model_that_cannot_be_reached_is_told(scripted_lm: ScriptedLM) -> None:
    lm = scripted_lm([lm15.ServerError("down", provider="scripted")])
    with (
        dspy.context(lm=lm, adapter=dspy.ChatAdapter()),
        pytest.raises(LMError, match="cannot rate the steps of 'who directed Alien'"),
    ):
        answer_question(FILMS, "who directed Alien", ["Alien"], LMRelationScorer(), NARROW)


def test_numbers_beyond_the_steps_are_no_values_of_the_type() -> None:
    kind = TypeAdapter(rated_steps(3, 8).output_fields["rated"].annotation)
    assert kind.validate_python({"steps": [{"step": 3, "probability": 0.5}]}).steps[0].step == 3
    for wrong in ([{"step": 4, "probability": 0.5}], [], [{"step": 1, "probability": 2}]):
        with pytest.raises(ValidationError):
            kind.validate_python({"steps": wrong})


def test_settings_and_rules() -> None:
    with pytest.raises(ConfigError, match="most_shown must be at least 2, got 1"):
        LMRelationConfig(most_shown=1)
    with pytest.raises(ConfigError, match="most_rated must be at least 1, got 0"):
        LMRelationConfig(most_rated=0)
    assert LMRelationScorer(TopicRules(may_return=True)).rules.may_return
    assert [name for name, _ in LMRelationScorer().named_predictors()] == ["rate"]


@pytest.mark.slow
def test_a_real_model_rates_offered_steps_only(smallest_model: Path) -> None:
    """The smallest model is no judge of relations, but it cannot say anything that is not offered."""
    from programs.lm import AsyncEmbeddedEngine, EmbeddedEngine, EngineSettings

    engine = EmbeddedEngine(EngineSettings(smallest_model, "local/smollm2-135m", context=2048))
    both = {"engine": engine, "async_engine": AsyncEmbeddedEngine(engine)}
    lm = dspy.LM("local/smollm2-135m", **both, temperature=0.0, max_tokens=200, cache=False)
    try:
        with dspy.context(lm=lm, adapter=SuitedAdapter()):
            answer = answer_question(FILMS, "who directed Alien", ["Alien"], LMRelationScorer(), NARROW)
    finally:
        engine.close()
    assert answer.answers
    assert 2 <= len(lm.history) <= 3
    assert all(FILMS.contains(*triple) for path in answer.paths for triple in path.triples)
