"""Checks the English of Markdown pages and of Python docstrings against the house's rules.

    $ python tools/check_english.py README.md docs
    docs/guide/chat.md:12: sentence of 31 words (at most 25): "The program …"

In Markdown it reports sentences over 25 words, words of the private dialect, sentences and titles that begin with a
headless *What*, *Which* or *How*, and lines over 100 characters. Code is excepted everywhere, tables and lists of
links from the two limits. In Python it reports docstrings whose first line begins with What, Which or How. In rooms
of ``CLEAN`` it also reports words of the private dialect and such docstrings of constants.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path

PAGES = ("README.md", "CONTRIBUTING.md", "docs", "experiments/sample/README.md")
CLEAN = ("experiments", "optimize", "programs", "tools", "finpath.py")
"""Rooms whose docstrings are checked for words; a room that is cleaned up is added."""
NOT_YET = ("programs/advisor", "programs/tools")
"""Packages of these rooms whose words are not checked; the docstrings of tools are prompts."""
LONGEST_SENTENCE, LONGEST_LINE = 25, 100
BETTER = {
    r"mend(s|ed|ing)?": "fix",
    r"stands?|stood": "is, is stored, occurs",
    r"lies?|lay": "is, is stored",
    r"behind": "after, below",
    r"besides?": "in addition to",
    r"anew": "again",
    r"told|tells?": "shown, printed, reported",
    r"said|says?": "shown, printed, reported",
    r"made of": "built from",
    r"settles? on": "selects",
    r"(un)?sure(r|st)?": "confident",
    r"(is|are|be|was) worth": "improves … by",
    r"ours": "finpath's",
    r"than not": "probability above 0.5",
    r"whoever|whose who": "the one who",
}
BANNED = re.compile(r"\b(" + "|".join(f"(?:{one})" for one in BETTER) + r")\b", re.IGNORECASE)
HEADLESS = re.compile(r"(What|Which|How)\b")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|et al|cf|Inc|Fig|No)\.")
ARGUMENT = re.compile(r"(^ +)\w+(?=: )|()\b\w+=[\w.]+", re.MULTILINE)
END = re.compile(r"""(?<=[.!?])["')*_]*\s+""")
Found = Iterator[tuple[int, str]]


def check_markdown(text: str) -> Found:
    """Yields line and message of everything on a page that breaks a rule."""
    for number, line in prose_lines(text):
        is_table = line.lstrip().startswith("|")
        if len(line) > LONGEST_LINE and not is_table and "](" not in line and "http" not in line:
            yield number, f"line of {len(line)} characters (at most {LONGEST_LINE})"
    yield from banned_words(text)
    for number, block in blocks(text):
        if is_list_of_links(block):
            continue
        for sentence in END.split(plain(block)):
            words, start = re.findall(r"\w[\w'’.,/%^-]*", sentence), sentence[:60].strip()
            if len(words) > LONGEST_SENTENCE:
                yield number, f'sentence of {len(words)} words (at most {LONGEST_SENTENCE}): "{start} …"'
            if HEADLESS.match(sentence.lstrip("*_#- ")) and not sentence.rstrip().rstrip("*_)").endswith("?"):
                yield number, f'headless sentence or title: "{start}"'


def banned_words(text: str) -> Found:
    """Yields line and message of every word of the private dialect outside code and quotations."""
    for number, line in prose_lines(text):
        for match in BANNED.finditer(plain(line)):
            word = match.group().lower()
            better = next(words for pattern, words in BETTER.items() if re.fullmatch(pattern, word))
            yield number, f"'{match.group()}': write {better}"


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines outside fenced and indented code; code becomes an empty line."""
    fence, after_blank, in_list = "", True, False
    for number, line in enumerate(text.split("\n"), start=1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark.group(1)
            yield number, ""
            continue
        in_list = bool(re.match(r"\s*([-*]|\d+\.)\s", line)) or (in_list and (not line or line.startswith("  ")))
        is_code = bool(fence) or (line.startswith("    ") and after_blank and not in_list)
        after_blank = not line.strip() or (is_code and after_blank)
        yield number, "" if is_code else line


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, titles and list items, each as one line with the number of its first; no tables, no code."""
    start, parts = 0, list[str]()
    for number, line in [*prose_lines(text), (0, "")]:
        bare = line.strip()
        is_alone = bare.startswith(("#", "|", "<", "!["))
        if parts and (not bare or is_alone or re.match(r"([-*]|\d+\.)\s", bare)):
            yield start, " ".join(parts)
            parts = []
        if bare.startswith("#"):
            yield number, bare.lstrip("# ")
        elif bare and not is_alone:
            start = start if parts else number
            parts.append(re.sub(r"^([-*]|\d+\.|>)\s+", "", bare))


def plain(text: str) -> str:
    """A text without its code, quotations, addresses and intervals, as they are no words of a sentence."""
    text = re.sub(r"``.+?``|`[^`]*`", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r'"([^"]*?)([.!?]?)"', r"quotation\2", text)
    text = re.sub(r"\[[-+−\d., ]+(to [-+−\d.]+)?\]", "", text)
    return ABBREVIATION.sub(lambda match: match.group().replace(".", ""), text)


def is_list_of_links(block: str) -> bool:
    """Whether links make up most of a block."""
    linked = sum(len(match) for match in re.findall(r"\[[^\]]*\]\([^)]*\)", block))
    return linked > len(block) / 2


def check_python(text: str, *, words: bool = False) -> Found:
    """Yields line and message of every docstring whose first line is no noun phrase and no verb.

    Args:
        text: The source.
        words: Whether docstrings of constants are checked too, and the words of all.
    """
    for node in ast.walk(ast.parse(text)):
        for line, docstring in docstrings(node, constants=words):
            first = docstring.split("\n")[0]
            if HEADLESS.match(first):
                yield line, f'docstring begins with a clause: "{first[:60]}"'
            if words:
                yield from ((line, message) for _, message in banned_words(ARGUMENT.sub(r"\1\2code", docstring)))


def docstrings(node: ast.AST, *, constants: bool) -> Found:
    """Yields line and text of the docstring of a node, and of the constants in it; prompts of signatures are none."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(node, kinds):
        return
    is_prompt = isinstance(node, ast.ClassDef) and any(ast.unparse(one).endswith("Signature") for one in node.bases)
    if node.body and not is_prompt and (own := ast.get_docstring(node)) is not None:
        yield node.body[0].lineno, own
    for before, after in pairwise(node.body if constants else ()):
        is_named = isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr)
        if is_named and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            yield after.lineno, cleandoc(after.value.value)


def findings(file: Path, name: Path) -> Found:
    """Yields line and message of everything in a file that breaks a rule.

    Args:
        file: A page or a module; other files have no findings.
        name: Its path in the repository.
    """
    if file.suffix == ".md":
        yield from check_markdown(file.read_text(encoding="utf-8"))
    elif file.suffix == ".py":
        is_clean = any(map(name.is_relative_to, CLEAN)) and not any(map(name.is_relative_to, NOT_YET))
        yield from check_python(file.read_text(encoding="utf-8"), words=is_clean)


def main(arguments: list[str]) -> int:
    """Prints one line for each finding; the exit code is 1 where there is any."""
    root = Path(__file__).resolve().parent.parent
    found = 0
    for path in [Path(one) for one in arguments] or [root / one for one in PAGES]:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.resolve().relative_to(root) if file.resolve().is_relative_to(root) else file
            for number, message in sorted(findings(file, name)):
                found += 1
                sys.stdout.write(f"{name}:{number}: {message}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
