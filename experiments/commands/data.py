"""``finpath data check``: reads conversations and names everything that breaks a rule of the format."""

from __future__ import annotations

import argparse

from experiments.console import show, write_json
from experiments.data.conversations import load_conversations


def run_command(options: argparse.Namespace) -> int:
    """Prints every problem; the exit code is 1 when there is one."""
    data = load_conversations(options.source)
    for problem in data.problems:
        show(str(problem))
    turns = sum(len(conversation.questions) for conversation in data.conversations)
    reports = len({conversation.report.id for conversation in data.conversations})
    show(
        f"{data.name} ({data.split}): {len(data.conversations)} good conversations, {turns} turns, {reports} reports; "
        f"{len(data.problems)} problems"
    )
    if options.json:
        result = {
            "name": data.name,
            "split": data.split,
            "sha256": data.sha256,
            "conversations": len(data.conversations),
            "turns": turns,
            "reports": reports,
            "problems": [str(problem) for problem in data.problems],
        }
        write_json(options.json, result)
    return 1 if data.problems else 0
