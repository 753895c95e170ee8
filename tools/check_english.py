"""Checks the English of Markdown pages and of Python docstrings against the house's rules.

    $ python tools/check_english.py README.md docs
    docs/guide/chat.md:12: sentence of 31 words (at most 25): "The program …"

In Markdown it reports sentences over 25 words, words of the private dialect, sentences and titles that begin with a
headless *What*, *Which* or *How*, and lines over 100 characters. Code is excepted everywhere, tables and lists of
links from the two limits. In Python it reports docstrings whose first line begins with What, Which or How, and in the
rooms of ``CLEAN`` words of the private dialect.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PAGES = ("README.md", "CONTRIBUTING.md", "docs", "experiments/sample/README.md")
CLEAN = ("experiments", "optimize", "programs", "tools", "finpath.py")
NOT_YET = ("programs/tools",)
"""Rooms whose docstrings are checked for words, and packages of these that are not: docstrings of tools are prompts."""
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
BANNED = re.compile(r"\b(" + "|".join(f"(?:{word})" for word in BETTER) + r")\b", re.IGNORECASE)
HEADLESS = re.compile(r"(What|Which|How)\b")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|et al|cf|Inc|Fig|No)\.")
ARGUMENT = re.compile(r"(^ +)\w+(?=: )|()\b\w+=[\w.]+", re.MULTILINE)
END = re.compile(r"""(?<=[.!?])["')*_]*\s+""")
Finding = tuple[int, str]


def check_markdown(text: str) -> Iterator[Finding]:
    """Yields line and message of everything on a page that breaks a rule."""
    for number, line in prose_lines(text):
        is_table = line.lstrip().startswith("|")
        if len(line) > LONGEST_LINE and not is_table and "](" not in line and "http" not in line:
            yield number, f"line of {len(line)} characters (at most {LONGEST_LINE})"
    yield from banned_words(text)
    for number, block in blocks(text):
        links = sum(map(len, re.findall(r"\[[^\]]*\]\([^)]*\)", block)))
        for sentence in END.split(plain(block)) if links <= len(block) / 2 else ():
            words, start = re.findall(r"\w[\w'’.,/%^-]*", sentence), sentence[:60].strip()
            if len(words) > LONGEST_SENTENCE:
                yield number, f'sentence of {len(words)} words (at most {LONGEST_SENTENCE}): "{start} …"'
            if HEADLESS.match(sentence.lstrip("*_#- ")) and not sentence.rstrip().rstrip("*_)").endswith("?"):
                yield number, f'headless sentence or title: "{start}"'


def banned_words(text: str) -> Iterator[Finding]:
    """Yields line and message of every word of the private dialect outside code and quotations."""
    for number, line in prose_lines(text):
        for match in BANNED.finditer(plain(line)):
            better = next(words for word, words in BETTER.items() if re.fullmatch(word, match.group().lower()))
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


def check_python(text: str, *, words: bool = False) -> Iterator[Finding]:
    """Yields line and message of every docstring that begins with a clause, and with ``words`` of their words.

    The prompts of signatures are no docstrings.
    """
    for node in ast.walk(ast.parse(text)):
        is_prompt = isinstance(node, ast.ClassDef) and any(
            ast.unparse(base).endswith("Signature") for base in node.bases
        )
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or is_prompt:
            continue
        if docstring := ast.get_docstring(node):
            line, first = node.body[0].lineno, docstring.split("\n")[0]
            if HEADLESS.match(first):
                yield line, f'docstring begins with a clause: "{first[:60]}"'
            for _, message in banned_words(ARGUMENT.sub(r"\1\2code", docstring)) if words else ():
                yield line, message


def main(arguments: list[str]) -> int:
    """Prints one line for each finding; the exit code is 1 where there is any."""
    root, count = Path(__file__).resolve().parent.parent, 0
    for path in [Path(name) for name in arguments] or [root / page for page in PAGES]:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.resolve().relative_to(root) if file.resolve().is_relative_to(root) else file
            if file.suffix not in (".md", ".py"):
                continue
            text = file.read_text(encoding="utf-8")
            is_clean = any(map(name.is_relative_to, CLEAN)) and not any(map(name.is_relative_to, NOT_YET))
            for number, message in sorted(
                check_markdown(text) if file.suffix == ".md" else check_python(text, words=is_clean)
            ):
                count += 1
                sys.stdout.write(f"{name}:{number}: {message}\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
