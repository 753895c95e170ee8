"""Conversations about a graph, scored by the names, values and yes-or-no answers of a script.

    task = GraphConversations(scripted_conversations(), EntityWorld(graph, graph.name), name="geography")
    evaluate(SavedProgram(ConversationQA.for_graphs(), "entity", Path()), task).figures["accuracy"]

A script is a mapping with ``name`` and ``turns``; a turn has ``question`` and one of ``entities``, ``value``,
``values`` and ``answer``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from experiments.evaluation import Answered, Description, EvaluationConfig, Scored, Task, trace_of
from experiments.saved import SavedProgram
from experiments.tracking import DataInput, Run, Trace, TurnRecorder
from kg.errors import DataError
from optimize.metrics import bootstrap_ratio
from programs.turns import AnyWorld, TurnProgram, read_turn, turn_record
from programs.worlds.entities import EntityTurn


@dataclass(frozen=True)
class Script:
    """A conversation with its expected answers.

    Attributes:
        id: Its name.
        turns: Each question with its expected answer.
    """

    id: str
    turns: tuple[Mapping[str, Any], ...]


class GraphConversations(Task[Script, EntityTurn, bool]):
    """Conversations about one graph.

    Args:
        scripts: The conversations.
        world: The graph.
        name: The data's name.
    """

    run_kind = "conversations"

    def __init__(self, scripts: Sequence[Mapping[str, Any]], world: AnyWorld, name: str) -> None:
        self.scripts = [Script(one["name"], tuple(one["turns"])) for one in scripts]
        self.world, self.name = world, name
        content = json.dumps([[one.id, one.turns] for one in self.scripts], sort_keys=True)
        self.sha256 = hashlib.sha256(content.encode()).hexdigest()

    def items(self, limit: int | None = None) -> Sequence[Script]:
        """Returns the conversations."""
        if not self.scripts:
            raise DataError("has no conversation that can be evaluated", file=self.name)
        return self.scripts[:limit]

    def size(self, item: Script) -> int:
        """Returns the number of questions."""
        return len(item.turns)

    def source(self, item: Script) -> str:  # noqa: ARG002
        """Returns the graph's name."""
        return self.world.name

    def answer(
        self,
        program: TurnProgram,
        item: Script,
        done: Sequence[Answered[EntityTurn]],
        config: EvaluationConfig,  # noqa: ARG002
    ) -> Iterator[Answered[EntityTurn]]:
        """Yields the turns that are not done."""
        state = program.start(self.world, [one.turn for one in done], done[-1].histories if done else ())
        for index, expected in list(enumerate(item.turns))[len(done) :]:
            recorder = TurnRecorder()
            with recorder.recording():
                state = program.ask(state, expected["question"])
            yield Answered(item.id, index, state.turns[-1], state.kept(), recorder.spans, recorder.start, recorder.end)

    def score(self, item: Script, answered: Answered[EntityTurn]) -> bool:
        """Returns whether the answer is the expected one."""
        return is_right(answered.turn, item.turns[answered.index])

    def is_right(self, score: bool) -> bool:
        """Whether the answer is the expected one."""
        return score

    def figures(self, scored: Sequence[Scored[EntityTurn, bool]], *, seed: int) -> dict[str, Any]:
        """Returns turns, right turns, and the accuracy in [0, 1] with its interval over conversations."""
        names = list(dict.fromkeys(one.answered.item for one in scored))
        groups = [[one.score for one in scored if one.answered.item == name] for name in names]
        found = bootstrap_ratio([sum(group) for group in groups], [len(group) for group in groups], seed=seed)
        return {
            "turns": len(scored),
            "conversations": len(groups),
            "right": sum(one.score for one in scored),
            "accuracy": found.value,
            "accuracy_low": found.low,
            "accuracy_high": found.high,
            "failed_turns": sum(one.answered.turn.failure is not None for one in scored),
        }

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns program, model, graph and data."""
        figures = {
            "program": saved.name,
            "lm": config.lm.name,
            "graph": self.world.name,
            "data": self.name,
            "data_sha256": self.sha256,
            "limit": config.limit,
        }
        params = {**figures, **config.lm.params(), "seed": config.seed, "threads": config.thread_count}
        tags = {"finpath.data": self.name, "finpath.data_sha256": self.sha256}
        return Description(figures, params, tags, figures)

    def trace(self, run: Run, program: str, scored: Scored[EntityTurn, bool]) -> Trace:
        """Returns the turn's trace."""
        turn = scored.answered.turn
        inputs = {"question": turn.question, "graph": scored.source}
        outputs = {"answer": turn.words, "canonical": turn.canonical, "failure": turn.message or turn.failure}
        return trace_of(run, program, scored.answered, right=scored.score, inputs=inputs, outputs=outputs)

    def record(self, scored: Scored[EntityTurn, bool]) -> dict[str, Any]:
        """Returns the turn and its score as JSON."""
        return {"turn": turn_record(scored.answered.turn), "score": scored.score}

    def read(self, line: Mapping[str, Any]) -> tuple[EntityTurn, bool]:
        """Returns the turn and the score of a line."""
        return read_turn(line["turn"]), line["score"]

    def log_start(self, run: Run, saved: SavedProgram, items: Sequence[Script]) -> None:  # noqa: ARG002
        """Logs the data."""
        run.log_data(DataInput(self.name, self.sha256, "dev", len(items)))

    def log_results(self, run: Run, figures: Mapping[str, Any], done: Sequence[Scored[EntityTurn, bool]]) -> None:
        """Logs figures and a row for each question."""
        run.log_metrics(figures)
        rows = [
            {
                "conversation_id": one.answered.item,
                "turn_index": one.answered.index,
                "question": one.answered.turn.question,
                "answer": one.answered.turn.words or None,
                "right": one.score,
                "message": one.answered.turn.message,
            }
            for one in done
        ]
        run.log_table("questions", rows)


def is_right(turn: EntityTurn, expected: Mapping[str, Any]) -> bool:
    """Whether a turn's answer is the expected one.

    Args:
        turn: The turn.
        expected: ``entities`` (names, in any order), ``value`` (to five decimal places), ``values`` (by name) or
            ``answer`` (yes or no).
    """
    detail = turn.detail
    if detail is None or detail.found is None:
        return False
    if "entities" in expected:
        return detail.found.answer is None and sorted(detail.labels) == sorted(expected["entities"])
    if "values" in expected:
        names = {one.entity.rpartition("#")[2].replace("_", " "): str(one.value) for one in detail.found.values}
        return names == dict(expected["values"])
    if "answer" in expected:
        return bool(detail.found.answer == expected["answer"])
    wanted, answer = Decimal(expected["value"]), detail.found.answer
    return isinstance(answer, Decimal) and abs(answer - wanted) <= abs(wanted) * Decimal("0.00001")
