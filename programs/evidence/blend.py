"""The blend of a language model's evidence and the beam's score: one probability for each candidate, and for none.

A log-linear model with a handful of weights, small enough to be read in the saved program::

    >>> blend = Blend(weights={"beam": 1.0, "share": 0.25}, none={"bias": -1.0, "rest": 0.5})
    >>> blend.judge([-0.4, -1.3], (1, 3), Evidence("likelihood", (-0.1, -2.4), (-2.0, -5.0)))
    ScoredCandidates(candidates=(0.69, 0.16), none=0.15)

Each candidate's logit is the weighted sum of its features (:data:`CANDIDATE_FEATURES`). The logit of none is a weighted
sum of the turn's features (:data:`NONE_FEATURES`). The probability is the softmax over all logits. Weights are fitted
by :mod:`optimize.evidence.evidence`; missing weights are 0. Without any, the search keeps its own probabilities, and
what it leaves to other candidates is that of none.

One rule: the model decides, unless weights are fitted for it (:mod:`optimize.evidence`). Fitted weights blend its
evidence with the search's score; where they give its evidence none, it is not
asked. The prompt is one of three:

========  ==========================================================================  ===========================
prompt    question to the model                                                       suited to
========  ==========================================================================  ===========================
page      Understand: a calculation over the page; Aggregate: a number among          any model
          candidates
shown     nothing: each candidate is a reply that it may be held to, after            small ones, in this process
          demonstrations
brief     the same after the lines of the figures that the search considers           those with an adapter for it
========  ==========================================================================  ===========================
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from kg.arrays import DoubleArray
from kg.errors import ConfigError
from kg.search import Derivation
from programs.evidence.prompt import Demonstration
from signatures.understand import Understanding

Mode = Literal["index", "likelihood"]
"""The form of a language model's reply: a number among the candidates, or the likelihood of each."""

CANDIDATE_FEATURES = ("beam", "share", "likelihood", "first", "agrees", "length", "named")
"""``beam``: the search's log-probability; ``share``: the log-probability among the candidates by the model's evidence;
``likelihood``: the model's own log-probability, below the best candidate's; ``first``: 1 for the model's first choice;
``agrees``: 1 for it where it is the beam's too; ``length``: figures and operations in the derivation; ``named``: 1
for the candidate that the model named before it saw any."""

NONE_FEATURES = ("bias", "rest", "likelihood", "none")
"""``bias``: 1; ``rest``: the log-probability that the search leaves to what is not shown; ``likelihood``: the model's
log-probability of its first choice; ``none``: the log-probability that the model gives to none, where it can."""

_LEAST_SHARE = -9.0
_LEAST_LIKELIHOOD = -25.0
_LEAST_REST = -7.0


@dataclass(frozen=True)
class Evidence:
    """A language model's evidence on each candidate.

    Attributes:
        mode: The mode of evidence.
        shares: Natural logarithm of each candidate's probability among the candidates.
        likelihoods: The model's own log-probability of each; empty where it gives none.
        none: Natural logarithm of the probability that none is right, where the model can abstain.
        named: The candidate that the model named after it had read the page, before it saw any; ``None`` for none.
    """

    mode: Mode
    shares: tuple[float, ...]
    likelihoods: tuple[float, ...] = ()
    none: float | None = None
    named: int | None = None

    @property
    def first(self) -> int:
        """The model's first choice: the best share, the beam's order on a tie."""
        return int(np.argmax(self.shares))


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
        return any(value for name, value in self.weights.items() if name not in ("beam", "length"))

    def judge(self, scores: Sequence[float], lengths: Sequence[int], evidence: Evidence | None) -> ScoredCandidates:
        """The probabilities.

        Args:
            scores: The search's log-probabilities of the candidates that are shown.
            lengths: Figures and operations of their derivations.
            evidence: The model's evidence; ``None`` where it was not asked, and its features are then 0.
        """
        logits = candidate_features(scores, lengths, evidence) @ _vector(self.weights, CANDIDATE_FEATURES)
        none = float(none_features(scores, evidence) @ _vector(self.none, NONE_FEATURES))
        together = np.concatenate([logits, [none]])
        exponent = np.exp(together - together.max())
        exponent /= exponent.sum()
        return ScoredCandidates(tuple(float(value) for value in exponent[:-1]), float(exponent[-1]))

    def to_dict(self) -> dict[str, Any]:
        """Returns the saved form: weights with four decimal places."""
        return {
            "weights": {name: round(self.weights[name], 4) for name in CANDIDATE_FEATURES if self.weights.get(name)},
            "none": {name: round(self.none[name], 4) for name in NONE_FEATURES if self.none.get(name)},
            "fitted_on": self.fitted_on,
        }


def candidate_features(scores: Sequence[float], lengths: Sequence[int], evidence: Evidence | None) -> DoubleArray:
    """The features of each candidate, shape ``(candidates, len(CANDIDATE_FEATURES))``."""
    count = len(scores)
    found = np.zeros((count, len(CANDIDATE_FEATURES)))
    found[:, 0], found[:, 5] = scores, lengths
    if evidence is None or not count:
        return found
    found[:, 1] = np.maximum(evidence.shares, _LEAST_SHARE)
    if evidence.likelihoods:
        found[:, 2] = np.maximum(np.array(evidence.likelihoods) - max(evidence.likelihoods), _LEAST_LIKELIHOOD)
    found[evidence.first, 3] = 1
    found[evidence.first, 4] = float(evidence.first == int(np.argmax(scores)))
    if evidence.named is not None:
        found[evidence.named, 6] = 1
    return found


def none_features(scores: Sequence[float], evidence: Evidence | None) -> DoubleArray:
    """The features of none of the candidates, shape ``(len(NONE_FEATURES),)``."""
    rest = max(1.0 - float(np.exp(scores).sum()), 0.0) if len(scores) else 1.0
    found = np.zeros(len(NONE_FEATURES))
    found[:2] = 1.0, max(float(np.log(max(rest, 1e-9))), _LEAST_REST)
    if evidence is not None:
        if evidence.likelihoods:
            found[2] = max(max(evidence.likelihoods), _LEAST_LIKELIHOOD)
        if evidence.none is not None:
            found[3] = max(evidence.none, _LEAST_SHARE)
    return found


def _vector(weights: Mapping[str, float], names: Sequence[str]) -> DoubleArray:
    return np.array([weights.get(name, 0.0) for name in names])


def length_of(derivation: Derivation) -> int:
    """Figures and operations of a derivation."""
    return len(derivation.numbers) + sum(step.operation != "select" for step in derivation.steps)


BEAM_ALONE = "none"
"""The name under which the plan for no language model is kept."""

PromptForm = Literal["page", "shown", "brief"]
"""The question to the model."""


@dataclass(frozen=True)
class EvidencePlan:
    """The way one language model is asked, and the weights of its evidence.

    Attributes:
        prompt: The question to the model.
        shown: Candidates that it is asked about, the beam's best; at least 2.
        blend: The weights.
        decides: Whether the model decides: a turn then abstains where it finds that no candidate is right.
    """

    prompt: PromptForm = "page"
    shown: int = 10
    blend: Blend = field(default_factory=Blend)
    decides: bool = False

    def __post_init__(self) -> None:
        if self.prompt not in get_args(PromptForm):
            raise ConfigError(f"prompt must be one of {', '.join(get_args(PromptForm))}, got {self.prompt!r}")
        if self.shown < 2:
            raise ConfigError(f"shown must be at least 2, got {self.shown}")

    def asks(self, lm: Any) -> bool:
        """Whether a language model is asked: there is one, and its evidence counts."""
        return lm is not None and (self.decides or self.blend.uses_evidence)

    def to_dict(self) -> dict[str, Any]:
        """Returns the saved form."""
        return {**asdict(self), "blend": self.blend.to_dict()}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EvidencePlan:
        """Reads what :meth:`to_dict` wrote, or what programs of earlier revisions were saved with."""
        if "mode" not in record:
            known = {name: record[name] for name in ("prompt", "shown", "decides") if name in record}
            return cls(**known, blend=Blend(**record["blend"]))
        blend = Blend(**record["alone" if record.get("skip_above") == 0 else "blend"])
        prompt: PromptForm = record.get("prompt", "shown") if record["mode"] == "likelihood" else "page"
        return cls(prompt, record["shown"], blend, record.get("trust") == "model")


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
        demonstrations: The demonstrations before the question of prompt ``shown``.
        plans: The fitted plans, by the name of the language model; :data:`BEAM_ALONE` for none.
    """

    page_tokens: int = 3000
    answer: Literal["confident", "always"] = "confident"
    seed: int = 0
    demonstrations: tuple[Demonstration, ...] = ()
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
        fitted = self.plans.get(name_of(lm))
        if fitted is not None:
            return fitted
        if can_choose(lm):
            rule = "it decides alone; fit weights with the optimizer 'evidence'"
            warnings.warn(f"no evidence weights are fitted for {name_of(lm)}: {rule}", stacklevel=2)
        return MODEL_DECIDES

    def to_dict(self) -> dict[str, Any]:
        """Returns the saved form."""
        return {
            "page_tokens": self.page_tokens,
            "seed": self.seed,
            "plans": {name: plan.to_dict() for name, plan in sorted(self.plans.items())},
            "demonstrations": [asdict(one) for one in self.demonstrations],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EvidenceConfig:
        """Reads what :meth:`to_dict` wrote; settings of earlier revisions that are gone have no effect."""
        plans = {name: EvidencePlan.from_dict(plan) for name, plan in dict(record.get("plans", {})).items()}
        demonstrations = tuple(Demonstration(**one) for one in record.get("demonstrations", ()))
        known = {name: record[name] for name in ("page_tokens", "seed") if name in record}
        return cls(**known, plans=plans, demonstrations=demonstrations)


@dataclass(frozen=True)
class Choice:
    """The candidates of a question with the probability of each.

    Attributes:
        candidates: The search's, with the model's own among them.
        scores: The probability of each of the first, and of none of them.
        evidence: The model's evidence on them; ``None`` where it was not asked.
        understanding: The model's understanding of the question; ``None`` where it was not asked.
        plan: The way the model was asked.
    """

    candidates: tuple[Any, ...]
    scores: ScoredCandidates
    evidence: Evidence | None = None
    understanding: Understanding | None = None
    plan: EvidencePlan = field(default_factory=EvidencePlan)

    @property
    def is_decided(self) -> bool:
        """Whether the model decided."""
        return self.evidence is not None and self.plan.decides

    @property
    def refuses(self) -> bool:
        """Whether the model decided that no candidate is right."""
        return self.is_decided and self.scores.none > max(self.scores.candidates, default=0.0)


def name_of(lm: Any) -> str:
    """Returns the name of a language model in DSPy, the key of its weights."""
    return str(getattr(lm, "model", type(lm).__name__))


def can_choose(lm: Any) -> bool:
    """Whether a language model gives probabilities of given replies."""
    return bool(getattr(lm, "can_choose", False))
