"""The way a language model is asked about the candidates of a question, and who decides.

    >>> config.plan_for(lm).prompt, config.plan_for(lm).decides
    ('page', True)

One rule: the model decides, unless weights are fitted for it (:mod:`optimize.evidence`). Fitted weights blend its
evidence with the search's score (:class:`programs.evidence.blend.Blend`); where they give its evidence none, it is not
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
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from kg.errors import ConfigError
from programs.evidence.blend import Blend, Evidence, ScoredCandidates
from programs.evidence.prompt import Demonstration
from signatures.understand import Understanding

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
        plans = {name: EvidencePlan.from_dict(plan) for name, plan in record.get("plans", {}).items()}
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
