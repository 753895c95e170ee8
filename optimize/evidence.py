"""The fit of the use of a language model's calculations, as a DSPy optimizer.

    >>> with dspy.context(lm=lm):
    ...     compiled = FitEvidence(seed=0).compile(finpath.load("beam"), trainset=conversation_examples(train))
    >>> compiled.evidence.plans["openai/gpt-4o-mini"].agreement
    {'bias': -0.61, 'search': 0.74, 'agrees': 1.35}

A search is too confident on its own training turns, so the turns are those of pages that the program's encoder was not
fitted on (``encoder/pages.txt``), without those in the pool of demonstrations. The model is asked to understand each;
its replies are kept in DSPy's cache, so a stopped fit continues. A model whose calculations are right more often than
the search's answers decides. Of any other the agreement counts, as the confidence in the search's answer, if that
explains right and wrong answers better than the search's own confidence; else the model is not asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import dspy
import numpy as np
from pydantic import Field, PositiveInt
from pydantic.dataclasses import dataclass as checked_dataclass

from kg.arrays import DoubleArray
from kg.errors import ConfigError, DataError
from optimize.fitting import fit_logistic, folds_of
from optimize.metrics.turns import exact_match
from optimize.optimizers import ConversationFit
from optimize.scorers import content_sha256, page_keys
from programs.aggregate import (
    AGREEMENT_FEATURES,
    EvidencePlan,
    agreement_features,
    agrees_with,
    name_of,
)
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.turns import Turn, read_exactly

FOLDS = 10
"""Parts of the reports for cross-validation."""

_PENALTY = 1.0


@dataclass(frozen=True)
class EvidenceTurn:
    """A training turn that a model was asked about.

    Attributes:
        group: The unit of the folds: the report.
        confidence: The search's confidence in its answer.
        agrees: Whether the model's own calculation has this answer.
        right: Whether the search's answer is right.
        named_right: Whether the model's own calculation is right.
    """

    group: str
    confidence: float
    agrees: bool
    right: bool
    named_right: bool


@checked_dataclass(frozen=True)
class EvidenceSettings:
    """The settings of :class:`FitEvidence`.

    Attributes:
        shown: Candidates that a model which decides is asked about.
        turns: Turns on which it is asked at most; by default all.
    """

    shown: Annotated[int, Field(ge=2)] = 10
    turns: PositiveInt | None = None


class FitEvidence(ConversationFit):
    """Fits the use of the current language model."""

    Settings: ClassVar = EvidenceSettings
    settings: EvidenceSettings

    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Fits the plan of the current language model.

        Raises:
            ConfigError: There is none; the program has no encoder, or one that does not record its pages.
            DataError: The encoder was fitted on the pages of all conversations, or all turns are of one report.
        """
        lm = dspy.settings.lm
        if lm is None:
            raise ConfigError("optimizer 'evidence' fits the use of a language model; name one with lm, got none")
        examples = unseen_examples(turn, trainset)
        self.progress(f"evidence on {len(examples)} conversations that the search has not seen")
        plan = EvidencePlan(self.settings.shown, lines=turn.evidence.plan_for(lm).lines)
        plan = replace(plan, prompts=turn.prompts_for(plan))
        turns = self._turns(program, examples, replace(plan, agreement={"search": 1.0}))
        weights, gain = fit_agreement(turns, self.seed)
        about = f"{len(turns)} turns of {len({one.group for one in turns})} reports"
        search, named = [one.right for one in turns], [one.named_right for one in turns]
        use = "has no weight: its agreement explains no more than chance"
        if improves(search, named):
            plan, use = replace(plan, decides=True), "decides"
        elif gain:
            plan, use = replace(plan, agreement=weights), f"counts as confidence, {weights}"
        self.progress(f"{name_of(lm)} {use}; on {about} {np.mean(named):.1%} right, the search {np.mean(search):.1%}")
        plan = replace(plan, fitted_on=about)
        program.evidence = replace(turn.evidence, plans={**turn.evidence.plans, name_of(lm): plan})

    def _turns(
        self, program: ConversationQA, examples: Sequence[dspy.Example], plan: EvidencePlan
    ) -> list[EvidenceTurn]:
        """The turns that the model is asked about; a conversation that was begun is asked to its end."""
        asking: ConversationQA = program.deepcopy()
        asking.evidence = replace(program.turn.evidence, answer="always", plans={name_of(dspy.settings.lm): plan})
        turns: list[EvidenceTurn] = []
        for place in np.random.default_rng(self.seed).permutation(len(examples)).tolist():
            if len(turns) >= (self.settings.turns if self.settings.turns is not None else math.inf):
                break
            example = examples[place]
            answered: list[Turn] = asking(report=example.report, questions=list(example.questions)).turns
            for turn, gold in zip(answered, example.answers, strict=True):
                if turn.understanding is not None and turn.answer is not None and turn.confidence is not None:
                    agrees = agrees_with(turn.understanding, turn.answer)
                    right = exact_match(turn.answer, gold)
                    named_right = exact_match(read_exactly(turn.understanding.answer), gold)
                    group = content_sha256(example.report)
                    turns.append(EvidenceTurn(group, turn.confidence, agrees, right, named_right))
        return turns


def unseen_examples(turn: BeamQA, trainset: Sequence[dspy.Example]) -> list[dspy.Example]:
    """The conversations about pages that the program's encoder was not fitted on, and not in the demonstrations.

    Raises:
        ConfigError: There is no encoder, or it does not record its pages.
        DataError: It was fitted on the pages of all conversations.
    """
    encoder = turn.reader.scorer.encoder
    if encoder is None or not encoder.pages:
        rule = "compile it with 'encoder' first, which records the pages that it is fitted on"
        raise ConfigError(f"optimizer 'evidence' needs pages that the program's search has not seen: {rule}")
    lines = turn.understand.lines
    pool = {demo["question"].partition(": ")[2] for demo in lines.demos} if lines is not None else set()
    unseen = (one for one in trainset if not page_keys(one.report) & encoder.pages)
    examples = [one for one in unseen if not pool & set(one.questions)]
    if not examples:
        rule = f"it was on those of all {len(trainset)} conversations"
        raise DataError(f"evidence must be fitted on pages that the search was not fitted on; {rule}")
    return examples


def fit_agreement(turns: Sequence[EvidenceTurn], seed: int) -> tuple[dict[str, float], bool]:
    """Fits the confidence in the search's answer; returns the weights, and whether the model's agreement adds to it.

    Args:
        turns: Turns of at least two reports.
        seed: Of the folds.

    Raises:
        DataError: All turns are of one report.
    """
    fold_of = folds_of([turn.group for turn in turns], FOLDS, seed)
    folds = np.array([fold_of[turn.group] for turn in turns])
    rows = np.array([agreement_features(turn.confidence, agrees=turn.agrees) for turn in turns])
    right = np.array([turn.right for turn in turns])

    def likelihoods(columns: int) -> DoubleArray:
        """The log-likelihood of each turn, by weights that were fitted without its fold."""
        odds = np.zeros(len(turns))
        for fold in np.unique(folds):
            inside = rows[folds != fold, :columns]
            odds[folds == fold] = rows[folds == fold, :columns] @ fit_logistic(
                inside, right[folds != fold], penalty=_PENALTY
            )
        return -np.logaddexp(0, np.where(right, -odds, odds))

    weights = fit_logistic(rows, right, penalty=_PENALTY).round(4).tolist()
    gain = improves(likelihoods(len(AGREEMENT_FEATURES) - 1).tolist(), likelihoods(len(AGREEMENT_FEATURES)).tolist())
    return dict(zip(AGREEMENT_FEATURES, weights, strict=True)), gain


def improves(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether turns are better after than before, by more than one standard error of the mean difference."""
    gains = np.array(after, dtype=float) - np.array(before, dtype=float)
    return bool(gains.mean() > gains.std() / math.sqrt(len(gains)))
