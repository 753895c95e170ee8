"""Aggregate: the probability of each candidate, by the search, a language model, or the blend of both.

    >>> choice = aggregate(search, config, execution)
    >>> choice.candidates[choice.scores.pick].answer
    Decimal('25587')
    >>> blend = Blend(weights={"beam": 1.0, "share": 0.25}, none={"bias": -1.0, "rest": 0.5})
    >>> blend.judge([-0.4, -1.3], (1, 3), Evidence((-0.1, -2.4)))
    ScoredCandidates(candidates=(0.69, 0.16), none=0.15)

One rule: the model decides, unless weights are fitted for it (:mod:`optimize.evidence`). A blend is log-linear: each
candidate's logit is the weighted sum of its features (:data:`CANDIDATE_FEATURES`), that of none a weighted sum of the
turn's (:data:`NONE_FEATURES`), and the probability is the softmax over all. Missing weights are 0. Where the weights
give the model's evidence none, it is not asked.

A model that has named an expression with confidence is not asked again, nor one that names what the search proposes.
Elsewhere it chooses among its own candidate and a few serious ones of the search, in an order that a seed shuffles.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import dspy
import numpy as np

from kg.arrays import DoubleArray
from kg.errors import ConfigError
from kg.search import Derivation, merge_key
from programs.lm import LEAST_SHARE, sampling, shares_from_tokens, stated, tokens_of
from signatures.aggregate import Aggregate as AggregateCandidates
from signatures.understand import Understanding

CANDIDATE_FEATURES = ("beam", "share", "length", "named")
"""``beam``: the search's log-probability; ``share``: the log-probability among the candidates by the model's evidence;
``length``: figures and operations in the derivation; ``named``: 1 for the candidate that the model named itself."""

NONE_FEATURES = ("bias", "rest", "none")
"""``bias``: 1; ``rest``: the log-probability that the search leaves to what is not shown; ``none``: the log-probability
that the model gives to none."""

BEAM_ALONE = "none"
"""The name under which the plan for no language model is kept."""

CONFIDENT = 0.6
"""The confidence from which the expression of a model that decides is the answer, without a second look."""

RIVALS = 5
"""The number of candidates of the search that a model chooses among."""

_LEAST_REST = -7.0


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


@dataclass(frozen=True)
class Blend:
    """The weights.

    Attributes:
        weights: Of the features of a candidate; those that are not named are 0.
        none: Of the features of none.
        fitted_on: On what they were fitted, in words; empty for weights that were set by hand.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: {"beam": 1.0})
    none: Mapping[str, float] = field(default_factory=lambda: {"rest": 1.0})
    fitted_on: str = ""

    def __post_init__(self) -> None:
        for given, known in ((self.weights, CANDIDATE_FEATURES), (self.none, NONE_FEATURES)):
            if unknown := sorted(set(given) - set(known)):
                raise ConfigError(f"a blend's weights must be of {', '.join(known)}; got {unknown[0]!r}")
            if not all(np.isfinite(value) for value in given.values()):
                raise ConfigError("a blend's weights must be finite")

    @property
    def uses_evidence(self) -> bool:
        """Whether the model's evidence has any weight."""
        return any(self.weights.get(name) for name in ("share", "named"))

    def judge(self, scores: Sequence[float], lengths: Sequence[int], evidence: Evidence | None) -> ScoredCandidates:
        """The probabilities.

        Args:
            scores: The search's log-probabilities of the candidates that are shown.
            lengths: Figures and operations of their derivations.
            evidence: The model's evidence; ``None`` where it was not asked, and its features are then 0.
        """
        candidates, none = features_of(scores, lengths, evidence)
        logits = [
            *(candidates @ [self.weights.get(name, 0.0) for name in CANDIDATE_FEATURES]),
            none @ [self.none.get(name, 0.0) for name in NONE_FEATURES],
        ]
        shares = np.exp(np.array(logits) - max(logits))
        *probabilities, rest = (shares / shares.sum()).tolist()
        return ScoredCandidates(tuple(probabilities), rest)

    def to_dict(self) -> dict[str, Any]:
        """Returns the saved form: weights with four decimal places."""
        return {
            "weights": {name: round(self.weights[name], 4) for name in CANDIDATE_FEATURES if self.weights.get(name)},
            "none": {name: round(self.none[name], 4) for name in NONE_FEATURES if self.none.get(name)},
            "fitted_on": self.fitted_on,
        }


def features_of(
    scores: Sequence[float], lengths: Sequence[int], evidence: Evidence | None
) -> tuple[DoubleArray, DoubleArray]:
    """The features of each candidate, shape ``(candidates, 4)``, and of none, shape ``(3,)``."""
    rest = max(1.0 - float(np.exp(scores).sum()), 1e-9) if len(scores) else 1.0
    candidates = np.zeros((len(scores), len(CANDIDATE_FEATURES)))
    none = np.array([1.0, max(math.log(rest), _LEAST_REST), 0.0])
    candidates[:, 0], candidates[:, 2] = scores, lengths
    if evidence is not None:
        candidates[:, 1] = np.maximum(evidence.shares, LEAST_SHARE)
        none[2] = max(evidence.none, LEAST_SHARE)
        if evidence.named is not None:
            candidates[evidence.named, 3] = 1
    return candidates, none


def length_of(derivation: Derivation) -> int:
    """Figures and operations of a derivation."""
    return len(derivation.numbers) + sum(step.operation != "select" for step in derivation.steps)


def is_same(first: Derivation, second: Derivation) -> bool:
    """Whether two calculations are over the same figures, whether these count as 12 or as 0.12."""
    own, other = ((str(one).replace("%", ""), [number.source for number in one.numbers]) for one in (first, second))
    return own == other


@dataclass(frozen=True)
class EvidencePlan:
    """The use of one language model, with the weights of its evidence.

    Attributes:
        shown: Candidates that it is asked about, the beam's best; at least 2.
        blend: The weights.
        decides: Whether the model decides: a turn then abstains where it finds that no candidate is right.
        prompts: The prompts with which the weights were fitted (:attr:`programs.beam.BeamQA.prompts`).
    """

    shown: int = 10
    blend: Blend = field(default_factory=Blend)
    decides: bool = False
    prompts: str = ""

    def __post_init__(self) -> None:
        if self.shown < 2:
            raise ConfigError(f"shown must be at least 2, got {self.shown}")

    def asks(self, lm: Any) -> bool:
        """Whether a language model is asked: there is one, and its evidence counts."""
        return lm is not None and (self.decides or self.blend.uses_evidence)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EvidencePlan:
        """Reads a saved plan; features that are gone have no weight."""
        blend = {**record["blend"]}
        for name, known in (("weights", CANDIDATE_FEATURES), ("none", NONE_FEATURES)):
            blend[name] = {key: value for key, value in blend[name].items() if key in known}
        return cls(record["shown"], Blend(**blend), record.get("decides", False), record.get("prompts", ""))


MODEL_DECIDES = EvidencePlan(
    blend=Blend({"beam": 0.1, "share": 1.0, "named": 0.5}, {"none": 1.0}),
    decides=True,
)
"""The plan of a model without fitted weights: its own probabilities, and a little of the search's for ties."""


@dataclass(frozen=True)
class EvidenceConfig:
    """The settings by which language models help to choose among the beam's candidates.

    Attributes:
        page_tokens: The page's budget of tokens; a longer page is cut to what the search finds relevant.
        answer: ``confident``: a turn abstains where a fitted confidence is too low, unless a model was asked that can
            abstain itself; ``always``: the best candidate is the answer.
        seed: Of the order in which candidates are shown to a model.
        plans: The fitted plans, by the name of the language model; :data:`BEAM_ALONE` for none.
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
        if lm is None:
            return self.plans.get(BEAM_ALONE, EvidencePlan())
        return self.plans.get(name_of(lm), MODEL_DECIDES)

    def to_dict(self) -> dict[str, Any]:
        """Returns the saved form."""
        plans = {name: {**asdict(plan), "blend": plan.blend.to_dict()} for name, plan in sorted(self.plans.items())}
        return {"page_tokens": self.page_tokens, "seed": self.seed, "plans": plans}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EvidenceConfig:
        """Reads what :meth:`to_dict` wrote; settings of earlier revisions that are gone have no effect."""
        plans = {name: EvidencePlan.from_dict(plan) for name, plan in dict(record.get("plans", {})).items()}
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
        evidence: The model's evidence on them; ``None`` where it was not asked.
        understanding: The model's understanding of the question; ``None`` where it was not asked.
        decides: Whether it is left to the model.
    """

    candidates: tuple[Any, ...]
    scores: ScoredCandidates
    evidence: Evidence | None = None
    understanding: Understanding | None = None
    decides: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether the model decided."""
        return self.evidence is not None and self.decides

    @property
    def refuses(self) -> bool:
        """Whether the model decided that no candidate is right."""
        return self.is_decided and self.scores.none > max(self.scores.candidates, default=0.0)


def name_of(lm: Any) -> str:
    """Returns the name of a language model in DSPy, the key of its weights."""
    return str(getattr(lm, "model", type(lm).__name__))


def evidence_of(reply: Any, count: int) -> Evidence:
    """The evidence of a choice among ``count`` numbered candidates, 0 being none of them.

    The probabilities of all numbers count where the model gives those of its tokens, else the stated confidence.

    Args:
        reply: A prediction with ``choice``, ``confidence`` and, where the model gives them, ``logprobs``.
        count: The number of shown candidates.

    Raises:
        NoAnswerError: It has no probabilities and states none that is a number.
    """
    logs = shares_from_tokens(tokens_of(getattr(reply, "logprobs", None)), count)
    if logs:
        rest = max(1.0 - sum(map(math.exp, logs.values())), 0.0) / (count + 1)
        shares = [(math.exp(logs[place]) if place in logs else 0.0) + rest for place in range(count + 1)]
    else:  # a stated confidence gives no probability of the others
        confidence = stated(reply.confidence)
        shares = [
            confidence if place == int(reply.choice) else (1.0 - confidence) / count for place in range(count + 1)
        ]
    none, *candidates = (max(math.log(value), LEAST_SHARE) if value > 0 else LEAST_SHARE for value in shares)
    return Evidence(tuple(candidates), none)


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
        if execution is not None:
            if execution.candidate is not None:
                candidates, named = with_named(candidates, execution.candidate, plan.shown)
            evidence = self._compared(search, config, candidates[: plan.shown], execution, named)
        shown = candidates[: plan.shown]
        scores = ScoredCandidates((), 1.0)
        if shown:
            scores = plan.blend.judge([candidate.score for candidate in shown], search.lengths(shown), evidence)
        understanding = execution.understanding if execution is not None else None
        return Choice(candidates, scores, evidence, understanding, plan.decides)

    def _compared(
        self, search: Any, config: EvidenceConfig, shown: Sequence[Any], execution: Execution, named: int | None
    ) -> Evidence | None:
        """The model's understanding where the search agrees with it, else its choice among the candidates."""
        if not shown:
            return None
        understanding = execution.understanding
        groups = search.groups(shown, named)
        is_confident = config.plan_for(dspy.settings.lm).decides and understanding.confidence >= CONFIDENT
        if named is not None:
            own = next(places for places in groups if named in places)
            if is_confident or len(groups) == 1 or 0 in own:
                return stated_evidence(understanding.confidence, named, len(shown))
            groups = [own, *(places for places in groups if places is not own)]
        elif not groups or (understanding.says_none and search.abstains):
            return stated_evidence(understanding.confidence, None, len(shown))
        groups = groups[: RIVALS + 1]
        random.Random(f"{config.seed} {search.question}").shuffle(groups)
        reply = self.predict(
            **search.options([shown[places[0]] for places in groups], understanding.description),
            signature=pick_among(self.predict.signature, len(groups)),
            config=sampling(dspy.settings.lm),
        )
        evidence = evidence_of(reply, len(groups))
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
