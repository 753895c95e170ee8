"""Cross-validation of the beam's scorer on training conversations, with stages and groups of features left out.

    python benchmarks/cross_validate.py --train train.json --also finqa.json --dialogues dialogues.jsonl \\
        --without nothing ranker labels --json ablation.json

Folds are cut by document. The conversations of ``--train`` are evaluated, each by a scorer that was fitted without
their document; those of ``--also`` are fitted on only. This is how settings are chosen: dev is for measuring.

``--without all`` leaves out one after the other every stage and every group of features. What is done is kept in
``--json`` fold by fold: the same command goes on where it was stopped, and one with more parts adds them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from experiments.data import ConversationRecord, Dialogue, conversation_examples, load_conversations, read_dialogues  # noqa: E402
from kg.calculations.operand_features import JOINT_FEATURES, OPERAND_GROUPS  # noqa: E402
from kg.calculations.ranking import answered  # noqa: E402
from kg.calculations.report_index import ReportIndex  # noqa: E402
from kg.calculations.scorer import DerivationScorer  # noqa: E402
from kg.calculations.space import WeightedHistory  # noqa: E402
from kg.calculations.turn_search import START, DerivationConfig, TurnSearch, fixed_history, search_turn  # noqa: E402
from kg.reports.learning import build_ontology  # noqa: E402
from kg.search.derivation import Derivation  # noqa: E402
from kg.search.history import PastTurn  # noqa: E402
from kg.search.merging import merge_key  # noqa: E402
from kg.search.steps import Answer  # noqa: E402
from optimize.metrics.statistics import Interval, bootstrap_ratio, group_sums  # noqa: E402
from optimize.scorers.derivation_training import ScorerConfig  # noqa: E402
from optimize.scorers.derivations import FitScorer, document_name  # noqa: E402
from programs.conversation import ConversationQA  # noqa: E402

STAGES = ("nothing", "ranker", "histories", "merging", "dialogues", "also")
"""What can be left out besides groups of features: nothing; the ranker; all histories but the best; the merging of
equal answers; the dialogues; the conversations that are fitted on only."""

GROUPS = tuple(OPERAND_GROUPS) + tuple(dict.fromkeys(name for name in JOINT_FEATURES.values() if name != "search"))
SEARCHED = ("nothing", "histories", "merging")
"""Those that need no fit of their own."""

MISSED = 999

Row = dict[str, Any]


@dataclass(frozen=True)
class Data:
    """The data of the fit and of the evaluation."""

    train: Sequence[ConversationRecord]
    also: Sequence[ConversationRecord]
    dialogues: Sequence[Dialogue]


def split(data: Data, folds: int, seed: int) -> dict[str, int]:
    """The fold of each document of the training conversations."""
    documents = sorted({one.document for one in data.train})
    np.random.default_rng(seed).shuffle(documents)
    return {document: place % folds for place, document in enumerate(documents)}


def fit(
    data: Data, fold_of: dict[str, int], fold: int, without: str, config: ScorerConfig, seed: int
) -> ConversationQA:
    """The beam, fitted without the documents of a fold and without one part."""
    inside = [one for one in data.train if fold_of[one.document] != fold]
    if without != "also":
        inside += [one for one in data.also if fold_of.get(one.document, -1) != fold]
    known = {one.id for one in (*data.train, *inside)}
    dialogues = [
        one for one in data.dialogues if one[0] not in known and fold_of.get(document_name(one[0]), -1) != fold
    ]
    if without == "ranker":
        config = replace(config, folds=0)
    if without in GROUPS:
        config = replace(config, left_out=(without,))
    ontology = build_ontology({one.report.id: one.report for one in inside}.values())
    return FitScorer(config, seed=seed, dialogues=[] if without == "dialogues" else dialogues).compile(
        ConversationQA.unfitted(ontology), trainset=conversation_examples(inside)
    )


def answer(
    index: ReportIndex, one: ConversationRecord, scorer: DerivationScorer, config: DerivationConfig, part: str
) -> Row:
    """The record of a conversation, turn by turn.

    That is the rank of the gold answer, from 0 (:data:`MISSED` where it is not proposed), the best derivation and its
    probability.
    """
    row: Row = {"id": one.id, "document": one.document, "ranks": [], "best": [], "probabilities": []}
    histories: tuple[WeightedHistory, ...] = START
    past: list[PastTurn] = []
    for place, (program, gold) in enumerate(zip(one.programs or (), one.answers or (), strict=True)):
        if part == "gold history":
            histories = fixed_history(index, past)
        searched = search_turn(index, one.questions[: place + 1], histories, scorer, config)
        keys = [merge_key(found) for found in _answers(searched, merged=part != "merging")]
        row["ranks"].append(keys.index(merge_key(gold)) if merge_key(gold) in keys else MISSED)
        row["best"].append(str(searched.candidates[0].derivation) if searched.candidates else "")
        row["probabilities"].append(round(searched.probability(0), 4) if searched.candidates else 0.0)
        histories = searched.next_histories(config.histories)
        derivation = Derivation.parse(program)
        past.append(PastTurn(one.questions[place], derivation, derivation.execute()))
    return row


def _answers(searched: TurnSearch, *, merged: bool) -> list[Answer]:
    """The answers of a turn, best first; without merging, those of the best derivations one by one."""
    if merged:
        return [candidate.answer for candidate in searched.candidates]
    ranked = searched.ranked
    best = np.argsort(-ranked.log_probabilities, kind="stable")[: max(len(searched.candidates), 1) * 2]
    found = (answered(searched.space, ranked.pool.states[place]) for place in best)
    return [answer for _, answer in (one for one in found if one is not None)][: len(searched.candidates)]


def evaluate(fitted: ConversationQA, held_out: Sequence[ConversationRecord], part: str) -> list[Row]:
    """A row for every conversation."""
    scorer, config = fitted.scorer, fitted.config
    if scorer is None or not isinstance(config, DerivationConfig):
        raise TypeError(f"a beam is evaluated, got {type(fitted).__name__}")
    if part == "histories":
        config = replace(config, histories=1)
    return [answer(fitted.turn.reader.read(one.report)[1], one, scorer, config, part) for one in held_out]


DEPTHS = {"top-1": 1, "recall@5": 5, "recall@10": 10, "recall@20": 20}


def share(rows: Sequence[Row], depth: int, seed: int, against: Sequence[Row] = ()) -> Interval:
    """The share of turns whose gold answer is among the first so many, in percent, with a 95% interval over documents.

    With ``against``, rows of the same conversations, it is the difference from theirs.
    """
    other = {row["id"]: row["ranks"] for row in against}
    documents = [row["document"] for row in rows for _ in row["ranks"]]
    figures = [
        float(rank < depth) - (float(other[row["id"]][place] < depth) if other else 0.0)
        for row in rows
        for place, rank in enumerate(row["ranks"])
    ]
    found = bootstrap_ratio(*group_sums(documents, figures), seed=seed)
    return Interval(*(100 * figure for figure in (found.value, found.low, found.high)))


def table(done: dict[str, Any], parts: Sequence[str], seed: int) -> list[str]:
    """A Markdown table: a row for each part, and its difference from nothing left out on the same folds."""
    lines = [
        "| left out | turns | top-1 | recall@10 | difference in top-1 | in recall@10 |",
        "|---|---|---|---|---|---|",
    ]
    whole = done.get("nothing", {"folds": {}})["folds"]
    for part in parts:
        folds = done.get(part, {"folds": {}})["folds"]
        rows = [row for one in folds.values() for row in one]
        against = [row for fold in folds for row in whole.get(fold, ())]
        if not rows:
            continue
        cells = [f"{share(rows, depth, seed).value:.1f}" for depth in (1, 10)]
        for depth in (1, 10):
            apart = share(rows, depth, seed, against) if part != "nothing" and len(against) == len(rows) else None
            cells.append("" if apart is None else f"{apart.value:+.1f} ({apart.low:+.1f} to {apart.high:+.1f})")
        turns = sum(len(row["ranks"]) for row in rows)
        lines.append(f"| {part} | {turns} | {' | '.join(cells)} |")
    return lines


def risk(rows: Sequence[Row]) -> list[str]:
    """A Markdown table: of the turns that the beam is surest of, how many are right."""
    turns = sorted(
        (
            (probability, rank < 1)
            for row in rows
            for probability, rank in zip(row["probabilities"], row["ranks"], strict=True)
        ),
        reverse=True,
    )
    lines = ["| turns answered | least probability | right |", "|---|---|---|"]
    for part in (0.1, 0.25, 0.5, 0.75, 1.0):
        kept = turns[: max(round(part * len(turns)), 1)]
        lines.append(
            f"| {100 * part:.0f}% | {kept[-1][0]:.2f} | {100 * float(np.mean([right for _, right in kept])):.1f} |"
        )
    return lines


def main() -> None:
    """Prints a row for each part left out, and of the first part how sure the beam is and what it fails on."""
    options = _options()
    data = Data(
        load_conversations(options.train).conversations,
        load_conversations(options.also).conversations if options.also else (),
        read_dialogues(options.dialogues).items if options.dialogues else (),
    )
    parts = [*STAGES, *GROUPS, "gold history"] if "all" in options.without else list(options.without)
    done: dict[str, Any] = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    config = _small(ScorerConfig()) if options.small else ScorerConfig()
    with threadpool_limits(limits=1):
        validate(data, parts, config, options, done)
    first = [row for rows in done[parts[0]]["folds"].values() for row in rows]
    print(*table(done, parts, options.seed), "", *risk(first), sep="\n")
    for name, depth in DEPTHS.items():
        found = share(first, depth, options.seed)
        print(f"{name} {found.value:.1f} ({found.low:.1f} to {found.high:.1f})")
    print(f"first turns {share([row | {'ranks': row['ranks'][:1]} for row in first], 1, options.seed).value:.1f}")
    print_errors(data, first, options.errors, options.seed)


def print_errors(data: Data, rows: Sequence[Row], count: int, seed: int) -> None:
    """Draws turns whose best answer is wrong: the rank of the gold, the questions up to it, gold and best."""
    known = {one.id: one for one in data.train}
    wrong = [(row, place) for row in rows for place, rank in enumerate(row["ranks"]) if rank]
    for drawn in np.random.default_rng(seed).permutation(len(wrong))[:count]:
        row, place = wrong[drawn]
        one = known[row["id"]]
        print(f"{row['ranks'][place]:4} {one.id}: {' | '.join(one.questions[max(0, place - 2) : place + 1])}")
        print(f"     gold {(one.programs or ())[place]}\n     best {row['best'][place]}")


def validate(data: Data, parts: Sequence[str], config: ScorerConfig, options: Any, done: dict[str, Any]) -> None:
    """Fills ``done`` with the rows of every part and fold that it does not have yet."""
    fold_of = split(data, options.folds, options.seed)
    for fold in options.only if options.only else range(options.folds):
        held_out = [one for one in data.train if fold_of[one.document] == fold]
        whole: ConversationQA | None = None
        for part in parts:
            rows = done.setdefault(part, {"folds": {}})["folds"]
            if str(fold) in rows:
                continue
            if part in (*SEARCHED, "gold history"):
                whole = whole or fit(data, fold_of, fold, "nothing", config, options.seed)
                fitted = whole
            else:
                fitted = fit(data, fold_of, fold, part, config, options.seed)
            rows[str(fold)] = evaluate(fitted, held_out, part)
            _keep(done, options.json)
            print(f"  without {part}, fold {fold + 1}: {share(rows[str(fold)], 1, 0).value:.1f}", flush=True)


def _small(config: ScorerConfig) -> ScorerConfig:
    """A fit of a quarter of the time, for tables of many parts: one network each, and two parts for the ranker."""
    fewer = replace(config.operands, epochs=25)
    return replace(config, ensemble=1, ranker_ensemble=1, folds=min(config.folds, 2), operands=fewer)


def _keep(done: dict[str, Any], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--also")
    parser.add_argument("--dialogues")
    parser.add_argument("--without", nargs="+", choices=[*STAGES, *GROUPS, "gold history", "all"], default=["nothing"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", nargs="+", type=int, help="only these folds, counted from 0")
    parser.add_argument("--small", action="store_true", help="smaller fits, for tables of many parts")
    parser.add_argument("--errors", type=int, default=0, help="print so many errors of the first part, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="keep what is done in this file, and go on from it")
    return parser.parse_args()


if __name__ == "__main__":
    main()
