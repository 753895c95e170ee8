"""The fine-tuning of an embedded model for the choice among candidates, as a DSPy optimizer.

    >>> with dspy.context(lm=lm):
    ...     compiled = FitAdapter(seed=0).compile(program, trainset=conversation_examples(train))
    >>> compiled.turn.evidence.plans["local/qwen2.5-coder-0.5b+reports"].prompt
    'brief'

The model learns on most reports to write the calculation that answers a question, and to prefer it to the search's
other candidates; where the report does not answer, it learns the reply none. On the other reports, the weights are
fitted that blend its evidence with the beam's score. A page is on one side. Held out are the pages that the search's
encoder was not fitted on, where it records its pages, and else a share of all. Where some of their questions have no
answer, the weights of the abstention are fitted too. A model that has an adapter already continues from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar

import dspy
import numpy as np
from dspy.teleprompt import Teleprompter
from pydantic import Field

from kg.errors import ConfigError, DataError
from optimize.encoders import split_reports
from optimize.evidence import (
    ABSTAINED_WRONG,
    AbstentionExample,
    Fitted,
    JudgedTurn,
    choose_blend,
    fit_abstention,
    improves,
    unseen,
)
from optimize.finetuning.examples import AskedTurn, asked_turns, chat_examples
from optimize.finetuning.settings import TrainingConfig
from optimize.finetuning.tune import check_packages, tune
from optimize.needs import NO_EXTRAS, Extras, Need, Sizes
from optimize.optimizer import Optimizer
from optimize.scorers import content_sha256
from optimize.settings import AtLeast1, AtLeast2, NotNegative
from optimize.settings import settings as checked
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.evidence import Abstention, EvidencePlan, evidence_beside_none, length_of
from programs.lm import EmbeddedEngine
from programs.worlds.page import NO_ANSWER

MEASURED = 40
"""Held-out conversations on which the training's curves are measured."""

_EXAMPLES = "examples.jsonl"


@checked
class FinetuneOptimizer(Optimizer):
    """``finetune``: the settings of :class:`FitAdapter`.

    Attributes:
        name: The adapter's name: the model is then ``local/MODEL+NAME``.
        held_out: Share in (0, 1) of the reports on which the evidence is weighed, where the search does not record the
            pages that it was fitted on.
        turns: Held-out turns on which it is weighed, at most.
        shown: Candidates that are judged.
        least_margin: Conversations whose file gives their programs a lower ``margin`` are left out.
        training: Of the adapter.
    """

    summary: ClassVar[str] = "an adapter (LoRA) of the embedded model for the choice, and the weights of its evidence"
    name: str = "finetuned"
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.15
    turns: AtLeast1 = 600
    shown: AtLeast2 = 10
    least_margin: NotNegative = 9.7
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def need(self, sizes: Sizes) -> Need:  # noqa: ARG002 - the training ends by the clock
        """Returns the time for the training; the evidence on held-out turns comes on top."""
        return Need(training_seconds=3600 * self.training.hours)

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the fit."""
        return FitAdapter(self, seed=seed, extras=extras)


class FitAdapter(Teleprompter):
    """Trains an adapter of an embedded model, and fits the weights of its evidence.

    Args:
        settings: Settings.
        seed: Of the split, the adapters' start and the order of the examples.
        extras: Of these, the model for the role ``task`` is trained, by default DSPy's current one. ``folder`` keeps
            examples and checkpoints, to continue from. From ``without_programs``, the questions are learned that the
            report does not answer. ``progress`` and ``plot`` receive the stages and the points of the curves.
    """

    def __init__(self, settings: FinetuneOptimizer | None = None, *, seed: int = 0, extras: Extras = NO_EXTRAS) -> None:
        super().__init__()
        self.settings = settings if settings is not None else FinetuneOptimizer()
        self.seed = seed
        self.extras = extras
        self.card: dict[str, Any] = {}

    def compile(
        self,
        student: ConversationQA,
        *,
        trainset: list[dspy.Example],
        teacher: object = None,  # noqa: ARG002 - the signature of every optimizer
        valset: list[dspy.Example] | None = None,  # noqa: ARG002
    ) -> ConversationQA:
        """Returns a copy of ``student`` with a plan for the model with its new adapter.

        Args:
            student: The program; it is not changed.
            trainset: Conversation examples: ``report``, ``questions``, ``programs`` and ``answers``.
            teacher: Not used.
            valset: Not used: a share of the reports of ``trainset`` is held out.

        Raises:
            ConfigError: The program does not search by a scorer, the model is not embedded, or a package is missing.
            DataError: Nothing can be learned, or no held-out turn has candidates.
        """
        if not isinstance(student.turn, BeamQA):
            raise ConfigError(f"the {student.kind} has no candidates to choose among: choose another optimizer")
        lm = self.extras.lms.get("task", dspy.settings.lm)
        engine = getattr(lm, "engine", None)
        if not isinstance(engine, EmbeddedEngine):
            named = getattr(lm, "model", "none")
            raise ConfigError(f"optimizer 'finetune' trains an embedded model: name one with --lm local, got {named}")
        check_packages()
        inside, outside = self._split(student, self._usable(trainset))
        self.extras.progress(f"{len(inside)} conversations to learn, {len(outside)} held out")
        kept = self.extras.folder / _EXAMPLES if self.extras.folder is not None else None
        learned = chat_examples(student.turn, inside, self.settings.shown, self.extras.progress, kept)
        measured = chat_examples(student.turn, outside[:MEASURED], self.settings.shown, self.extras.progress)
        self.card = tune(
            engine,
            learned,
            measured,
            name=self.settings.name,
            config=self.settings.training,
            seed=self.seed,
            folder=self.extras.folder,
            progress=self.extras.progress,
            plot=self.extras.plot,
        )
        tuned = lm.copy(model=f"{engine.name.partition('+')[0]}+{self.settings.name}")
        judged, questions = self._judged(student.turn, outside, tuned)
        compiled: ConversationQA = student.deepcopy()
        assert isinstance(compiled.turn, BeamQA)
        plans = {**compiled.turn.evidence.plans, tuned.model: self._plan(judged, questions)}
        compiled.evidence = replace(compiled.turn.evidence, plans=plans)
        compiled._compiled = True
        return compiled

    def _usable(self, trainset: Sequence[dspy.Example]) -> list[dspy.Example]:
        """The conversations with a sufficient margin, and those that begin with a question without an answer."""
        margins = [one.get("margin") for one in trainset]
        sure = [
            one
            for one, margin in zip(trainset, margins, strict=True)
            if margin is None or margin >= self.settings.least_margin
        ]
        unanswered = [one for one in self.extras.without_programs if one.gold[0] is None]
        self.extras.progress(
            f"{len(trainset) - len(sure)} conversations of too low a margin left out, "
            f"{len(unanswered)} without an answer"
        )
        return [*sure, *unanswered]

    def _split(
        self, student: ConversationQA, trainset: Sequence[dspy.Example]
    ) -> tuple[list[dspy.Example], list[dspy.Example]]:
        """The conversations to learn, and those on whose pages the evidence is weighed."""
        assert isinstance(student.turn, BeamQA)
        encoder = student.turn.reader.scorer.encoder
        if encoder is not None and encoder.pages:
            outside = set(unseen(student.turn, trainset))
            if len(outside) < len(trainset):
                sides: tuple[list[dspy.Example], list[dspy.Example]] = ([], [])
                for place, example in enumerate(trainset):
                    sides[place in outside].append(example)
                return sides
        return split_reports(trainset, self.settings.held_out, self.seed)

    def _judged(
        self, turn: BeamQA, outside: Sequence[dspy.Example], tuned: Any
    ) -> tuple[list[JudgedTurn], list[AbstentionExample]]:
        """Held-out turns with the tuned model's evidence, for the weights and for the abstention."""
        found: list[JudgedTurn] = []
        questions: list[AbstentionExample] = []
        order = np.random.default_rng(self.seed).permutation(len(outside)).tolist()
        for place in order:
            if len(found) >= self.settings.turns:
                break
            group = content_sha256(outside[place].report)
            for one in asked_turns(turn, outside[place], self.settings.shown):
                if len(one.candidates) > 1:
                    found.append(_judged_turn(one, group, tuned))
                    questions += _question(one, found[-1])
        self.extras.progress(f"evidence of {len(found)} held-out turns")
        if not found:
            raise DataError("no held-out turn has candidates to choose among")
        return found, questions

    def _plan(self, judged: Sequence[JudgedTurn], questions: Sequence[AbstentionExample]) -> EvidencePlan:
        groups = len({turn.group for turn in judged})
        described = f"{len(judged)} turns of {groups} held-out reports"
        alone = choose_blend(judged, seed=self.seed, with_evidence=False, description=described)
        fitted = choose_blend(judged, seed=self.seed, description=described)
        right = [[turn.right[pick] for turn, pick in zip(judged, one.picks, strict=True)] for one in (alone, fitted)]
        helps = improves(*right)
        self.extras.progress(_words(judged, alone, fitted, helps=helps))
        blend = fitted.blend if helps else alone.blend
        return EvidencePlan("brief", self.settings.shown, blend, abstention=self._abstention(questions))

    def _abstention(self, questions: Sequence[AbstentionExample]) -> Abstention | None:
        """The weights of the abstention; ``None`` where the questions do not allow a fit."""
        without = sum(not one.is_answerable for one in questions)
        if len({one.group for one in questions if not one.is_answerable}) < 2 or without == len(questions):
            return None
        described = f"{len(questions)} questions, {without} of them without an answer"
        fitted = fit_abstention(questions, seed=self.seed, description=described)
        share = np.mean(fitted.recognised(ABSTAINED_WRONG)[0])
        self.extras.progress(
            f"abstention: {share:.0%} of {described}, where {ABSTAINED_WRONG:.0%} of the others abstain"
        )
        return fitted.abstention


def _judged_turn(one: AskedTurn, group: str, lm: Any) -> JudgedTurn:
    return JudgedTurn(
        group,
        tuple(candidate.score for candidate in one.candidates),
        tuple(length_of(candidate.derivation) for candidate in one.candidates),
        one.right,
        evidence_beside_none(lm, list(one.messages), one.replies, NO_ANSWER),
    )


def _question(one: AskedTurn, judged: JudgedTurn) -> list[AbstentionExample]:
    """The turn for the abstention; none where the search has no probability, or its gold answer is not known."""
    if one.answerable is None or one.reply is None or judged.evidence is None or judged.evidence.none is None:
        return []
    return [AbstentionExample(judged.group, one.reply != NO_ANSWER, one.answerable, judged.evidence.none)]


def _words(judged: Sequence[JudgedTurn], alone: Fitted, fitted: Fitted, *, helps: bool) -> str:
    """The cross-validated figures in one line."""
    own = np.mean([turn.right[turn.evidence.first] for turn in judged if turn.evidence is not None])
    return (
        f"held out: the beam {alone.beam_accuracy:.1%}, the model {own:.1%}, both {fitted.accuracy:.1%}; "
        f"it is {'asked' if helps else 'not asked, as it gains nothing'}"
    )
