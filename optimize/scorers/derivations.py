"""The fit of the beam's scorer on training conversations, as a DSPy optimizer.

>>> compiled = FitScorer(seed=0).compile(program, trainset=conversation_examples(train))

Gold programs become three kinds of examples: the form of each turn, the choice of each of its operands among all
figures or earlier answers, and the choice among the candidates that a search proposes. Histories are gold; the settings
were chosen by five-fold cross-validation on ConvFinQA's train split.

Networks are a softmax over the alternatives of each choice. The loss of a choice is minus the logarithm of the
probability of its right alternatives together, so several equally right ones (the same figure in the table and in a
sentence) need not be distinguished. Adam works on mini-batches of choices, with dropout of hidden units and weight
decay.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import dspy
import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from kg.arrays import BoolArray, FloatArray, IntArray
from kg.calculations import (
    JOINT_NAMES,
    PAIR_FEATURES,
    ChoiceNetwork,
    DerivationConfig,
    DerivationScorer,
    DerivationSpace,
    FormScorer,
    HistoryTurn,
    Idf,
    ParsedForm,
    QuestionFeatures,
    ReportIndex,
    SeriesReader,
    WeightedHistory,
    as_float,
    extend_history,
    features_of,
    history_terms,
    operand_rows,
    pair_features,
    past_turn,
    pool,
    question_terms,
    question_words,
    role_features,
)
from kg.encoders import TurnOperands
from kg.errors import DataError, ProgramError
from kg.reports import Report, document_of
from kg.search import (
    COMPOUNDS,
    Answer,
    Constant,
    Derivation,
    Number,
    PastTurn,
    Reference,
    TurnOperation,
    beam_search,
    collapse,
)
from optimize.optimizers import ConversationFit, Progress, silent
from optimize.scorers.settings import ScorerConfig, TrainingConfig
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.worlds.report import ReportReader

_NAMES = ("rows_in", "group_in", "bias", "out", "skip", "pairs")


@dataclass(frozen=True)
class TrainingTurn:
    """One turn with the training data of all stages.

    Attributes:
        group: The unit of the folds: the report's name.
        index: The report; it is empty if the report holds no figure.
        questions: All questions up to this one.
        history: The earlier turns with their gold derivations.
        derivation: The gold derivation.
        collapsed: The same as one operation over earlier turns; ``None`` where more than one is needed.
        answer: The gold answer.
        weight: Its weight in the fit.
    """

    group: str
    index: ReportIndex
    questions: tuple[str, ...]
    history: tuple[HistoryTurn, ...]
    forms: tuple[TurnOperands, ...]
    derivation: Derivation
    collapsed: TurnOperation | None
    answer: Answer
    weight: float = 1.0

    @property
    def form(self) -> str:
        """The form of :attr:`collapsed`; empty where there is none."""
        return self.collapsed.form if self.collapsed is not None else ""

    @property
    def has_report(self) -> bool:
        """Whether the report holds figures."""
        return len(self.index) > 0


def training_turns(
    group: str, index: ReportIndex, questions: Sequence[str], programs: Sequence[str]
) -> list[TrainingTurn]:
    """Returns the turns of one conversation; those after a program that cannot be executed are left out."""
    turns: list[TrainingTurn] = []
    history: list[HistoryTurn] = []
    derivations: list[Derivation] = []
    forms: list[TurnOperands] = []
    for place, program in enumerate(programs):
        try:
            derivation = Derivation.parse(program)
            answer = derivation.execute()
        except ProgramError:
            break
        collapsed = collapse(derivation, derivations)
        if collapsed is None and len(index):
            collapsed = SeriesReader(index).collapse(derivation)
        asked = tuple(questions[: place + 1])
        turns.append(TrainingTurn(group, index, asked, tuple(history), tuple(forms), derivation, collapsed, answer))
        derivations.append(derivation)
        forms.append(past_turn(collapsed))
        history.append(extend_history(index, history, PastTurn(asked[-1], derivation, answer)))
    return turns


SHORTENED_WEIGHT = 0.25
"""Of turns that were made from longer conversations; larger ones cost accuracy on conversations as they are."""


def shortened_turns(
    group: str, index: ReportIndex, questions: Sequence[str], programs: Sequence[str]
) -> list[TrainingTurn]:
    """Returns turns that ask for two operations at once, from conversations without the turn of the first operation.

    ConvFinQA's annotators ask for a difference before they ask for the percentage change. People do not: leaving the
    turn of the difference out makes the next one a ``change_ratio``.
    """
    found: list[TrainingTurn] = []
    for place, program in enumerate(programs[:-1]):
        if "(" not in program:
            continue
        fewer = [*range(place), *range(place + 1, len(programs))]
        turns = training_turns(group, index, [questions[i] for i in fewer], [programs[i] for i in fewer])
        found += [
            replace(turn, weight=SHORTENED_WEIGHT)
            for turn in turns[place:]
            if turn.collapsed is not None and turn.collapsed.operation in COMPOUNDS
        ]
    return found


@dataclass(frozen=True)
class NetworkChoice:
    """One training example: alternatives, their common features, and the right ones.

    Attributes:
        rows: Shape ``(alternatives, row features)``.
        group: Shape ``(group features,)``.
        right: Shape ``(alternatives,)``, true for at least one.
        pairs: Shape ``(alternatives, pair features)``; zero columns where there are none.
    """

    rows: FloatArray
    group: FloatArray
    right: BoolArray
    pairs: FloatArray
    weight: float = 1.0


class FitScorer(ConversationFit):
    """Fits the scorer on training conversations; asks no language model."""

    Settings: ClassVar = ScorerConfig
    settings: ScorerConfig

    def fit(self, program: ConversationQA, turn: BeamQA, trainset: Sequence[dspy.Example]) -> None:
        """Fits the weights of the scorer."""
        turns, idf = training_data(turn.reader, trainset)
        described = describe_data(trainset)
        scorer = fit_scorer(turns, idf, self.settings, self.seed, described, self.progress)
        turn.reader = ReportReader(program.ontology, scorer)


def training_data(reader: ReportReader, trainset: Sequence[dspy.Example]) -> tuple[list[TrainingTurn], Idf]:
    """Returns all turns of conversations, shortened ones too, and the idf of the reports' tokens.

    Args:
        reader: Builds the graphs.
        trainset: Conversation examples: ``report``, ``questions`` and ``programs``.
    """
    reports = list(dict.fromkeys(example.report for example in trainset))
    cells = [[cell for row in report.table for cell in row] for report in reports]
    texts = [" ".join([*report.sentences, *own]) for report, own in zip(reports, cells, strict=True)]
    idf = Idf.learn(list(dict.fromkeys(texts)))
    turns: list[TrainingTurn] = []
    built: dict[Report, ReportIndex] = {}
    for example in trainset:
        report: Report = example.report
        if report not in built:
            built[report] = read_index(reader, report, idf)
        for make in (training_turns, shortened_turns):
            turns += make(content_sha256(report), built[report], example.questions, example.programs)
    return turns, idf


def read_index(reader: ReportReader, report: Report, idf: Idf) -> ReportIndex:
    """Returns a report's index with an idf other than the reader's."""
    graph, _ = reader.read(report)
    return ReportIndex(graph.observations, report.sentences, idf)


def content_sha256(report: Report) -> str:
    """Returns the hash of a document's content: the same one may carry several ids, one a conversation."""
    return hashlib.sha256(repr((report.sentences, report.table)).encode()).hexdigest()


def describe_data(trainset: Sequence[dspy.Example]) -> str:
    """Returns the numbers of conversations and turns in words."""
    return f"{len(trainset)} conversations, {sum(len(example.programs) for example in trainset)} turns"


def page_key(name: str) -> str:
    """Returns the key of a page by its name or the hash of its content."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def page_keys(report: Report) -> set[str]:
    """Returns the keys of a report's page: a copy of it has the same name or the same content."""
    return {page_key(document_of(report.id)), page_key(content_sha256(report))}


def fit_forms(turns: Sequence[TrainingTurn], config: ScorerConfig) -> FormScorer:
    """Fits the multinomial form model, by Adam on all turns at once; deterministic."""
    named = [turn for turn in turns if turn.form]
    counts = Counter(feature for turn in named for feature in _form_terms(turn))
    features = {"bias": 0}
    for name in sorted(counts):
        if counts[name] >= config.feature_count:
            features[name] = len(features)
    frequent = Counter(turn.form for turn in named)
    forms = sorted(form for form, count in frequent.items() if count >= config.form_count) or sorted(frequent)[:1]
    start = np.zeros((len(features), len(forms)), dtype=np.float32)
    weights = _multinomial(*_form_data(named, forms, features), start, config)
    return FormScorer(forms, features, weights)


UNSEEN_WEIGHT = 2.0
"""Of a turn that neither scorer nor encoder was fitted on, in a further fit of the forms."""

LEAST_CHANGE = 0.1
"""A further fit changes no weight by less."""


def fit_forms_further(
    scorer: DerivationScorer, turns: Sequence[TrainingTurn], unseen: Sequence[TrainingTurn], config: ScorerConfig
) -> FormScorer:
    """Fits the form model of a scorer further, with a penalty that pulls towards its weights.

    Args:
        scorer: With an encoder.
        turns: Turns that scorer and encoder were fitted on; the form model must explain them alone.
        unseen: Turns that neither was fitted on; the form model must explain them together with the encoder.
        config: Settings.
    """
    forms, features, start = list(scorer.forms.forms), scorer.forms.features, scorer.forms.weights
    own, other = ([turn for turn in part if turn.form in forms] for part in (turns, unseen))
    matrix, target, importance = _form_data([*own, *other], forms, features)
    scale = np.ones((len(target), 1), dtype=np.float32)
    offset = np.zeros((len(target), len(forms)), dtype=np.float32)
    importance[len(own) :] *= UNSEEN_WEIGHT
    scale[len(own) :] = scorer.blend.forms[0]
    for place, turn in enumerate(other, start=len(own)):
        space = DerivationSpace(turn.index, turn.questions, [WeightedHistory(turn.history, 0.0)], scorer)
        offset[place] = scorer.blend.forms[1] * space.read_forms[0]
    weights = _multinomial(matrix, target, importance, start, config, scale, offset)
    return FormScorer(forms, features, np.where(np.abs(weights - start) > LEAST_CHANGE, weights, start))


def _form_terms(turn: TrainingTurn) -> list[str]:
    return question_terms(turn.questions) + history_terms(turn.forms, question_words(turn.questions[-1]))


def _form_data(
    turns: Sequence[TrainingTurn], forms: Sequence[str], features: Mapping[str, int]
) -> tuple[csr_matrix, IntArray, FloatArray]:
    """The features, the form and the weight of the turns whose form is known."""
    known = [turn for turn in turns if turn.form in forms]
    columns = [[0, *(features[name] for name in _form_terms(turn) if name in features)] for turn in known]
    ends = np.cumsum([0, *map(len, columns)])
    ones = np.ones(ends[-1], dtype=np.float32)
    matrix = csr_matrix((ones, np.concatenate(columns), ends), shape=(len(known), len(features)))
    target = np.array([forms.index(turn.form) for turn in known])
    return matrix, target, np.array([turn.weight for turn in known], dtype=np.float32)


def _multinomial(
    matrix: csr_matrix,
    target: IntArray,
    importance: FloatArray,
    start: FloatArray,
    config: ScorerConfig,
    scale: FloatArray | float = 1.0,
    offset: FloatArray | float = 0.0,
) -> FloatArray:
    """The weights under which ``scale * matrix @ weights + offset`` scores the targets best."""
    transposed = matrix.T.tocsr()
    weights = start.copy()
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    rows = np.arange(len(target))
    for step in range(1, config.form_steps + 1):
        scores = scale * (matrix @ weights) + offset
        scores -= scores.max(axis=1, keepdims=True)
        error = np.exp(scores)
        error /= error.sum(axis=1, keepdims=True)
        error[rows, target] -= 1
        error *= importance[:, None] * scale
        gradient = transposed @ error / len(target) + config.form_penalty * (weights - start)
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient * gradient
        weights -= 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights.astype(np.float32)


def operand_choices(turn: TrainingTurn) -> dict[str, list[NetworkChoice]]:
    """Returns the choices of a turn's operands by kind; empty if the gold figure is not in the graph."""
    found: dict[str, list[NetworkChoice]] = {"A": [], "R": []}
    if turn.collapsed is None:
        return found
    index = turn.index
    question = QuestionFeatures(index, turn.questions)
    features, observations = operand_rows(question, turn.history)
    items = len(index)
    aligned = set(index.align(turn.derivation, turn.questions[-1]))
    form = ParsedForm.parse(turn.collapsed.form)
    first = -1
    for position, operand in enumerate(turn.collapsed.operands):
        if isinstance(operand, Constant):
            first = -1
            continue
        kind = form.kinds[position]
        own = observations[:items] if kind == "A" else observations[items:]
        right = right_items(index, operand) if isinstance(operand, Number) else right_turns(turn, operand)
        if not right.any():
            first = -1
            continue
        pairs = np.zeros((len(own), PAIR_FEATURES), dtype=np.float32)
        if position == 1 and len(index):
            pairs = pair_features(index, np.full(len(own), first), own)
        group = np.concatenate([role_features(form, position, bool(turn.history)), question.context])
        found[kind].append(NetworkChoice(features[kind], group, right, pairs, turn.weight))
        places = np.flatnonzero(right)
        preferred = [place for place in places if own[place] in aligned]
        first = int(own[(preferred or list(places))[0]])
    return found


def right_items(index: ReportIndex, operand: Number) -> np.ndarray:
    """Returns which items of a report write a figure."""
    percent = operand.text.endswith("%")
    return np.array(
        [
            value == operand.value and text.endswith("%") == percent
            for value, text in zip(index.values, index.texts, strict=True)
        ],
        dtype=bool,
    )


def right_turns(turn: TrainingTurn, operand: Reference) -> np.ndarray:
    """Returns which earlier turns have the calculation that a reference means."""

    def same(earlier: HistoryTurn) -> bool:
        target = turn.history[operand.turn].derivation
        return earlier.derivation is not None and target is not None and earlier.derivation.tree() == target.tree()

    return np.array([same(earlier) for earlier in turn.history], dtype=bool)


def fit_operands(turns: Sequence[TrainingTurn], config: ScorerConfig, seed: int) -> dict[str, ChoiceNetwork]:
    """Fits the networks for figures (``A``) and for earlier answers (``R``), for the kinds that occur."""
    by_kind: dict[str, list[NetworkChoice]] = {"A": [], "R": []}
    for turn in turns:
        for kind, choices in operand_choices(turn).items():
            by_kind[kind] += choices
    settings = {"A": config.operands, "R": config.answers}
    return {
        kind: ChoiceNetwork.mean([train(choices, settings[kind], seed + number) for number in range(config.ensemble)])
        for kind, choices in by_kind.items()
        if choices
    }


def ranking_choice(turn: TrainingTurn, scorer: DerivationScorer, beam: DerivationConfig) -> NetworkChoice | None:
    """Returns the candidates of a search for a turn with its gold history; ``None`` if none of them is right."""
    if not turn.has_report:
        return None
    space = DerivationSpace(turn.index, turn.questions, [WeightedHistory(turn.history, 0.0)], scorer)
    found = pool(space, beam_search(space, beam), beam.pool)
    right = np.isclose(np.round(found.values, 5), as_float(turn.answer), rtol=1e-9, atol=1e-6)
    if not right.any():
        return None
    no_pairs = np.zeros((len(found), 0), dtype=np.float32)
    return NetworkChoice(features_of(space, found), space.question.context, right, no_pairs, turn.weight)


def _ranker_choices(
    turns: Sequence[TrainingTurn], fold_of: Mapping[str, int], fold: int, idf: Idf, config: ScorerConfig, seed: int
) -> list[NetworkChoice]:
    """Returns the candidates for the ranker on a part of the reports, by a search fitted on the others."""
    inside = [turn for turn in turns if fold_of.get(turn.group, -1) != fold]
    partial = _without_ranker(inside, idf, replace(config, ensemble=1), seed)
    if partial is None:
        return []
    outside = [turn for turn in turns if fold_of.get(turn.group, -1) == fold]
    found = (ranking_choice(turn, partial, config.beam) for turn in outside)
    return [choice for choice in found if choice is not None]


def fit_ranker(
    turns: Sequence[TrainingTurn], idf: Idf, config: ScorerConfig, seed: int, progress: Progress
) -> ChoiceNetwork | None:
    """Fits the network over complete candidates, by cross-fitting; ``None`` if no search proposes a right one."""
    known = sorted({turn.group for turn in turns if turn.has_report})
    np.random.default_rng(seed).shuffle(known)
    fold_of = {group: place % config.folds for place, group in enumerate(known)}
    progress(f"candidates for the ranker, in {config.folds} parts")
    parts = [_ranker_choices(turns, fold_of, fold, idf, config, seed) for fold in range(config.folds)]
    choices = [choice for part in parts for choice in part]
    if not choices:
        return None
    progress(f"ranker, on {len(choices)} turns")
    start = np.zeros(choices[0].rows.shape[1], dtype=np.float32)
    start[[JOINT_NAMES.index("score"), JOINT_NAMES.index("history")]] = 1
    return ChoiceNetwork.mean(
        [train(choices, config.ranker, seed + number, start=start) for number in range(config.ranker_ensemble)]
    )


def fit_scorer(
    turns: Sequence[TrainingTurn],
    idf: Idf,
    config: ScorerConfig,
    seed: int,
    trained_on: str = "",
    progress: Progress = silent,
) -> DerivationScorer:
    """Fits the form model, the operand networks and the ranker.

    Args:
        turns: The turns.
        idf: Of the training reports' tokens.
        config: Settings.
        seed: Of the networks' first weights, the order of the examples, the folds and the dropout.
        trained_on: Description of the training data, kept with the weights.
        progress: Called with the name of each stage as it begins.

    Raises:
        DataError: No turn looks up a figure that its report's graph holds, so that nothing can be fitted.
    """
    # The matrices are so small that threads of the linear algebra library only wait for one another.
    with threadpool_limits(limits=1):
        ranker = fit_ranker(turns, idf, config, seed, progress) if config.folds > 1 else None
        progress(f"forms on {len(turns)} turns, operands on {sum(turn.has_report for turn in turns)}")
        scorer = _without_ranker(turns, idf, config, seed)
    if scorer is None:
        raise DataError("no training turn looks up a figure that its report's graph holds: nothing can be fitted")
    return replace(scorer, ranker=ranker, trained_on=trained_on).rounded()


def _without_ranker(
    turns: Sequence[TrainingTurn], idf: Idf, config: ScorerConfig, seed: int
) -> DerivationScorer | None:
    """Fits the form model and the operand networks; ``None`` if no turn looks up a figure of a report."""
    operands = fit_operands(turns, config, seed)
    if "A" not in operands:
        return None
    forms = fit_forms(turns, config)
    known = [place for place, name in enumerate(forms.forms) if set(ParsedForm.parse(name).kinds) <= {*operands, "C"}]
    usable = FormScorer([forms.forms[place] for place in known], forms.features, forms.weights[:, known])
    return DerivationScorer(idf, usable, operands)


def train(
    choices: Sequence[NetworkChoice],
    config: TrainingConfig,
    seed: int,
    *,
    start: FloatArray | None = None,
) -> ChoiceNetwork:
    """Fits a network to choices.

    Args:
        choices: At least one; all with the same numbers of features.
        config: Settings.
        seed: Of the initial weights, the order and the dropout.
        start: Linear weights of the rows to begin with, towards which the decay pulls; zeros by default. The hidden
            units then begin small, so that the network begins as the linear score that ``start`` makes.

    Returns:
        The network after the last pass.
    """
    rng = np.random.default_rng(seed)
    weights = _initial(choices[0], config.hidden, rng)
    target = np.zeros_like(weights["skip"]) if start is None else start.astype(np.float32)
    if start is not None:
        weights["skip"] = target.copy()
        weights["out"] *= np.float32(0.1)
    moments = {name: (np.zeros_like(array), np.zeros_like(array)) for name, array in weights.items()}
    steps = 0
    total = config.epochs * -(-len(choices) // config.batch)
    for _ in range(config.epochs):
        order = rng.permutation(len(choices))
        for place in range(0, len(order), config.batch):
            batch = [choices[number] for number in order[place : place + config.batch]]
            gradients = _gradients(weights, batch, config, rng)
            gradients["skip"] = gradients["skip"] - np.float32(config.decay) * target
            steps += 1
            rate = config.rate * (1 - 0.9 * steps / total)
            _adam(weights, gradients, moments, steps, rate, config.decay)
    return ChoiceNetwork(**weights)


def _initial(choice: NetworkChoice, hidden: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    rows, group, pairs = choice.rows.shape[1], choice.group.shape[0], choice.pairs.shape[1]
    scale = 1.0 / np.sqrt(rows)
    return {
        "rows_in": rng.normal(0, scale, (rows, hidden)).astype(np.float32),
        "group_in": rng.normal(0, 1.0 / np.sqrt(group), (group, hidden)).astype(np.float32),
        "bias": np.zeros(hidden, dtype=np.float32),
        "out": rng.normal(0, 1.0 / np.sqrt(hidden), hidden).astype(np.float32),
        "skip": np.zeros(rows, dtype=np.float32),
        "pairs": np.zeros((group, pairs), dtype=np.float32),
    }


def _gradients(
    weights: dict[str, FloatArray], batch: Sequence[NetworkChoice], config: TrainingConfig, rng: np.random.Generator
) -> dict[str, FloatArray]:
    sizes = np.array([len(choice.rows) for choice in batch])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    segment = np.repeat(np.arange(len(batch)), sizes)
    rows = np.concatenate([choice.rows for choice in batch])
    group = np.stack([choice.group for choice in batch])
    pairs = np.concatenate([choice.pairs for choice in batch])
    right = np.concatenate([choice.right for choice in batch])
    hidden: FloatArray = rows @ weights["rows_in"] + (group @ weights["group_in"])[segment] + weights["bias"]
    mask = np.greater(hidden, 0).astype(np.float32)
    if config.dropout > 0:
        mask *= np.greater_equal(rng.random(mask.shape[1]), config.dropout).astype(np.float32) / (1 - config.dropout)
    hidden = hidden * mask
    pair_weights = (group @ weights["pairs"])[segment]
    scores = hidden @ weights["out"] + rows @ weights["skip"] + (pairs * pair_weights).sum(axis=1)
    top = np.maximum.reduceat(scores, starts)
    exponent = np.exp(scores - top[segment])
    everything = np.add.reduceat(exponent, starts)
    good = np.add.reduceat(exponent * right, starts)
    importance = np.array([choice.weight for choice in batch], dtype=np.float32)
    error = exponent / everything[segment] - exponent * right / np.maximum(good, 1e-12)[segment]
    error = (error * importance[segment] / len(batch)).astype(np.float32)
    back = error[:, None] * weights["out"] * mask
    by_group = np.add.reduceat(back, starts, axis=0)
    return {
        "rows_in": rows.T @ back,
        "group_in": group.T @ by_group,
        "bias": by_group.sum(axis=0),
        "out": hidden.T @ error,
        "skip": rows.T @ error,
        "pairs": group.T @ np.add.reduceat(pairs * error[:, None], starts, axis=0),
    }


def _adam(
    weights: dict[str, FloatArray],
    gradients: dict[str, FloatArray],
    moments: dict[str, tuple[FloatArray, FloatArray]],
    step: int,
    rate: float,
    decay: float,
) -> None:
    for name in _NAMES:
        gradient = gradients[name] + (0.0 if name == "bias" else decay) * weights[name]
        first, second = moments[name]
        first *= 0.9
        first += 0.1 * gradient
        second *= 0.99
        second += 0.01 * gradient * gradient
        corrected = np.sqrt(second / (1 - 0.99**step)) + 1e-7
        weights[name] -= (rate / (1 - 0.9**step) * first / corrected).astype(np.float32)
