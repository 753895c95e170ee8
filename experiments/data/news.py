"""News documents read from text files and folders.

documents, problems = read_documents(["news/"])
documents[0].title      # "Helixon to build a plant in Porto"
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from experiments.files import SAMPLE_FOLDER
from kg.errors import DataError
from kg.investments import NewsDocument, NewsRules, load_rules, parse_document


def news_rules() -> NewsRules:
    """Returns the rules for the documents of the sample."""
    return load_rules(SAMPLE_FOLDER / "advisor" / "rules.json")


def read_documents(paths: Iterable[str]) -> tuple[list[NewsDocument], list[str]]:
    """Returns the documents of files and of the ``.txt`` files of folders, and one problem for each unreadable file.

    Raises:
        DataError: A path is neither a file nor a folder.
    """
    documents, problems = [], []
    for path in (file for name in paths for file in _files(Path(name))):
        try:
            documents.append(parse_document(path.read_text(encoding="utf-8"), path.name))
        except (DataError, UnicodeDecodeError, OSError) as error:
            problems.append(str(error) if isinstance(error, DataError) else f"{path.name}: {error}")
    return documents, problems


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.txt"))
    if not path.is_file():
        raise DataError("is neither a file nor a folder", file=str(path))
    return [path]
