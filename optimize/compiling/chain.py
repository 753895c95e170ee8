"""A chain of optimizers at work: each step continues from the program of the one before, and each result is scored.

>>> run.run()
>>> [(one.name, one.score) for one in run.outcomes]
[('start', 0.7), ('scorer', None), ('bootstrap', 0.85)]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import dspy

from optimize.compiling.candidates import CandidateLog
from optimize.compiling.checkpoints import Checkpoints
from optimize.compiling.ledger import BudgetSpent, Ledger
from optimize.compiling.registry import OPTIMIZERS, OptimizerStep
from optimize.metrics import keep_turn
from optimize.needs import Extras
from optimize.prompts import (
    TurnSplit,
    TurnStudent,
    apply_prompt_state,
    prompt_state,
    state_hash,
    tidy_demonstrations,
)

if TYPE_CHECKING:
    from programs.conversation import ConversationQA


@dataclass(frozen=True)
class Outcome:
    """The program after a step of a chain.

    Attributes:
        name: The optimizer's name; ``start`` for the program before the first.
        score: Share of the validation turns that are right, in [0, 1]; ``None`` where it was not scored.
        program: The program.
    """

    name: str
    score: float | None
    program: ConversationQA


def choose(
    outcomes: Sequence[Outcome], fields: Mapping[str, Mapping[str, float]], keep: Literal["best", "last"]
) -> Outcome:
    """Returns the last outcome, or the best one.

    Of outcomes with equal scores the best is the one that understands more of the turns, then the later one. The fits
    after it that have no score stay, unless a later score is worse.

    Args:
        outcomes: At least one, in order.
        fields: The accuracy of the understood fields by the name of an outcome, ``all`` for all fields together.
        keep: The rule.
    """
    scored = [
        (one.score, fields.get(one.name, {}).get("all", 0.0), place)
        for place, one in enumerate(outcomes)
        if one.score is not None
    ]
    place = len(outcomes) - 1
    if scored and keep == "best":
        place = max(scored)[-1]
        while place + 1 < len(outcomes) and outcomes[place + 1].score is None:
            place += 1
    return outcomes[place]


@dataclass
class ChainRun:
    """One run of a chain.

    Attributes:
        student: The program to start from; it is not changed.
        chain: The optimizers in order.
        trainset: Conversation examples with gold.
        split: Turns to learn from and to choose on; ``None`` where no step works on turns.
        extras: The models and the data of the optimizers.
        active: The predictors that the program asks, by name.
        seed: Given to every optimizer.
        log: The candidates until now.
        ledger: The budgets of the models; closed at the end.
        checkpoints: The finished steps of an earlier run, and the place for those of this one.
        outcomes: The programs of the chain until now.
        fields: The accuracy of each understood field on the validation turns, by the names of ``outcomes``.
    """

    student: ConversationQA
    chain: Sequence[OptimizerStep]
    trainset: list[dspy.Example]
    split: TurnSplit | None
    extras: Extras
    active: Collection[str]
    seed: int
    log: CandidateLog
    ledger: Ledger
    checkpoints: Checkpoints
    outcomes: list[Outcome] = field(default_factory=list)
    fields: dict[str, dict[str, float]] = field(init=False)

    def __post_init__(self) -> None:
        self.fields = self.checkpoints.read("fields") or {}

    def run(self) -> str | None:
        """Runs every step; returns the budget that was spent, in words, if one ended the run early."""
        program: ConversationQA = self.student.deepcopy()
        try:
            self._score("start", -1, program)
            for place, step in enumerate(self.chain):
                done = self.checkpoints.step(place)
                program = done if done is not None else self._step(place, step, program)
                self._score(step.name, place, program)
        except BudgetSpent as spent:
            self._rescue()
            return str(spent)
        finally:
            self._keep_spent()
            self.ledger.close()
        return None

    def _step(self, place: int, step: OptimizerStep, program: ConversationQA) -> ConversationQA:
        chosen = step.optimizer()
        self.log.step, self.log.optimizer = place, step.name
        self.extras.progress(f"{step.name}: {chosen.summary}")
        optimizer = chosen.make(self.seed, replace(self.extras, folder=self.checkpoints.work(place)))
        if chosen.level == "conversation" or self.split is None:
            program = optimizer.compile(program, trainset=self.trainset, valset=None)
        else:
            program = self._compile_turn(optimizer, program, self.split)
        self.checkpoints.save_step(place, program)
        return program

    def _compile_turn(self, optimizer: Any, program: ConversationQA, split: TurnSplit) -> ConversationQA:
        """Applies a prompt optimizer to the program for one turn, and puts the result into a conversation."""
        compiled = optimizer.compile(TurnStudent(program.turn, self.active), trainset=split.train, valset=split.val)
        compiled.active = None
        tidy_demonstrations(compiled)
        for (name, predictor), (_, before) in zip(
            compiled.turn.named_predictors(), program.turn.named_predictors(), strict=True
        ):
            if f"turn.{name}" not in self.active:  # DSPy's resets clear those that optimizers must not see
                predictor.demos = before.demos
        if self.log.optimizer == "simba":
            for one in getattr(compiled, "candidate_programs", []):
                self.log.add(prompt_state(one["program"]), float(one["score"]), len(split.train))
        result: ConversationQA = program.deepcopy()
        result.beam = compiled.turn
        return result

    def _score(self, name: str, place: int, program: ConversationQA) -> None:
        """Scores a program on the validation turns, once, and adds it to the outcomes."""
        turn_level = name == "start" or OPTIMIZERS[name].level == "turn"
        score = None
        if self.split is not None and turn_level:
            self.log.step, self.log.optimizer = place, "start" if name == "start" else f"{name} result"
            key = (state_hash(prompt_state(TurnStudent(program.turn))), place, self.log.optimizer, len(self.split.val))
            known = (one.score for one in self.log.found if key == (one.prompts, one.step, one.optimizer, one.turns))
            score = next(known, None)
            if score is None:
                score = self._evaluate(program, self.split)
        self.outcomes.append(Outcome(name, score, program))

    def _evaluate(self, program: ConversationQA, split: TurnSplit) -> float:
        run = dspy.Evaluate(devset=split.val, metric=keep_turn, num_threads=self.extras.threads)
        scored = run(TurnStudent(program.turn))
        self._keep_spent()
        return float(scored.score) / 100

    def _keep_spent(self) -> None:
        self.checkpoints.write("spent", self.ledger.figures())

    def _rescue(self) -> None:
        """Adds the best candidate of the step in which the budget was spent, if one was scored in full."""
        name, place = self.log.optimizer.removesuffix(" result"), self.log.step
        best = self.log.best(turns=len(self.split.val), since=place) if self.split is not None and place >= 0 else None
        if best is not None and self.outcomes:
            program: ConversationQA = self.outcomes[-1].program.deepcopy()
            apply_prompt_state(program.turn, best.state)
            self.outcomes.append(Outcome(name, best.score, program))
        elif not self.outcomes:
            self.outcomes.append(Outcome("start", None, self.student.deepcopy()))
