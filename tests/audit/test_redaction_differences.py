"""Two reports of tables that differ in one record: what subtraction tells, and what it never does.

The page ``docs/confidentiality.md`` lists every number that moves; a number that is not in its
table must not move, and neither Markdown nor page tell a count that the JSON does not.
"""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import indiff
from indiff.report.page.html import chart_bundle
from tests.tokens import spelled_numbers, token_rows, told

PAGE = Path(__file__).parents[2] / "docs" / "confidentiality.md"
MIN_CELL = 10
LEFT_OUT = 0  # a record that holds a rare street, a rare stage and a rare illness
ROLES = {"identifier": ["who"], "quasi": ["age", "street", "pay", "stage"], "sensitive": ["ill"]}
# What says which table or moment it is; none of it is computed from a cell without a key.
KEYED = ("fingerprint", "timing")
# What a release says of its own file; the page says what follows.
OF_THE_FILE = {"files.release.*.bytes", "files.release.*.sha256"}


def table(*, without: int | None = None, renamed: bool = False) -> Any:
    """Return the table of tokens; ``renamed`` gives each rare text another name, in their order."""
    names, rows = token_rows()
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    made = {}
    for name, values in columns.items():
        cells = list(values)
        if renamed and name not in ("age", "pay"):
            cells = [one if values.count(one) >= MIN_CELL else f"{one}q" for one in values]
        if without is not None:
            del cells[without]
        made[name] = [int(one) for one in cells] if name in ("age", "pay") else cells
    return pa.table(made)


def audited(frame: Any) -> dict[str, str]:
    plan = indiff.Plan(
        data=ROLES, release={"sanitizer": "mondrian:k=5"}, limits={"delta": 0.1, "k": 3}
    )
    result = indiff.run_audit(plan, frame)
    page = result.to_html().replace(chart_bundle(), "")
    return {"json": result.to_json(), "md": result.to_markdown(), "html": page}


@pytest.fixture(scope="module")
def reports() -> dict[str, dict[str, str]]:
    return {
        "all": audited(table()),
        "one less": audited(table(without=LEFT_OUT)),
        "renamed": audited(table(renamed=True)),
    }


def flat(part: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(part, dict):
        for name, one in part.items():
            yield from flat(one, (*place, name))
    elif isinstance(part, list):
        for number, one in enumerate(part):
            yield from flat(one, (*place, f"#{number}"))
    else:
        yield place, part


def shape(place: tuple[str, ...]) -> str:
    return re.sub(r"\.\*(?=\.\*)", "", ".".join("*" if one[0] == "#" else one for one in place))


def told_apart(first: str, second: str) -> dict[tuple[str, ...], tuple[Any, Any]]:
    """Return every place of two documents, or of one of them, where they differ, but for keys."""
    left, right = dict(flat(json.loads(first))), dict(flat(json.loads(second)))
    return {
        place: (left.get(place), right.get(place))
        for place in {**left, **right}
        if left.get(place) != right.get(place) and not {*place} & {*KEYED}
    }


def listed() -> set[str]:
    """Return the keys in the page's table: `a.{b,c}` is two of them."""
    found = set()
    rows = PAGE.read_text(encoding="utf-8").split("| key | what the difference tells")[1]
    for cell in re.findall(r"^\| (`.+?`) \|", rows, re.MULTILINE):
        for key in re.findall("`([^`]+)`", cell):
            parts = [part.split(",") for part in re.split("[{}]", key)]
            found |= {"".join(one) for one in itertools.product(*parts)}
    return found


def test_what_moves_with_one_record_is_on_the_page(reports: dict[str, dict[str, str]]) -> None:
    moved = told_apart(reports["all"]["json"], reports["one less"]["json"])
    numbers = {
        shape(place)
        for place, pair in moved.items()
        if any(isinstance(one, int | float) for one in pair)
    }
    assert "table.records" in numbers
    assert "table.columns.*.distinct" in numbers
    assert sorted(numbers - listed()) == []


def visible(page: str) -> list[str]:
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", "\n", page, flags=re.DOTALL)
    return [one.strip() for one in html.unescape(re.sub(r"<[^>]+>", "\n", text)).split("\n")]


WHOLE = r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.])|(?<![\d.:-])\d+(?:\.0)?(?!\d|[.,:-]\d|%)"


def whole_numbers(text: str) -> list[int]:
    return [int(float(one.replace(",", ""))) for one in re.findall(WHOLE, text)]


@pytest.mark.parametrize("kind", ["md", "html"])
def test_what_people_read_has_no_count_that_the_json_has_not(
    reports: dict[str, dict[str, str]], kind: str
) -> None:
    """Lines that are the same but for their numbers: those that moved are in the documents."""
    lines: list[dict[str, list[list[int]]]] = []
    for name in ("all", "one less"):
        text = reports[name][kind]
        found: dict[str, list[list[int]]] = {}
        for line in visible(text) if kind == "html" else text.split("\n"):
            if " s (reading " not in line:  # how long it took
                found.setdefault(re.sub(r"[\d.,]+", "0", line), []).append(whole_numbers(line))
        lines.append(found)
    known = [{*whole_numbers(reports[name]["json"])} for name in ("all", "one less")]
    pairs = [
        (line, one, other)
        for line in lines[0].keys() & lines[1].keys()
        for first, second in zip(lines[0][line], lines[1][line], strict=False)
        for one, other in zip(first, second, strict=False)
        if one != other
    ]
    assert any((one, other) == (80, 79) for _, one, other in pairs)
    assert [pair for pair in pairs if pair[1] not in known[0] or pair[2] not in known[1]] == []


def test_no_report_depends_on_what_a_rare_value_is_called(
    reports: dict[str, dict[str, str]],
) -> None:
    """So nothing that is made of reports, by subtraction or otherwise, can tell its name."""
    first, other = reports["all"], reports["renamed"]
    assert {shape(place) for place in told_apart(first["json"], other["json"])} == OF_THE_FILE
    for kind in ("md", "html"):
        pairs = zip(timeless(first[kind]), timeless(other[kind]), strict=True)
        assert [pair for pair in pairs if pair[0] != pair[1]] == []


def timeless(text: str) -> list[str]:
    """Return a report's lines without digests and sizes, and without when and how long it ran."""
    without = re.sub(r"sha256-[\w+/=]+|[0-9a-f]{16,}|[\d,]+ bytes|\d\d:\d\d:\d\d", "", text)
    return [line[:300] for line in without.split("\n") if " s (reading " not in line]


def test_neither_report_spells_a_rare_value(reports: dict[str, dict[str, str]]) -> None:
    _, rows = token_rows()
    cells = [one for row in rows for one in row]
    rare = spelled_numbers({one for one in cells if cells.count(one) < MIN_CELL})
    for made in reports.values():
        for text in made.values():
            assert told(text, rare) == []
