"""The learned scorer of derivations: which form, and which operands.

All of it small and in NumPy: a multinomial model over forms (:mod:`kg.calculations.forms`), and a network for each
kind of operand
(figures of the report, earlier answers), which scores the second operand given the first. The weights are one JSON
file, fitted by :mod:`optimize.scorers.derivations` on training conversations.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from kg.arrays import FloatArray
from kg.calculations.forms import FormScorer, ParsedForm
from kg.calculations.linear_models import ConfidenceModel, FinalRanker
from kg.calculations.network import ChoiceNetwork
from kg.calculations.operand_features import (
    FAILED,
    JOINT_NAMES,
    operand_rows,
)
from kg.calculations.pointers import EncoderBlend
from kg.calculations.question_features import PAIR_FEATURES, QuestionFeatures
from kg.calculations.report_index import Idf, ReportIndex
from kg.calculations.standalone import LEAST_ALONE, standalone_features
from kg.encoders import TextEncoder
from kg.errors import DataError
from kg.logistic import LogisticModel
from kg.reports import CellSource, Observation
from kg.search import OPERATIONS
from kg.text import Quantity

FORMAT = 2
OPERAND_KINDS = ("A", "R", "C", "-")
ROLE_WIDTH = 2 * len(OPERATIONS) + len(OPERAND_KINDS) + 1
JOINT_WIDTH = len(JOINT_NAMES) + len(OPERATIONS) + 6 + PAIR_FEATURES

_FITTED: Mapping[str, Any] = {
    "ranker": ChoiceNetwork,
    "blend": EncoderBlend,
    "confidence": ConfidenceModel,
    "final": FinalRanker,
    "standalone": LogisticModel,
}
"""The class of each part that a scorer may lack."""


def role_features(form: ParsedForm, position: int, has_history: bool) -> FloatArray:
    """The operand and the operation that are sought, and the kind of the other one is."""
    features: FloatArray = np.zeros(ROLE_WIDTH, dtype=np.float32)
    features[2 * OPERATIONS.index(form.operation) + position] = 1
    other = form.kinds[1 - position] if form.operands == 2 else "-"
    features[2 * len(OPERATIONS) + OPERAND_KINDS.index(other)] = 1
    features[-1] = float(has_history)
    return features


def _any_question() -> QuestionFeatures:
    quantity = Quantity(Decimal(0), "plain", 1, "0", 0, 1)
    figure = Observation("r0c0", "", "", "", "", "", "", None, quantity, CellSource(0, 0, 0, 1))
    return QuestionFeatures(ReportIndex([figure], [], Idf({}, 1.0)), ["", ""])


def feature_widths() -> tuple[int, int, int]:
    """The numbers of features that a figure, an earlier answer and a role have."""
    question = _any_question()
    rows, _ = operand_rows(question, [FAILED])
    role = role_features(ParsedForm.parse("select(A)"), 0, has_history=False)
    return rows["A"].shape[1], rows["R"].shape[1], len(role) + len(question.context)


@dataclass(frozen=True)
class DerivationScorer:
    """All weights.

    Attributes:
        idf: Of the tokens of training reports.
        forms: The form model.
        operands: The networks for figures (``A``) and for earlier answers (``R``).
        ranker: The network over complete candidates; without one, the search's log-probabilities rank.
        trained_on: What it was fitted on, in words; empty when it was not.
        encoder: The transformer that reads reports and questions; ``None`` for the light scorer alone.
        blend: The weights of the encoder.
        confidence: Calibrates the search; ``None`` where it was not fitted.
        final: Ranks the candidates by all features; ``None`` leaves that to the network, and proposes no comparisons.
        standalone: Decides whether a question is read without earlier turns; ``None`` reads all as follow-ups.
    """

    idf: Idf
    forms: FormScorer
    operands: Mapping[str, ChoiceNetwork]
    ranker: ChoiceNetwork | None = None
    trained_on: str = ""
    encoder: TextEncoder | None = None
    blend: EncoderBlend = field(default_factory=EncoderBlend)
    confidence: ConfidenceModel | None = None
    final: FinalRanker | None = None
    standalone: LogisticModel | None = None

    @cached_property
    def parsed(self) -> tuple[ParsedForm, ...]:
        """The forms of the form model, taken apart."""
        return tuple(ParsedForm.parse(name) for name in self.forms.forms)

    @cached_property
    def sha256(self) -> str:
        """Hash of the written weights."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def reads_alone(self, index: ReportIndex, question: str) -> bool:
        """Whether a later question of a conversation is read without the earlier turns."""
        model = self.standalone
        return model is not None and model.probability(standalone_features(index, question)) > LEAST_ALONE

    @classmethod
    def untrained(cls) -> DerivationScorer:
        """Weights fitted to nothing: every form alike, figures by the words that they share with the question."""
        width, references, groups = feature_widths()
        shared = np.zeros(width, dtype=np.float32)
        features = _any_question().names
        shared[[features.index(name) for name in ("label_of_question", "label_of_text", "sentence_of_question")]] = 3.0
        names = ("select(A)", "subtract(A, A)", "divide(A, A)", "add(A, A)", "subtract(R, R)", "divide(R, R)")
        return cls(
            idf=Idf({}, 1.0),
            forms=FormScorer(names, {"bias": 0}, np.zeros((1, len(names)), dtype=np.float32)),
            operands={
                "A": ChoiceNetwork.linear(shared, groups, PAIR_FEATURES),
                "R": ChoiceNetwork.linear(np.zeros(references, dtype=np.float32), groups, PAIR_FEATURES),
            },
        )

    def rounded(self) -> DerivationScorer:
        """The weights as they are written, so that a scorer that was saved and loaded answers no differently."""
        return DerivationScorer.from_json(self.to_json(), self.encoder)

    def to_json(self) -> str:
        """The weights as JSON, a line for every feature of the forms; the same bytes for the same weights."""
        return self._json

    @cached_property
    def _json(self) -> str:
        """Kept, since a compile writes the same weights after every step."""
        names = sorted(self.forms.features, key=lambda name: self.forms.features[name])
        forms = {name: _sparse(self.forms.weights[self.forms.features[name]]) for name in names}
        networks = {f"operands_{kind}": self.operands[kind] for kind in sorted(self.operands)}
        blend = None if self.encoder is None else self.blend
        fitted = {name: getattr(self, name) for name in _FITTED} | {"blend": blend}
        parts = {
            "format": _dumped(FORMAT),
            "trained_on": _dumped(self.trained_on),
            **({} if self.encoder is None else {"encoder": _dumped(self.encoder.sha256)}),
            "unseen": _dumped(self.idf.unseen),
            "idf": _dumped(dict(sorted(self.idf.weights.items()))),
            "forms": _dumped(list(self.forms.forms)),
            "form_weights": _by_line({name: weights for name, weights in forms.items() if weights or name == "bias"}),
            **{name: _by_line(one.to_dict()) for name, one in (networks | fitted).items() if one is not None},
        }
        return "{\n" + ",\n".join(f"{_dumped(key)}: {value}" for key, value in parts.items()) + "\n}\n"

    @classmethod
    def from_json(cls, text: str, encoder: TextEncoder | None = None) -> DerivationScorer:
        """Reads what :meth:`to_json` wrote.

        Args:
            text: The weights.
            encoder: The encoder that they were fitted with, for weights that need one.

        Raises:
            DataError: It is not a scorer, one of another format, one for other features than the search has now, or
                one that was fitted with another encoder.
        """
        try:
            record: dict[str, Any] = json.loads(text)
            if record["format"] != FORMAT:
                raise DataError(f"the scorer's format must be {FORMAT}, got {record['format']}")
            names, written = record["forms"], record["form_weights"]
            weights = np.zeros((len(written), len(names)), dtype=np.float32)
            for row, pairs in enumerate(written.values()):
                for column, weight in pairs:
                    weights[row, column] = weight
            operands = {kind: record[f"operands_{kind}"] for kind in ("A", "R") if f"operands_{kind}" in record}
            scorer = cls(
                idf=Idf(record["idf"], record["unseen"]),
                forms=FormScorer(names, {name: row for row, name in enumerate(written)}, weights),
                operands={kind: ChoiceNetwork.from_dict(one) for kind, one in operands.items()},
                trained_on=record["trained_on"],
                encoder=_same_encoder(record.get("encoder"), encoder),
                **{name: part.from_dict(record[name]) for name, part in _FITTED.items() if name in record},
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise DataError(f"this is not a finpath scorer: {error!r}") from error
        _check(scorer)
        # Its hash is that of the text, which need not be written again.
        scorer.__dict__["_json"] = text.rstrip("\n") + "\n"
        return scorer


def _same_encoder(sha256: str | None, encoder: TextEncoder | None) -> TextEncoder | None:
    own = None if encoder is None else encoder.sha256
    if sha256 is not None and own != sha256:
        other = "and there is none" if own is None else f"got {own[:12]}"
        raise DataError(f"the scorer was fitted with the encoder {sha256[:12]}, {other}")
    return encoder if sha256 is not None else None


def _check(scorer: DerivationScorer) -> None:
    """Refuses weights that do not fit the search's features, the forms, or each other."""
    figures, answers, groups = feature_widths()
    for kind, rows in (("A", figures), ("R", answers)):
        users = [form.name for form in scorer.parsed if kind in form.kinds]
        if kind in scorer.operands:
            _check_network(f"operands_{kind}", scorer.operands[kind], rows, groups)
        elif users:
            raise DataError(f"the scorer has no operands_{kind}, which its form {users[0]!r} needs")
    if scorer.ranker is not None:
        _check_network("ranker", scorer.ranker, JOINT_WIDTH, groups - ROLE_WIDTH, pairs=0)
    if next(iter(scorer.forms.features), None) != "bias":
        raise DataError("the first of the scorer's form_weights must be 'bias'")
    if not np.isfinite(scorer.forms.weights).all():
        raise DataError("the scorer's form_weights must be finite")


def _check_network(name: str, network: ChoiceNetwork, rows: int, groups: int, pairs: int = PAIR_FEATURES) -> None:
    if len(network.skip) != rows:
        rule = "compile it again with this version"
        raise DataError(f"the scorer was fitted to {len(network.skip)} features, the search has {rows}: {rule}")
    hidden = network.bias.size
    shapes = ((rows, hidden), (groups, hidden), (hidden,), (hidden,), (rows,), (groups, pairs))
    for part, shape in zip(fields(network), shapes, strict=True):
        weights: FloatArray = getattr(network, part.name)
        if weights.shape != shape:
            raise DataError(f"the scorer's {name} must have {part.name} of the shape {shape}, got {weights.shape}")
        if not np.isfinite(weights).all():
            raise DataError(f"the scorer's {name} must have finite {part.name}")


def _dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _by_line(record: Mapping[str, object]) -> str:
    return "{\n" + ",\n".join(f"{_dumped(key)}:{_dumped(value)}" for key, value in record.items()) + "\n}"


def _sparse(weights: FloatArray) -> list[tuple[int, float]]:
    """The columns whose weight is not 0 to two decimal places."""
    return [(int(column), round(float(weights[column]), 2)) for column in np.flatnonzero(np.abs(weights) >= 0.005)]
