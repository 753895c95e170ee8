"""The share of gold programs that a language model can name over the identifiers of the page that it reads.

    python benchmarks/named_calculations.py --data train.json written/train.json --limit 150

A gold program names figures by their value; each becomes the identifier of the figure that it most likely means. It
counts if reading it gives the gold answer. The share bounds the accuracy of any reader of the page. The lengths of the
pages say how many are cut at the default budget.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from experiments.data.conversations import ConversationRecord, load_conversations
from experiments.saved import find_program
from kg.derivations import Derivation, PastTurn
from kg.errors import FinpathError
from optimize.prompts.pages import page_label
from programs.evidence import EvidenceConfig
from programs.worlds.page import PageText, written_page
from programs.worlds.reader import ReportReader


def measure(conversations: Sequence[ConversationRecord], reader: ReportReader) -> dict[str, float]:
    """Returns the number of turns, the share that can be named, and the share of pages that would be cut."""
    named = turns = cut = 0
    budget = EvidenceConfig().page_tokens
    for one in conversations:
        _, index = reader.read(one.report)
        cut += _is_cut(one, reader, budget)
        past: tuple[PastTurn, ...] = ()
        for question, program in zip(one.questions, one.programs or (), strict=False):
            derivation = Derivation.parse(program)
            try:
                answer = derivation.execute(one.report.table)
            except FinpathError:
                continue
            turns += 1
            named += page_label(index, one.report, question, program, past, question) is not None
            past = (*past, PastTurn(question, derivation, answer))
    return {"turns": turns, "named": named / max(turns, 1), "cut": cut / max(len(conversations), 1)}


class _CutError(Exception):
    """A page over its budget."""


def _is_cut(one: ConversationRecord, reader: ReportReader, budget: int) -> bool:
    def refuse() -> PageText:
        raise _CutError

    try:
        written_page(one.report, reader.read(one.report)[1], budget, refuse)  # type: ignore[arg-type]
    except _CutError:
        return True
    return False


def main() -> None:
    """Prints the figures of each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["sample:dev"])
    parser.add_argument("--limit", type=int, help="only so many conversations of each file, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    reader = find_program("beam").program.turn.reader
    for source in options.data:
        conversations = list(load_conversations(source).conversations)
        random.Random(options.seed).shuffle(conversations)
        found = measure(conversations[: options.limit], reader)
        sys.stdout.write(
            f"{source}: {found['named']:.1%} of {found['turns']:.0f} turns can be named; {found['cut']:.1%} pages cut\n"
        )


if __name__ == "__main__":
    main()
