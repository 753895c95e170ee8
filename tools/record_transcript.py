"""Records prompts and replies as a transcript that replaces the language model (:mod:`tests.replay`).

    python tools/record_transcript.py FOLDER transcript.jsonl             # in/00001.json with out/00001.txt, and so on
    python tools/record_transcript.py FOLDER transcript.jsonl --answer    # writes the known replies into FOLDER/out

The folder holds requests of the OpenAI protocol and the replies to them, as text. A waiting request whose prompt did
not change is answered by ``--answer``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.replay import messages_of, read_folder, read_transcript, write_transcript  # noqa: E402


def answer(folder: Path, transcript: Path) -> None:
    """Writes the recorded reply to each request without one whose prompt did not change."""
    known = read_transcript(transcript)
    for path in sorted((folder / "in").glob("*.json")):
        reply = folder / "out" / f"{path.stem}.txt"
        text = known.get(messages_of(json.loads(path.read_text(encoding="utf-8"))["messages"]))
        if text is not None and not reply.exists():
            partial = reply.with_suffix(".tmp")
            partial.write_text(text, encoding="utf-8")
            partial.rename(reply)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:3])
    if "--answer" in sys.argv[3:]:
        answer(source, target)
    else:
        write_transcript(read_folder(source), target)
