from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from experiments.commands.main import main
from experiments.compiling import crossvalidation
from experiments.compiling.crossvalidation import folds, relations_of
from experiments.compiling.graphs import GraphCompileConfig, fit_graphs
from experiments.data import GraphSource, KGQuestion, LoadedQuestions, OneGraph, load_questions
from experiments.data.graphs import OwnGraphs
from experiments.evaluation import Evaluation, EvaluationConfig, evaluate
from experiments.evaluation import evaluator as evaluate_module
from experiments.lms.config import LMConfig
from experiments.saved import SavedProgram, find_program, load_program, save_program, with_graph_settings
from experiments.tasks import KGQuestions
from experiments.tasks.kgqa import JOURNAL_SUFFIX
from kg.errors import ConfigError, DataError, TrackingError
from kg.graphs.index import GraphIndex
from kg.paths.space import PathConfig
from optimize.metrics import KGQAScore
from optimize.relations.scorer import RelationTrainingConfig
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


def evaluated(
    saved: SavedProgram,
    graphs: GraphSource = GRAPH,
    loaded: LoadedQuestions = LOADED,
    *,
    link: bool = False,
    predictions: Path | None = None,
    **settings: Any,
) -> Evaluation[Any, KGQAScore]:
    task = KGQuestions(graphs, loaded, link=link, predictions=predictions)
    return evaluate(saved, task, EvaluationConfig(**settings), journal=task.journal)


@pytest.fixture(scope="module")
def program() -> KGQA:
    settings = PathConfig(max_depth=2)
    return fit_graphs(GRAPH, QUESTIONS, RelationTrainingConfig(max_hops=2), settings, seed=0)


@pytest.fixture
def saved(program: KGQA) -> SavedProgram:
    return SavedProgram(program, "films-qa", Path(), {"scorer_sha256": "1" * 64})


def test_what_was_fitted_answers(saved: SavedProgram) -> None:
    figures = evaluated(saved).figures
    assert figures["hit_at_1"] == figures["f1"] == figures["path_validity"] == figures["gcr_path_recall"] == 1.0
    assert (figures["questions"], figures["failed_questions"], figures["unreadable_questions"]) == (16, 1, 1)
    assert figures["seconds_per_question_p95"] >= figures["seconds_per_question_p50"] > 0
    assert (figures["lm_calls"], figures["lm"], figures["program"]) == (0, "none", "films-qa")


def test_a_question_that_fails_costs_itself_only(saved: SavedProgram) -> None:
    odd = dataclasses.replace(QUESTIONS[0], id="odd", topics=("Atlantis",))
    loaded = dataclasses.replace(LOADED, questions=(odd, *QUESTIONS[:3]), problems=())
    evaluation = evaluated(saved, GRAPH, loaded)
    assert [score.failure for score in evaluation.scores] == ["no_topic", None, None, None]
    assert (evaluation.figures["hit_at_1"], evaluation.figures["failed_questions"]) == (0.75, 1)
    assert evaluation.figures["failures_no_topic"] == 1


def test_an_error_in_getting_a_graph_costs_its_question_only(saved: SavedProgram) -> None:
    own = dataclasses.replace(QUESTIONS[0], graph=lambda: TRIPLES)
    loaded = dataclasses.replace(LOADED, questions=(own, QUESTIONS[1]), problems=())
    evaluation = evaluated(saved, OwnGraphs(), loaded)
    assert [score.failure for score in evaluation.scores] == [None, "error"]
    assert "has no graph of its own" in evaluation.scores[1].message


def test_topics_can_be_linked_instead_of_given(saved: SavedProgram) -> None:
    bare = [dataclasses.replace(question, topics=("Atlantis",)) for question in QUESTIONS]
    loaded = dataclasses.replace(LOADED, questions=tuple(bare))
    assert evaluated(saved, GRAPH, loaded, link=True).figures["hit_at_1"] == 1.0


def test_predictions_are_what_gcr_reads(saved: SavedProgram, tmp_path: Path) -> None:
    file = tmp_path / "out" / "p.jsonl"
    evaluated(saved, GRAPH, LOADED, predictions=file, limit=2)
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


def test_a_stopped_evaluation_goes_on(saved: SavedProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "p.jsonl"
    whole = evaluated(saved, GRAPH, LOADED, predictions=tmp_path / "whole.jsonl")
    asked: list[str] = []
    answer = KGQuestions.answer

    def stopping(*args: Any) -> Any:
        asked.append(args[2].id)
        if len(asked) == 6:
            raise KeyboardInterrupt
        return answer(*args)

    monkeypatch.setattr(KGQuestions, "answer", stopping)
    with pytest.raises(KeyboardInterrupt):
        evaluated(saved, predictions=file)
    assert len(file.read_text("utf-8").splitlines()) == 5
    # Killed during a write: only a part of the last line is in the journal.
    journal = file.with_name(file.name + JOURNAL_SUFFIX)
    journal.write_bytes(journal.read_bytes()[:-20])
    again = evaluated(saved, predictions=file)
    assert asked[6:] == [question.id for question in QUESTIONS[4:]]
    assert again.figures["resumed_turns"] == 4
    timing = {name: 0 for name in again.figures if name.startswith("seconds") or name == "resumed_turns"}
    assert {**again.figures, **timing} == {**whole.figures, **timing}
    assert file.read_text("utf-8") == (tmp_path / "whole.jsonl").read_text("utf-8")


def test_predictions_of_another_evaluation_are_left_alone(saved: SavedProgram, tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    evaluated(saved, GRAPH, LOADED, predictions=file, limit=2)
    before = file.read_text("utf-8")
    other = KGQA(saved.program.scorer, saved.program.config, "last-entity")
    for limit, other_program in ((3, saved.program), (2, other)):
        with pytest.raises(ConfigError, match="is of another evaluation: remove it, or name another file"):
            evaluated(dataclasses.replace(saved, program=other_program), predictions=file, limit=limit)
    assert file.read_text("utf-8") == before
    (tmp_path / "p.jsonl.scores").unlink()
    with pytest.raises(ConfigError, match="is of another"):
        evaluated(saved, GRAPH, LOADED, predictions=file, limit=2)


def test_a_mode_that_asks_a_model_needs_one(saved: SavedProgram) -> None:
    asking = dataclasses.replace(saved, program=KGQA(saved.program.scorer, saved.program.config, "index"))
    with pytest.raises(ConfigError, match="the aggregation 'index' asks a language model: name one with --lm"):
        evaluated(asking)


@pytest.mark.parametrize("threads", [1, 4])
def test_models_are_asked_and_counted(saved: SavedProgram, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    lm = DummyLM([{"chosen": "[1]"}] * 16)
    monkeypatch.setattr(evaluate_module, "reach_lm", lambda *_: {"lm": lm})
    asking = dataclasses.replace(saved, program=KGQA(saved.program.scorer, saved.program.config, "index"))
    evaluation = evaluated(asking, lm=LMConfig("openai/scripted"), threads=threads)
    assert evaluation.figures["lm_calls_per_question"] == 1.0
    assert [score.id for score in evaluation.scores] == [question.id for question in QUESTIONS]
    assert evaluation.figures["hit_at_1"] == 1.0


@pytest.mark.parametrize("name", ["limit", "threads"])
def test_settings_out_of_their_range_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be at least 1, got 0"):
        EvaluationConfig(**{name: 0})  # type: ignore[arg-type]


def test_a_saved_program_answers_as_before(program: KGQA, tmp_path: Path) -> None:
    folder = save_program(program, tmp_path / "mine", {"seed": 3})
    again = load_program(folder)
    assert (again.name, again.config["seed"]) == ("mine", 3)
    assert again.program.config == program.config
    for question in QUESTIONS[:4]:
        asked = {"question": question.question, "graph": GRAPH.graph, "topics": question.topics}
        assert again.program(**asked).predictions == program(**asked).predictions
    changed = with_graph_settings(again, "last-entity", {"beam_width": 3})
    assert (changed.program.aggregation, changed.program.config.beam_width) == ("last-entity", 3)


def test_a_program_answers_over_another_graph(program: KGQA) -> None:
    other = GraphIndex.from_triples([("Alien", "directed_by", "Ridley Scott"), ("Alien", "released_in", "1979")])
    assert program(question="who made Alien ?", graph=other).answers[0][0] == "Ridley Scott"
    assert program(question="when did Alien come out ?", graph=other, topics=["Alien"]).answers[0][0] == "1979"


def test_without_training_relations_are_known_by_their_words() -> None:
    untrained = with_graph_settings(find_program("untrained"), None, {"max_depth": 1})
    loaded = dataclasses.replace(
        LOADED, questions=(dataclasses.replace(QUESTIONS[0], question="who directed film0 ?"),)
    )
    figures = evaluated(untrained, GRAPH, loaded).figures
    assert (figures["hit_at_1"], figures["program"]) == (1.0, "untrained")


def test_a_model_can_rate_the_relations(saved: SavedProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    rating = with_graph_settings(find_program("untrained"), "score", {"max_depth": 1, "beam_width": 2}, by_lm=True)
    one = dataclasses.replace(LOADED, questions=(QUESTIONS[1],))
    with pytest.raises(ConfigError, match="this scorer asks a language model: name one with --lm"):
        evaluated(rating, GRAPH, one)
    # Of film0's relations, directed_by and released_in, the second.
    lm = DummyLM([{"rated": '{"steps": [{"step": 2, "probability": 0.9}]}'}] * 3)
    monkeypatch.setattr(evaluate_module, "reach_lm", lambda *_: {"lm": lm})
    evaluation = evaluated(rating, GRAPH, one, lm=LMConfig("openai/scripted"), threads=1)
    assert evaluation.scores[0].answer == "1990"
    assert evaluation.figures["lm_calls_per_question"] >= 1
    assert evaluation.figures["scorer"] == "LMRelationScorer"


def test_a_broken_program_is_an_error(program: KGQA, tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match="is not there"):
        load_program(tmp_path / "none")
    with pytest.raises(TrackingError, match=r"is not a saved program \(it has no config.json\)"):
        load_program(tmp_path)
    folder = save_program(program, tmp_path / "mine", {})
    (folder / "relations.json").write_text("{}")
    with pytest.raises(TrackingError, match=r"relations\.json is not the file"):
        load_program(folder)
    (folder / "config.json").write_text('{"kind": "beam", "format": 1}')
    with pytest.raises(TrackingError, match=r"config\.json lacks files, scorer_sha256, settings"):
        load_program(folder)
    with pytest.raises(ConfigError, match="beam is of kind 'beam'; questions about graphs need "):
        with_graph_settings(find_program("beam"))
    (folder / "config.json").write_text("{")
    with pytest.raises(TrackingError, match="is not JSON"):
        load_program(folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("x")
    with pytest.raises(ConfigError, match="must be a new or empty folder"):
        save_program(program, tmp_path / "full", {})


def test_graphs_of_the_questions_are_joined_for_the_fit() -> None:
    own = [
        dataclasses.replace(question, graph=lambda n=n: [t for t in TRIPLES if t[0] == f"film{n // 2}"])
        for n, question in enumerate(QUESTIONS)
    ]
    program = fit_graphs(OwnGraphs(), own, RelationTrainingConfig(max_hops=1), PathConfig(), seed=0)
    assert program(question="who made film3 ?", graph=GRAPH.graph).answers[0][0] == "person0"
    with pytest.raises(DataError, match="no questions to learn from"):
        fit_graphs(GRAPH, [], RelationTrainingConfig(), PathConfig(), seed=0)


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
    from experiments.tracking import Tracker, TrackingConfig

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
    assert Path("p.jsonl" + JOURNAL_SUFFIX).exists()
    tracker = Tracker(TrackingConfig(uri=tracking_uri))
    run = tracker.find("latest", kinds=("kgqa",))
    assert run.id == figures["run_id"]
    assert run.metrics["hit_at_1"] == figures["hit_at_1"]
    assert run.params["aggregation"] == "score"
    assert len(tracker.table(run, "questions")) == 57


def test_evaluate_and_compile_take_graphs(fitted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compiling = ["compile", "kgqa", *SAMPLE, "sample:train", "--dev", "sample:dev", "--json", "compile.json"]
    assert main([*compiling, "--no-track", "--out", "program"]) == 0
    assert load_program("program").config["scorer_sha256"] == load_program(fitted).config["scorer_sha256"]
    for command in (["evaluate"], ["kgqa", "evaluate"]):
        assert main([*command, "program", *SAMPLE, "sample:dev", "--no-track", "--json", f"{command[0]}.json"]) == 0
    found = [json.loads(Path(name).read_text()) for name in ("evaluate.json", "kgqa.json", "compile.json")]
    first, second, on_dev = ({name: one[name] for name in one if "seconds" not in name} for one in found)
    assert first == second
    assert first.items() <= on_dev.items()
    assert on_dev["train_questions"] == 182


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["evaluate", "untrained"], 2, "one of --data, --questions is required"),
        (
            ["evaluate", "untrained", "--data", "sample:dev"],
            1,
            "is of the kind kgqa, which needs --questions",
        ),
        (["evaluate", "beam", *SAMPLE, "sample:dev"], 1, "questions about graphs need kind 'kgqa'"),
        (["evaluate", "beam", "--data", "sample:dev", "--max-depth", "2"], 2, "--max-depth needs --questions"),
        (["evaluate", "beam", "--data", "sample:dev", "--aggregate", "index"], 2, "--aggregate needs --questions"),
        (["evaluate", "untrained", *SAMPLE, "sample:dev", "--pick", "gold"], 2, "--pick does not apply"),
        (["compile", "kgqa", "--train", "sample:train"], 1, "the program kgqa needs --questions in place of --train"),
        (["compile", "beam", *SAMPLE, "sample:train"], 1, "got beam, scorer"),
        (["compile", "kgqa", *SAMPLE, "sample:train"], 2, "--questions needs --out"),
    ],
)
def test_options_of_graphs_and_of_reports_are_not_mixed(
    arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--no-track"]) == code
    assert message in " ".join(capsys.readouterr().err.split())


def test_asking_shows_each_answer_with_its_path(fitted: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(__file__).resolve().parents[3] / "experiments" / "sample" / "kgqa"
    question = load_questions(str(folder / "dev.txt"), "metaqa").questions[0]
    assert main(["kgqa", "ask", fitted, "--graph", "sample:graph", question.question]) == 0
    shown = capsys.readouterr().out
    assert all(f"{answer} " in shown for answer in question.answers)
    assert f"{question.topics[0]} -> " in shown
    assert main(["kgqa", "ask", fitted, "--graph", "sample:graph", "--json", "-", "who?"]) == 1
    assert json.loads(capsys.readouterr().out)["failure"] == "no_topic"


def _once(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit that is refused the second time."""
    calls: list[object] = []

    def fitted(*given: Any) -> Any:
        calls.append(given)
        assert len(calls) == 1
        return fit(*given)

    return fitted


def test_folds_by_relation_learn_from_no_question_with_a_relation_of_the_part() -> None:
    config = GraphCompileConfig(search=PathConfig(max_depth=1))
    relations = relations_of(GRAPH, QUESTIONS, config)
    assert relations["q0-directed_by"] == (("directed_by",),)
    parts = folds(QUESTIONS, 2, "relation", 0, relations)
    assert sorted({question.id.partition("-")[2] for question in part} for part in parts) == [
        {"directed_by"},
        {"released_in"},
    ]
    assert folds(QUESTIONS, 2, "relation", 0, {one.id: () for one in QUESTIONS}) != parts


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
    by_relation = ["kgqa", "crossvalidate", *data, "--split-by", "relation", "--folds", "2", "--journal", "parts.jsonl"]
    assert main([*by_relation, "--json", "unseen.json"]) == 0
    unseen = json.loads(Path("unseen.json").read_text())
    assert unseen["hit_at_1"] < 1.0  # a learned scorer knows nothing of the other relation
    lines = Path("parts.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == 3
    Path("parts.jsonl").write_text("".join(lines[:2]))  # stopped after the first part
    with monkeypatch.context() as patched:
        patched.setattr(crossvalidation, "fit_program", _once(crossvalidation.fit_program))
        assert main([*by_relation, "--json", "again.json"]) == 0
    again = json.loads(Path("again.json").read_text())
    assert {name: again[name] for name in ("hit_at_1", "f1", "questions")} == {
        name: unseen[name] for name in ("hit_at_1", "f1", "questions")
    }
    assert main([*by_relation, "--seed", "1"]) == 1  # of another cross-validation
    assert main(["kgqa", "index", "--graph", "kb.txt", "--out", "kb.npz", "--json", "index.json"]) == 0
    assert json.loads(Path("index.json").read_text())["triples"] == len(set(TRIPLES))
    assert main(["kgqa", "train", *data, "--graph", "kb.npz", "--folds", "2", "--out", "program"]) == 0
    assert load_program("program").config["train"]["count"] == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nowhere", *SAMPLE, "sample:dev"], "no program 'nowhere'"),
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


def test_dspy_is_left_as_it_was(saved: SavedProgram) -> None:
    evaluated(saved, GRAPH, LOADED, limit=1)
    assert dspy.settings.lm is None
