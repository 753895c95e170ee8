"""The check of the house on small trees: sizes of rooms, circles of modules, names with two meanings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.check_house import check_house

SETTINGS = "[tool.finpath.ceilings]\nkg = 4\n"


def house(root: Path, files: dict[str, str]) -> list[str]:
    (root / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return check_house(root)


def test_a_room_may_have_as_many_lines_as_its_ceiling(tmp_path: Path) -> None:
    assert house(tmp_path, {"kg/a.py": "a = 1\nb = 2\n", "kg/deep/b.py": "a = 1\n\n", "kg/data.txt": "\n" * 9}) == []
    assert house(tmp_path, {"kg/a.py": "a = 1\nb = 2\nc = 3\n"}) == [
        "kg: 5 lines of Python (at most 4): delete before you add"
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from programs.b import B\n", "import programs.a\n"),
        ("from programs import b\n", "def f():\n    from programs.a import A\n"),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from programs.b import B\n",
            "from programs.a import A\n",
        ),
    ],
)
def test_a_circle_is_found_however_it_is_imported(tmp_path: Path, first: str, second: str) -> None:
    files = {"programs/__init__.py": "", "programs/a.py": first, "programs/b.py": second}
    assert house(tmp_path, files) == ["circle: programs.a, programs.b"]


def test_a_class_name_has_one_meaning(tmp_path: Path) -> None:
    files = {
        "programs/a.py": "class Step: ...\n",
        "kg/b.py": "class Step: ...\n",
        "tests/c.py": "class Step: ...\n",
    }
    assert house(tmp_path, files) == ["class Step: kg.b, programs.a"]


def test_a_program_has_the_name_of_its_signature(tmp_path: Path) -> None:
    files = {"programs/beam.py": "class Answer: ...\n", "signatures/answer.py": "class Answer: ...\n"}
    assert house(tmp_path, files) == []
    assert house(tmp_path, {"programs/other.py": "class Answer: ...\n"}) != []
