"""The fit of the weights that blend a language model's evidence with the beam's score, as a DSPy optimizer.

    >>> with dspy.context(lm=lm):
    ...     compiled = FitEvidence(seed=0).compile(finpath.load("beam"), trainset=conversation_examples(train))
    >>> compiled.evidence.plans["openai/gpt-4o-mini"].blend.weights
    {'beam': 0.41, 'share': 0.72, 'length': -0.1, 'named': 0.9}

A search is too confident on its own training turns, so the turns are those of pages that the program's encoder was not
fitted on (``encoder/pages.txt``). The model is asked about the candidates of each; its replies are kept in DSPy's
cache, so a stopped fit continues. The loss of a turn is minus the logarithm of the probability of its right candidate,
or of none if none is right. The penalty pulls to the search's own probabilities, so evidence without information gets
no weight, and a model that helps nothing is not asked. Without a language model, only the confidence of the beam is
calibrated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import dspy
import numpy as np
from pydantic import Field, PositiveInt
from pydantic.dataclasses import dataclass as checked_dataclass
from threadpoolctl import threadpool_limits

from kg.errors import ConfigError, DataError
from kg.search import merge_key
from optimize.fitting import fit_choices, folds_of
from optimize.optimizers import ConversationFit
from optimize.scorers import content_sha256, page_keys
from programs.aggregate import (
    BEAM_ALONE,
    CANDIDATE_FEATURES,
    NONE_FEATURES,
    Blend,
    Evidence,
    EvidenceConfig,
    EvidencePlan,
    features_of,
    length_of,
    name_of,
)
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.turns import Turn

FEATURE_SETS: tuple[tuple[str, ...], ...] = (("share",), ("share", "length"), ("share", "length", "named"))
"""Features that are tried in addition to the beam's score."""

ALONE_SETS: tuple[tuple[str, ...], ...] = ((), ("length",))
"""Features that are tried where the model is not asked."""

PENALTIES = (1.0, 3.0, 10.0, 100.0)
"""Strengths of the pull towards the beam's own probabilities, for all turns together."""

FOLDS = 10
"""Parts of the reports for cross-validation."""


@dataclass(frozen=True)
class EvidenceTurn:
    """A training turn as an aggregator sees it, with its right candidates.

    Attributes:
        group: The unit of the folds: the report.
        scores: The search's log-probabilities of the candidates that are shown.
        lengths: Figures and operations of their derivations.
        right: Whether each of them has the gold answer.
        evidence: The language model's evidence; ``None`` if it was not asked.
    """

    group: str
    scores: tuple[float, ...]
    lengths: tuple[int, ...]
    right: tuple[bool, ...]
    evidence: Evidence | None = None


@dataclass(frozen=True)
class FittedBlend:
    """The result of the cross-validation.

    Attributes:
        blend: The blend with the selected features and penalty, fitted on all turns.
        picks: The candidate that was picked for each turn, by weights that were fitted without its report.
        accuracy: Share of right picks in [0, 1].
    """

    blend: Blend
    picks: tuple[int, ...]
    accuracy: float


@checked_dataclass(frozen=True)
class EvidenceSettings:
    """The settings of :class:`FitEvidence`.

    Attributes:
        shown: Candidates that the model is asked about.
        turns: Turns on which it is asked at most; by default all.
    """

    shown: Annotated[int, Field(ge=2)] = 10
    turns: PositiveInt | None = None


class FitEvidence(ConversationFit):
    """Fits the weights of a language model's evidence, and of the beam's own confidence."""

    Settings: ClassVar = EvidenceSettings
    settings: EvidenceSettings

    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Fits the weights for the current language model.

        Raises:
            ConfigError: The program has no encoder, or one that does not record its pages.
            DataError: The encoder was fitted on the pages of all conversations, or all turns are of one report.
        """
        lm = dspy.settings.lm
        examples = unseen_examples(turn, trainset)
        self.progress(f"evidence on {len(examples)} conversations that the search has not seen")
        turns = self._scored_turns(program, examples, lm)
        about = f"{len(turns)} turns of {len({one.group for one in turns})} reports"
        alone = choose_blend([replace(one, evidence=None) for one in turns], ALONE_SETS, self.seed, about)
        plans = {**turn.evidence.plans, BEAM_ALONE: EvidencePlan(self.settings.shown, alone.blend)}
        self.progress(f"cross-validated on {about}: the beam {alone.accuracy:.1%}")
        asked = [place for place, one in enumerate(turns) if one.evidence is not None]
        if asked:
            fitted = choose_blend([turns[place] for place in asked], FEATURE_SETS, self.seed, about)
            before = [turns[place].right[alone.picks[place]] for place in asked]
            after = [turns[place].right[pick] for place, pick in zip(asked, fitted.picks, strict=True)]
            helps = improves(before, after)
            blend = fitted.blend if helps else alone.blend
            plans[name_of(lm)] = EvidencePlan(self.settings.shown, blend, prompts=turn.prompts)
            use = "is used" if helps else "has no weight: the gain is within chance"
            self.progress(
                f"{name_of(lm)} {use}; on {len(asked)} turns {fitted.accuracy:.1%}, the beam {np.mean(before):.1%}"
            )
        program.evidence = replace(turn.evidence, plans=plans)

    def _scored_turns(self, program: ConversationQA, examples: Sequence[dspy.Example], lm: Any) -> list[EvidenceTurn]:
        """The turns with the candidates of the search, and the model's evidence as long as it may be asked."""
        asking: ConversationQA = program.deepcopy()
        plan = EvidencePlan(self.settings.shown, Blend({"beam": 1.0, "share": 0.1}), prompts=program.turn.prompts)
        asking.evidence = EvidenceConfig(answer="always", plans={name_of(lm): plan} if lm is not None else {})
        left = self.settings.turns if self.settings.turns is not None else math.inf
        turns: list[EvidenceTurn] = []
        for place in np.random.default_rng(self.seed).permutation(len(examples)).tolist():
            more = list(self._turns(asking, examples[place], lm if left > 0 else None))
            left -= sum(turn.evidence is not None for turn in more)
            turns += more
        return turns

    def _turns(self, program: ConversationQA, example: dspy.Example, lm: Any) -> Iterator[EvidenceTurn]:
        with dspy.context(lm=lm):
            turns: list[Turn] = program(report=example.report, questions=list(example.questions)).turns
        for turn, answer in zip(turns, example.answers, strict=True):
            shown = turn.candidates[: self.settings.shown]
            if shown:
                yield EvidenceTurn(
                    content_sha256(example.report),
                    tuple(one.score for one in shown),
                    tuple(length_of(one.derivation) for one in shown),
                    tuple(merge_key(one.answer) == merge_key(answer) for one in shown),
                    turn.evidence,
                )


def unseen_examples(turn: BeamQA, trainset: Sequence[dspy.Example]) -> list[dspy.Example]:
    """The conversations about pages that the program's encoder was not fitted on.

    Raises:
        ConfigError: There is no encoder, or it does not record its pages.
        DataError: It was fitted on the pages of all conversations.
    """
    encoder = turn.reader.scorer.encoder
    if encoder is None or not encoder.pages:
        rule = "compile it with 'encoder' first, which records the pages that it is fitted on"
        raise ConfigError(f"optimizer 'evidence' needs pages that the program's search has not seen: {rule}")
    examples = [one for one in trainset if not page_keys(one.report) & encoder.pages]
    if not examples:
        rule = f"it was on those of all {len(trainset)} conversations"
        raise DataError(f"evidence must be fitted on pages that the search was not fitted on; {rule}")
    return examples


def choose_blend(
    turns: Sequence[EvidenceTurn], sets: Sequence[Sequence[str]], seed: int, about: str = "", folds: int = FOLDS
) -> FittedBlend:
    """Selects features and penalty by the cross-validated loss, and fits them on all turns.

    Args:
        turns: At least one of each of two reports.
        sets: Sets of features that are tried in addition to the beam's score.
        seed: Of the folds.
        about: The training data in words, kept with the weights.
        folds: Parts into which the reports are cut, at most one for each.

    Raises:
        DataError: All turns are of one report.
    """
    fold_of = folds_of([turn.group for turn in turns], folds, seed)

    def validated(names: Sequence[str], penalty: float) -> list[tuple[float, ...]]:
        """The probabilities of each turn's candidates and of none, by weights fitted without its fold."""
        blends = {
            fold: fit_blend([turn for turn in turns if fold_of[turn.group] != fold], names, penalty)
            for fold in set(fold_of.values())
        }
        scored = (blends[fold_of[turn.group]].judge(turn.scores, turn.lengths, turn.evidence) for turn in turns)
        return [(*one.candidates, one.none) for one in scored]

    def loss(shares: Sequence[tuple[float, ...]]) -> float:
        right = (
            sum(share for share, is_right in zip(own, _right(turn), strict=True) if is_right)
            for own, turn in zip(shares, turns, strict=True)
        )
        return float(np.mean([-math.log(max(share, 1e-12)) for share in right]))

    # The matrices are so small that threads of the linear algebra library only wait for one another.
    with threadpool_limits(limits=1):
        tried = [(names, penalty, validated(names, penalty)) for names in sets for penalty in PENALTIES]
        names, penalty, shares = min(tried, key=lambda option: loss(option[2]))
        blend = fit_blend(turns, names, penalty, about)
    picks = tuple(int(np.argmax(own[:-1])) for own in shares)
    return FittedBlend(
        blend, picks, float(np.mean([turn.right[pick] for turn, pick in zip(turns, picks, strict=True)]))
    )


def fit_blend(turns: Sequence[EvidenceTurn], names: Sequence[str], penalty: float, about: str = "") -> Blend:
    """Fits the weights of some features, always with ``beam`` and those of none, by maximum likelihood."""
    own = [place for place, name in enumerate(CANDIDATE_FEATURES) if name == "beam" or name in names]
    of_none = range(len(NONE_FEATURES)) if any(turn.evidence is not None for turn in turns) else range(2)
    rows = []
    for turn in turns:  # a row for each candidate, the last one for none
        candidates, none = features_of(turn.scores, turn.lengths, turn.evidence)
        table = np.zeros((len(turn.scores) + 1, len(own) + len(of_none)))
        table[:-1, : len(own)] = candidates[:, own]
        table[-1, len(own) :] = none[of_none]
        rows.append(table)
    candidate_names, none_names = [CANDIDATE_FEATURES[one] for one in own], [NONE_FEATURES[one] for one in of_none]
    start = [Blend().weights.get(name, 0.0) for name in candidate_names]
    start += [Blend().none.get(name, 0.0) for name in none_names]
    weights = fit_choices(rows, [_right(turn) for turn in turns], penalty=penalty, start=start).tolist()
    of_candidates = dict(zip(candidate_names, weights, strict=False))
    return Blend(of_candidates, dict(zip(none_names, weights[len(own) :], strict=True)), about)


def improves(before: Sequence[bool], after: Sequence[bool]) -> bool:
    """Whether more turns are right after than before, by more than one standard error of the mean difference."""
    gains = np.array(after, dtype=float) - np.array(before, dtype=float)
    return bool(gains.mean() > gains.std() / math.sqrt(len(gains)))


def _right(turn: EvidenceTurn) -> list[bool]:
    return [*turn.right, not any(turn.right)]
