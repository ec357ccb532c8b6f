"""The rules of the house that a program can check: layers, sizes, first lines."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "indiff"
MODULES = sorted(SOURCE.rglob("*.py"))

MOST_LINES = 400
MOST_MODULES = 12

# Still to be divided.
LONG = {"differential/mondrian/walk.py", "sanitizers/mondrian/partition.py"}
FULL = {"cli"}


def contract() -> list[str]:
    """Return the layers of the import contract, the lowest first, one text per line."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    return [", ".join(layer.split(" | ")) for layer in reversed(layers)]


def test_the_readme_lists_the_layers_in_the_order_of_the_contract() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listing = readme.split("## The folders")[1].split("```")[1]
    lines = [re.match(r"^  (\S.*?)  ", line) for line in listing.splitlines()]
    listed = [re.sub(r"/|\.py", "", line.group(1)) for line in lines if line]
    assert listed == contract()
    for name in ", ".join(listed).split(", "):
        assert (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file(), name


def test_no_module_is_long() -> None:
    long = {
        str(path.relative_to(SOURCE)): lines
        for path in MODULES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert long.keys() <= LONG


def test_no_folder_is_full() -> None:
    full = {}
    for folder in {path.parent for path in MODULES}:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(modules) > MOST_MODULES:
            full[str(folder.relative_to(SOURCE))] = len(modules)
    assert full.keys() <= FULL


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_first_line_is_a_sentence(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text is not None
    assert text.splitlines()[0].endswith((".", ":", "?"))
