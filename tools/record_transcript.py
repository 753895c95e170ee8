"""Records prompts and replies as a transcript that replaces the language model (:mod:`tests.replay`).

    python tools/record_transcript.py FOLDER transcript.jsonl       # in/00001.json with out/00001.txt, and so on
    python tools/record_transcript.py FOLDER transcript.jsonl --limit 60
    python tools/record_transcript.py FOLDER transcript.jsonl --answer    # writes the known replies into FOLDER/out

The folder holds requests of the OpenAI protocol and the replies to them, as text.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.replay import Transcript  # noqa: E402


def answer(folder: Path, transcript: Transcript) -> int:
    """Writes the recorded reply to each request without one whose prompt did not change; returns their number."""
    known = {one.messages: one.reply for one in transcript.exchanges}
    count = 0
    for path in sorted((folder / "in").glob("*.json")):
        reply = folder / "out" / f"{path.stem}.txt"
        records = json.loads(path.read_text(encoding="utf-8"))["messages"]
        text = known.get(tuple((str(one["role"]), str(one["content"])) for one in records))
        if text is not None and not reply.exists():
            partial = reply.with_suffix(".tmp")
            partial.write_text(text, encoding="utf-8")
            partial.rename(reply)
            count += 1
    return count


def main(arguments: list[str] | None = None) -> int:
    """Writes the transcript."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of requests (in) and replies (out)")
    parser.add_argument("out", type=Path, help="the transcript to write")
    parser.add_argument("--limit", type=int, help="only the first exchanges")
    parser.add_argument("--answer", action="store_true", help="answer the waiting requests that the transcript knows")
    options = parser.parse_args(arguments)
    if options.answer:
        count = answer(options.folder, Transcript.read(options.out))
        sys.stdout.write(f"{count} requests answered in {options.folder / 'out'}\n")
        return 0
    found = Transcript.of_folder(options.folder)
    Transcript(found.exchanges[: options.limit]).write(options.out)
    sys.stdout.write(f"{len(found.exchanges[: options.limit])} exchanges in {options.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
