"""``finpath kgqa``: fits, evaluates and asks programs for questions about any graph.

    finpath kgqa train --graph kb.txt --questions train.txt --format metaqa --out my-kgqa
    finpath kgqa evaluate my-kgqa --graph kb.txt --questions dev.txt --format metaqa --json out.json
    finpath kgqa ask my-kgqa --graph kb.txt "what films did Tom Hanks star in"

The commands themselves are in :mod:`experiments.commands.kgqa`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.commands.arguments import Parser, add_json, add_lm, command, lazy, positive, whole

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands

_RUN = "experiments.commands.kgqa"
_FORMATS = ("pathquestion", "worldcup", "metaqa", "webqsp", "rog")  # experiments.data.questions has them, with datasets
_AGGREGATIONS = ("score", "last-entity", "per-path", "index", "constrained")
_GRAPH = (
    "the graph: a file (Turtle, N-Triples, or triples with tabs or | between them), an index (.npz), the folder of an "
    "Oxigraph database, or the address of a SPARQL endpoint"
)
_PROGRAM = (
    "a program's folder, as `finpath kgqa train` writes it; or untrained, which knows relations only by the words that "
    "their names share with the question"
)
_SAMPLE = "--graph sample:graph --questions sample:train --format metaqa"


def add_parser(commands: Commands) -> None:
    """Adds ``finpath kgqa`` and its commands."""
    parser = commands.add_parser(
        "kgqa",
        help="Answers questions about any graph by paths through it",
        description="Answers questions about the entities of any graph by paths through it.",
    )
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    _add_train(inner)
    _add_evaluate(inner)
    _add_crossvalidate(inner)
    _add_ask(inner)
    _add_index(inner)


def _add_train(commands: Commands) -> None:
    parser = command(
        commands,
        "train",
        "Fits a program to questions with their answers and saves it",
        lazy(_RUN, "run_train"),
        f"finpath kgqa train {_SAMPLE} --out my-kgqa",
        "finpath kgqa train --graph 2H-kb.txt --questions PQ-2H.txt --format pathquestion --folds 5 --out pq",
    )
    _add_questions(parser)
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the program is saved")
    _add_folds(parser, default=0, more="; 0 (the default) for no estimate")
    _add_search(parser)
    _add_run(parser)
    add_json(parser)


def _add_evaluate(commands: Commands) -> None:
    parser = command(
        commands,
        "evaluate",
        "Answers questions over a graph and scores them",
        lazy(_RUN, "run_evaluate"),
        "finpath kgqa evaluate my-kgqa --graph sample:graph --questions sample:dev --format metaqa --json out.json",
        "finpath kgqa evaluate my-kgqa --graph kb.txt --questions dev.txt --format metaqa --predictions out.jsonl",
        "finpath kgqa evaluate my-kgqa --questions rmanluo/RoG-webqsp:test --format rog --lm local --aggregate index",
    )
    parser.add_argument("program", help=_PROGRAM)
    _add_questions(parser)
    parser.add_argument(
        "--predictions",
        metavar="FILE",
        help="write each question's paths and answers here as they come, in the form of GCR's evaluation; started "
        "again with the same file, a stopped evaluation goes on",
    )
    _add_aggregation(parser)
    _add_search(parser)
    add_lm(parser)
    _add_run(parser)
    parser.add_argument("--threads", type=positive, metavar="N", help="questions at a time (1; 8 with a remote model)")
    add_json(parser)


def _add_crossvalidate(commands: Commands) -> None:
    parser = command(
        commands,
        "crossvalidate",
        "Fits on all parts of some questions but one and scores that one, for each part in turn",
        lazy(_RUN, "run_crossvalidate"),
        "finpath kgqa crossvalidate --graph 2H-kb.txt --questions PQ-2H.txt --format pathquestion --json out.json",
    )
    _add_questions(parser)
    _add_folds(parser, default=5)
    _add_search(parser)
    _add_run(parser)
    add_json(parser)


def _add_ask(commands: Commands) -> None:
    parser = command(
        commands,
        "ask",
        "Answers one question, with the path to each answer",
        lazy(_RUN, "run_ask"),
        'finpath kgqa ask my-kgqa --graph sample:graph "who painted the murals in the birthplace of Ines Falk?"',
    )
    parser.add_argument("program", help=_PROGRAM)
    parser.add_argument("question", help="the question")
    parser.add_argument("--graph", required=True, metavar="KB", help=_GRAPH)
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="ENTITY",
        help="an entity that it is about; may be given again. Without any, the one that it names is found",
    )
    _add_aggregation(parser)
    _add_search(parser)
    add_lm(parser)
    add_json(parser)


def _add_index(commands: Commands) -> None:
    parser = command(
        commands,
        "index",
        "Writes a graph as an index that loads in no time",
        lazy(_RUN, "run_index"),
        "finpath kgqa index --graph kb.nt --out kb.npz",
    )
    parser.add_argument("--graph", required=True, metavar="KB", help=_GRAPH)
    parser.add_argument("--out", required=True, metavar="FILE", help="where to write it (.npz)")
    add_json(parser)


def _add_questions(parser: Parser) -> None:
    parser.add_argument(
        "--graph", metavar="KB", help=f"{_GRAPH}; not needed where each question has its own (rog); sample:graph ships"
    )
    parser.add_argument(
        "--questions",
        required=True,
        nargs="+",
        metavar="FILE",
        help="the questions; several files are taken together; sample:train and sample:dev ship",
    )
    parser.add_argument("--format", required=True, choices=_FORMATS, help="the form of the questions")
    parser.add_argument(
        "--link", action="store_true", help="find the topics in the questions, also where the file gives them"
    )


def _add_folds(parser: Parser, default: int, more: str = "") -> None:
    parser.add_argument(
        "--folds", type=whole, default=default, metavar="N", help=f"parts of the cross-validation ({default}){more}"
    )
    parser.add_argument(
        "--split-by",
        choices=["topic", "question"],
        default="topic",
        help="topic (the default): questions about the same entity are in the same part; question: at random",
    )


def _add_search(parser: Parser) -> None:
    group = parser.add_argument_group("search")
    group.add_argument("--beam-width", type=positive, metavar="N", help="paths kept at each depth")
    group.add_argument("--max-depth", type=positive, metavar="N", help="relations of a path at the most")
    group.add_argument("--top-k", type=positive, metavar="N", help="paths returned at least, and shown to a model")


def _add_aggregation(parser: Parser) -> None:
    parser.add_argument(
        "--aggregate",
        choices=_AGGREGATIONS,
        metavar="MODE",
        help="how to settle on answers: score (no language model), last-entity (naive), per-path (a model names the "
        "entity on each path), index (it chooses among the paths in one call), constrained (it writes the path itself, "
        "held to the graph by a grammar; --lm local)",
    )
    parser.add_argument(
        "--scorer",
        choices=["learned", "lm"],
        default="learned",
        help="who rates the relations: the fitted weights (learned, the default), or a language model, a call a step",
    )


def _add_run(parser: Parser) -> None:
    group = parser.add_argument_group("run")
    group.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of everything random (0)")
    group.add_argument("--limit", type=positive, metavar="N", help="only the first N questions")
    group.add_argument("--run-name", metavar="NAME", help="the run's name in MLflow")
    group.add_argument("--no-track", action="store_true", help="log nothing to MLflow")
