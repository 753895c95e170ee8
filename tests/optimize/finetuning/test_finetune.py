"""The optimizer, with an oracle in place of the model and its training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.data import conversation_examples, load_conversations
from experiments.saved import find_program
from kg.errors import ConfigError
from optimize.finetuning import Chat, FinetuneSettings, FitAdapter, finetune
from optimize.optimizers import parse_optimizers
from programs.lm import EmbeddedEngine, EngineSettings, GuardedLM, ReplyChoice, adapter_files, write_card


@pytest.fixture
def lm(tmp_path: Path) -> GuardedLM:
    base = tmp_path / "model.gguf"
    base.write_bytes(b"weights")
    return GuardedLM("local/model", engine=EmbeddedEngine(EngineSettings(base, "local/model")), free=True, cache=False)


class Trainer:
    """Replaces the training: it keeps its chats, and writes the adapter's files."""

    def __init__(self) -> None:
        self.learned: list[Chat] = []
        self.held_out: list[Chat] = []

    def __call__(self, engine: Any, chats: Sequence[Chat], held_out: Sequence[Chat], **settings: Any) -> dict[str, Any]:
        self.learned, self.held_out = list(chats), list(held_out)
        files = adapter_files(engine.settings.path, settings["name"])
        files.weights.parent.mkdir(exist_ok=True)
        files.weights.write_bytes(b"adapter")
        return write_card(files, engine.settings.path, {})


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Trainer:
    made = Trainer()
    monkeypatch.setattr(finetune, "train_adapter", made)
    monkeypatch.setattr(finetune, "check_packages", lambda: None)
    return made


def _oracle(wanted: dict[str, str], models: list[str]) -> Any:
    def choose(self: Any, prompt: Any, replies: Sequence[str], memory: Any = None) -> list[ReplyChoice]:
        models.append(self.name)
        good = wanted.get(prompt[-1]["content"].rpartition(": ")[2])
        shares = [0.9 if reply == good else 0.1 / len(replies) for reply in replies]
        return [ReplyChoice(math.log(one), math.log(one / sum(shares))) for one in shares]

    return choose


def test_the_evidence_of_a_good_model_gets_weight(
    lm: GuardedLM, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = conversation_examples(load_conversations("sample:train").conversations[:16])
    student = find_program("beam").program
    wanted: dict[str, str] = {}
    for chat in finetune.training_chats(student.turn, examples, 10):
        for place in chat.learned:
            question = chat.messages[place - 1]["content"].rpartition(": ")[2]
            wanted[question] = chat.messages[place]["content"]
    models: list[str] = []
    monkeypatch.setattr(EmbeddedEngine, "choose", _oracle(wanted, models))
    with dspy.context(lm=lm):
        compiled = FitAdapter(FinetuneSettings(name="mine", held_out=0.6)).compile(student, trainset=examples)
    plan = compiled.turn.evidence.plans["local/model+mine"]
    assert (plan.prompt, plan.decides) == ("brief", False)
    assert plan.blend.weights["share"] > 0.1
    assert set(models) == {"local/model+mine"}
    assert "local/model+mine" not in student.turn.evidence.plans
    assert trainer.learned
    assert not {chat.group for chat in trainer.learned} & {chat.group for chat in trainer.held_out}


def test_conversations_of_a_low_margin_are_not_learned(
    lm: GuardedLM, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third, *rest = conversation_examples(load_conversations("sample:train").conversations[:12])
    low, high = second.copy(margin=2.0), third.copy(margin=20.0)
    monkeypatch.setattr(EmbeddedEngine, "choose", _oracle({}, []))
    monkeypatch.setattr(FitAdapter, "_split", lambda _self, _turn, every: (list(every), rest))
    with dspy.context(lm=lm):
        FitAdapter().compile(find_program("beam").program, trainset=[first, low, high])
    questions = [chat.messages[1]["content"].rpartition(": ")[2] for chat in trainer.learned]
    assert questions == [one.questions[0] for one in (first, high)]


def test_only_embedded_models_without_an_adapter_are_trained(tmp_path: Path) -> None:
    examples = conversation_examples(load_conversations("sample:train").conversations[:4])
    with pytest.raises(ConfigError, match="name one with --lm local"):
        FitAdapter().compile(find_program("beam").program, trainset=examples)
    engine = EmbeddedEngine(EngineSettings(tmp_path / "m.gguf", "local/m+old", adapter=tmp_path / "old.gguf"))
    tuned = GuardedLM("local/m+old", engine=engine, free=True, cache=False)
    with dspy.context(lm=tuned), pytest.raises(ConfigError, match="without an adapter, got local/m\\+old"):
        FitAdapter().compile(find_program("beam").program, trainset=examples)


def test_settings_are_those_of_the_registry() -> None:
    [step] = parse_optimizers("finetune", ["finetune.name=mine", "finetune.training.epochs=0.5"])
    fit, _ = step.make({})
    assert isinstance(fit, FitAdapter)
    assert (fit.settings.name, fit.settings.training.epochs) == ("mine", 0.5)
