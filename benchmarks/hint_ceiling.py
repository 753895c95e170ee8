"""The gain of a perfect Understanding for the search: the most that compiling the prompt of Understand can gain.

    python benchmarks/hint_ceiling.py --data sample:train

Every turn whose gold program says clearly what is asked is searched twice, with gold history: without a hint, and with
the gold Understanding as the hint that a language model would give. No language model is asked.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from experiments.data import conversation_examples, load_conversations  # noqa: E402
from experiments.saved import find_program  # noqa: E402
from kg.candidates.search import START, fixed_history, search_turn  # noqa: E402
from kg.scoring.question_features import SearchHint  # noqa: E402
from kg.search.merging import merge_key  # noqa: E402
from optimize.metrics.statistics import bootstrap_mean  # noqa: E402
from optimize.prompts.turns import split_turns, turn_examples  # noqa: E402


def right(program: Any, example: Any, hint: SearchHint | None) -> bool:
    """Whether the search's first candidate has the gold answer."""
    _, index = program.turn.reader.read(example.report.report)
    past = example.history.turns
    histories = fixed_history(index, past) if past else START
    questions = [*(turn.question for turn in past), example.question]
    found = search_turn(index, questions, histories, program.turn.reader.scorer, program.turn.config, hint)
    return bool(found.candidates) and merge_key(found.candidates[0].answer) == merge_key(example.answer)


def main() -> None:
    """Reads the arguments and prints the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="sample:train", help="conversations with gold (sample:train)")
    parser.add_argument("--program", default="beam", help="a saved program of kind beam (beam)")
    parser.add_argument("--val-turns", type=int, help="only the turns that `finpath compile --val-turns N` chooses on")
    options = parser.parse_args()
    program = find_program(options.program).program
    conversations = conversation_examples(load_conversations(options.data).conversations)
    if options.val_turns is None:
        examples = turn_examples(conversations, program.turn.reader)
    else:
        examples = split_turns(conversations, program.turn.reader, train=1, val=options.val_turns, seed=0).val
    clear = [example for example in examples if "understanding" in example]
    alone = np.array([right(program, one, None) for one in clear], dtype=float)
    hints = [
        SearchHint(tuple(u.properties), tuple(u.periods), u.operation) for u in (one.understanding for one in clear)
    ]
    hinted = np.array([right(program, one, hint) for one, hint in zip(clear, hints, strict=True)], dtype=float)
    reports = [one.report.report.id for one in clear]
    gain = bootstrap_mean(reports, (hinted - alone).tolist(), seed=0)
    figures = {
        "all_turns": len(examples),
        "alone_on_all": float(np.mean([right(program, one, None) for one in examples])),
        "turns": len(clear),
        "alone": float(alone.mean()),
        "with_gold_understanding": float(hinted.mean()),
        "gain": gain.value,
        "gain_low": gain.low,
        "gain_high": gain.high,
    }
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
