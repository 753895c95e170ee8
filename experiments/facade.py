"""Subjects of questions: reports, graphs, growing graphs and folders of texts; and the API of ``import finpath``.

>>> subject = find_subject(["films.csv"])        # three columns of names are triples, whatever the ending
>>> Conversation(subject.program, subject.world).ask("who made Alien?").words
'Ridley Scott'
>>> ask(read("annual-report.pdf"), "what were net sales in 2020?").answer
'4120'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from experiments.console import SAMPLE_FOLDER, check_address, read_object, read_text, say, say_left_out
from experiments.data import find_report, load_conversations, read_report
from experiments.pages import basis_of, turn_figures
from kg.errors import ConfigError, DataError
from kg.graphs import RDF_FILES, EndpointStore, FactGraph, Triple, is_table_of_triples, read_file, read_store
from kg.paths import read_graph
from kg.readers import OwnReport, is_file_list, read_files
from programs.turns import GraphDetail
from programs.worlds.documents import as_report

if TYPE_CHECKING:
    import dspy

    from experiments.evaluation import Evaluation
    from experiments.tracking import Tracker
    from kg.growing import GrowingGraph
    from kg.reports import Source
    from optimize.metrics import Comparison
    from programs.conversation import ConversationQA
    from programs.turns import AnyTurn
    from programs.worlds.documents import Answers

MOST_TRIPLES = 2_000_000
"""Triples of a graph that is held in memory."""

_GEOGRAPHY = "geography"
_SHIPPED_GRAPHS = {
    _GEOGRAPHY: SAMPLE_FOLDER / "geography.ttl",
    "sample:graph": SAMPLE_FOLDER / "kgqa" / "graph.txt",
}
_ADDRESSES = ("http://", "https://")
_TABLES = (".csv", ".tsv", ".txt", ".psv", "")
_STORE = "CURRENT"
"""The file by which the folder of a growing graph is recognised."""
Kind = Literal["report", "graph", "growing graph", "texts"]


def read(*documents: Any) -> OwnReport:
    """A report of a user's own, read from files; several files make one report.

    Args:
        documents: Paths of files, the id of a report of the sample, the JSON object of a report, a data frame of
            pandas, a ``Report``, or what this function returned.

    Raises:
        DataError: A file cannot be read or holds nothing, or there is no such report.
    """
    if len(documents) != 1 or isinstance(documents[0], str | Path):
        return resolve_report(list(map(str, documents)), "sample:dev")
    [document] = documents
    if hasattr(document, "to_csv"):
        with TemporaryDirectory() as folder:
            document.to_csv(table := Path(folder) / "table.csv", index=type(document.index).__name__ != "RangeIndex")
            return read_files([table])
    return document if isinstance(document, OwnReport) else OwnReport(as_report(document))


def resolve_report(targets: Sequence[str], data: str) -> OwnReport:
    """The report that the words of a command line name.

    Args:
        targets: Files with tables and text, which make one report; or a JSON file with one report, or an id as
            :func:`experiments.data.reports.find_report` takes it.
        data: Where an id is looked up.

    Raises:
        DataError: A file cannot be read or holds nothing, or the words name no report or several.
    """
    if is_file_list(targets):
        return read_files(targets)
    if len(targets) != 1:
        raise DataError(f"one report or files of tables and text must be named, got {', '.join(targets)}")
    if not targets[0].endswith(".json"):
        return OwnReport(find_report(targets[0], data))
    record = read_object(targets[0], "id, pre_text, table and post_text")
    try:
        return OwnReport(read_report(record))
    except DataError as error:
        raise DataError(error.rule, file=targets[0], place=error.place) from error


def saved_program(reference: str) -> Any:
    """A program by its name, its folder, or its place in the tracking store that the environment names.

    Raises:
        TrackingError: There is no such program.
    """
    from experiments.saved import find_program

    return find_program(reference, _tracker()).program


def load(program: str = "beam") -> ConversationQA:
    """A program of the caller's own: one that ships with finpath, a folder, or a model or run of the MLflow store.

    Args:
        program: ``beam``, ``agent``, a folder of ``finpath compile``, ``models:/NAME/1``, or a run's name.

    Raises:
        TrackingError: There is no such program.
        ConfigError: It does not answer questions about reports.
    """
    from programs.conversation import ConversationQA

    loaded = saved_program(program)
    if not isinstance(loaded, ConversationQA):
        raise ConfigError(f"program must answer questions about reports, got {type(loaded).__name__}")
    return loaded


_shipped = lru_cache(maxsize=4)(load)
"""A shipped program for :func:`ask`, which does not give it away; so it is loaded once."""


def ask(
    report: Any, *questions: str, program: ConversationQA | str = "beam", lm: dspy.BaseLM | str | None = None
) -> Answers:
    """Answers questions about a document; each sees the answers before it.

    Args:
        report: What :func:`read` takes or returns.
        questions: One question, or those of a conversation.
        program: A program or its name.
        lm: A language model, or its name with settings as ``FINPATH_LM`` has it; ``None`` for that of DSPy's settings.

    Returns:
        The prediction of the program: ``answer``, ``confidence`` and ``sources`` of the last question, ``turns``, and
        ``to_pandas()``, a row a question.

    Raises:
        ConfigError: There is no question.
        FinpathError: The document cannot be read.
    """
    import dspy

    from experiments.lms import LMConfig, reach_lm
    from experiments.saved import shipped_programs
    from programs.turns import Conversation
    from programs.worlds.documents import prediction_of

    if not questions or not all(isinstance(question, str) and question.strip() for question in questions):
        raise ConfigError(f"questions must be one text or more, got {questions!r}")
    if isinstance(program, str):
        program = _shipped(program) if program in shipped_programs() else load(program)
    conversation = Conversation(program, program.world(report=read(report)))
    settings = reach_lm(LMConfig.parse(lm), program) if isinstance(lm, str) else {"lm": lm} if lm is not None else {}
    with dspy.context(**settings):
        return prediction_of([conversation.ask(question) for question in questions])


def compile(  # noqa: A001 - DSPy's word
    program: ConversationQA | str, train: Any, *, optimizer: str, lm: str | None = None, **settings: Any
) -> ConversationQA:
    """Compiles a program on questions with gold, as a run and a model in the MLflow store of the environment.

    Args:
        program: A program, or its name: ``shipped:beam`` is the shipped one, ``beam`` starts with nothing fitted.
        train: Examples, rows or a file, as :func:`experiments.data.load_conversations` takes them.
        optimizer: One of `finpath optimizers`, or a chain, as ``scorer+labeled-few-shot``.
        lm: The language model with its settings, as ``FINPATH_LM`` has it; ``None`` reads that variable.
        settings: Those of :func:`experiments.compiling.report_job`, such as ``seed`` and ``train_turns``.

    Raises:
        FinpathError: The data has no gold, or the optimizer cannot work on it.
    """
    from experiments.compiling import compile_program, report_job
    from experiments.lms import LMConfig
    from optimize.optimizers import parse_optimizers

    tracker, steps = _tracker(), parse_optimizers(optimizer)
    with _saved_reference(program) as name:
        job = report_job(name, load_conversations(train), steps, lm=LMConfig.parse(lm), tracker=tracker, **settings)
        compiled: ConversationQA = compile_program(job, tracker=tracker).fit.program
    return compiled


def evaluate(
    program: ConversationQA | str, dev: Any, *, lm: str | None = None, run_name: str | None = None, **settings: Any
) -> Evaluation:
    """Evaluates a program on questions with gold, as a run in the MLflow store of the environment.

    Args:
        program: A program or its name.
        dev: Examples, rows or a file, as :func:`experiments.data.load_conversations` takes them.
        lm: The language model with its settings, as ``FINPATH_LM`` has it; ``None`` reads that variable.
        run_name: The run's name; by default that of the program and of the data.
        settings: Those of :class:`experiments.task.EvaluationConfig`: ``limit``, ``seed``, ``threads``, ``traces``.

    Raises:
        FinpathError: The data has no gold, or the program is not about reports.
    """
    from experiments import evaluation
    from experiments.lms import LMConfig
    from experiments.saved import find_program

    tracker, task = _tracker(), evaluation.ReportQuestions(load_conversations(dev))
    config = evaluation.EvaluationConfig(lm=LMConfig.parse(lm), **settings)
    with _saved_reference(program) as name:
        saved = find_program(name, tracker)
    return evaluation.evaluate(saved, task, config, tracker=tracker, run_name=run_name)


def compare(first: Evaluation | str, *others: Evaluation | str) -> Comparison:
    """Compares evaluations with the first on the turns that they share, as a run; each by its result, name or id.

    Raises:
        TrackingError: There is no such run, or no turn that all have.
    """
    from experiments.compare import compare as compare_runs

    tracker = _tracker()
    names = [one if isinstance(one, str) else one.figures["run_id"] for one in (first, *others)]
    return compare_runs([tracker.find(name) for name in names], tracker)


def _tracker() -> Tracker:
    from experiments.tracking import Tracker, TrackingConfig

    return Tracker(TrackingConfig.from_environment())


@contextmanager
def _saved_reference(program: ConversationQA | str) -> Iterator[str]:
    """Yields a program's name; one in memory is saved to a folder for as long as the context lasts."""
    from experiments.saved import save_program

    with TemporaryDirectory() as temporary:
        yield program if isinstance(program, str) else str(save_program(program, Path(temporary) / "program"))


@dataclass(frozen=True)
class Subject:
    """The subject of questions.

    Attributes:
        kind: Its kind.
        title: Its description in one line.
        program: The program that answers.
        world: The world that it is asked about.
        document: The report with the places of its figures.
    """

    kind: Kind
    title: str
    program: Any
    world: Any
    document: OwnReport | None = None

    @property
    def place(self) -> Callable[[Source], str]:
        """Names the place of a figure of a report, with the text around it."""
        return self.document.describe if self.document is not None else str

    def basis(self, turn: AnyTurn) -> Iterator[tuple[str, str]]:
        """The basis of a turn's answer: titles and texts."""
        yield from basis_of(turn, self.place)
        if isinstance(turn.detail, GraphDetail) and turn.answer is not None:
            yield "read in", self.world.name

    def figures(self, turn: AnyTurn) -> dict[str, Any]:
        """A turn as JSON."""
        return turn_figures(turn, self.place)


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of the subject and the questions: the first word and the files after it name the subject."""
    alone = words[0] == _GEOGRAPHY or not (_is_graph(words[0]) or is_file_list(words[:1]))
    more = [] if alone else takewhile(lambda word: _is_graph(word) or is_file_list([word]), words[1:])
    about = [words[0], *more]
    return about, list(words[len(about) :])


def kind_of(about: Sequence[str]) -> Kind:
    """The kind of the subject that some words name.

    Raises:
        ConfigError: A graph is not the only subject, or a folder holds nothing to ask about.
    """
    graphs = [word for word in about if _is_graph(word)]
    if graphs:
        if len(graphs) < len(about) or (_GEOGRAPHY in graphs and len(about) > 1):
            raise ConfigError(f"a graph must be the only subject, got {', '.join(about)}")
        return "graph"
    if len(about) == 1 and _is_folder(about[0]):
        if (Path(about[0]) / _STORE).is_file():
            return "growing graph"
        if any(Path(about[0]).glob("*.txt")):
            return "texts"
        raise ConfigError(f"a folder must hold a graph or texts (*.txt) to be asked about, {about[0]} holds neither")
    return "report"


def find_subject(
    about: Sequence[str],
    data: str = "sample:dev",
    program: Any = "beam",
    settings: Mapping[str, str] | None = None,
) -> Subject:
    """The subject that the words of a command line name.

    Args:
        about: Files, folders or addresses of a graph, or ``geography``; the folder of a growing graph, or of texts; a
            report's id in ``data``; or files of tables and text.
        data: Conversations whose reports an id is looked up in.
        program: The program for reports, or its name; or the name of one for graphs.
        settings: Settings of that program by name.

    Raises:
        FinpathError: There is no such report, file or program; or settings are given and it has none.
    """
    kind = kind_of(about)
    if kind == "report":
        return _report(about, data, program, settings or {})
    if settings:
        raise ConfigError(f"set is for programs about reports, got a {kind}")
    return _graph(about, program) if kind == "graph" else _texts(about[0], kind)


def _report(about: Sequence[str], data: str, reference: Any, settings: Mapping[str, str]) -> Subject:
    from experiments.saved import with_program_settings

    own = resolve_report(about, data)
    for problem in own.problems:
        say(f"finpath: {problem}")
    program = with_program_settings(saved_program(reference) if isinstance(reference, str) else reference, settings)
    title = f"report {own.report.id}: {len(own.report.table)} table rows, {len(own.report.sentences)} sentences"
    return Subject("report", title, program, program.world(report=own.report), own)


def _graph(words: Sequence[str], reference: str) -> Subject:
    """A graph in files, folders or at SPARQL endpoints."""
    from experiments.saved import shipped_programs
    from programs.conversation import ConversationQA
    from programs.worlds.graph import GraphConfig

    program = ConversationQA.for_graphs() if reference in shipped_programs() else saved_program(reference)
    if not isinstance(program.config, GraphConfig):
        raise ConfigError(f"program must be one about graphs to answer about a graph, got {reference!r}")
    world: Any = program.world(**graph_of(words))
    return Subject("graph", f"graph {world.name}: {world.title}", program, world)


def _texts(folder: str, kind: Kind) -> Subject:
    """A growing graph, or one in memory of the texts of a folder."""
    from experiments.lms import fetch_reader
    from experiments.readers import question_reader
    from programs.advisor import GraphAnswers
    from programs.beam import BeamQA
    from programs.conversation import ConversationQA
    from signatures.news import UnderstandTexts

    graph = open_graph(folder, copied=True) if kind == "growing graph" else graph_of_texts(folder)
    fetch_reader()
    program = ConversationQA(BeamQA(signature=UnderstandTexts))
    world = program.world(texts=GraphAnswers(graph, question_reader), name=folder)
    return Subject(kind, f"{kind} {folder}: {graph.facts()} facts", program, world)


def _path(word: str) -> Path:
    return _SHIPPED_GRAPHS.get(word, Path(word))


def _is_folder(word: str) -> bool:
    try:
        return Path(word).is_dir()
    except OSError:  # a question may be longer than a name can be
        return False


def _is_graph(word: str) -> bool:
    """Whether a word of a command line names a graph: a file of RDF or of triples, a folder of them, an address."""
    if word.startswith(_ADDRESSES):
        return True
    path = _path(word)
    if path.suffix.lower() in RDF_FILES:
        return True
    if _is_folder(word):
        return not (path / _STORE).is_file() and any(_is_graph(str(file)) for file in path.iterdir() if file.is_file())
    if path.suffix.lower() not in _TABLES:
        return False
    try:
        with path.open(encoding="utf-8") as lines:
            return is_table_of_triples("".join(islice(lines, 50)))
    except (OSError, UnicodeDecodeError):
        return False


def graph_of(words: Sequence[str]) -> dict[str, Any]:
    """The graph of files, folders or endpoints and its name, as a world takes them; invalid statements are left out.

    Args:
        words: The files, folders and addresses.

    Raises:
        DataError: A file cannot be read, an endpoint cannot be reached, or there is no fact.
    """
    from experiments.readers import question_reader

    name, problems = " + ".join(words), list[str]()
    triples = (triple for word in words for triple in triples_of(word, problems))
    is_local = not any(word.startswith(_ADDRESSES) for word in words)
    graph = read_graph([file for word in words for file in _files(word)] if is_local else (), triples, problems)
    say_left_out(problems)
    if isinstance(graph, FactGraph) and not graph.triples:
        raise DataError("has no fact" + (f"; the first problem: {problems[0]}" if problems else ""), file=name)
    return {"graph": question_reader(graph) if isinstance(graph, FactGraph) else graph, "name": name}


def _files(word: str) -> list[Path]:
    path = _path(word)
    own = sorted(file for file in path.iterdir() if file.is_file() and _is_graph(str(file))) if path.is_dir() else []
    return own or [path]


def triples_of(word: str, problems: list[str] | None = None) -> Iterator[Triple]:
    """The facts of a file, a folder or an endpoint.

    Args:
        word: The file, folder or address.
        problems: Receives a message for each statement that is not valid; without it, such a one is an error.

    Raises:
        DataError: A file cannot be read, or the endpoint cannot be reached.
    """
    if word.startswith(_ADDRESSES):
        check_address(word)
        yield from read_store(EndpointStore(word), MOST_TRIPLES)
        return
    files = _files(word)
    for file in files:
        try:
            yield from read_file(file, read_text(file), None if problems is None else problems.append)
        except DataError as error:
            if len(files) < 2 or problems is None:
                raise
            problems.append(str(error))


def open_graph(path: str, *, new: bool = False, read_only: bool = False, copied: bool = False) -> GrowingGraph:
    """The growing graph of a folder.

    Args:
        path: The folder.
        new: Whether it is created where it is missing.
        read_only: Whether nothing is written.
        copied: Whether it is a copy in memory: other processes may use the folder while a language model answers.

    Raises:
        DataError: There is none and ``new`` is not set, or another process keeps it open.
    """
    from kg.growing import GrowingGraph
    from kg.investments import investment_schema

    if not new and not Path(path).is_dir():
        raise DataError("is no graph: create one with `finpath ingest`", file=path)
    stored = GrowingGraph(path, investment_schema(), read_only=read_only or copied)
    if not copied:
        return stored
    with stored:
        return stored.copy()


def graph_of_texts(folder: str) -> GrowingGraph:
    """A graph in memory of the sentences of a folder's texts; what cannot be read is named.

    Raises:
        DataError: No text can be read.
    """
    from experiments.data import read_documents
    from kg.growing import GrowingGraph
    from kg.investments import investment_schema
    from programs.advisor import Advisor

    documents, problems = read_documents([folder])
    say_left_out(problems)
    if not documents:
        raise DataError("has no text that can be read", file=folder)
    graph = GrowingGraph(None, investment_schema())
    advisor = Advisor(graph)
    for document in sorted(documents, key=lambda document: document.published):
        advisor.ingest(document)
    return graph
