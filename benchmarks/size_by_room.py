"""Counts the lines of every room of ``src/indiff``, by what they are, as a table in Markdown."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "indiff"
KINDS = ("code", "docstrings", "comments", "imports", "blank", "templates")
SKIPPED = (".pyc", ".svg", ".woff2")
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def kinds_of(path: Path) -> Counter[str]:
    """Return how many lines of a file are code, docstrings, comments, imports or blank."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix != ".py":
        return Counter(templates=len(lines))
    kinds = [
        "blank" if not line.strip() else "comments" if line.strip().startswith("#") else "code"
        for line in lines
    ]
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            kinds[node.lineno - 1 : node.end_lineno] = ["imports"] * _length(node)
        if isinstance(node, Documented) and ast.get_docstring(node) is not None:
            first = node.body[0]
            kinds[first.lineno - 1 : first.end_lineno] = ["docstrings"] * _length(first)
    return Counter(kinds)


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def main() -> None:
    """Print a row for each room, and one for all of them."""
    rooms: dict[str, Counter[str]] = {}
    for path in sorted(SOURCE.rglob("*")):
        if path.is_file() and path.suffix not in SKIPPED:
            place = path.relative_to(SOURCE).parts
            room = rooms.setdefault(f"{place[0]}/" if len(place) > 1 else "single files", Counter())
            room.update(kinds_of(path), files=1)
    rooms["all"] = sum(rooms.values(), Counter())
    rows = [["room", "files", "lines", *KINDS], ["---", *["---:"] * (2 + len(KINDS))]]
    for name, room in rooms.items():
        numbers = [room["files"], sum(room[kind] for kind in KINDS), *(room[k] for k in KINDS)]
        rows.append([name, *(f"{number:,}" for number in numbers)])
    sys.stdout.write("".join(f"| {' | '.join(row)} |\n" for row in rows))


if __name__ == "__main__":
    main()
