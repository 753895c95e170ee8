"""Compiling with one optimizer, or with several of them in a row.

    chain = parse_optimizers("scorer,bootstrap")
    compiled = compile_program(student, chain, trainset=examples, lms={"task": lm}, tell=print)
    compiled.program, compiled.scores        # the program, and [(start, 0.70), (scorer, 0.80), (bootstrap, 0.85)]

Each optimizer hands the program that it returns to the next. Before the first, a few turns are answered for measure,
and what the chain will take of language models at most is stated; after each, the program is scored on turns that were
set aside, and of all of them the best is kept. When the stated budget is spent, the compile ends with the best
candidate until then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kg.errors import ConfigError
from optimize.compiling.checkpoints import Checkpoints
from optimize.compiling.compilation import Compilation, CompilePlan, CompileSettings, prompts_of
from optimize.compiling.plan import role_budgets
from optimize.compiling.registry import (
    OPTIMIZERS,
    OptimizerStep,
)
from optimize.needs import Extras, Need, Role, Sizes

if TYPE_CHECKING:
    import dspy

    from optimize.compiling.candidates import CandidateLog, PromptCandidate
    from optimize.compiling.ledger import Ledger
    from optimize.prompts import TurnSplit
    from programs.lm import Budget
    from programs.reports import ConversationQA

NO_EXTRAS, DEFAULT_SETTINGS = Extras(), CompileSettings()


def compile_program(
    student: ConversationQA,
    chain: Sequence[OptimizerStep],
    *,
    trainset: list[dspy.Example],
    seed: int = 0,
    lms: Mapping[Role, dspy.LM] | None = None,
    settings: CompileSettings = DEFAULT_SETTINGS,
    extras: Extras = NO_EXTRAS,
    cap: Budget | None = None,
    checkpoints: Checkpoints | None = None,
    announce: Callable[[CompilePlan], None] | None = None,
    tell: Callable[[PromptCandidate], None] | None = None,
) -> Compilation:
    """The program that the optimizers of ``chain`` make of ``student``, one after the other.

    Args:
        student: The program to start from; it is not changed.
        chain: The optimizers; an empty chain returns a copy of ``student``.
        trainset: Conversation examples with gold.
        seed: Given to every optimizer; it also shuffles and splits the turns.
        lms: The language models: ``task``, and for ``teacher``, ``prompt`` and ``reflection`` others than that.
        settings: What is common to all optimizers.
        extras: What the optimizers may use besides; models, threads and folder are filled in.
        cap: What the user allows all models together, where it is less than what the chain takes.
        checkpoints: Where to keep what is done, and to go on from.
        announce: Told what the chain will take, before it starts.
        tell: Told of every candidate as it is scored.

    Raises:
        ConfigError: An optimizer needs a language model and none is set, ``trainset`` is empty, or an optimizer
            cannot work on this program.
    """
    if chain and not trainset:
        raise ConfigError("trainset must hold at least one conversation, got none")
    for step in chain:
        if step.optimizer().needs_lm and not lms:
            raise ConfigError(f"optimizer {step.name!r} asks a language model; name one with lm, got none")
    work = _Work(student, chain, trainset, seed, dict(lms or {}), settings, extras, checkpoints)
    return work.run(cap, announce, tell)


class _Work:
    """One compile under way."""

    def __init__(
        self,
        student: ConversationQA,
        chain: Sequence[OptimizerStep],
        trainset: list[dspy.Example],
        seed: int,
        lms: dict[Role, dspy.LM],
        settings: CompileSettings,
        extras: Extras,
        checkpoints: Checkpoints | None,
    ) -> None:
        self.student, self.chain, self.trainset, self.seed = student, chain, trainset, seed
        self.lms, self.settings, self.extras, self.checkpoints = lms, settings, extras, checkpoints
        self.has_teacher = "teacher" in lms
        self.active: tuple[str, ...] = ()
        self.asks = any(OPTIMIZERS[step.name].level == "turn" for step in chain)
        self.results: list[tuple[str, float | None, ConversationQA]] = []
        self.fields: dict[str, dict[str, float]] = (checkpoints.read("fields") or {}) if checkpoints is not None else {}
        self.log: CandidateLog | None = None
        self.ledger: Ledger | None = None

    def run(
        self,
        cap: Budget | None,
        announce: Callable[[CompilePlan], None] | None,
        tell: Callable[[PromptCandidate], None] | None,
    ) -> Compilation:
        from optimize.compiling.candidates import CandidateLog

        done = self.checkpoints.read("done") if self.checkpoints is not None else None
        resumed = self.checkpoints is not None and self.checkpoints.is_begun
        self.log = CandidateLog(self.checkpoints.candidates if self.checkpoints is not None else None, tell)
        split = self._split() if self.asks else None
        plan = self._plan(split)
        if done is not None and self.checkpoints is not None:
            return self._as_done(done, plan)
        if plan is not None and announce is not None:
            announce(plan)
        stopped = None
        with self._set_up(plan, cap):
            try:
                stopped = self._run_chain(split)
            finally:
                self._keep_spent()
                if self.ledger is not None:
                    self.ledger.close()
        return self._finish(plan, stopped, resumed)

    def _as_done(self, done: Mapping[str, Any], plan: CompilePlan | None) -> Compilation:
        """A finished compile, as its checkpoint has it."""
        assert self.checkpoints is not None
        assert self.log is not None
        program = self.checkpoints.result()
        assert program is not None
        return Compilation(
            program,
            plan,
            tuple(self.log.found),
            tuple((name, score) for name, score in done["scores"]),
            done["kept"],
            None,
            self.checkpoints.read("spent") or {},
            True,
            prompts_of(self.student),
            prompts_of(program),
            self.fields,
        )

    def _split(self) -> TurnSplit:
        from optimize.prompts import split_turns

        split = split_turns(
            self.trainset,
            self.student.turn.reader,
            train=self.settings.train_turns,
            val=self.settings.val_turns,
            seed=self.seed,
        )
        if not split.train or not split.val:
            raise ConfigError(
                f"prompt optimizers need turns to learn from and turns of other reports to choose on; "
                f"{len(self.trainset)} conversations give {len(split.train)} and {len(split.val)}"
            )
        return split

    def _plan(self, split: TurnSplit | None) -> CompilePlan | None:
        """What the chain takes; ``None`` where it asks no language model."""
        from optimize.compiling.measure import measure, measured_from

        if "task" not in self.lms:
            return None
        known = self.checkpoints.read("plan") if self.checkpoints is not None else None
        examples = split.train[: self.settings.measure_turns] if split is not None else []
        measured = measured_from(known) if known else measure(self.student.turn, self.lms["task"], examples)
        self.active = measured.active
        train, val = (len(split.train), len(split.val)) if split is not None else (0, 0)
        sizes = Sizes(train, val, len(measured.active), sum(len(one.questions) for one in self.trainset))
        turn_steps = sum(OPTIMIZERS[step.name].level == "turn" for step in self.chain)
        need = Need(turns=(turn_steps + 1) * val)
        for step in self.chain:
            need += step.optimizer().need(sizes)
        if self.checkpoints is not None:
            self.checkpoints.write("plan", asdict(measured))
        return CompilePlan(sizes, need, measured, role_budgets(need, measured))

    def _set_up(self, plan: CompilePlan | None, cap: Budget | None) -> AbstractContextManager[Any]:
        """DSPy's settings while the chain runs: models that are held to the budget, and the log of candidates."""
        if plan is None:
            return nullcontext()
        import dspy

        from optimize.compiling.ledger import Ledger
        from programs.lm import SuitedAdapter

        before = self.checkpoints.read("spent") if self.checkpoints is not None else None
        self.ledger = Ledger(plan.budgets, before, cap)
        task = self.lms["task"]
        roles: tuple[Role, ...] = ("task", "teacher", "prompt", "reflection")
        self.lms = {role: self.ledger.hold(role, self.lms.get(role, task)) for role in roles}
        callbacks = [*dspy.settings.callbacks, self.log]
        context: AbstractContextManager[Any] = dspy.context(
            lm=self.lms["task"], adapter=SuitedAdapter(), callbacks=callbacks, num_threads=self.settings.threads
        )
        return context

    def _run_chain(self, split: TurnSplit | None) -> str | None:
        """Runs every step; returns why it ended early, if it did."""
        from optimize.compiling.ledger import BudgetSpent

        program: ConversationQA = self.student.deepcopy()
        try:
            self._score("start", -1, program, split)
            for place, step in enumerate(self.chain):
                done = self.checkpoints.step(place) if self.checkpoints is not None else None
                program = done if done is not None else self._step(place, step, program, split)
                self._score(step.name, place, program, split)
        except BudgetSpent as spent:
            self._rescue(split)
            return str(spent)
        return None

    def _step(
        self, place: int, step: OptimizerStep, program: ConversationQA, split: TurnSplit | None
    ) -> ConversationQA:
        assert self.log is not None
        chosen = step.optimizer()
        self.log.step, self.log.optimizer = place, step.name
        extras = Extras(
            self.extras.dialogues,
            self.extras.progress,
            self.lms,
            self.has_teacher,
            self.settings.threads,
            self.checkpoints.work(place) if self.checkpoints is not None else None,
        )
        if self.extras.progress is not None:
            self.extras.progress(f"{step.name}: {chosen.summary}")
        optimizer = chosen.make(self.seed, extras)
        if chosen.level == "conversation" or split is None:
            program = optimizer.compile(program, trainset=self.trainset, valset=None)
        else:
            program = self._compile_turn(optimizer, program, split)
        if self.checkpoints is not None:
            self.checkpoints.save_step(place, program)
        return program

    def _compile_turn(self, optimizer: Any, program: ConversationQA, split: TurnSplit) -> ConversationQA:
        """Lets a prompt optimizer work on the program for one question, and puts the result into a conversation."""
        from optimize.prompts import TurnStudent, prompt_state, tidy_demonstrations

        assert self.log is not None
        compiled = optimizer.compile(TurnStudent(program.turn, self.active), trainset=split.train, valset=split.val)
        compiled.active = None
        tidy_demonstrations(compiled)
        for (name, predictor), (_, before) in zip(
            compiled.turn.named_predictors(), program.turn.named_predictors(), strict=True
        ):
            if f"turn.{name}" not in self.active:  # DSPy's resets clear what optimizers were not to see
                predictor.demos = before.demos
        if self.log.optimizer == "simba":
            for one in getattr(compiled, "candidate_programs", []):
                self.log.add(prompt_state(one["program"]), float(one["score"]), len(split.train))
        result: ConversationQA = program.deepcopy()
        result.turn = compiled.turn
        return result

    def _score(self, name: str, place: int, program: ConversationQA, split: TurnSplit | None) -> None:
        """Scores a program on the validation turns, and remembers it as one of the chain's results."""
        from optimize.prompts import TurnStudent, prompt_state, state_hash

        assert self.log is not None
        turn_level = name == "start" or OPTIMIZERS[name].level == "turn"
        if split is None or not turn_level:
            self.results.append((name, None, program))
            return
        self.log.step, self.log.optimizer = place, "start" if name == "start" else f"{name} result"
        key = state_hash(prompt_state(TurnStudent(program.turn)))
        for one in self.log.found:
            if (one.prompts, one.step, one.optimizer, one.turns) == (key, place, self.log.optimizer, len(split.val)):
                self.results.append((name, one.score, program))
                return
        self.results.append((name, self._evaluate(name, program, split), program))
        self._keep_spent()

    def _evaluate(self, name: str, program: ConversationQA, split: TurnSplit) -> float:
        import dspy

        from optimize.metrics import field_accuracies, keep_turn
        from optimize.prompts import TurnStudent

        run = dspy.Evaluate(devset=split.val, metric=keep_turn, num_threads=self.settings.threads)
        scored = run(TurnStudent(program.turn))
        turns = [(getattr(prediction, "turn", None), example.get("gold")) for example, prediction, _ in scored.results]
        self.fields[name] = field_accuracies([(getattr(turn, "understanding", None), gold) for turn, gold in turns])
        if self.checkpoints is not None:
            self.checkpoints.write("fields", self.fields)
        return float(scored.score) / 100

    def _rescue(self, split: TurnSplit | None) -> None:
        """Takes the best candidate of the step in which the budget was spent, if one was scored in full."""
        from optimize.prompts import apply_prompt_state

        assert self.log is not None
        name, place = self.log.optimizer.removesuffix(" result"), self.log.step
        best = self.log.best(turns=len(split.val), since=place) if split is not None and place >= 0 else None
        if best is not None and self.results:
            program: ConversationQA = self.results[-1][2].deepcopy()
            apply_prompt_state(program.turn, best.state)
            self.results.append((name, best.score, program))
        elif not self.results:
            self.results.append(("start", None, self.student.deepcopy()))

    def _keep_spent(self) -> None:
        if self.checkpoints is not None and self.ledger is not None:
            self.checkpoints.write("spent", self.ledger.figures())

    def _finish(self, plan: CompilePlan | None, stopped: str | None, resumed: bool) -> Compilation:
        assert self.log is not None
        kept, program = self._choose()
        scores = tuple((name, score) for name, score, _ in self.results if score is not None)
        if self.checkpoints is not None and stopped is None:  # with more to spend it would go on
            self.checkpoints.save_result(program)
            self.checkpoints.write("done", {"scores": scores, "kept": kept})
        return Compilation(
            program,
            plan,
            tuple(self.log.found),
            scores,
            kept,
            stopped,
            self.ledger.figures() if self.ledger is not None else {},
            resumed,
            prompts_of(self.student),
            prompts_of(program),
            self.fields,
        )

    def _choose(self) -> tuple[str, ConversationQA]:
        """The best of the chain's results, of equals the one that understands better, then the later one."""
        scored = [
            (score, self.fields.get(name, {}).get("all", 0.0), place)
            for place, (name, score, _) in enumerate(self.results)
            if score is not None
        ]
        place = len(self.results) - 1
        if scored and self.settings.keep == "best":
            place = max(scored)[-1]
            # What a fit without a score made of the program stays, unless a later score speaks against it.
            while place + 1 < len(self.results) and self.results[place + 1][1] is None:
                place += 1
        name, _, program = self.results[place]
        return name, program
