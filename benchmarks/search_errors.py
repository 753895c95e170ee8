"""Types of the beam's errors, on pages that the program's encoder has not seen.

    python benchmarks/search_errors.py beam --data convfinqa/train.json written/train.json --most 120

For each file the script prints how many turns have
each type of error, after the program's own answers, and with ``--show`` some turns of each type.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.data import load_conversations
from experiments.saved import find_program
from kg.candidates import START, search_turn
from kg.derivations import Answer
from kg.search import merge_key
from optimize.scorers import TrainingTurn, page_keys, read_index, training_turns

_POWERS = tuple(Decimal(10) ** power for power in (2, 3, 6, 9))


def error_type(turn: TrainingTurn, answer: Answer | None, form: str, known: frozenset[str]) -> str:
    """The type of a wrong answer; the first that fits.

    Args:
        turn: The turn with its gold calculation.
        answer: The program's answer.
        form: The template of the program's calculation.
        known: The templates that the search knows.
    """
    gold = turn.answer
    if turn.collapsed is None or turn.collapsed.form not in known:
        return "no template"
    if answer is None:
        return "no answer"
    if isinstance(gold, Decimal) and isinstance(answer, Decimal):
        if abs(abs(gold) - abs(answer)) <= Decimal("0.00001"):
            return "sign or order"
        if gold and any(_near(answer, gold * power) or _near(answer, gold / power) for power in _POWERS):
            return "scale"
    return "other figures" if form == turn.collapsed.form else "other template"


def _near(one: Decimal, other: Decimal) -> bool:
    return abs(abs(one) - abs(other)) <= abs(other) * Decimal("0.0001")


def main() -> None:
    """Counts the errors by type."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--data", nargs="+", required=True, help="files whose pages without the fitted ones count")
    parser.add_argument("--most", type=int, default=120, help="conversations of a file at the most (120)")
    parser.add_argument("--show", type=int, default=0, help="turns of each type that are printed (0)")
    options = parser.parse_args()
    program = find_program(options.program).program
    reader, config = program.turn.reader, program.turn.config
    known = frozenset(reader.scorer.forms.forms)
    for path in options.data:
        found = load_conversations(path).conversations
        unseen = [one for one in found if not page_keys(one.report) & reader.scorer.encoder.pages]
        asked = [one for one in unseen if one.programs is not None]
        order = np.random.default_rng(0).permutation(len(asked))[: options.most]
        counts: Counter[str] = Counter()
        shown: dict[str, list[str]] = {}
        with threadpool_limits(limits=1):
            for one in (asked[place] for place in order):
                index = read_index(reader, one.report, reader.scorer.idf)
                histories: Any = START
                for turn in training_turns(one.id, index, one.questions, one.programs or ()):
                    found = search_turn(index, turn.questions, histories, reader.scorer, config)
                    histories = found.next_histories(config.histories)
                    best = found.candidates[0] if found.candidates else None
                    if best is not None and merge_key(best.answer) == merge_key(turn.answer):
                        counts["right"] += 1
                        continue
                    state = found.ranked.pool.states[found.ranked.members[0][0]] if best is not None else None
                    form = reader.scorer.forms.forms[state[1]] if state is not None else ""
                    kind = error_type(turn, best.answer if best is not None else None, form, known)
                    counts[kind] += 1
                    text = f"{turn.questions[-1]} | {turn.derivation} | {best.derivation if best is not None else None}"
                    shown.setdefault(kind, []).append(text)
        print(
            f"{'/'.join(Path(path).parts[-2:])}: {sum(counts.values())} turns, {dict(counts.most_common())}", flush=True
        )
        for kind, texts in shown.items():
            for text in texts[: options.show]:
                print(f"  {kind}: {text}")


if __name__ == "__main__":
    main()
