"""Evaluation of a program on a task: answers, scores, and a run with both.

    evaluation = evaluate(find_program("beam"), ReportQuestions(load_conversations("sample:dev")), tracker=tracker)
    evaluation.figures["exe_accuracy"]     # 0.71, with exe_accuracy_low and _high
    evaluation.figures["run_id"]           # for compare and inspect

An exception in a turn costs this turn only; it counts as failed, apart from wrong answers. Every answered item (a
conversation or a question) is a line of a journal in the user's cache (``FINPATH_CACHE`` names another folder) until
the evaluation is finished. A stopped evaluation, also one stopped by ``kill -9``, keeps it, and ``resume=True``
continues with the other items.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import dspy
from threadpoolctl import threadpool_limits

from experiments.console import figures_table, progress, say, write_answer
from experiments.data import ConversationRecord, LoadedData
from experiments.lms import reach_lm
from experiments.runs import REPORT_TAG, RunRecord
from experiments.saved import SavedProgram, model_of
from experiments.task import Description, EvaluationConfig, Scored, Task
from experiments.tracking import (
    REVISION_TAG,
    DataInput,
    Run,
    RunKind,
    TraceFacts,
    Tracker,
    autologged,
    describe_environment,
    open_run,
    traced,
    write_trace,
)
from kg.errors import ConfigError, DataError, TrackingError
from kg.files import BusyError, FileLock, cache_folder
from optimize.metrics import (
    AnswerScore,
    TurnScore,
    abstention_figures,
    risk_coverage,
    score_record,
    score_turn,
    summarise,
    verdict,
)
from programs.conversation import ConversationQA
from programs.lm import EXPENSES, GuardedLM
from programs.turns import Turn, concurrently, read_turn, turn_record

logger = logging.getLogger(__name__)

KEY_TAG = "finpath.key"
"""The tag with the hash of an evaluation's settings."""

TURNS, DETAILS, ONTOLOGY = "turns", "details", "ontology.ttl"
"""The artifacts of an evaluation: a row a turn with its scores, and one with its whole result; the ontology."""

_CANDIDATES_IN_ROW = 5


class ReportQuestions(Task):
    """Conversations about reports, scored by ConvFinQA's official metric; with gold answers alone, by these.

    A program with a fitted confidence may abstain where there are no gold programs.

    Args:
        data: The conversations.
    """

    run_kind: RunKind = "evaluate"

    def __init__(self, data: LoadedData) -> None:
        abstains = any(conversation.gold is not None for conversation in data.conversations)
        self.data, self.name, self.abstention = data, data.name, "confident" if abstains else "always"
        self.reports = {conversation.id: conversation.report for conversation in data.conversations}

    def items(self, limit: int | None = None) -> Sequence[ConversationRecord]:
        """Returns the conversations."""
        conversations = self.data.conversations[:limit]
        if not conversations:
            raise DataError("has no conversation that can be evaluated", file=self.name)
        if any(conversation.answers is None and conversation.gold is None for conversation in conversations):
            raise DataError("has no gold answers to evaluate against", file=self.name)
        return conversations

    def _program(self, saved: SavedProgram) -> Any:
        """Returns the program with the task's rule for abstention."""
        evidence, scorer = (getattr(saved.program, name, None) for name in ("evidence", "scorer"))
        if evidence is None or scorer is None or scorer.confidence is None or evidence.answer == self.abstention:
            return saved.program
        program = saved.program.deepcopy()
        program.evidence = replace(evidence, answer=self.abstention)
        return program

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns program, model, data, limit and seed."""
        program, data, lm = self._program(saved), self.data, config.lm
        settings = dataclasses.asdict(program.config)
        about = {"data": data.name, "data_sha256": data.sha256, "split": data.split}
        scorer = program.scorer.sha256 if program.scorer is not None else "none"
        key = {
            "program": dict(saved.config.get("files", {})) or saved.name,
            "settings": [program.kind, settings, program.ontology.sha256, self.abstention],
            "evidence": program.evidence.to_dict() if program.evidence is not None else {},
            "lm": [lm.name, lm.api_base, lm.temperature, lm.max_tokens] if lm is not None else [],
            "data": [data.sha256, config.limit, config.seed],
        }
        params = {
            "program": saved.name,
            "kind": program.kind,
            "abstention": self.abstention,
            **{f"settings.{name}": value for name, value in settings.items()},
            **(lm.params() if lm is not None else {"lm.name": "none"}),
            "limit": config.limit if config.limit is not None else "all",
            "seed": config.seed,
            "threads": _threads(config),
            "data": data.name,
            "split": data.split,
            "optimizers": ",".join(step["name"] for step in saved.config.get("optimizers", [])) or "none",
        }
        compiled_by = saved.config.get("run_id")
        tags = {**about, "ontology_sha256": program.ontology.sha256, "scorer_sha256": scorer}
        tags |= {"compiled_by": str(compiled_by)} if compiled_by else {}
        figures = {"program": saved.name, "lm": lm.name if lm is not None else "none", "limit": config.limit, **about}
        figures["data_problems"] = len(data.problems)
        used = DataInput(data.name, data.sha256, data.split, len(data.conversations[: config.limit]))
        own = {f"finpath.{name}": value for name, value in tags.items()}
        return Description(program, key, params, own, figures, used)

    def answer(self, program: ConversationQA, item: ConversationRecord) -> Iterator[Turn]:
        """Yields the turns of a conversation.

        After a turn that raises, the conversation continues as after any turn without an answer.
        """
        state: Any = None
        for question in item.questions:
            try:
                state = state if state is not None else program.start(program.world(item.report))
                state = program.ask(state, question)
                turn = state.turns[-1]
            except Exception as error:  # noqa: BLE001 - any error costs this turn only; it is counted
                message = f"{type(error).__name__}: {error}"
                logger.warning("a turn about %s failed: %s", item.report.id, message)
                turn = Turn(question, failure="error", message=message)
                state = state.after(turn) if state is not None else None
            yield turn

    def trace(self, scored: Scored) -> TraceFacts:
        """Returns the trace of a turn with its gold and its verdict."""
        turn, score, report = scored.turn, scored.score, self.reports[scored.item].id
        verdicts: dict[str, tuple[bool | float, str]] = {"exe_accuracy": (score.exact, verdict(score))}
        if turn.confidence is not None:
            verdicts["confidence"] = (turn.confidence, "")
        return TraceFacts(
            {"question": turn.question, "report": report},
            {
                "answer": write_answer(turn.answer),
                "program": str(turn.derivation) if turn.derivation is not None else None,
                "failure": turn.message if turn.failure is not None else None,
                "understanding": turn.understanding,
                "path": turn.candidates[turn.pick].path if turn.pick is not None else None,
            },
            {REPORT_TAG: report, "finpath.stage": score.stage},
            turn.message if turn.failure in ("lm_error", "error") else None,
            verdicts,
            {"answer": write_answer(score.gold_answer), "program": score.gold_program},
        )

    def score(self, item: ConversationRecord, index: int, turn: Turn) -> tuple[TurnScore, bool]:
        """Returns the score of a turn, and whether its answer is right."""
        score = score_turn(item, index, turn)
        return score, score.exact

    def figures(self, scored: Sequence[Scored], *, seed: int) -> dict[str, Any]:
        """Returns the official figures, costs and failures; and those of abstention, where a program may abstain."""
        scores = [own.score for own in scored]
        if self.abstention == "always":
            return summarise(scores, seed=seed)
        answered = (score for score in scores if score.stage != "failed")  # an error is no abstention
        answers = [AnswerScore(score.answer, score.confidence or 0.0, score.gold_answer) for score in answered]
        curve = {"risk_coverage": risk_coverage(answers)}
        return {**summarise(scores, seed=seed), **abstention_figures(answers), **curve}

    def log(self, run: Run, saved: SavedProgram, figures: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Logs figures, the ontology, and both tables."""
        if run.id is None:
            return
        run.log_figures(figures)
        run.log_text(ONTOLOGY, saved.program.ontology.to_turtle())
        run.log_description(self.table(run.name, figures))
        run.log_table(TURNS, [self._row(own) for own in scored])
        keys = [{"conversation_id": own.item, "turn_index": own.index} for own in scored]
        run.log_table(DETAILS, [{**key, **turn_record(own.turn)} for key, own in zip(keys, scored, strict=True)])

    def table(self, name: str, figures: Mapping[str, Any]) -> str:
        """Returns the headline figures of an evaluation with its name."""
        return figures_table([name], [figures])

    def _row(self, scored: Scored) -> dict[str, Any]:
        candidates = [
            f"{place}. {write_answer(candidate.answer)} = {candidate.derivation} ({candidate.score:.2f})"
            for place, candidate in enumerate(scored.turn.candidates[:_CANDIDATES_IN_ROW], start=1)
        ]
        more = {"candidates": "; ".join(candidates), "tool_calls": len(scored.turn.tool_calls)}
        return {"report": self.reports[scored.item].id, **score_record(scored.score), **more}


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation.

    Attributes:
        name: The run's name.
        figures: All figures under their stable names, with ``run_id`` (``None`` without a run) and the settings.
            Figures of turns count each call of a turn (``lm_calls_per_turn``). ``lm_calls``, ``lm_cache_hits``,
            ``lm_prompt_tokens``, ``lm_completion_tokens`` and ``lm_usd`` are totals of the evaluation, with the first
            short question to the model. All are 0 without a model.
        scores: The score of every turn.
        turns: Every turn as the program returned it, by item and index.
    """

    name: str
    figures: Mapping[str, Any]
    scores: Sequence[Any]
    turns: Mapping[tuple[str, int], Any]


def evaluate(
    saved: SavedProgram,
    task: Task,
    config: EvaluationConfig | None = None,
    *,
    tracker: Tracker | None = None,
    parent: Run | None = None,
    run_name: str | None = None,
    resume: bool = False,
) -> Evaluation:
    """Runs a program on a task and scores every turn.

    Args:
        saved: The program.
        task: The items with their gold.
        config: Settings.
        tracker: The tracking store of the run; ``None`` to log nothing.
        parent: The run that this evaluation is a part of.
        run_name: The run's name; by default that of the program, with the settings that differ from the defaults, and
            that of the data.
        resume: Whether to continue the newest stopped evaluation of the same program, data and settings. Without one,
            the evaluation starts from the beginning.

    Raises:
        DataError: The data has no gold, or no item.
        ConfigError: The program cannot be evaluated on this task, or a setting is out of its range.
        TrackingError: The evaluation to resume is under way in another process, or another revision began it.
        LMError: The language model does not answer at all.
    """
    config = config if config is not None else EvaluationConfig()
    for option, value in (("limit", config.limit), ("threads", config.threads)):
        if value is not None and value < 1:
            raise ConfigError(f"{option} must be at least 1, got {value}")
    items = {item.id: item for item in task.items(config.limit)}
    about = task.describe(saved, config)
    saved = replace(saved, program=about.program)
    shaped = json.dumps({**about.key, "finpath": describe_environment()["finpath"]}, sort_keys=True, default=str)
    key = hashlib.sha256(shaped.encode()).hexdigest()[:32]
    asks = config.lm is not None or getattr(saved.program, "needs_lm", False)
    settings = reach_lm(config.lm, saved.program) if asks else {"lm": None}
    name = run_name if run_name is not None else f"{_named(saved, config)} on {task.name}"
    stopped = _stopped(tracker, task.run_kind, key) if resume else None
    tags = {"finpath.seed": str(config.seed), **about.tags, KEY_TAG: key}
    with ExitStack() as stack:
        journal = Journal(stopped.id) if stopped is not None else None
        if journal is not None:
            stack.enter_context(journal.locked())
        resumed = stopped.id if stopped is not None else None
        run = stack.enter_context(open_run(tracker, task.run_kind, name, parent=parent, tags=tags, resumed=resumed))
        if journal is None:
            journal = Journal(run.id)
            stack.enter_context(journal.locked())
        stack.enter_context(autologged(run) if config.traces else nullcontext())
        work = _Work(saved, task, items, config, about, run, settings, journal)
        if stopped is None:
            run.log_params(about.params)
        else:
            work.load(stopped)
        run.log_data(about.data)
        if tracker is not None:
            run.log_model_input(model_of(tracker, saved, config.lm.name if config.lm is not None else "none"))
        try:
            work.answer_all()
        except BaseException:
            with suppress(Exception):  # an error in this clean-up must not hide the first one
                work.log_end()
            raise
        figures = work.log_end()
        if config.limit is None:
            run.log_records(about.data, [work.record(scored) for scored in work.all()])
    journal.remove()
    turns = {(scored.item, scored.index): scored.turn for scored in work.all()}
    return Evaluation(name, figures, [scored.score for scored in work.all()], turns)


def _threads(config: EvaluationConfig) -> int:
    if config.threads is not None:
        return config.threads
    return config.lm.default_threads if config.lm is not None else 1


def _named(saved: SavedProgram, config: EvaluationConfig) -> str:
    """A program's name with the settings that differ from the defaults: ``beam (local, first 20)``."""
    different = [config.lm.name] if config.lm is not None else []
    different += [f"first {config.limit}"] if config.limit is not None else []
    different += saved.changes
    return f"{saved.name} ({', '.join(different)})" if different else saved.name


def _stopped(tracker: Tracker | None, kind: RunKind, key: str) -> RunRecord | None:
    """Returns the newest stopped evaluation of this key that has answered items, if any.

    Raises:
        TrackingError: A process of this machine writes a run of this key at the moment.
    """
    for record in tracker.search((kind,), tags={KEY_TAG: key}, without=("FINISHED",)) if tracker is not None else ():
        with Journal(record.id).locked():
            if Journal(record.id).read():
                return record
    say("note: no evaluation with these settings was stopped; this one starts from the beginning")
    return None


@dataclass
class _Work:
    """The turns of one evaluation, from the journal and new ones, and the end of its run."""

    saved: SavedProgram
    task: Task
    items: Mapping[str, Any]
    config: EvaluationConfig
    about: Description
    run: Run
    settings: Mapping[str, Any]
    journal: Journal

    def __post_init__(self) -> None:
        self._done: dict[str, list[Scored]] = {}
        self._lock = threading.Lock()
        self._resumed, self._spent_before, self._start = 0, dict[str, float](), time.perf_counter()

    def load(self, stopped: RunRecord) -> None:
        """Takes over the answered items of a stopped run."""
        for line in self.journal.read():
            try:
                item, turns = self.items[line["item"]], map(read_turn, line["turns"])
                self._done[item.id] = [self._scored(item, place, turn) for place, turn in enumerate(turns)]
            except (KeyError, TypeError, ValueError) as error:
                rule = f"another revision of finpath wrote it ({type(error).__name__}: {error})"
                raise TrackingError(f"the journal {self.journal.path} cannot be resumed: {rule}") from error
            self._spent_before = line["spent"]
        self._resumed = len(self.all())
        before, now = stopped.tags.get(REVISION_TAG), describe_environment()["git_revision"]
        if before != now:
            say(f"note: the code has changed since the stop ({before or 'unknown'} then, {now or 'unknown'} now)")
        self.run.log_tags({"finpath.resumed": f"with {self._resumed} turns done by revision {before or 'unknown'}"})
        say(f"* going on with the run {stopped.id}, of which {self._resumed} turns are done")

    def answer_all(self) -> None:
        """Answers and keeps all items that are not done."""
        waiting = [item for name, item in self.items.items() if name not in self._done]
        bar = progress(len(self.items), "items", "answering")
        bar.update(len(self.items) - len(waiting))
        stop = threading.Event()  # the first error ends the work: no further item is begun

        def answer(item: Any) -> None:
            if stop.is_set():
                return
            try:
                turns = self._answer(item)
            except BaseException:
                stop.set()
                raise
            with self._lock:
                self._done[item.id] = turns
                kept = [turn_record(scored.turn) for scored in turns]
                self.journal.append({"item": item.id, "turns": kept, "spent": self._spent()})
            bar.update()
            done = self.all()
            bar.set_postfix_str(f"{100 * sum(scored.right for scored in done) / len(done):.1f}% right")

        # The matrices are small, and threads that each ask BLAS for more threads wait for each other.
        with closing(bar), dspy.context(**self.settings), threadpool_limits(limits=1, user_api="blas"):
            for _ in concurrently(answer, waiting, _threads(self.config)):
                pass

    def _answer(self, item: Any) -> list[Scored]:
        """Returns the turns of an item; each is a trace."""
        answers, turns = self.task.answer(self.saved.program, item), list[Scored]()
        for index in range(len(item.questions)):
            with traced(self.run, f"{item.id} turn {index + 1}") if self.config.traces else nullcontext() as span:
                scored = self._scored(item, index, next(answers))
                if span is not None:
                    write_trace(span, self.run, item.id, index, self._facts(scored))
            turns.append(scored)
        return turns

    def _scored(self, item: Any, index: int, turn: Any) -> Scored:
        """Scores a turn; those of the journal are scored again."""
        return Scored(item.id, index, turn, *self.task.score(item, index, turn))

    def _facts(self, scored: Scored) -> TraceFacts:
        facts = self.task.trace(scored)
        tags = {"finpath.program": self.saved.name, "finpath.correct": str(scored.right).lower(), **facts.tags}
        inputs = {**facts.inputs, "conversation": scored.item, "turn": scored.index + 1}
        return replace(facts, inputs=inputs, tags=tags)

    def record(self, scored: Scored) -> dict[str, Any]:
        """Returns a turn as a record of MLflow's data sets: the inputs of its trace, and its gold."""
        facts = self._facts(scored)
        gold = {name: value for name, value in facts.expected.items() if value is not None}
        return {"inputs": facts.inputs, "expectations": gold}

    def log_end(self) -> dict[str, Any]:
        """Logs the items that are done, all of them or a part; returns their figures."""
        if not (done := self.all()):
            return {}
        figures = {
            **self.task.figures(done, seed=self.config.seed),
            "resumed_turns": self._resumed,
            **self._spent(),
            **self.about.figures,
            "run_id": self.run.id,
            "run_name": self.run.name,
            "seed": self.config.seed,
        }
        self.task.log(self.run, self.saved, figures, done)
        return figures

    def all(self) -> list[Scored]:
        """Returns every turn that is done, in the order of the data."""
        with self._lock:
            return [scored for name in self.items for scored in self._done.get(name, ())]

    def _spent(self) -> dict[str, float]:
        """Returns the wall time and the cost of the language model over all parts of the evaluation."""
        lm = self.settings["lm"]
        spent = lm.spent.figures() if isinstance(lm, GuardedLM) else dict.fromkeys(EXPENSES, 0)
        now = {"seconds": time.perf_counter() - self._start, **spent}
        return {name: value + self._spent_before.get(name, 0) for name, value in now.items()}


class Journal:
    """The answered items of a run: lines of JSON in an append-only file of the user's cache, with a lock.

    Args:
        run_id: The run; ``None`` for no journal.
    """

    def __init__(self, run_id: str | None) -> None:
        self.path = cache_folder() / "evaluations" / f"{run_id}.jsonl" if run_id is not None else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes away while the block lasts.

        Raises:
            TrackingError: Another process has the lock.
        """
        if self.path is None:
            yield
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock = FileLock(self.path.with_suffix(".lock"), wait=False)
        except BusyError as error:
            raise TrackingError(f"the run {self.path.stem} is written by another process") from error
        try:
            yield
        finally:
            lock.release(remove=True)

    def append(self, line: Mapping[str, Any]) -> None:
        """Adds a line; it is on the disk when this returns."""
        if self.path is not None:
            with self.path.open("ab") as file:
                file.write(json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def read(self) -> list[dict[str, Any]]:
        """Returns all lines; one that a killed process did not finish is removed, and a broken one is reported."""
        if self.path is None or not self.path.exists():
            return []
        content = self.path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if len(complete) < len(content):
            os.truncate(self.path, len(complete))
        lines = []
        for number, text in enumerate(complete.split(b"\n")[:-1], start=1):
            try:
                lines.append(dict(json.loads(text)))
            except (ValueError, TypeError, RecursionError):
                say(f"note: line {number} of the journal {self.path} is broken; it is skipped")
        return lines

    def remove(self) -> None:
        """Removes the file; the run has its content."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
