"""Questions with files for the loop of thoughts: one way to set the loop up, and a task that scores its answers.

    program, world = ThoughtsSetup(tools=("inspect_document",), documents=("ports.html",)).opened(folder)
    task = ThoughtsQuestions(read_tasks("tasks.jsonl"), ThoughtsSetup(), "tasks")
    evaluate(SavedProgram(None, "thoughts", Path()), task, config).figures["accuracy"]

A task has ``id``, ``question``, ``answers`` and ``files``. As in GAIA, an answer counts if it is one of the right ones
after case, articles, units' commas and the order of a list are set aside; numbers are compared as numbers.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal

from experiments.data import read_types
from experiments.evaluation.task import Description, EvaluationConfig, Scored, Task, accuracy_figures
from experiments.files import read_text
from experiments.lms import LMConfig, lm_settings
from experiments.saved import SavedProgram, shipped_meaning
from experiments.tracking import DataInput, Run, TraceFacts
from kg.errors import ConfigError, DataError, FinpathError, LMError
from kg.growing import GrowingGraph, Schema
from programs.lm import metered
from programs.thoughts import KnowledgeGraphOfThoughts, Thoughts, ThoughtsConfig
from programs.tools import TOOLS, ToolLimits, ToolManager, ToolSettings, WebLimits, load_tools

DOCUMENT_TOOLS = ("list_documents", "inspect_document", "find_in_document", "search_documents", "extract_archive")
"""The tools of questions that come with documents."""

MOST_BYTES = 500_000_000
"""Bytes of all documents of a question."""

NUMBERS = ("max_iterations", "votes", "repairs", "calls", "shown")
"""The settings of the loop that are whole numbers."""


def whole_number(name: str, text: str) -> int:
    """Returns the number of a setting.

    Raises:
        ConfigError: The text is no whole number.
    """
    if not text.isdecimal():
        raise ConfigError(f"{name} must be a whole number, got {text!r}")
    return int(text)


@dataclass(frozen=True)
class ThoughtsSetup:
    """The setup of the loop.

    Attributes:
        tools: Names of the tools; by default those for documents, if there are any.
        schema: The name or file of the types that the graph begins with.
        config: The loop's settings.
        limits: Limits of single tools; ``all`` for the others.
        settings: Settings of tools other than their folder.
    """

    tools: tuple[str, ...] = ()
    schema: str = "open"
    config: ThoughtsConfig = field(default_factory=lambda: ThoughtsConfig(types="auto", retrieve="both"))
    limits: Mapping[str, ToolLimits] = field(default_factory=dict)
    settings: ToolSettings = field(default_factory=ToolSettings)

    @classmethod
    def parse(cls, texts: Mapping[str, str], api_base: str | None = None) -> ThoughtsSetup:
        """Reads a setup as a command takes it: ``max_iterations=3``, ``tools=wikipedia``, ``run_python.calls=2``.

        Args:
            texts: Texts of the settings by their names.
            api_base: The server of ``tool_lm``.

        Raises:
            ConfigError: There is no such setting, or its value is wrong.
        """
        rest = dict(texts)
        loop: dict[str, Any] = {"votes": 1, "retrieve": "both", "types": "auto"}
        loop |= {name: whole_number(name, rest.pop(name)) for name in NUMBERS if name in rest}
        loop |= {name: rest.pop(name) for name in ("retrieve", "types") if name in rest}
        loop["explain"] = rest.pop("explain", "false") == "true"
        tools, allowed = (tuple(filter(None, rest.pop(name, "").split(","))) for name in ("tools", "allowed"))
        own = {name: rest.pop(name) for name in ("search_engine", "wikipedia", "prices") if name in rest}
        name = rest.pop("tool_lm", "")
        lm = lm_settings(LMConfig(name, api_base))["lm"] if name else None
        settings = ToolSettings(**own, lm=lm, seeing_lm=lm, web=WebLimits(allowed=allowed))  # type: ignore[arg-type]
        schema, names = rest.pop("schema", "open"), [limit.name for limit in fields(ToolLimits)]
        limits: dict[str, dict[str, Any]] = {}
        for key, text in rest.items():
            tool, _, limit = key.partition(".")
            if tool not in (*TOOLS, "all") or limit not in names:
                rule = f"a limit is TOOL.{', TOOL.'.join(names)} or all.{names[0]}"
                raise ConfigError(f"there is no setting {key!r}; {rule}")
            limits.setdefault(tool, {})[limit] = whole_number(key, text)
        own_limits = {tool: ToolLimits(**values) for tool, values in limits.items()}
        return cls(tools, schema, ThoughtsConfig(**loop), own_limits, settings)

    def types(self) -> Schema:
        """Returns the types that the graph begins with."""
        return read_types(self.schema)

    def loaded(self, folder: Path | None) -> ToolManager:
        """Returns the tools over a folder of documents."""
        names = self.tools if self.tools or folder is None else DOCUMENT_TOOLS
        own = {name: limits for name, limits in self.limits.items() if name != "all"}
        return load_tools(names, replace(self.settings, folder=folder), self.limits.get("all"), own)

    def program(self, folder: Path | None) -> KnowledgeGraphOfThoughts:
        """Returns the program with its tools over a folder of documents."""
        return KnowledgeGraphOfThoughts(self.loaded(folder), self.config, meaning=shipped_meaning())

    def params(self) -> dict[str, object]:
        """Returns the settings of a run."""
        loop = {name: value for name, value in asdict(self.config).items() if name != "limits"}
        limits = {name: asdict(one) for name, one in sorted(self.limits.items())}
        return {"tools": list(self.tools), "schema": self.schema, **loop, "tool_limits": limits}


@contextmanager
def documents_folder(names: Sequence[str]) -> Iterator[Path | None]:
    """Yields a folder with copies of documents, in which tools may unpack archives; ``None`` without documents.

    Args:
        names: Files and folders; hidden files of a folder are left out.

    Raises:
        DataError: There is no such file, two have one name, or all together are too large.
    """
    if not names:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="finpath-documents-") as temporary:
        folder, left = Path(temporary), MOST_BYTES
        for name in names:
            for source, target in _files(Path(name), folder):
                left -= source.stat().st_size
                if left < 0:
                    raise DataError(f"the documents have more than {MOST_BYTES} bytes", file=name)
                if target.exists():
                    raise DataError("another document has this name: give their common folder", file=source.name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        yield folder


def _files(path: Path, folder: Path) -> Iterator[tuple[Path, Path]]:
    if path.is_file():
        yield path, folder / path.name
    elif path.is_dir():
        for one in sorted(path.rglob("*")):
            inside = one.relative_to(path)
            if one.is_file() and not one.is_symlink() and not any(part.startswith(".") for part in inside.parts):
                yield one, folder / inside
    else:
        raise DataError("there is no such file or folder", file=str(path))


@dataclass(frozen=True)
class ThoughtsItem:
    """A question with its right answers.

    Attributes:
        id: Its name.
        question: The question.
        answers: Each of them is right; empty if the files do not answer it.
        files: Paths of its files.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read_tasks(path: str | Path) -> list[ThoughtsItem]:
    """Reads tasks, one JSON object a line; their files are relative to the file of the tasks.

    Raises:
        DataError: A line is no task, or a file is missing.
    """
    found = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            files = tuple(str(Path(path).parent / name) for name in entry.get("files", ()))
            one = ThoughtsItem(str(entry["id"]), str(entry["question"]), tuple(map(str, entry["answers"])), files)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"is no task with id, question, answers and files: {error}", file=str(path), place=f"line {number}"
            ) from error
        missing = [name for name in one.files if not Path(name).is_file()]
        if missing:
            raise DataError(f"names a file that is missing: {missing[0]}", file=str(path), place=f"line {number}")
        found.append(one)
    return found


StepResult = dict[str, Any]
Verdict = Literal["right", "abstained", "wrong"]


class ThoughtsQuestions(Task[ThoughtsItem, StepResult, Verdict]):
    """Questions that are answered one by one, each from an empty graph of its own.

    Args:
        tasks: The questions.
        setup: The setup of the loop.
        name: The data's name.
        today: The date by which freshness is judged.
    """

    run_kind = "thoughts"
    unit = "questions"

    def __init__(
        self, tasks: Sequence[ThoughtsItem], setup: ThoughtsSetup, name: str, today: date | None = None
    ) -> None:
        self.tasks, self.setup, self.name, self.today = list(tasks), setup, name, today
        self.sha256 = _hash_of(self.tasks)

    def items(self, limit: int | None = None) -> Sequence[ThoughtsItem]:
        """Returns the questions."""
        if not self.tasks:
            raise DataError("has no task", file=self.name)
        return self.tasks[:limit]

    def source(self, item: ThoughtsItem) -> str:
        """Returns the names of the question's files."""
        return ", ".join(Path(name).name for name in item.files)

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns the setup, the model and the data."""
        key = {**self.setup.params(), **config.lm.params(), "data_sha256": self.sha256, "limit": config.limit}
        tags = {"finpath.data": self.name, "finpath.data_sha256": self.sha256}
        data = DataInput(self.name, self.sha256, "dev", len(self.tasks[: config.limit]))
        return Description(key, {**key, "program": saved.name, "data": self.name}, tags, data=data)

    def answer(
        self,
        program: Any,  # noqa: ARG002
        item: ThoughtsItem,
    ) -> Iterator[tuple[StepResult, Verdict, bool]]:
        """Yields the question's result; a question without a right answer is right if there is no answer."""
        started = time.perf_counter()
        result = self._result(item)
        result["seconds"] = time.perf_counter() - started
        answer = result["answer"]
        if answer is None:
            verdict: Verdict = "abstained" if item.answers else "right"
        else:
            verdict = "right" if any(is_same_answer(answer, right) for right in item.answers) else "wrong"
        yield result, verdict, verdict == "right"

    def _result(self, item: ThoughtsItem) -> StepResult:
        with metered() as measured:
            try:
                with documents_folder(item.files) as folder, GrowingGraph(None, self.setup.types()) as graph:
                    found = self.setup.program(folder)(question=item.question, graph=graph, today=self.today).thoughts
                    result = thoughts_figures(item.question, found)
            except LMError:
                raise  # without a model or a budget there is no answer of the program
            except FinpathError as error:
                result = thoughts_figures(item.question, Thoughts(refused=(str(error),)))
        usage = asdict(measured.usage)
        return {**result, **{name: usage[name] for name in ("lm_calls", "prompt_tokens", "completion_tokens")}}

    def figures(self, scored: Sequence[Scored[StepResult, Verdict]], *, seed: int) -> dict[str, Any]:
        """Returns the shares of right, abstained and wrong answers, with an interval, and the costs."""
        count = max(len(scored), 1)
        accuracy = accuracy_figures(scored, seed=seed)
        turns = [one.turn for one in scored]
        return {
            "questions": len(scored),
            **{verdict: sum(one.score == verdict for one in scored) for verdict in ("right", "abstained", "wrong")},
            **{name: value for name, value in accuracy.items() if name.startswith("accuracy")},
            "lm_calls_per_question": sum(turn["lm_calls"] for turn in turns) / count,
            "prompt_tokens_per_question": sum(turn["prompt_tokens"] for turn in turns) / count,
            "tool_calls_per_question": sum(len(turn["tool_calls"]) for turn in turns) / count,
            "types_created": sum(len(turn["types"]) for turn in turns),
        }

    def log(self, run: Run, figures: Mapping[str, Any], scored: Sequence[Scored[StepResult, Verdict]]) -> None:
        """Logs the figures and a row for each question."""
        run.log_metrics(figures)
        names = ("question", "answer", "explanation", "iterations", "forced", "seconds")
        rows = [{"id": one.item, "verdict": one.score, **{name: one.turn[name] for name in names}} for one in scored]
        run.log_table("questions", rows)

    def trace(self, scored: Scored[StepResult, Verdict]) -> TraceFacts:
        """Returns the question's trace, with every step of the loop."""
        turn = scored.turn
        inputs = {"question": turn["question"], "files": scored.source}
        outputs = {name: turn[name] for name in ("answer", "explanation", "facts", "refused")}
        return TraceFacts(scored.item, inputs, outputs)


def thoughts_figures(question: str, found: Thoughts) -> dict[str, Any]:
    """Returns a result under its stable names; an answer that nothing supports is left out and named in ``why``."""
    answer, why = supported_answer(found)
    return {
        "question": question,
        "answer": answer,
        "abstained": answer is None,
        "why": why,
        "explanation": found.explanation,
        "facts": [asdict(fact) for fact in found.facts],
        "query": found.query,
        "calculation": found.calculation,
        "iterations": found.iterations,
        "forced": found.forced,
        "tool_calls": [
            {"tool": call.tool, "arguments": dict(call.arguments), "failed": call.failed} for call in found.tool_calls
        ],
        "types": [{"name": name, "said": said} for name, said in found.proposed],
        "inserted": asdict(found.applied),
        "refused": list(found.refused),
    }


def supported_answer(found: Thoughts) -> tuple[str | None, str]:
    """Returns the answer if rows of the graph support it, else ``None`` with the reason."""
    if found.answer is None or found.answer.casefold().strip(" .") in ("unknown", "none", "no answer"):
        return None, "; ".join(found.refused[-3:]) or "nothing was found"
    if found.retrieved is None or not found.retrieved.rows:
        return None, f"nothing in the graph says so; the model alone says {found.answer!r}"
    if not found.grounded:
        return None, f"what was found does not say so; the model alone says {found.answer!r}"
    return found.answer, ""


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_WORD = re.compile(r"[^\w\s.%-]")


def is_same_answer(answer: str, right: str) -> bool:
    """Whether two answers are the same, as GAIA compares them.

    >>> is_same_answer("$1,200.0", "1200"), is_same_answer("Oslo; Bergen", "Bergen, Oslo")
    (True, True)
    """
    number = _as_number(right)
    if number is not None:
        return _as_number(answer) == number
    given, wanted = (sorted(map(_normal, re.split(r"[;,\n]| and ", text))) for text in (answer, right))
    return [one for one in given if one] == [one for one in wanted if one]


def _normal(text: str) -> str:
    flat = " ".join(_NO_WORD.sub(" ", _ARTICLES.sub(" ", text.casefold())).split()).strip(" .")
    number = _as_number(flat)
    return f"{number.normalize():f}" if number is not None else flat


def _as_number(text: str) -> Decimal | None:
    """Returns the number of a text that is one, without signs of money, commas and the sign of percent."""
    plain = text.strip().rstrip(".%").lstrip("$€£").replace(",", "").strip()
    try:
        found = Decimal(plain)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _hash_of(tasks: Sequence[ThoughtsItem]) -> str:
    digest = hashlib.sha256()
    for task in tasks:
        digest.update(json.dumps([task.id, task.question, task.answers]).encode())
        for name in task.files:
            digest.update(Path(name).read_bytes())
    return digest.hexdigest()
