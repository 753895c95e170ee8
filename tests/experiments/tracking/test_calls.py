"""Calls while a program is compiled: each outermost one that asks a language model is a trace of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dspy

from experiments.tracking import Tracker, TrackingConfig, open_run, traced_calls


class Outer(dspy.Module):
    """Asks twice, or not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict("question -> answer")

    def forward(self, question: str) -> dspy.Prediction:
        if question == "silence":
            return dspy.Prediction(answer="none")
        self.predict(question=question)
        return self.predict(question=f"{question} again", config={"rollout_id": 1, "temperature": 0.5})


def test_each_outermost_call_with_a_model_is_a_trace(tracking_uri: str, scripted_lm: Callable[..., Any]) -> None:
    tracker = Tracker(TrackingConfig(tracking_uri))
    lm = scripted_lm([{"answer": str(number)} for number in range(6)])
    program = Outer()
    adapter = dspy.ChatAdapter(use_json_adapter_fallback=False)
    with tracker.run("compile", "mine") as run, dspy.context(lm=lm, adapter=adapter), traced_calls(tracker, run):
        program(question="silence")
        dspy.Parallel(num_threads=2, disable_progress_bar=True)(
            [(program, dspy.Example(question=name).with_inputs("question")) for name in ("a", "b")]
        )
        program(question="c")
    found = tracker.client.search_traces(locations=[tracker.experiment_id], run_id=run.id)
    assert len(found) == 3
    for trace in found:
        names = [span.name for span in trace.data.spans]
        assert names.count("Outer") == 1
        assert names.count("local/scripted") == 2
    assert not lm.engine.replies


def test_without_a_store_nothing_is_recorded(scripted_lm: Callable[..., Any]) -> None:
    with open_run(None, "compile", "mine") as run, traced_calls(None, run):
        assert dspy.settings.callbacks == []
