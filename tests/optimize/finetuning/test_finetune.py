"""The optimizer and DSPy's provider, with an oracle in place of the model and its training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.clients.utils_finetune import TrainDataFormat

from experiments.data import conversation_examples, load_conversations
from experiments.saved import find_program
from kg.errors import ConfigError
from optimize.compiling.registry import parse_optimizers
from optimize.finetuning import EmbeddedProvider, FitAdapter, finetune, provider
from optimize.finetuning.finetune import FinetuneOptimizer
from optimize.finetuning.sequences import ChatExample
from optimize.needs import Extras
from programs.lm import EmbeddedEngine, EngineSettings, GuardedLM, ReplyChoice, adapter_files, write_card


@pytest.fixture
def lm(tmp_path: Path) -> GuardedLM:
    base = tmp_path / "model.gguf"
    base.write_bytes(b"weights")
    engine = EmbeddedEngine(EngineSettings(base, "local/model"))
    return GuardedLM("local/model", engine=engine, provider=EmbeddedProvider(engine), free=True, cache=False)


class Trainer:
    """Stands in for the training: it keeps what it is given, and writes the adapter's files."""

    def __init__(self) -> None:
        self.learned: list[ChatExample] = []
        self.held_out: list[ChatExample] = []
        self.settings: dict[str, Any] = {}

    def __call__(
        self, engine: Any, examples: Sequence[ChatExample], held_out: Sequence[ChatExample], **settings: Any
    ) -> dict[str, Any]:
        self.learned, self.held_out, self.settings = list(examples), list(held_out), settings
        files = adapter_files(engine.settings.path, settings["name"])
        files.weights.parent.mkdir(exist_ok=True)
        files.weights.write_bytes(b"adapter")
        return write_card(files, engine.settings.path, {})


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Trainer:
    made = Trainer()
    for module in (finetune, provider):
        monkeypatch.setattr(module, "tune", made)
    monkeypatch.setattr(finetune, "check_packages", lambda: None)
    return made


def _oracle(wanted: dict[str, str], asked: list[str]) -> Any:
    def choose(self: Any, prompt: Any, replies: Sequence[str], memory: Any = None) -> list[ReplyChoice]:
        asked.append(self.name)
        good = wanted.get(prompt[-1]["content"])
        shares = [0.9 if reply == good else 0.1 / len(replies) for reply in replies]
        return [ReplyChoice(math.log(one), math.log(one / sum(shares))) for one in shares]

    return choose


def test_the_evidence_of_a_good_model_gets_weight(
    lm: GuardedLM, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = conversation_examples(load_conversations("sample:train").conversations[:12])
    student = find_program("beam").program
    wanted: dict[str, str] = {}
    for example in examples:
        for turn in finetune.asked_turns(student.turn, example, 10):
            if turn.reply is not None:
                wanted[turn.messages[-1]["content"]] = turn.reply
    asked: list[str] = []
    monkeypatch.setattr(EmbeddedEngine, "choose", _oracle(wanted, asked))
    unanswered = [
        dspy.Example(report=one.report, questions=("who audits the company?",), gold=(None,)) for one in examples
    ]
    told: list[str] = []
    settings = FinetuneOptimizer(name="mine", held_out=0.4)
    extras = Extras(lms={"task": lm}, progress=told.append, without_programs=unanswered)
    fit = FitAdapter(settings, extras=extras)
    compiled = fit.compile(student, trainset=examples)
    plan = compiled.turn.evidence.plans["local/model+mine"]
    assert plan.abstention is not None
    assert any(line.startswith("abstention: ") for line in told)
    assert (plan.mode, plan.prompt, plan.fitted) == ("likelihood", "brief", True)
    assert plan.blend.weights["share"] > 0.1
    assert set(asked) == {"local/model+mine"}
    assert "local/model+mine" not in student.turn.evidence.plans
    assert not {one.group for one in trainer.learned} & {one.group for one in trainer.held_out}
    replies = [reply for one in trainer.learned for reply in one.replies.values()]
    assert replies
    assert all(reply.text not in reply.rivals for reply in replies)


def test_what_is_learned_of_each_kind_of_data(lm: GuardedLM, trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = conversation_examples(load_conversations("sample:train").conversations[:12])
    asked = examples[0]
    unanswered = dspy.Example(report=asked.report, questions=("who audits the company?", "why?"), gold=(None, "x"))
    named = dspy.Example(report=asked.report, questions=("in which year was it higher?",), gold=(("2008",),))
    unsure = examples[1].copy(margin=2.0, id="unsure")
    sure = examples[2].copy(margin=20.0, id="sure")
    monkeypatch.setattr(EmbeddedEngine, "choose", _oracle({}, []))
    monkeypatch.setattr(FitAdapter, "_split", lambda _self, _student, every: (list(every), [examples[0], examples[-1]]))
    student = find_program("beam").program
    fit = FitAdapter(extras=Extras(lms={"task": lm}, without_programs=[unanswered, named]))
    fit.compile(student, trainset=[*examples[:1], unsure, sure])
    assert len(trainer.learned) == 3, "the unsure conversation and the one with a name are left out"
    [reply] = trainer.learned[-1].replies.values()
    assert reply.text == "none"
    assert reply.rivals
    assert len(trainer.learned[-1].messages) == 3, "it ends at the question whose calculation is not known"
    for example in trainer.learned[:-1]:
        assert all("none" in reply.rivals for reply in example.replies.values())


def test_a_job_plots_on_the_active_run(lm: GuardedLM, trainer: Trainer, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    lm.finetune(CHATS, TrainDataFormat.CHAT, {"name": "mine"}).result()
    assert trainer.settings["plot"] is None
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    try:
        with mlflow.start_run() as run:
            lm.finetune(CHATS, TrainDataFormat.CHAT, {"name": "mine"}).result()
        trainer.settings["plot"]({"training/held_out_accuracy": 0.5}, 0)
        trainer.settings["plot"]({"training/held_out_accuracy": 0.75}, 40)
        client = mlflow.MlflowClient()
        history = client.get_metric_history(run.info.run_id, "training/held_out_accuracy")
        assert [(one.step, one.value) for one in history] == [(0, 0.5), (40, 0.75)]
    finally:
        mlflow.set_tracking_uri(None)


def test_only_embedded_models_are_trained() -> None:
    examples = conversation_examples(load_conversations("sample:train").conversations[:4])
    with pytest.raises(ConfigError, match="name one with --lm local"):
        FitAdapter().compile(find_program("beam").program, trainset=examples)


def test_settings_are_those_of_the_registry(lm: GuardedLM) -> None:
    [step] = parse_optimizers("finetune", ["finetune.name=mine", "finetune.training.hours=0.5"])
    fit = step.optimizer().make(0, Extras(lms={"task": lm}))
    assert isinstance(fit, FitAdapter)
    assert (fit.settings.name, fit.settings.training.hours, fit.extras.lms["task"]) == ("mine", 0.5, lm)


CHATS = [
    {"messages": [{"role": "user", "content": str(n)}, {"role": "assistant", "content": "yes"}]} for n in range(20)
]


def test_dspy_finetunes_an_embedded_model(lm: GuardedLM, trainer: Trainer) -> None:
    job = lm.finetune(CHATS, TrainDataFormat.CHAT, {"name": "mine", "hours": 0.5, "held_out": 0.1})
    tuned = job.result()
    assert tuned.model == "local/model+mine"
    assert tuned.engine.settings.adapter.name == "model+mine.gguf"
    assert (len(trainer.learned), len(trainer.held_out)) == (18, 2)
    assert trainer.settings["config"].hours == 0.5
    assert lm.model == "local/model"


def test_bootstrap_finetune_gives_the_student_the_tuned_model(lm: GuardedLM, trainer: Trainer) -> None:
    from dspy.utils import DummyLM

    student, teacher = dspy.Predict("question -> answer"), dspy.Predict("question -> answer")
    student.lm, teacher.lm = lm, DummyLM([{"answer": "yes"}] * 20)
    data = [dspy.Example(question=str(n), answer="yes").with_inputs("question") for n in range(4)]
    optimizer = dspy.BootstrapFinetune(train_kwargs={"name": "boot"}, num_threads=1)
    compiled = optimizer.compile(student, trainset=data, teacher=teacher)
    assert compiled.lm.model == "local/model+boot"
    assert len(trainer.learned) == 4
    texts = {reply.text for one in trainer.learned for reply in one.replies.values()}
    assert len(texts) == 1
    assert "yes" in texts.pop()


@pytest.mark.parametrize(
    ("form", "settings", "message"),
    [
        (TrainDataFormat.COMPLETION, {}, "learn chats"),
        (TrainDataFormat.CHAT, {"rate": 1}, "no training setting 'rate'"),
        (TrainDataFormat.CHAT, {"hours": 0}, "more than 0"),
    ],
)
def test_wrong_settings_are_errors_of_the_job(
    lm: GuardedLM, trainer: Trainer, form: Any, settings: dict[str, Any], message: str
) -> None:
    result = lm.finetune(CHATS, form, settings).result()
    assert isinstance(result, ConfigError)
    assert message in str(result)
