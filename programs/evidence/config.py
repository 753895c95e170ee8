"""Evidence per candidate: the mode of asking a language model, and the use of its replies.

    >>> settings = EvidenceConfig()                              # "auto": the mode that was fitted for the model
    >>> plan = settings.plan_for(lm)
    >>> plan.mode, plan.understand, plan.skip_above
    ('likelihood', False, 0.8)

===========  =======================================================================  ====================
mode         question to the model                                                    suited to
===========  =======================================================================  ====================
likelihood   nothing: each derivation is a reply that it may be held to, in one call   small, in this process
index        a number among the candidates, in one call                               strong models
per-path     whether a candidate answers the question, one candidate at a time        models that read little
===========  =======================================================================  ====================

Its evidence is blended with the beam's score by weights that :mod:`optimize.evidence.evidence` fits for each model
(:class:`EvidencePlan`). Without fitted weights, the model's ability decides. One that can be held to given replies runs
in this process and is small: it is not asked, and the beam decides. Any other reads the page, names a calculation and
chooses; its stated confidence decides, or the probabilities of its tokens (:func:`trusting`). ``trust`` overrides both.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from kg.errors import ConfigError
from programs.evidence.abstention import Abstention
from programs.evidence.blend import BEAM_DECIDES, Blend, Mode
from programs.evidence.prompt import Demonstration

Escalation = Literal["never", "agent", "thoughts"]
"""The step after candidates of which none seems right: nothing, the tool agent is asked, or figures are read from the
text and the beam runs again."""

BEAM_ALONE = "none"
"""The name under which the plan for no language model is kept."""

Trust = Literal["beam", "blend", "model"]
"""Who decides: the search alone, the blend of both, or the language model."""

Reads = Literal["labels", "page"]
"""The part of the report that a language model sees before the search: labels of rows, or the page with its figures."""

PromptForm = Literal["shown", "brief"]
"""The prompt of likelihood mode: with demonstrations, or the lines of the figures that the search considers."""

CAUTIOUS = Blend({"beam": 1.0, "share": 0.2}, {"rest": 1.0, "none": 0.2})
"""A blend without fitted weights: a confident model turns a ratio of the beam's probabilities of about three."""


def trusting(mode: Mode) -> Blend:
    """The weights of a model that decides: its own probabilities, and a little of the search's for ties."""
    none = {"none": 1.0} if mode == "index" else {"rest": 1.0}
    return Blend({"beam": 0.1, "share": 1.0, "named": 0.5}, none)


@dataclass(frozen=True)
class EvidencePlan:
    """The way one language model is asked, and the weights of its evidence.

    Attributes:
        mode: The mode of evidence.
        understand: Whether it interprets the question before the search. After the brief prompt, it writes a
            calculation instead, which is one more candidate.
        shown: Candidates that it is asked about, the beam's best; at least 2.
        skip_above: The beam's probability in [0, 1] of its best candidate from which the model is not asked; ``None``
            to ask always.
        prior: Whether the candidates' prior, without the question, is asked for too (likelihood mode; a second call).
        blend: Weights for the turns on which it is asked.
        alone: Weights for those on which it is not.
        fitted: Whether the weights were fitted for this model.
        prompt: The prompt of likelihood mode: ``shown`` with demonstrations, or ``brief`` for a fine-tuned model, which
            needs none.
        trust: Who decides. If it is the model, a turn abstains where the model finds that no candidate is right.
        reads: What the model sees where it interprets the question.
        abstention: Weights by which a turn abstains where a fine-tuned model was asked, which is then asked for the
            probability of the reply ``none`` too; ``None`` for the search's own.
    """

    mode: Mode
    understand: bool = False
    shown: int = 10
    skip_above: float | None = None
    prior: bool = False
    blend: Blend = BEAM_DECIDES
    alone: Blend = BEAM_DECIDES
    fitted: bool = False
    trust: Trust = "blend"
    reads: Reads = "labels"
    prompt: PromptForm = "shown"
    abstention: Abstention | None = None

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise ConfigError(f"mode must be one of {', '.join(get_args(Mode))}, got {self.mode!r}")
        if self.prompt not in get_args(PromptForm):
            raise ConfigError(f"prompt must be one of {', '.join(get_args(PromptForm))}, got {self.prompt!r}")
        if self.shown < 2:
            raise ConfigError(f"shown must be at least 2, got {self.shown}")
        if self.skip_above is not None and not 0 <= self.skip_above <= 1:
            raise ConfigError(f"skip_above must be in [0, 1], got {self.skip_above}")

    def asks(self, scores: Sequence[float]) -> bool:
        """Whether the model is asked about candidates of these log-probabilities."""
        return len(scores) > 1 and (self.skip_above is None or math.exp(scores[0]) < self.skip_above)

    def to_dict(self) -> dict[str, Any]:
        """Returns the saved form."""
        record = {**asdict(self), "blend": self.blend.to_dict(), "alone": self.alone.to_dict()}
        if self.abstention is None:
            del record["abstention"]
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EvidencePlan:
        """Reads what :meth:`to_dict` wrote."""
        abstention = Abstention(**record["abstention"]) if record.get("abstention") is not None else None
        blends = {name: Blend(**record[name]) for name in ("blend", "alone")}
        return cls(**{**record, **blends, "abstention": abstention})


@dataclass(frozen=True)
class EvidenceConfig:
    """The settings by which language models help to choose among the beam's candidates.

    Attributes:
        evidence: The mode, or ``auto`` for the mode that was fitted for the model, or else suits it.
        trust: Who decides, the search (``beam``), the ``blend`` or the ``model``; ``auto`` for the fitted blend, or
            else by the model's ability.
        understand: Whether the model interprets the question; ``None`` for the fitted value, or else true in index mode
            only.
        reads: What the model sees when it interprets the question: the ``labels`` of rows, or the ``page``; ``auto``
            for the fitted value, or else the page unless the model runs in this process.
        page_tokens: The page's budget of tokens; a longer page is cut to what the search finds relevant.
        check_below: The confidence in [0, 1] of a model's own calculation below which it is asked to choose among the
            candidates if the search does not agree; 1 to ask always. It counts where the model decides.
        samples: Answers to the same question, whose picks are merged (index mode); each is a call.
        escalate: The action on a turn whose candidates all seem wrong.
        none_above: The probability of none in (0, 1] from which a turn escalates. Without escalation the best candidate
            still answers it unless ``refuse`` is set.
        refuse: Whether such a turn is refused (``picked_none``) when it does not escalate.
        answer: ``confident``: a turn abstains where a fitted confidence is too low, unless a
            model was asked that can abstain itself; ``always``: the best candidate is the answer.
        max_iterations: Of ``thoughts``: decisions and readings a turn, at least 1.
        votes: Of ``thoughts``: votes on a missing figure, an odd number. With 0, figures are read wherever no candidate
            seems right.
        repairs: Of ``thoughts``: how often a list of figures of which some were refused is written again, at least 0.
        sentences: Of ``thoughts``: sentences that one reading shows, at least 1.
        sentence_tokens: Of ``thoughts``: their tokens together, by four characters a token; at least 1.
        demonstrations: The demonstrations before the question in likelihood mode.
        plans: The fitted plans, by the name of the language model; :data:`BEAM_ALONE` for none.
    """

    evidence: Literal["index", "likelihood", "per-path", "auto"] = "auto"
    trust: Literal["auto", "beam", "blend", "model"] = "auto"
    understand: bool | None = None
    reads: Literal["auto", "labels", "page"] = "auto"
    page_tokens: int = 3000
    check_below: float = 1.0
    samples: int = 1
    escalate: Escalation = "never"
    none_above: float = 0.6
    refuse: bool = False
    answer: Literal["confident", "always"] = "confident"
    max_iterations: int = 2
    votes: int = 3
    repairs: int = 1
    sentences: int = 4
    sentence_tokens: int = 400
    demonstrations: tuple[Demonstration, ...] = ()
    plans: Mapping[str, EvidencePlan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.evidence not in ("auto", *get_args(Mode)):
            raise ConfigError(f"evidence must be auto or one of {', '.join(get_args(Mode))}, got {self.evidence!r}")
        if self.trust not in ("auto", *get_args(Trust)):
            raise ConfigError(f"trust must be auto or one of {', '.join(get_args(Trust))}, got {self.trust!r}")
        if self.reads not in ("auto", *get_args(Reads)):
            raise ConfigError(f"reads must be auto or one of {', '.join(get_args(Reads))}, got {self.reads!r}")
        if self.answer not in ("confident", "always"):
            raise ConfigError(f"answer must be confident or always, got {self.answer!r}")
        if self.escalate not in get_args(Escalation):
            raise ConfigError(f"escalate must be one of {', '.join(get_args(Escalation))}, got {self.escalate!r}")
        for name in ("samples", "page_tokens", "max_iterations", "sentences", "sentence_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.votes < 0 or (self.votes and self.votes % 2 == 0):
            raise ConfigError(f"votes must be 0 or odd, so that there is a majority; got {self.votes}")
        if self.repairs < 0:
            raise ConfigError(f"repairs must be at least 0, got {self.repairs}")
        if not 0 <= self.check_below <= 1:
            raise ConfigError(f"check_below must be in [0, 1], got {self.check_below}")
        if not 0 < self.none_above <= 1:
            raise ConfigError(f"none_above must be in (0, 1], got {self.none_above}")

    def is_enough(self, confidence: float) -> bool:
        """Whether a calculation that the model named with this confidence in [0, 1] is not checked by a choice."""
        return self.check_below < 1 and confidence >= self.check_below

    def plan_for(self, lm: Any) -> EvidencePlan:
        """Returns the plan of a language model, or of none for ``None``."""
        if lm is None:
            return self.plans.get(BEAM_ALONE, EvidencePlan("likelihood", skip_above=0.0))
        fitted = self.plans.get(name_of(lm))
        is_meant = fitted is not None and self.evidence in ("auto", fitted.mode)
        plan = self._trusting(fitted, lm) if fitted is not None and is_meant else self._unfitted(lm)
        understand = plan.understand if self.understand is None else self.understand
        return replace(plan, understand=understand, reads=plan.reads if self.reads == "auto" else self.reads)

    def _trusting(self, plan: EvidencePlan, lm: Any) -> EvidencePlan:
        """A fitted plan, unless another is trusted; the blend asks even where it gained nothing when it was fitted."""
        if self.trust == "beam":
            return replace(plan, understand=False, skip_above=0.0, trust="beam")
        if self.trust == "model":
            return replace(plan, blend=trusting(plan.mode), skip_above=None, trust="model")
        if plan.skip_above == 0 and self.trust == "blend":
            return replace(plan, skip_above=None)
        if plan.skip_above == 0:
            rule = "the beam decides alone unless trust is 'blend' or 'model'"
            warnings.warn(f"{name_of(lm)} improved nothing where its weights were fitted: {rule}", stacklevel=3)
        return plan

    def _unfitted(self, lm: Any) -> EvidencePlan:
        held = can_choose(lm)
        if self.evidence == "auto":
            mode: Mode = "likelihood" if held else "index"
        else:
            mode = self.evidence
        alone = self.plans[BEAM_ALONE].alone if BEAM_ALONE in self.plans else BEAM_DECIDES
        is_unknown = held and self.trust == "auto"
        if self.trust == "beam" or (is_unknown and self.evidence == "auto"):
            if is_unknown:
                _warn(f"no evidence weights are fitted for {name_of(lm)}: the beam decides alone")
            return EvidencePlan(mode, skip_above=0.0, alone=alone, trust="beam")
        reads: Reads = "labels" if held else "page"
        if is_unknown or self.trust == "blend":
            _warn(
                f"no evidence weights are fitted for {name_of(lm)} in mode {mode}: the beam decides but for near ties"
            )
            blend = BEAM_DECIDES if is_unknown else CAUTIOUS
            return EvidencePlan(mode, understand=not held, blend=blend, alone=alone, reads=reads)
        blend = trusting(mode)
        return EvidencePlan(mode, understand=not held, blend=blend, alone=alone, trust="model", reads=reads)

    def to_dict(self) -> dict[str, Any]:
        """Returns the saved form."""
        return {
            **{name: getattr(self, name) for name in ("evidence", "trust", "understand", "reads", "page_tokens")},
            **{name: getattr(self, name) for name in ("check_below", "samples", "escalate")},
            **{name: getattr(self, name) for name in ("none_above", "refuse", "max_iterations", "votes", "repairs")},
            **{name: getattr(self, name) for name in ("sentences", "sentence_tokens")},
            "plans": {name: plan.to_dict() for name, plan in sorted(self.plans.items())},
            "demonstrations": [asdict(one) for one in self.demonstrations],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EvidenceConfig:
        """Reads what :meth:`to_dict` wrote."""
        plans = {name: EvidencePlan.from_dict(plan) for name, plan in record.get("plans", {}).items()}
        shown = tuple(Demonstration(**one) for one in record.get("demonstrations", ()))
        return cls(**{**record, "plans": plans, "demonstrations": shown})


def name_of(lm: Any) -> str:
    """Returns the name of a language model in DSPy, the key of its weights."""
    return str(getattr(lm, "model", type(lm).__name__))


def can_choose(lm: Any) -> bool:
    """Whether a language model gives probabilities of given replies."""
    return bool(getattr(lm, "can_choose", False))


def _warn(message: str) -> None:
    warnings.warn(f"{message}; fit them with the optimizer 'evidence'", stacklevel=3)
