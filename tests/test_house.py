"""The rules of the house that a program can check: layers, sizes, first lines."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import indiff

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "indiff"
MODULES = sorted(SOURCE.rglob("*.py"))

NO_MIRROR = ("golden", "properties", "rivals", "system")  # they test the whole
NO_MODULE = ("test_docs.py", "test_house.py", "test_readme.py")
MOST_LINES = 400
MOST_MODULES = 12
MOST_PARAMETERS = 10
MOST_FUNCTION_LINES = 80

# Still to be divided.
LONG: set[str] = set()
FULL: set[str] = set()
LONG_FUNCTIONS: set[str] = set()


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


def test_tests_mirror_the_tree() -> None:
    """A test file is named for a module of its folder, or for the folder, and for what it tests.

    ``tests/risk/test_measure_records.py`` tests ``risk/measure.py``; ``records`` says what of it.
    """
    strays = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        place = path.relative_to(ROOT / "tests")
        if place.parts[0] in NO_MIRROR or str(place) in NO_MODULE:
            continue
        folders = (SOURCE / place.parent, path.parent)  # helpers of tests have tests, too
        known = {one.stem for folder in folders for one in folder.glob("[!_]*.py")}
        words = path.stem.removeprefix("test_").split("_")
        starts = {"_".join(words[:end]) for end in range(1, len(words) + 1)}
        if not starts & {*known, place.parent.name} - {path.stem}:
            strays.append(str(place))
    assert strays == []


def test_the_files_that_pages_name_exist() -> None:
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "tests" / "mutants").glob("*.py"),
    ]
    named = {
        name
        for page in (*pages, *(ROOT / "benchmarks").glob("*.*"))
        for name in re.findall(r"\b(?:tests|src)/[\w/]+\.py\b", page.read_text(encoding="utf-8"))
    }
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_first_line_is_a_sentence(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text is not None
    assert text.splitlines()[0].endswith((".", ":", "?"))


@cache
def functions() -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Return every function of the package that is not a kernel, with the name of its place."""
    found = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                marks = {one.id for one in node.decorator_list if isinstance(one, ast.Name)}
                if not marks & {"kernel", "inner", "inline", "intrinsic"}:
                    found.append((f"{path.relative_to(SOURCE)}:{node.name}", node))
    return found


def test_no_function_takes_many_parameters() -> None:
    """Public Python functions may; what is promised to users reads better with keywords."""
    many = []
    for place, node in functions():
        given = node.args
        count = len(given.posonlyargs + given.args + given.kwonlyargs)
        if count > MOST_PARAMETERS and node.name not in indiff.__all__:
            many.append((place, count))
    assert many == []


def test_no_function_is_long() -> None:
    long = []
    for place, node in functions():
        first = node.body[0]
        docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        start = (first.end_lineno or 0) + 1 if docstring else node.lineno
        lines = (node.end_lineno or 0) - start + 1
        if lines > MOST_FUNCTION_LINES:
            long.append((place, lines))
    assert {place.partition(":")[2] for place, _ in long} <= LONG_FUNCTIONS, long
