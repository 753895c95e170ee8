"""Aggregate: the probability of each candidate, by the search or by a language model.

    >>> choice = aggregate(search, config, execution)
    >>> choice.candidates[choice.scores.pick].answer
    Decimal('25587')

One rule: the model decides, unless its agreement with the search is fitted as a confidence (:mod:`optimize.evidence`).
The search's answer is then the answer, and it is the more certain if the model's own calculation has it. A model whose
agreement has no weight is not asked.

A model that has named an expression with confidence is not asked again, nor one that names what the search proposes.
Elsewhere it chooses among its own candidate and a few serious ones of the search, in an order that a seed shuffles.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import dspy
import numpy as np

from kg.arrays import DoubleArray
from kg.errors import ConfigError
from kg.search import Answer, Derivation, merge_key
from programs.lm import LEAST_SHARE, stated
from programs.turns import read_exactly
from signatures.aggregate import Aggregate as AggregateCandidates
from signatures.understand import Understanding

AGREEMENT_FEATURES = ("bias", "search", "agrees")
"""``bias``: 1; ``search``: the log-odds of the search's confidence in its answer; ``agrees``: whether the model's own
calculation has this answer."""

BEAM_SHARE, NAMED_SHARE = 0.1, 0.5
"""The parts of the search's log-probability, and of a candidate that the model named itself, where a model decides."""

CONFIDENT = 0.6
"""The confidence from which the expression of a model that decides is the answer, without a second look."""

RIVALS = 5
"""The number of candidates of the search that a model chooses among."""


@dataclass(frozen=True)
class Evidence:
    """A language model's evidence on each candidate.

    Attributes:
        shares: Natural logarithm of each candidate's probability.
        none: Natural logarithm of the probability that none is right.
        named: The candidate that the model named before it saw any; ``None`` for none.
    """

    shares: tuple[float, ...]
    none: float = LEAST_SHARE
    named: int | None = None


@dataclass(frozen=True)
class ScoredCandidates:
    """Probabilities of the candidates and of none of them, which sum to 1."""

    candidates: tuple[float, ...]
    none: float

    @property
    def pick(self) -> int:
        """The most probable candidate; the beam's order on a tie."""
        return int(np.argmax(self.candidates))


def scored(scores: Sequence[float], evidence: Evidence | None = None) -> ScoredCandidates:
    """The probabilities of candidates and of none.

    Args:
        scores: The search's log-probabilities of the candidates that are shown.
        evidence: The model's evidence, where it decides; without it, they are the search's.
    """
    logits = np.array([*scores, math.log(max(1.0 - float(np.exp(scores).sum()), 1e-9))])
    if evidence is not None:
        logits = np.maximum([*evidence.shares, evidence.none], LEAST_SHARE)
        logits[:-1] += BEAM_SHARE * np.array(scores)
        if evidence.named is not None:
            logits[evidence.named] += NAMED_SHARE
    shares = np.exp(logits - logits.max())
    *probabilities, rest = (shares / shares.sum()).tolist()
    return ScoredCandidates(tuple(probabilities), rest)


def agrees_with(understanding: Understanding, answer: Answer) -> bool:
    """Whether the model's own calculation has an answer."""
    named = read_exactly(understanding.answer)
    return named is not None and merge_key(named) == merge_key(answer)


def agreement_features(confidence: float, *, agrees: bool) -> DoubleArray:
    """The values of :data:`AGREEMENT_FEATURES`, shape ``(3,)``."""
    bounded = min(max(confidence, 1e-3), 1 - 1e-3)
    return np.array([1.0, math.log(bounded / (1 - bounded)), float(agrees)])


def is_same(first: Derivation, second: Derivation) -> bool:
    """Whether two calculations are over the same figures, whether these count as 12 or as 0.12."""
    own, other = ((str(one).replace("%", ""), [number.source for number in one.numbers]) for one in (first, second))
    return own == other


@dataclass(frozen=True)
class EvidencePlan:
    """The use of one language model.

    Attributes:
        shown: Candidates that it is asked about, the beam's best; at least 2.
        decides: Whether the model decides: a turn then abstains where it finds that no candidate is right.
        prompts: The compiled prompts that the plan was made with (:meth:`programs.beam.BeamQA.prompts_for`).
        lines: Whether the model understands a report by the prompt over a few figures.
        agreement: The weights of :data:`AGREEMENT_FEATURES`, where it does not decide; empty where it is not asked.
        fitted_on: On what they were fitted, in words.
    """

    shown: int = 10
    decides: bool = False
    prompts: str = ""
    lines: bool = False
    agreement: Mapping[str, float] = field(default_factory=dict)
    fitted_on: str = ""

    def __post_init__(self) -> None:
        if self.shown < 2:
            raise ConfigError(f"shown must be at least 2, got {self.shown}")
        if unknown := sorted(set(self.agreement) - set(AGREEMENT_FEATURES)):
            raise ConfigError(f"agreement must be of {', '.join(AGREEMENT_FEATURES)}; got {unknown[0]!r}")

    def asks(self, lm: Any) -> bool:
        """Whether a language model is asked: there is one, and it decides or its agreement counts."""
        return lm is not None and (self.decides or bool(self.agreement))

    def agreed(self, confidence: float, *, agrees: bool) -> float:
        """The confidence in [0, 1] in the search's answer, given the search's own and whether the model agrees."""
        odds = agreement_features(confidence, agrees=agrees) @ [self.agreement.get(x, 0.0) for x in AGREEMENT_FEATURES]
        return float(1 / (1 + np.exp(-odds)))


MODEL_DECIDES = EvidencePlan(decides=True)
"""The plan of a model that nothing is fitted for."""


@dataclass(frozen=True)
class EvidenceConfig:
    """The settings by which language models help to choose among the beam's candidates.

    Attributes:
        page_tokens: The page's budget of tokens; a longer page is cut to what the search finds relevant.
        answer: ``confident``: a turn abstains where a fitted confidence is too low, unless a model was asked that can
            abstain itself; ``always``: the best candidate is the answer.
        seed: Of the order in which candidates are shown to a model.
        plans: The fitted plans, by the name of the language model.
    """

    page_tokens: int = 850
    answer: Literal["confident", "always"] = "confident"
    seed: int = 0
    plans: Mapping[str, EvidencePlan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.answer not in ("confident", "always"):
            raise ConfigError(f"answer must be confident or always, got {self.answer!r}")
        if self.page_tokens < 1:
            raise ConfigError(f"page_tokens must be at least 1, got {self.page_tokens}")

    def plan_for(self, lm: Any) -> EvidencePlan:
        """Returns the plan of a language model, or of none for ``None``."""
        return EvidencePlan() if lm is None else self.plans.get(name_of(lm), MODEL_DECIDES)

    def to_dict(self) -> dict[str, Any]:
        """Returns the saved form."""
        plans = {name: asdict(plan) for name, plan in sorted(self.plans.items())}
        return {"page_tokens": self.page_tokens, "seed": self.seed, "plans": plans}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EvidenceConfig:
        """Reads what :meth:`to_dict` wrote; settings of earlier revisions that are gone have no effect."""
        known = {one.name for one in fields(EvidencePlan)}
        plans = {
            name: EvidencePlan(**{key: value for key, value in plan.items() if key in known})
            for name, plan in dict(record.get("plans", {})).items()
        }
        return cls(**{name: record[name] for name in ("page_tokens", "seed") if name in record}, plans=plans)


@dataclass(frozen=True)
class Execution:
    """A model's understanding of a question, and the candidate that its expression is.

    Attributes:
        understanding: What the model wrote.
        candidate: Its expression with answer, path and sources; ``None`` where it names none.
    """

    understanding: Understanding
    candidate: Any = None


@dataclass(frozen=True)
class Choice:
    """The candidates of a question with the probability of each.

    Attributes:
        candidates: The search's, with the model's own among them.
        scores: The probability of each of the first, and of none of them.
        evidence: The evidence on them of a model that decides; ``None`` for the search's choice.
        understanding: The model's understanding of the question; ``None`` where it was not asked.
    """

    candidates: tuple[Any, ...]
    scores: ScoredCandidates
    evidence: Evidence | None = None
    understanding: Understanding | None = None

    @property
    def refuses(self) -> bool:
        """Whether the model decided that no candidate is right."""
        return self.evidence is not None and self.scores.none > max(self.scores.candidates, default=0.0)


def name_of(lm: Any) -> str:
    """Returns the name of a language model in DSPy, the key of its weights."""
    return str(getattr(lm, "model", type(lm).__name__))


def stated_evidence(confidence: float, place: int | None, count: int) -> Evidence:
    """The evidence of a confidence in one of ``count`` candidates, or in none, which is not asked for again."""
    bounded = min(max(confidence, 1e-4), 1 - 1e-4)
    rest = math.log((1 - bounded) / count)
    shares = tuple(math.log(bounded) if number == place else rest for number in range(count))
    return Evidence(shares, math.log(bounded) if place is None else rest, place)


class Aggregate(dspy.Module):
    """Chooses among the candidates of a search, or none of them.

    Args:
        compares: Whether a language model compares candidates; a world that weighs them by itself needs no prompt.
    """

    def __init__(self, *, compares: bool = True) -> None:
        super().__init__()
        if compares:
            self.predict = dspy.Predict(AggregateCandidates)

    def forward(self, search: Any, config: EvidenceConfig, execution: Execution | None = None) -> Choice:
        """Scores the candidates.

        Args:
            search: The question, with its candidates.
            config: The plans for language models.
            execution: What the model understood, if it was asked.
        """
        own: Choice | None = search.combine(execution)
        if own is not None:
            return own
        plan = config.plan_for(dspy.settings.lm)
        candidates, evidence, named = search.candidates, None, None
        if execution is not None and not plan.agreement:
            if execution.candidate is not None:
                candidates, named = with_named(candidates, execution.candidate, plan.shown)
            evidence = self._compared(search, config, candidates[: plan.shown], execution, named)
        shown = candidates[: plan.shown]
        scores = scored([candidate.score for candidate in shown], evidence) if shown else ScoredCandidates((), 1.0)
        understanding = execution.understanding if execution is not None else None
        return Choice(candidates, scores, evidence, understanding)

    def _compared(
        self, search: Any, config: EvidenceConfig, shown: Sequence[Any], execution: Execution, named: int | None
    ) -> Evidence | None:
        """The model's understanding where the search agrees with it, else its choice among the candidates."""
        if not shown:
            return None
        understanding = execution.understanding
        groups = search.groups(shown, named)
        plan = config.plan_for(dspy.settings.lm)
        is_confident = plan.lines or understanding.confidence >= CONFIDENT
        if named is not None:
            own = next(places for places in groups if named in places)
            if is_confident or len(groups) == 1 or 0 in own:
                return stated_evidence(understanding.confidence, named, len(shown))
            groups = [own, *(places for places in groups if places is not own)]
        elif plan.lines:
            return None
        elif not groups or (understanding.says_none and search.abstains):
            return stated_evidence(understanding.confidence, None, len(shown))
        groups = groups[: RIVALS + 1]
        random.Random(f"{config.seed} {search.question}").shuffle(groups)
        reply = self.predict(
            **search.options([shown[places[0]] for places in groups], understanding.description),
            signature=pick_among(self.predict.signature, len(groups)),
        )
        picked = int(reply.choice) - 1
        evidence = stated_evidence(stated(reply.confidence), picked if picked >= 0 else None, len(groups))
        shares = [LEAST_SHARE] * len(shown)
        for share, places in zip(evidence.shares, groups, strict=True):
            shares[places[0]] = share
        return replace(evidence, shares=tuple(shares), named=named)


def pick_among(signature: Any, count: int) -> Any:
    """The signature with ``choice`` narrowed to 0 (none) and the numbers of ``count`` candidates."""
    if signature.output_fields["choice"].annotation is not int:
        return signature  # an optimizer has given the field a type of its own
    among: Any = Literal[tuple(range(count + 1))]
    return signature.with_updated_fields("choice", type_=among)


def with_named(candidates: Sequence[Any], named: Any, most: int) -> tuple[tuple[Any, ...], int]:
    """Candidates with the named one among the first ``most``, and its place: it replaces those that it is equal to."""
    key = merge_key(named.answer)
    equal = [
        place
        for place, candidate in enumerate(candidates)
        if merge_key(candidate.answer) == key or is_same(candidate.derivation, named.derivation)
    ]
    others = [candidate for place, candidate in enumerate(candidates) if place not in equal]
    place = min([*equal, max(most - 1, 0), len(others)])
    return (*others[:place], named, *others[place:]), place
