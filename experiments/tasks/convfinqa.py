"""Conversations about reports: ConvFinQA by its official metric, and answers of any type with abstention.

    task = conversation_task(load_conversations("sample:dev"))      # ConvFinQA, as the file has gold programs
    evaluate(find_program("beam"), task).figures["exe_accuracy"]

A turn that raises costs itself only: it counts as failed, and the conversation continues as after any turn without an
answer. A report that no graph can be built from costs the turns about it.

Artifacts of a run: the tables ``turns.json`` and ``details.json``, and ``ontology.ttl``.
"""

from __future__ import annotations

import dataclasses
import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from experiments.console import figures_table, format_table, write_answer
from experiments.data import ConversationRecord, LoadedData
from experiments.evaluation import DETAILS, ONTOLOGY, TURNS, Description, EvaluationConfig, Scored, Task
from experiments.saved import SavedProgram
from experiments.traces import REPORT_TAG, TraceFacts
from experiments.tracking import DataInput, Run, RunKind, sectioned
from kg.errors import DataError
from optimize.metrics import (
    ScoredTurn,
    TurnScore,
    score_record,
    score_turn,
    summarise,
    verdict,
)
from optimize.metrics.abstention import AnswerScore, abstention_figures, risk_coverage
from optimize.metrics.turns import with_intervals
from programs.conversation import ConversationQA
from programs.turns import Turn, plain, turn_record

logger = logging.getLogger(__name__)

_CANDIDATES_IN_ROW = 5
_DOCUMENTS = 10


class ConversationTask(Task):
    """Conversations about reports; the parts that do not depend on the kind of gold.

    Args:
        data: The conversations.
        answer: Whether a program with a fitted confidence may abstain.
    """

    run_kind: RunKind = "evaluate"

    def __init__(self, data: LoadedData, answer: Literal["confident", "always"] = "always") -> None:
        self.data, self.abstention, self.name = data, answer, data.name
        self.reports = {one.id: one.report for one in data.conversations}

    def items(self, limit: int | None = None) -> Sequence[ConversationRecord]:
        """Returns the conversations."""
        conversations = self.data.conversations[:limit]
        if not conversations:
            raise DataError("has no conversation that can be evaluated", file=self.name)
        if any(one.answers is None and one.gold is None for one in conversations):
            raise DataError("has no gold answers to evaluate against", file=self.name)
        return conversations

    def _program(self, saved: SavedProgram) -> Any:
        """Returns the program with the task's rule for abstention."""
        evidence, scorer = (getattr(saved.program, name, None) for name in ("evidence", "scorer"))
        if evidence is None or scorer is None or scorer.confidence is None or evidence.answer == self.abstention:
            return saved.program
        program = saved.program.deepcopy()
        program.evidence = dataclasses.replace(evidence, answer=self.abstention)
        return program

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns program, model, data, limit and seed."""
        program, data = self._program(saved), self.data
        settings = dataclasses.asdict(program.config)
        evidence = program.evidence.to_dict() if program.evidence is not None else {}
        files = dict(saved.config.get("files", {}))
        about = {"data": data.name, "data_sha256": data.sha256, "split": data.split}
        key = {
            "kind": program.kind,
            "program": files or saved.name,
            "settings": settings,
            "ontology": program.ontology.sha256,
            "unmapped": program.unmapped,
            "evidence": evidence,
            "answer": self.abstention,
            "lm": [config.lm.name, config.lm.api_base, config.lm.temperature, config.lm.max_tokens],
            "limit": config.limit,
            "seed": config.seed,
            "data": data.sha256,
        }
        params = {
            "program": saved.name,
            "kind": program.kind,
            "unmapped": program.unmapped,
            **{f"settings.{name}": value for name, value in settings.items()},
            **{f"evidence.{name}": value for name, value in evidence.items() if name != "plans"},
            **({"evidence.fitted": ",".join(evidence["plans"])} if evidence else {}),
            **config.lm.params(),
            "limit": config.limit if config.limit is not None else "all",
            "seed": config.seed,
            "threads": config.thread_count,
            "data": data.name,
            "split": data.split,
            "optimizers": ",".join(step["name"] for step in saved.config.get("optimizers", [])) or "none",
        }
        compiled_by = saved.config.get("run_id")
        tags = {
            **{f"finpath.{name}": value for name, value in about.items()},
            "finpath.ontology_sha256": program.ontology.sha256,
            "finpath.scorer_sha256": program.scorer.sha256 if program.scorer is not None else "none",
            **({"finpath.compiled_by": str(compiled_by)} if compiled_by else {}),
        }
        figures = {"program": saved.name, "lm": config.lm.name, "limit": config.limit, **about}
        figures["data_problems"] = len(data.problems)
        used = DataInput(data.name, data.sha256, data.split, len(data.conversations[: config.limit]))
        return Description(program, key, params, tags, figures, used)

    def answer(self, program: ConversationQA, item: ConversationRecord) -> Iterator[Turn]:
        """Yields the turns of a conversation."""
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

    def log(
        self,
        run: Run,
        saved: SavedProgram,
        figures: Mapping[str, Any],
        scored: Sequence[Scored],  # noqa: ARG002
    ) -> None:
        """Logs the figures and the ontology."""
        run.log_metrics(sectioned(figures))
        run.log_text(ONTOLOGY, saved.program.ontology.to_turtle())

    def trace(self, scored: Scored) -> TraceFacts:
        """Returns the trace of a turn with its gold, its verdict and the candidates of the search."""
        turn, report = scored.turn, self.reports[scored.item].id
        outputs = {
            "answer": write_answer(turn.answer),
            "program": str(turn.derivation) if turn.derivation is not None else None,
            "failure": turn.message if turn.failure is not None else None,
            "understanding": plain(turn.understanding),
            "path": turn.candidates[turn.pick].path if turn.pick is not None else None,
        }
        tags, verdicts, expected = self.judgement(scored)
        if turn.confidence is not None:
            verdicts = {**verdicts, "confidence": (turn.confidence, "")}
        return TraceFacts(
            name=f"{scored.item} turn {scored.index + 1}",
            inputs={"question": turn.question, "report": report},
            outputs=_present(outputs),
            tags={REPORT_TAG: report, **tags},
            error=turn.message if turn.failure in ("lm_error", "error") else None,
            verdicts=verdicts,
            expected=_present(expected),
            spans=_search_span(scored),
        )

    @abstractmethod
    def judgement(self, scored: Scored) -> tuple[dict[str, str], dict[str, tuple[bool | float, str]], dict[str, Any]]:
        """Returns the tags of a turn's trace, its verdicts with their reasons, and its gold."""


class ConvFinQA(ConversationTask):
    """Conversations with gold programs."""

    def score(self, item: ConversationRecord, index: int, turn: Turn) -> tuple[TurnScore, bool]:
        """Returns the score of a turn, and whether its answer is right."""
        score = score_turn(item, index, turn)
        return score, score.exact

    def figures(self, scored: Sequence[Scored], *, seed: int) -> dict[str, Any]:
        """Returns the official figures, costs and failures."""
        return summarise([one.score for one in scored], seed=seed)

    def log(self, run: Run, saved: SavedProgram, figures: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Logs figures, the ontology, and both tables."""
        if run.id is None:
            return
        super().log(run, saved, figures, scored)
        run.log_description(figures_table([run.name], [figures]))
        turns = [ScoredTurn(self.reports[one.item].id, one.score, one.turn) for one in scored]
        run.log_table(TURNS, list(map(_turn_row, turns)))
        keys = [{"conversation_id": one.item, "turn_index": one.index} for one in scored]
        run.log_table(DETAILS, [{**key, **turn_record(one.turn)} for key, one in zip(keys, scored, strict=True)])

    def judgement(self, scored: Scored) -> tuple[dict[str, str], dict[str, tuple[bool | float, str]], dict[str, Any]]:
        """Returns the stage, the verdict in words, and the gold program and its answer."""
        score = scored.score
        expected = {"answer": write_answer(score.gold_answer), "program": score.gold_program}
        return {"finpath.stage": score.stage}, {"exe_accuracy": (score.exact, verdict(score))}, expected


class OpenAnswers(ConversationTask):
    """Conversations with gold answers of any type: numbers, yes and no, names, or none if the report gives none."""

    run_kind = "answers"

    def score(self, item: ConversationRecord, index: int, turn: Turn) -> tuple[AnswerScore, bool]:
        """Returns the answer with its gold; it is right, or rightly missing."""
        gold = item.gold if item.gold is not None else item.answers
        assert gold is not None
        score = AnswerScore(turn.answer, turn.confidence if turn.confidence is not None else 0.0, gold[index])
        return score, score.is_right or (score.answer is None and score.gold is None)

    def figures(self, scored: Sequence[Scored], *, seed: int) -> dict[str, Any]:
        """Returns the metrics of abstention, and ``accuracy`` with its interval over conversations."""
        scores, items, right = ([getattr(one, name) for one in scored] for name in ("score", "item", "right"))
        return {
            "turns": len(scored),
            "conversations": len(set(items)),
            "right": sum(right),
            **with_intervals(items, {"accuracy": (right, None)}, seed=seed),
            "failed_turns": sum(one.turn.failure is not None for one in scored),
            **abstention_figures(scores),
            "risk_coverage": risk_coverage(scores),
        }

    def log(self, run: Run, saved: SavedProgram, figures: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Logs the figures, the ontology and a row for each question."""
        if run.id is None:
            return
        super().log(run, saved, figures, scored)
        rows = [
            {
                "conversation_id": one.item,
                "turn_index": one.index,
                "question": one.turn.question,
                **{name: plain(value) for name, value in dataclasses.asdict(one.score).items()},
                "right": one.right,
            }
            for one in scored
        ]
        run.log_table("answers", rows)

    def judgement(self, scored: Scored) -> tuple[dict[str, str], dict[str, tuple[bool | float, str]], dict[str, Any]]:
        """Returns whether the answer is right, and the gold one."""
        return {}, {"right": (scored.right, "")}, {"answer": write_answer(scored.score.gold)}


def conversation_task(data: LoadedData, answer: Literal["confident", "always"] | None = None) -> ConversationTask:
    """Returns the task of a file: ConvFinQA's metric, or that of answers if the file has answers.

    Args:
        data: The conversations.
        answer: Whether a program may abstain; by default it may where the file has answers.
    """
    if any(one.gold is not None for one in data.conversations):
        return OpenAnswers(data, answer if answer is not None else "confident")
    return ConvFinQA(data, answer if answer is not None else "always")


def answers_table(names: Sequence[str], figures: Sequence[Mapping[str, Any]]) -> str:
    """Returns the figures of evaluations on answers, one column a run."""
    keys = [key for key, value in figures[0].items() if isinstance(value, int | float)]
    return format_table(["", *names], [[key, *(one[key] for one in figures)] for key in keys])


def _turn_row(turn: ScoredTurn) -> dict[str, Any]:
    candidates = [
        f"{place}. {write_answer(candidate.answer)} = {candidate.derivation} ({candidate.score:.2f})"
        for place, candidate in enumerate(turn.turn.candidates[:_CANDIDATES_IN_ROW], start=1)
    ]
    more = {"candidates": "; ".join(candidates), "tool_calls": len(turn.turn.tool_calls)}
    return {"report": turn.report, **score_record(turn.score), **more}


def _present(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _search_span(one: Scored) -> list[dict[str, Any]]:
    """Returns the search as a retrieval span between the first module and the last, with its candidates."""
    top = [span for span in one.spans if span["type"] == "CHAIN"]
    start, end = (top[0]["end"] or one.start, top[-1]["start"]) if len(top) > 1 else (one.start, one.end)
    documents = [
        {
            "page_content": f"{write_answer(candidate.answer)}  =  {candidate.path}",
            "metadata": {
                "rank": place,
                "log_probability": round(candidate.score, 4),
                "program": str(candidate.derivation),
            },
        }
        for place, candidate in enumerate(one.turn.candidates[:_DOCUMENTS], start=1)
    ]
    span = {"id": "search", "parent": None, "name": "search", "type": "RETRIEVER", "start": min(start, end), "end": end}
    more = {"inputs": {"question": one.turn.question}, "outputs": documents, "error": None, "usage": None}
    return [{**span, **more}] if documents else []
