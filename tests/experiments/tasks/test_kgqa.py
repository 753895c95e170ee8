from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from experiments.commands.kgqa import folds
from experiments.commands.main import main
from experiments.data.graphs import OneGraph, OwnGraphs
from experiments.data.questions import KGQuestion, LoadedQuestions, load_questions
from experiments.lms.config import LMConfig
from experiments.saved.kgqa import SavedKGQA, fit_kgqa, load_kgqa, open_kgqa, save_kgqa
from experiments.tasks import kgqa as kgqa_evaluate
from experiments.tasks.kgqa import KGQAConfig, evaluate_kgqa
from experiments.tasks.kgqa_predictions import SCORES
from kg.errors import ConfigError, DataError, TrackingError
from kg.graphs.index import GraphIndex
from kg.paths.space import PathConfig
from optimize.scorers.relations import RelationTrainingConfig
from programs.graphs.kgqa import KGQA

TRIPLES = [
    *((f"film{n}", "directed_by", f"person{n % 3}") for n in range(8)),
    *((f"film{n}", "released_in", str(1990 + n)) for n in range(8)),
]
GRAPH = OneGraph(GraphIndex.from_triples(TRIPLES), "films")
QUESTIONS = tuple(
    KGQuestion(f"q{n}-{kind}", text.format(f"film{n}"), (f"film{n}",), (answer,), (f"film{n} -> {kind} -> {answer}",))
    for n in range(8)
    for kind, text, answer in (
        ("directed_by", "who made {} ?", f"person{n % 3}"),
        ("released_in", "when did {} come out ?", str(1990 + n)),
    )
)
LOADED = LoadedQuestions(QUESTIONS, ("q.txt: line 9: is not UTF-8",), "q.txt", "0" * 64)


@pytest.fixture(scope="module")
def program() -> KGQA:
    settings = PathConfig(max_depth=2)
    return fit_kgqa(GRAPH, QUESTIONS, RelationTrainingConfig(max_hops=2), settings, seed=0)


@pytest.fixture
def saved(program: KGQA) -> SavedKGQA:
    return SavedKGQA(program, "films-qa", {"scorer_sha256": "1" * 64})


def test_what_was_fitted_answers(saved: SavedKGQA) -> None:
    figures = evaluate_kgqa(saved, GRAPH, LOADED, KGQAConfig()).figures
    assert figures["hit_at_1"] == figures["f1"] == figures["path_validity"] == figures["gcr_path_recall"] == 1.0
    assert (figures["questions"], figures["failed_questions"], figures["unreadable_questions"]) == (16, 1, 1)
    assert figures["seconds_per_question_p95"] >= figures["seconds_per_question_p50"] > 0
    assert (figures["lm_calls"], figures["lm"], figures["program"]) == (0, "none", "films-qa")


def test_a_question_that_fails_costs_itself_only(saved: SavedKGQA) -> None:
    odd = dataclasses.replace(QUESTIONS[0], id="odd", topics=("Atlantis",))
    loaded = dataclasses.replace(LOADED, questions=(odd, *QUESTIONS[:3]), problems=())
    evaluation = evaluate_kgqa(saved, GRAPH, loaded, KGQAConfig())
    assert [score.failure for score in evaluation.scores] == ["no_topic", None, None, None]
    assert (evaluation.figures["hit_at_1"], evaluation.figures["failed_questions"]) == (0.75, 1)
    assert evaluation.figures["failures_no_topic"] == 1


def test_an_error_in_getting_a_graph_costs_its_question_only(saved: SavedKGQA) -> None:
    own = dataclasses.replace(QUESTIONS[0], graph=lambda: TRIPLES)
    loaded = dataclasses.replace(LOADED, questions=(own, QUESTIONS[1]), problems=())
    evaluation = evaluate_kgqa(saved, OwnGraphs(), loaded, KGQAConfig())
    assert [score.failure for score in evaluation.scores] == [None, "error"]
    assert "has no graph of its own" in evaluation.scores[1].message


def test_topics_can_be_linked_instead_of_given(saved: SavedKGQA) -> None:
    bare = [dataclasses.replace(question, topics=("Atlantis",)) for question in QUESTIONS]
    loaded = dataclasses.replace(LOADED, questions=tuple(bare))
    assert evaluate_kgqa(saved, GRAPH, loaded, KGQAConfig(link=True)).figures["hit_at_1"] == 1.0


def test_predictions_are_what_gcr_reads(saved: SavedKGQA, tmp_path: Path) -> None:
    file = tmp_path / "out" / "p.jsonl"
    evaluate_kgqa(saved, GRAPH, LOADED, KGQAConfig(predictions=file, limit=2))
    first, _ = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    assert list(first) == ["id", "question", "prediction", "ground_truth", "ground_truth_paths", "reasoning_trace"]
    assert first["prediction"][0] == "# Reasoning Path:\nfilm0 -> directed_by -> person0\n# Answer:\nperson0"
    assert first["ground_truth"] == ["person0"]
    assert first["ground_truth_paths"] == ["film0 -> directed_by -> person0"]
    assert list(first["reasoning_trace"]) == [
        "total_paths_explored",
        "completed_paths",
        "max_depth_reached",
        "backtrack_count",
    ]


def test_a_stopped_evaluation_goes_on(saved: SavedKGQA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "p.jsonl"
    config = KGQAConfig(predictions=file)
    whole = evaluate_kgqa(saved, GRAPH, LOADED, KGQAConfig(predictions=tmp_path / "whole.jsonl"))
    asked: list[str] = []
    answer = kgqa_evaluate._answered

    def stopping(*args: Any) -> Any:
        asked.append(args[2].id)
        if len(asked) == 6:
            raise KeyboardInterrupt
        return answer(*args)

    monkeypatch.setattr(kgqa_evaluate, "_answered", stopping)
    with pytest.raises(KeyboardInterrupt):
        evaluate_kgqa(saved, GRAPH, LOADED, config)
    # Killed while it wrote: of the last line only a part is there.
    file.write_bytes(file.read_bytes()[:-20])
    again = evaluate_kgqa(saved, GRAPH, LOADED, config)
    assert asked[6:] == [question.id for question in QUESTIONS[4:]]
    timing = {name: 0 for name in again.figures if name.startswith("seconds")}
    assert {**again.figures, **timing} == {**whole.figures, **timing}
    assert file.read_text("utf-8") == (tmp_path / "whole.jsonl").read_text("utf-8")


def test_predictions_of_another_evaluation_are_left_alone(saved: SavedKGQA, tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    evaluate_kgqa(saved, GRAPH, LOADED, KGQAConfig(predictions=file, limit=2))
    before = file.read_text("utf-8")
    other = KGQA(saved.program.scorer, saved.program.config, "last-entity")
    for config, other_program in (
        (KGQAConfig(predictions=file, limit=3), saved.program),
        (KGQAConfig(predictions=file, limit=2), other),
    ):
        with pytest.raises(ConfigError, match="is of another: remove it, or name another file"):
            evaluate_kgqa(dataclasses.replace(saved, program=other_program), GRAPH, LOADED, config)
    assert file.read_text("utf-8") == before
    (tmp_path / "p.jsonl.scores").unlink()
    with pytest.raises(ConfigError, match="is of another"):
        evaluate_kgqa(saved, GRAPH, LOADED, KGQAConfig(predictions=file, limit=2))


def test_a_mode_that_asks_a_model_needs_one(saved: SavedKGQA) -> None:
    asking = dataclasses.replace(saved, program=KGQA(saved.program.scorer, saved.program.config, "index"))
    with pytest.raises(ConfigError, match="the aggregation 'index' asks a language model: name one with --lm"):
        evaluate_kgqa(asking, GRAPH, LOADED, KGQAConfig())


@pytest.mark.parametrize("threads", [1, 4])
def test_models_are_asked_and_counted(saved: SavedKGQA, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    lm = DummyLM([{"chosen": "[1]"}] * 16)
    monkeypatch.setattr(kgqa_evaluate, "reach_lm", lambda config: {"lm": lm})
    asking = dataclasses.replace(saved, program=KGQA(saved.program.scorer, saved.program.config, "index"))
    config = KGQAConfig(lm=LMConfig("openai/scripted"), threads=threads)
    evaluation = evaluate_kgqa(asking, GRAPH, LOADED, config)
    assert evaluation.figures["lm_calls_per_question"] == 1.0
    assert [score.id for score in evaluation.scores] == [question.id for question in QUESTIONS]
    assert evaluation.figures["hit_at_1"] == 1.0


@pytest.mark.parametrize("name", ["limit", "threads"])
def test_settings_out_of_their_range_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be at least 1, got 0"):
        KGQAConfig(**{name: 0})  # type: ignore[arg-type]


def test_a_saved_program_answers_as_before(program: KGQA, tmp_path: Path) -> None:
    folder = save_kgqa(program, tmp_path / "mine", {"seed": 3})
    again = load_kgqa(folder)
    assert (again.name, again.config["seed"]) == ("mine", 3)
    assert again.program.config == program.config
    for question in QUESTIONS[:4]:
        asked = {"question": question.question, "graph": GRAPH.graph, "topics": question.topics}
        assert again.program(**asked).predictions == program(**asked).predictions
    changed = load_kgqa(folder, "last-entity", {"beam_width": 3})
    assert (changed.program.aggregation, changed.program.config.beam_width) == ("last-entity", 3)


def test_a_program_answers_over_another_graph(program: KGQA) -> None:
    other = GraphIndex.from_triples([("Alien", "directed_by", "Ridley Scott"), ("Alien", "released_in", "1979")])
    assert program(question="who made Alien ?", graph=other).answers[0][0] == "Ridley Scott"
    assert program(question="when did Alien come out ?", graph=other, topics=["Alien"]).answers[0][0] == "1979"


def test_without_training_relations_are_known_by_their_words() -> None:
    untrained = open_kgqa("untrained", None, {"max_depth": 1})
    loaded = dataclasses.replace(
        LOADED, questions=(dataclasses.replace(QUESTIONS[0], question="who directed film0 ?"),)
    )
    figures = evaluate_kgqa(untrained, GRAPH, loaded, KGQAConfig()).figures
    assert (figures["hit_at_1"], figures["program"]) == (1.0, "untrained")


def test_a_model_can_rate_the_relations(saved: SavedKGQA, monkeypatch: pytest.MonkeyPatch) -> None:
    rating = open_kgqa("untrained", "score", {"max_depth": 1, "beam_width": 2}, by_lm=True)
    one = dataclasses.replace(LOADED, questions=(QUESTIONS[1],))
    with pytest.raises(ConfigError, match="this scorer asks a language model: name one with --lm"):
        evaluate_kgqa(rating, GRAPH, one, KGQAConfig())
    # Of film0's relations, directed_by and released_in, the second.
    lm = DummyLM([{"rated": '{"steps": [{"step": 2, "probability": 0.9}]}'}] * 3)
    monkeypatch.setattr(kgqa_evaluate, "reach_lm", lambda config: {"lm": lm})
    evaluation = evaluate_kgqa(rating, GRAPH, one, KGQAConfig(lm=LMConfig("openai/scripted"), threads=1))
    assert evaluation.scores[0].answer == "1990"
    assert evaluation.figures["lm_calls_per_question"] >= 1
    assert evaluation.figures["scorer"] == "LMRelationScorer"


def test_a_broken_program_is_an_error(program: KGQA, tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match="is not there"):
        load_kgqa(tmp_path / "none")
    with pytest.raises(TrackingError, match=r"is not a saved program \(it has no config.json\)"):
        load_kgqa(tmp_path)
    folder = save_kgqa(program, tmp_path / "mine", {})
    (folder / "relations.json").write_text("{}")
    with pytest.raises(TrackingError, match=r"relations\.json is not the file"):
        load_kgqa(folder)
    (folder / "config.json").write_text('{"kind": "beam", "format": 1}')
    with pytest.raises(TrackingError, match="is of kind 'beam' and format 1"):
        load_kgqa(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(TrackingError, match="cannot be read"):
        load_kgqa(folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("x")
    with pytest.raises(ConfigError, match="must be a new or empty folder"):
        save_kgqa(program, tmp_path / "full", {})


def test_graphs_of_the_questions_are_joined_for_the_fit() -> None:
    own = [
        dataclasses.replace(question, graph=lambda n=n: [t for t in TRIPLES if t[0] == f"film{n // 2}"])
        for n, question in enumerate(QUESTIONS)
    ]
    program = fit_kgqa(OwnGraphs(), own, RelationTrainingConfig(max_hops=1), PathConfig(), seed=0)
    assert program(question="who made film3 ?", graph=GRAPH.graph).answers[0][0] == "person0"
    with pytest.raises(DataError, match="no questions to learn from"):
        fit_kgqa(GRAPH, [], RelationTrainingConfig(), PathConfig(), seed=0)


def test_folds_keep_what_depends_on_each_other_together() -> None:
    parts = folds(QUESTIONS, 4, "topic", seed=0)
    assert sorted(question.id for part in parts for question in part) == sorted(one.id for one in QUESTIONS)
    topics = [{question.topics for question in part} for part in parts]
    assert all(not first & second for first in topics for second in topics if first is not second)
    assert {len(part) for part in parts} == {4}
    assert parts == folds(QUESTIONS, 4, "topic", seed=0)
    assert parts != folds(QUESTIONS, 4, "topic", seed=1)
    assert len(folds(QUESTIONS, 16, "question", seed=0)) == 16
    with pytest.raises(ConfigError, match="folds must be from 2 to the 8 groups of questions, got 9"):
        folds(QUESTIONS, 9, "topic", seed=0)


SAMPLE = ["--graph", "sample:graph", "--format", "metaqa", "--questions"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("kgqa") / "program"
    assert main(["kgqa", "train", *SAMPLE, "sample:train", "--no-track", "--out", str(folder)]) == 0
    return str(folder)


def test_the_whole_way_on_the_sample(
    fitted: str, tracking_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from experiments.tracking.tracker import Tracker, TrackingConfig

    command = ["kgqa", "evaluate", fitted, *SAMPLE, "sample:dev", "--json", "out.json", "--predictions", "p.jsonl"]
    assert main(command) == 0
    figures = json.loads(Path("out.json").read_text())
    names = {"hit_at_1", "hit_at_10", "precision", "recall", "f1", "path_validity", "questions", "failed_questions"}
    assert names | {"seconds_per_question_p50", "seconds_per_question_p95"} <= set(figures)
    assert figures["hit_at_1"] >= 0.8
    assert figures["path_validity"] == 1.0
    assert (figures["questions"], figures["failed_questions"]) == (57, 0)
    assert "right at once (hit_at_1)" in capsys.readouterr().out
    assert len(Path("p.jsonl").read_text("utf-8").splitlines()) == 57
    assert Path("p.jsonl" + SCORES).exists()
    tracker = Tracker(TrackingConfig(uri=tracking_uri))
    run = tracker.find("latest", kinds=("kgqa",))
    assert run.id == figures["run_id"]
    assert run.metrics["hit_at_1"] == figures["hit_at_1"]
    assert run.params["aggregation"] == "score"
    assert len(tracker.table(run, "questions")) == 57


def test_asking_shows_each_answer_with_its_path(fitted: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(__file__).resolve().parents[3] / "experiments" / "sample" / "kgqa"
    question = load_questions(str(folder / "dev.txt"), "metaqa").questions[0]
    assert main(["kgqa", "ask", fitted, "--graph", "sample:graph", question.question]) == 0
    shown = capsys.readouterr().out
    assert all(f"{answer} " in shown for answer in question.answers)
    assert f"{question.topics[0]} -> " in shown
    assert main(["kgqa", "ask", fitted, "--graph", "sample:graph", "--json", "-", "who?"]) == 1
    assert json.loads(capsys.readouterr().out)["failure"] == "no_topic"


def test_cross_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{one.question.replace(one.topics[0], f'[{one.topics[0]}]')}\t{one.answers[0]}" for one in QUESTIONS]
    Path("q.txt").write_text("\n".join([*lines, "bad line"]) + "\n")
    Path("kb.txt").write_text("".join("|".join(triple) + "\n" for triple in TRIPLES))
    data = ["--graph", "kb.txt", "--questions", "q.txt", "--format", "metaqa", "--max-depth", "1", "--no-track"]
    assert main(["kgqa", "crossvalidate", *data, "--folds", "4", "--json", "out.json"]) == 0
    figures = json.loads(Path("out.json").read_text())
    assert (figures["questions"], figures["failed_questions"], figures["folds"]) == (16, 1, 4)
    assert figures["hit_at_1"] == 1.0
    assert main(["kgqa", "index", "--graph", "kb.txt", "--out", "kb.npz", "--json", "index.json"]) == 0
    assert json.loads(Path("index.json").read_text())["triples"] == len(set(TRIPLES))
    assert main(["kgqa", "train", *data, "--graph", "kb.npz", "--folds", "2", "--out", "program"]) == 0
    assert load_kgqa("program").config["train"]["count"] == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nowhere", *SAMPLE, "sample:dev"], "nowhere is not there"),
        (["train", *SAMPLE, "sample:test", "--out", "x"], "sample:test: there are sample:graph, sample:train"),
        (["train", "--format", "metaqa", "--questions", "sample:dev", "--out", "x"], "graph must be given"),
        (["crossvalidate", *SAMPLE, "sample:dev", "--folds", "1"], "folds must be at least 2, got 1"),
        (["index", "--graph", "sample:graph", "--out", "x.bin"], "out must end with .npz, got 'x.bin'"),
        (["index", "--graph", "http://127.0.0.1:9/sparql", "--out", "x.npz"], "not an endpoint"),
        (
            ["train", "--graph", "none.ttl", "--questions", "sample:dev", "--format", "metaqa", "--out", "x"],
            "none.ttl: is",
        ),
    ],
)
def test_mistakes_are_said_in_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["kgqa", *arguments, *([] if arguments[0] == "index" else ["--no-track"])]) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[-1].startswith("finpath: ")
    assert message in lines[-1]


@pytest.mark.parametrize(
    ("graph", "questions", "form", "least"),
    [("2H-kb.txt", "PQ-2H.txt", "pathquestion", 0.9)],
)
@pytest.mark.slow
def test_pathquestion_by_cross_validation(
    full_data: Path, tmp_path: Path, graph: str, questions: str, form: str, least: float
) -> None:
    folder = full_data / "pathquestion"
    data = ["--graph", str(folder / graph), "--questions", str(folder / questions), "--format", form]
    out = tmp_path / "out.json"
    assert (
        main(["kgqa", "crossvalidate", *data, "--folds", "2", "--limit", "600", "--no-track", "--json", str(out)]) == 0
    )
    figures = json.loads(out.read_text())
    assert figures["hit_at_1"] >= least
    assert figures["path_validity"] == 1.0


def test_dspy_is_left_as_it_was(saved: SavedKGQA) -> None:
    evaluate_kgqa(saved, GRAPH, LOADED, KGQAConfig(limit=1))
    assert dspy.settings.lm is None
