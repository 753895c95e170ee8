"""Whether reading figures from the text helps, on training turns about reports that the search does not know.

    python benchmarks/thoughts_worth.py --train train.json --also finqa.json --dialogues dialogues.jsonl \\
        --lm local/qwen2.5-coder-1.5b --turns 40 --small

The beam is fitted without each fifth of the reports in turn, and asked about those, with gold history:

1. Of the turns whose ten candidates miss the gold answer, in how many does it come among them after figures were read?
2. Of the turns that escalate at ``none_above``, in how many is the pick right before and after?

A reader is the language model, or rules where ``--lm none`` is given; the beam picks by itself in both.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dspy  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from benchmarks.cross_validate import Data, _small, fit, split  # noqa: E402
from experiments.data import ConversationRecord, load_conversations, read_dialogues  # noqa: E402
from experiments.lms.config import LMConfig, reach_lm  # noqa: E402
from experiments.saved import Origin, find_program, load_program, save_program  # noqa: E402
from kg.candidates.candidate import Candidate  # noqa: E402
from kg.derivations.derivation import Derivation  # noqa: E402
from kg.derivations.steps import Answer  # noqa: E402
from kg.search.merging import merge_key  # noqa: E402
from optimize.scorers.derivation_training import ScorerConfig  # noqa: E402
from programs.evidence.plans import BEAM_ALONE, EvidencePlan, name_of  # noqa: E402
from programs.conversation import ConversationQA  # noqa: E402
from programs.worlds.report import ReportWorld  # noqa: E402
from programs.turns.turn import PastTurn, Turn  # noqa: E402

SHOWN = 10


def gold_history(one: ConversationRecord) -> list[PastTurn]:
    """The turns with their gold answers."""
    assert one.programs is not None
    derivations = [Derivation.parse(program) for program in one.programs]
    pairs = zip(one.questions, derivations, strict=True)
    return [PastTurn(question, derivation, derivation.execute(one.report.table)) for question, derivation in pairs]


def turns_of(conversations: list[ConversationRecord]) -> Iterator[tuple[ConversationRecord, int, Answer]]:
    """Each turn with its gold answer."""
    for one in conversations:
        for place, answer in enumerate(one.answers or ()):
            yield one, place, answer


def asked(program: ConversationQA, one: ConversationRecord, place: int) -> Turn:
    """The program's turn after gold history."""
    known = gold_history(one)[:place]
    return program.ask(program.start(ReportWorld(one.report)), one.questions[place], known).turns[-1]


def holds(candidates: tuple[Candidate, ...], gold: Answer) -> bool:
    """Whether the gold answer is among the candidates that are shown."""
    return any(merge_key(candidate.answer) == merge_key(gold) for candidate in candidates[:SHOWN])


def right(turn: Turn, gold: Answer) -> bool:
    """Whether the answer is the gold one."""
    return turn.answer is not None and merge_key(turn.answer) == merge_key(gold)


def program_of(options: argparse.Namespace, data: Data, fold_of: dict[str, int], fold: int) -> ConversationQA:
    """The beam fitted without a part, from where it is kept if it is there."""
    kept = options.fitted / f"fold{fold}" if options.fitted is not None else None
    if kept is not None and kept.exists():
        return load_program(kept).program
    with threadpool_limits(limits=1):
        config = _small(ScorerConfig()) if options.small else ScorerConfig()
        program = fit(data, fold_of, fold, "nothing", config, 0)
    if kept is not None:
        save_program(program, kept, Origin())
    return program


def main() -> None:
    """Prints both counts, and what the reading took."""
    options = parsed()
    train = load_conversations(options.train).conversations
    also = load_conversations(options.also).conversations if options.also else ()
    data = Data(train, also, read_dialogues(options.dialogues).items if options.dialogues else ())
    fold_of = split(data, 5, 0)
    folds = [program_of(options, data, fold_of, fold) for fold in range(options.folds)]
    held_out = sorted((one for one in train if fold_of[one.document] < options.folds), key=lambda one: one.id)
    random.Random(options.seed).shuffle(held_out)
    shipped = find_program("beam").program.evidence
    assert shipped is not None
    settings: dict[str, Any] = {"lm": None}
    if options.lm != "none":
        settings = reach_lm(LMConfig(options.lm, threads=1))
        # The beam picks, so that what reading adds is all that differs.
        alone = EvidencePlan("likelihood", skip_above=0.0, alone=shipped.plans[BEAM_ALONE].alone)
        shipped = replace(shipped, plans={name_of(settings["lm"]): alone, BEAM_ALONE: alone})
    counts: Counter[str] = Counter()
    spent: list[float] = []
    for one, place, gold in turns_of(held_out):
        program = folds[fold_of[one.document]]
        program.evidence = replace(shipped, escalate="never")
        with dspy.context(lm=None):
            before = asked(program, one, place)
        misses = not holds(before.candidates, gold)
        counts["turns"] += 1
        counts["misses"] += misses
        if options.which == "misses" and not misses:
            continue
        # 1e-6: every turn that comes here reads; above it, those that the aggregator is that sure to hold none.
        threshold = 1e-6 if options.which == "misses" else options.none_above
        program.evidence = replace(
            shipped, escalate="thoughts", none_above=threshold, max_iterations=1, votes=options.votes
        )
        with dspy.context(**settings):
            after = asked(program, one, place)
        if after.reading is None:
            continue
        counts["failed"] += after.failure is not None
        counts["read"] += 1
        counts["inserted"] += len(after.reading.inserted)
        counts["with_insertions"] += bool(after.reading.inserted)
        counts["refused"] += len(after.reading.refused)
        counts["repairs"] += sum(after.reading.repairs.values())
        counts["calls"] += after.reading.usage.lm_calls
        counts["tokens"] += after.reading.usage.prompt_tokens + after.reading.usage.completion_tokens
        counts["gold_before"] += not misses
        counts["gold_after"] += holds(after.candidates, gold)
        counts["right_before"] += right(before, gold)
        counts["right_after"] += right(after, gold)
        counts["better"] += right(after, gold) and not right(before, gold)
        counts["worse"] += right(before, gold) and not right(after, gold)
        spent.append(after.reading.usage.seconds)
        print(json.dumps(dict(counts)), flush=True)
        if counts["read"] >= options.turns:
            break
    shown = {**counts, "seconds_median": sorted(spent)[len(spent) // 2] if spent else 0.0}
    print(json.dumps(shown, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(shown, indent=2) + "\n", encoding="utf-8")


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--also")
    parser.add_argument("--dialogues")
    parser.add_argument("--folds", type=int, default=5, help="how many of the five parts are held out, one by one")
    parser.add_argument("--fitted", type=Path, help="where programs fitted without each part are kept")
    parser.add_argument("--lm", default="local")
    parser.add_argument("--which", choices=["misses", "none"], default="misses")
    parser.add_argument("--none-above", type=float, default=0.3)
    parser.add_argument("--votes", type=int, default=0)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
