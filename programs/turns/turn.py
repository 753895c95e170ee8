"""The result of a question, with everything that led to it, and its JSON: one type for reports, graphs and texts.

    record = turn_record(turn)
    record["candidates"][0]["program"]     # 'subtract(206588, 181001)'
    read_turn(record) == turn              # except the understanding and the evidence, which stay JSON

None of these types can hold a gold answer. A number is written exactly, as text. A figure has its path and its
observation next to the program that uses it. pydantic writes and reads all other types by their fields.

A turn is measured while it is answered (:func:`metered`), and several may be answered at the same time::

    with metered() as measured:
        program(question="what were revenues in 2008?")
    measured.usage.lm_calls                # 2
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, cast

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError
from pydantic import BaseModel, PlainSerializer, PlainValidator, TypeAdapter
from typing_extensions import TypeVar

from kg.calculations import Candidate
from kg.errors import FinpathError, LMError
from kg.graphs import GraphContext
from kg.paths import Topics
from kg.reports import CellSource, SentenceSource, Source
from kg.search import Answer, Derivation, Labelled, Number, Operand, SearchStatistics, Step, StepResult
from kg.search import PastTurn as PastTurn

if TYPE_CHECKING:
    from kg.calculations import ReportIndex, WeightedHistory

LONGEST_MESSAGE = 2_000
"""Characters of an error that a turn keeps; a reply may be quoted in it."""

KEPT_CANDIDATES = 20
"""The number of candidates that a record keeps, the largest k of ``recall_at_k``."""

Failure = Literal["no_topic", "empty_beam", "no_valid_choice", "picked_none", "not_answered", "lm_error", "error"]
"""The reason for a turn without an answer. A run's metrics count each kind separately.

``no_topic``: the question names no entity of the graph. ``empty_beam``: the search found no candidate.
``no_valid_choice``: a reply of the language model could not be used. ``picked_none``: the program abstained.
``not_answered``: the question could not be parsed, or the graph does not hold its answer. ``lm_error``: the language
model failed. ``error``: the data or the search failed.
"""

Record = dict[str, Any]
AnswerT = TypeVar("AnswerT", default=Answer)
DetailT = TypeVar("DetailT", default=None)
Item = TypeVar("Item")
Result = TypeVar("Result")


def plain(value: Any) -> Any:
    """``value`` as JSON; types that JSON does not have are written as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    return str(value)


def write_exactly(answer: Answer | None) -> str | list[str] | None:
    """An answer as JSON: a number as text with all of its digits, names as a list."""
    if isinstance(answer, tuple):
        return list(answer)
    return None if answer is None else str(answer)


def read_exactly(text: str | Sequence[str] | None) -> Answer | None:
    """The answer that :func:`write_exactly` wrote."""
    if text is not None and not isinstance(text, str):
        return tuple(text)
    if text is None or text in ("yes", "no"):
        return cast("Answer | None", text)
    return Decimal(text)


def derivation_record(derivation: Derivation | None) -> Record | None:
    """A derivation as its program, with the path and the source of each figure."""
    if derivation is None:
        return None
    return {"program": str(derivation), "figures": [[one.path, one.source] for one in derivation.numbers]}


def read_derivation(record: Mapping[str, Any] | None) -> Derivation | None:
    """The derivation that :func:`derivation_record` wrote."""
    if record is None:
        return None
    figures = iter(record["figures"])
    steps = (
        Step(step.operation, tuple(_looked_up(operand, figures) for operand in step.operands))
        for step in Derivation.parse(record["program"]).steps
    )
    return Derivation(tuple(steps))


def _looked_up(operand: Operand, figures: Iterator[Any]) -> Operand:
    """An operand whose figures have their paths and sources again."""
    if isinstance(operand, Labelled):
        found = (_looked_up(one, figures) for one in operand.numbers)
        return Labelled(operand.label, tuple(one for one in found if isinstance(one, Number | StepResult)))
    return Number(operand.text, *next(figures)) if isinstance(operand, Number) else operand


def read_source(record: Mapping[str, Any]) -> Source:
    """The place of a figure, from its record."""
    return CellSource(**record) if "row" in record else SentenceSource(**record)


def _candidate_record(candidate: Candidate) -> Record:
    return {
        "answer": write_exactly(candidate.answer),
        "score": candidate.score,
        **cast("Record", derivation_record(candidate.derivation)),
        "path": candidate.path,
        "sources": [dataclasses.asdict(source) for source in candidate.sources],
    }


def _read_candidate(record: Mapping[str, Any]) -> Candidate:
    derivation = cast("Derivation", read_derivation(record))
    answer = cast("Answer", read_exactly(record["answer"]))
    return Candidate(derivation, answer, record["score"], record["path"], tuple(map(read_source, record["sources"])))


DerivationField = Annotated[Derivation, PlainSerializer(derivation_record), PlainValidator(read_derivation)]
CandidateField = Annotated[Candidate, PlainSerializer(_candidate_record), PlainValidator(_read_candidate)]
PlainField = Annotated[Any, PlainSerializer(plain)]
"""A value of any type, which is read as the JSON that :func:`plain` writes."""


class NoAnswerError(FinpathError):
    """A question without an answer, for a reason that is no fault of the program.

    Args:
        failure: The reason.
        message: The reason in words.
    """

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.failure: Failure = failure


@dataclass(frozen=True)
class Usage:
    """The cost of a turn.

    Attributes:
        lm_calls: Calls to a language model, including cached and failed ones.
        prompt_tokens: Tokens of the prompts; a cached reply takes none.
        completion_tokens: Tokens written by the model; a cached reply takes none.
        seconds: Wall time.
        cached_prompt_tokens: Those of the prompts' tokens that the model did not compute again, as a prompt before
            began alike.
    """

    lm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cached_prompt_tokens: int = 0


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by an agent.

    Attributes:
        tool: Its name.
        arguments: The arguments that the language model gave.
        output: The text that the language model was shown.
        seconds: Wall time.
        failed: Whether the output is an error.
    """

    tool: str
    arguments: Annotated[Mapping[str, Any], PlainSerializer(plain)]
    output: str
    seconds: float
    failed: bool = False


@dataclass(frozen=True)
class Resolution:
    """A question and the things that it refers to.

    Attributes:
        question: As asked.
        canonical: The same, standing alone.
        referents: The entities or figures that it refers to without naming them.
        turns: The earlier turns that these come from; counted from 0.
        alone: Whether a later question about a report was read without the earlier ones.
    """

    question: str
    canonical: str
    referents: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()
    alone: bool = False


@dataclass(frozen=True)
class TextDetail:
    """The grounds of an answer from texts.

    Attributes:
        facts: What it rests on, one line each with the sentence and its source.
        paths: The edges from the documents to these sentences.
    """

    facts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def trace_of(statistics: SearchStatistics) -> dict[str, int]:
    """A search's statistics under the names of the predictions file."""
    return {
        "total_paths_explored": statistics.total_paths_explored,
        "completed_paths": statistics.completed_paths,
        "max_depth_reached": statistics.max_depth_reached,
        "backtrack_count": statistics.backtrack_count,
    }


@dataclass(frozen=True)
class GraphDetail:
    """The grounds of an answer from a graph: the query that was parsed, and the paths that a search took.

    Attributes:
        path: The query, as a path of names and operations; empty where paths of entities answer.
        facts: The triples that the query rests on.
        nodes: The names that answer, or that are counted: the set to be compared with all gold answers.
        answers: Names with their confidences in [0, 1], best first: those of ``nodes``, then others.
        raw_paths: For each of these a path that leads to it, with its score (a log-probability).
        reasoning_trace: ``total_paths_explored``, ``completed_paths``, ``max_depth_reached``, ``backtrack_count``.
        topics: The entities from which paths were searched, and how they were found.
        left_out: The number of further answers, beyond those of ``nodes``.
    """

    path: str = ""
    facts: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    answers: tuple[tuple[str, float], ...] = ()
    raw_paths: tuple[tuple[str, float], ...] = ()
    reasoning_trace: dict[str, int] = field(default_factory=lambda: trace_of(SearchStatistics(0, 0, 0, 0)))
    topics: Topics = field(default_factory=Topics)
    left_out: int = 0

    @property
    def predictions(self) -> tuple[str, ...]:
        """The paths with their answers as GCR's evaluation reads them, best first."""
        pairs = zip(self.raw_paths, self.answers, strict=True)
        return tuple(f"# Reasoning Path:\n{path}\n# Answer:\n{answer}" for (path, _), (answer, _) in pairs)


@dataclass(frozen=True, repr=False)
class Turn(Generic[AnswerT, DetailT]):
    """A question with everything that led to its answer.

    Attributes:
        question: The question as asked.
        answer: The exact answer; ``None`` if ``failure`` is set. Reports give numbers or yes and no, graphs also names.
        derivation: The calculation of the answer.
        candidates: The beam's proposals, best first, answers merged numerically.
        pick: Index of the chosen candidate.
        confidence: Probability in [0, 1] that the program gives to its answer.
        failure: The reason for a missing answer.
        message: The failure in words.
        understanding: The reply of the Understand module, if it ran.
        usage: Calls, tokens and time.
        tool_calls: Every call of a tool, in order.
        words: The answer in words, with unit, sign and scale; empty without an answer.
        evidence: The language model's evidence on the candidates (:class:`programs.aggregate.Evidence`), if asked.
        explanation: One sentence on the answer by a language model, where that was asked for and it is grounded.
        resolution: The references of the question, where the program resolves them.
        context: The entities of the graph context, where the program looks them up.
        detail: Results that only one world has.
    """

    question: str
    answer: AnswerT | None = None
    derivation: DerivationField | None = None
    candidates: tuple[CandidateField, ...] = ()
    pick: int | None = None
    confidence: float | None = None
    failure: Failure | None = None
    message: str = ""
    understanding: PlainField = None
    usage: Usage = field(default_factory=Usage)
    tool_calls: tuple[ToolCall, ...] = ()
    words: str = ""
    evidence: PlainField = None
    explanation: str = ""
    resolution: Resolution | None = None
    context: GraphContext = field(default_factory=GraphContext)
    detail: DetailT | None = None

    def __repr__(self) -> str:
        answer = self.words or (str(self.answer) if self.answer is not None else f"no answer ({self.failure})")
        confidence = f", confidence {self.confidence:.0%}" if self.confidence is not None else ""
        return f"Turn({self.question!r} -> {answer!r}{confidence})"

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.question)}</b><br>{escape(repr(self).rpartition(' -> ')[2].removesuffix(')'))}</p>"

    @property
    def resolved(self) -> Resolution:
        """The references of the question; none where the program resolves none."""
        return self.resolution if self.resolution is not None else Resolution(self.question, self.question)

    @property
    def canonical(self) -> str:
        """The question with its references spelled out."""
        return self.resolved.canonical

    def past(self: Turn[Answer, Any]) -> PastTurn:
        """A turn about a report as later turns see it."""
        return PastTurn(self.question, self.derivation, self.answer, self.confidence)


AnyTurn = Turn[Any, Any]
"""A turn about any world."""

_NOT_OF_REPORTS = ("resolution", "context", "detail")


@cache
def _adapter() -> TypeAdapter[Turn[Any, Any]]:
    return TypeAdapter(Turn[Answer | tuple[str, ...], GraphDetail | TextDetail])


def turn_record(turn: Turn[Any, Any], candidates: int = KEPT_CANDIDATES) -> Record:
    """A turn as JSON, with at most ``candidates`` of its candidates and always those up to the pick."""
    kept = turn.candidates[: max(candidates, (turn.pick if turn.pick is not None else -1) + 1)]
    record: Record = _adapter().dump_python(replace(turn, candidates=kept), mode="json")
    if not turn.context.entities:
        record["context"] = None
    return {name: value for name, value in record.items() if value is not None or name not in _NOT_OF_REPORTS}


def read_turn(record: Mapping[str, Any]) -> Turn[Any, Any]:
    """The turn that :func:`turn_record` wrote; its understanding and evidence stay JSON."""
    given = {name: value for name, value in record.items() if value is not None or name not in _NOT_OF_REPORTS}
    return _adapter().validate_python(given)


def history_records(histories: Sequence[WeightedHistory]) -> list[Record]:
    """The histories from which a conversation continues: the derivation of each earlier turn, and the weight."""
    return [
        {
            "log_probability": float(one.log_probability),
            "turns": [derivation_record(turn.derivation) for turn in one.turns],
        }
        for one in histories
    ]


def read_histories(
    records: Sequence[Mapping[str, Any]], index: ReportIndex, questions: Sequence[str]
) -> tuple[WeightedHistory, ...]:
    """The histories that :func:`history_records` wrote, for the same report and questions."""
    from kg.calculations import fixed_history

    histories = []
    for record in records:
        derivations = [read_derivation(one) for one in record["turns"]]
        past = [
            PastTurn(question, derivation, derivation.execute() if derivation is not None else None)
            # A long conversation's histories hold its last turns.
            for question, derivation in zip(questions[-len(derivations) :], derivations, strict=False)
        ]
        histories.append(replace(fixed_history(index, past)[0], log_probability=record["log_probability"]))
    return tuple(histories)


def is_embedded(lm: Any) -> bool:
    """Whether a language model runs in this process."""
    return bool(getattr(getattr(lm, "engine", None), "in_process", False))


class SchemaAdapter(dspy.JSONAdapter):
    """JSON by a schema narrower than that of the prompt; so prompts have one beginning, which is read once."""

    def format(self, signature: Any, demos: list[Any], inputs: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages, with the type of an output in place of its subclass by the names of one graph."""
        for name, output in signature.output_fields.items():
            wide = getattr(output.annotation, "__base__", None) or object
            if wide is not BaseModel and issubclass(wide, BaseModel):
                signature = signature.with_updated_fields(name, type_=wide)
        messages: list[dict[str, Any]] = super().format(signature, demos, inputs)
        return messages


def suited_adapter(lm: Any) -> dspy.Adapter | None:
    """The adapter for a language model: JSON for one that can be held to a schema, else ``None``, DSPy's default."""
    return SchemaAdapter() if is_embedded(lm) or getattr(lm, "own_server", False) else None


class CallMeter(BaseCallback):
    """A counter of all calls to a language model, also of cached and failed ones.

    Attributes:
        calls: The number of calls.
        usage: Calls, tokens and time, once the context of :func:`metered` is left.
        failure: The exception of the last failed call. It separates failures of the model from those of the program, as
            a subclass with its own ``forward`` may raise anything.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.usage = Usage()
        self.failure: BaseException | None = None

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
        """A call begins."""
        self.calls += 1

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: ARG002
        """A call has ended."""
        self.failure = exception if exception is not None else self.failure


@contextmanager
def metered() -> Iterator[CallMeter]:
    """Counts what the calls inside take, through the adapter that suits the language model unless one is set."""
    measured, started = CallMeter(), time.perf_counter()
    adapter = dspy.settings.adapter if dspy.settings.adapter is not None else suited_adapter(dspy.settings.lm)
    callbacks = [*dspy.settings.callbacks, measured]
    with dspy.context(adapter=adapter, callbacks=callbacks), dspy.track_usage() as tracker:
        yield measured
    sent = [entry for entries in tracker.usage_data.values() for entry in entries]
    measured.usage = Usage(
        lm_calls=measured.calls,
        prompt_tokens=sum(int(entry.get("prompt_tokens") or 0) for entry in sent),
        completion_tokens=sum(int(entry.get("completion_tokens") or 0) for entry in sent),
        seconds=time.perf_counter() - started,
        cached_prompt_tokens=sum(map(cached_tokens, sent)),
    )


def failure_of(error: Exception, meter: CallMeter) -> tuple[Failure, str]:
    """The failure that an error of the language model, the search or the data becomes, and its message.

    Args:
        error: The error.
        meter: The meter of the turn, which knows what a language model raised.

    Raises:
        Exception: ``error`` itself, if it is none of these.
    """
    message = f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]
    if isinstance(error, NoAnswerError):
        return error.failure, str(error)
    if isinstance(error, AdapterParseError | RecursionError):  # JSON that is nested too deeply is no reply either
        return "no_valid_choice", message
    if isinstance(error, DSPyLMError | LMError) or error is meter.failure:
        return "lm_error", message
    if isinstance(error, FinpathError):
        return "error", message
    raise error


def cached_tokens(usage: Mapping[str, Any]) -> int:
    """The tokens of a call's prompt that were in the model's cache, as far as it is known."""
    details = usage.get("prompt_tokens_details") or {}
    return int(details.get("cached_tokens") or 0)


def concurrently(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yields what a function returns for each item, in their order; its first exception is raised here.

    Each call has a copy of the context, so settings of DSPy and recorders of calls hold in all threads.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        for future in [pool.submit(copy_context().run, function, item) for item in items]:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
