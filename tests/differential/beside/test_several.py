"""Several releases of the same people, against worked examples and brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, read_release, read_table, test_releases
from indiff.data.table import Table
from indiff.differential.beside import intersection
from indiff.differential.beside.linkage import link
from indiff.errors import UserError

AGES = [21, 24, 33, 36, 45, 48]
ILL = ["flu", "cancer", "flu", "asthma", "flu", "asthma"]


@pytest.fixture
def table() -> Table:
    frame = pa.table({"id": [1, 2, 3, 4, 5, 6], "age": AGES, "ill": ILL})
    return read_table(frame, quasi=["age"], sensitive="ill", identifier="id")


def released(table: Table, ages: list[str], rows: list[int] | None = None) -> pa.Table:
    rows = list(range(len(ages))) if rows is None else rows
    ill = [ILL[row] for row in rows]
    return pa.table({"id": [row + 1 for row in rows], "age": ages, "ill": ill})


def test_two_2_anonymous_tables_name_one_person(table: Table) -> None:
    # Groups {21, 24}, {33, 36}, {45, 48} and {21}, {24, 33}, {36, 45}: the second release leaves
    # out 21 and 48. Of 33, the first says flu or asthma, the second cancer or flu.
    first = released(table, ["20-29"] * 2 + ["30-39"] * 2 + ["40-49"] * 2)
    second = released(table, ["22-34"] * 2 + ["35-46"] * 2, [1, 2, 3, 4])
    found = test_releases(table, [first, second])
    assert found.candidates.tolist() == [[2, 0], [2, 2], [2, 2], [2, 2], [2, 2], [2, 0]]
    assert found.everything.possible.tolist() == [[2, 2], [2, 2], [2, 1], [2, 2], [2, 2], [2, 2]]
    assert found.everything.left.tolist() == [[2, 2], [2, 2], [2, 1], [2, 2], [2, 2], [2, 2]]
    assert np.flatnonzero(found.determined).tolist() == [2]
    assert np.flatnonzero(found.only_together).tolist() == [2]
    assert found.pairs == [
        {"releases": ["release 1", "release 2"], "determined": 1, "only_together": 1}
    ]
    assert [one["determined"] for one in found.growth] == [0, 1]
    assert [one["candidates_left"]["median"] for one in found.growth] == [2, 2]
    assert [one["values_left"]["least"] for one in found.growth] == [2, 1]
    document = found.to_dict()
    assert (document["determined"], document["determined_alone"]) == (1, 0)
    assert (document["only_together"], document["determined_by_a_pair"]) == (1, 1)
    assert found.to_frame()["determined"].to_pylist() == [False, False, True, False, False, False]


def test_rows_of_nothing_hide_nobody_from_the_closest(table: Table) -> None:
    ages = ["20-29", "*", "30-39", "*", "40-49", "40-49"]
    found = test_releases(table, [released(table, ages)])
    # 24 and 36 are taken for the owners of the rows of 21 and 33.
    assert found.candidates[:, 0].tolist() == [3, 3, 3, 3, 4, 4]
    assert not found.everything.determined.any()
    assert found.closest.determined[:, 0].tolist() == [True, False, True, False, False, False]
    assert found.likely[:, 0].tolist() == [True, False, True, False, False, False]
    assert found.closest.misled[:, 0].tolist() == [False, True, False, True, False, False]


def test_a_release_of_other_people_changes_nothing_with_a_key(table: Table) -> None:
    first = released(table, ["20-29"] * 2 + ["30-39"] * 2 + ["40-49"] * 2)
    strangers = pa.table({"id": [7, 8], "age": ["30-39"] * 2, "ill": ["cancer", "gout"]})
    alone = test_releases(table, [first], key="id")
    both = test_releases(table, [first, strangers], key="id")
    for name in ("possible", "left", "kept"):
        for kind in ("everything", "closest"):
            one, two = getattr(getattr(alone, kind), name), getattr(getattr(both, kind), name)
            assert (two == one[:, [0, 0]]).all()
    assert (both.candidates[:, 1] == 0).all()
    # Without it, the adversary takes 33 for one of them, and is misled.
    misled = test_releases(table, [first, strangers])
    assert misled.everything.misled[:, 1].tolist() == [False, False, True, True, False, False]
    assert "2 of its rows hold" not in " ".join(misled.considered[1].notes)
    assert "1 of its rows hold" in " ".join(misled.considered[1].notes)


def test_other_quasi_identifiers_in_each_release() -> None:
    frame = pa.table({"age": [1, 1, 2, 2], "sex": list("mfmf"), "ill": list("abca")})
    table = read_table(frame, quasi=["age", "sex"], sensitive="ill")
    found = test_releases(table, [frame.select(["age", "ill"]), frame.select(["sex", "ill"])])
    assert found.candidates.tolist() == [[2, 2]] * 4
    # ab and ac, ab and ba, ca and ac, ca and ba
    assert found.determined.tolist() == [True, False, False, True]
    assert found.considered[0].columns == ("age",)
    assert "it has no 'sex'" in found.considered[0].notes[-1]


def test_what_cannot_be_compared_is_refused(table: Table) -> None:
    with pytest.raises(UserError, match="from 1 to 62; got 0"):
        test_releases(table, [])
    with pytest.raises(UserError, match="'release 1': no quasi-identifier 'age'"):
        test_releases(table, [pa.table({"ill": ILL})])
    counted = released(table, ["*"] * 6).append_column("weight", pa.array([1.0] * 6))
    with pytest.raises(UserError, match=r"'release 1': .*counts in a column 'weight'"):
        test_releases(table, [counted])


def test_a_release_that_was_made_here(table: Table) -> None:
    made = Mondrian(k=2).sanitize(table)
    found = test_releases(table, [made, made.to_frame()])
    assert (found.candidates == 3).all()
    assert found.everything.possible[:, 0].tolist() == found.everything.possible[:, 1].tolist()
    with pytest.raises(UserError, match="a release is of the table that it is tested beside"):
        test_releases(table, [replace(made, sensitive_values=("a", "b"))])


def random_case(rng: np.random.Generator) -> tuple[Table, list[pa.Table]]:
    """Return a table and two to four releases of some of its rows, with regions of any shape."""
    size, numbers, letters = int(rng.integers(4, 25)), int(rng.integers(2, 9)), "abcde"
    frame = pa.table(
        {
            "id": np.arange(size),
            "x": rng.integers(0, numbers, size),
            "y": rng.choice(list(letters[: rng.integers(2, 6)]), size),
            "s": rng.choice(list("uvwxyz"[: rng.integers(2, 7)]), size),
        }
    )
    table = read_table(frame, quasi=["x", "y"], sensitive="s", identifier="id")
    letters_held = table.attribute("y").values.tolist()
    releases = []
    for _ in range(int(rng.integers(2, 5))):
        rows = np.flatnonzero(rng.random(size) < rng.choice([0.6, 1.0]))
        if len(rows) < 2:
            rows = np.arange(size)
        x, y = [], []
        for row in rows:
            own, letter = frame["x"][row].as_py(), frame["y"][row].as_py()
            low, high = own - rng.integers(0, 3), own + rng.integers(0, 3)
            several = {own, int(rng.integers(0, numbers))}
            shapes = [f"[{low}, {high}]", str(own), "*", "{" + ", ".join(map(str, several)) + "}"]
            x.append(rng.choice(shapes, p=[0.6, 0.2, 0.1, 0.1]))
            more = sorted({letter, *rng.choice(letters_held, rng.integers(0, 3))})
            y.append("*" if rng.random() < 0.1 else "{" + ", ".join(more) + "}")
        columns = {"id": rows, "x": x, "y": y, "s": frame["s"].take(pa.array(rows))}
        if rng.random() < 0.2:
            del columns["y"]
        releases.append(pa.table(columns))
    return table, releases


def by_definition(table: Table, releases: list[pa.Table], present: Any) -> dict[str, Any]:
    """Look every record up row by row: the definition, in plain Python."""
    size, own = len(table), [table.sensitive.values[c] for c in table.sensitive.codes]
    rows: list[list[list[int]]] = []
    held = []
    for place, frame in enumerate(releases):
        names = [name for name in ("x", "y") if name in frame.column_names]
        view = read_table(
            table.source, quasi=names, sensitive="s", identifier="id",
            other=[name for name in ("x", "y") if name not in names],
        )  # fmt: skip
        release = read_release(frame, view)
        held.append(frame["s"].to_pylist())
        covered = []
        for i in range(size):
            inside = np.ones(len(release), bool)
            for name in names:
                inside &= release.covers(name, table.source[name][i].as_py())
            covered.append(np.flatnonzero(inside).tolist() if present[i, place] else [])
        rows.append(covered)

    def left(i: int, chosen: tuple[int, ...]) -> tuple[set[str] | None, int]:
        used = [r for r in chosen if rows[r][i]]
        if not used:
            return None, 0
        values = set.intersection(*({held[r][j] for j in rows[r][i]} for r in used))
        return values, min(sum(held[r][j] in values for j in rows[r][i]) for r in used)

    each = range(len(releases))
    determined = {
        chosen: np.array([left(i, chosen)[0] == {own[i]} for i in range(size)])
        for count in (1, 2)
        for chosen in combinations(each, count)
    }
    prefixes = [[left(i, tuple(range(r + 1))) for r in each] for i in range(size)]
    return {
        "candidates": [[len(rows[r][i]) for r in each] for i in range(size)],
        "possible": [[-1 if v is None else len(v) for v, _ in row] for row in prefixes],
        "left": [[n for _, n in row] for row in prefixes],
        "determined": [[v == {own[i]} for v, _ in row] for i, row in enumerate(prefixes)],
        "pairs": determined,
    }


@pytest.mark.parametrize(
    "block", [0, 1, *(pytest.param(block, marks=pytest.mark.long) for block in range(2, 10))]
)
def test_against_the_definition(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(block)
    for _ in range(50):
        table, releases = random_case(rng)
        monkeypatch.setattr(intersection, "_BLOCK", rng.choice([1, 3, 7, 500]))  # people at once
        key = "id" if rng.random() < 0.5 else None
        present = np.ones((len(table), len(releases)), bool)
        if key:
            for place, frame in enumerate(releases):
                present[:, place] = np.isin(np.arange(len(table)), frame["id"])
        plain = by_definition(table, releases, present)
        found = test_releases(table, releases, key=key)
        every = found.everything
        assert found.candidates.tolist() == plain["candidates"]
        assert every.possible.tolist() == plain["possible"]
        assert every.left.tolist() == plain["left"]
        assert every.determined.tolist() == plain["determined"]
        for chosen, who in plain["pairs"].items():
            one, two = chosen[0], chosen[-1]
            assert every.pairs[one, two] == who.sum()
            if one != two:
                new = who & ~plain["pairs"][one,] & ~plain["pairs"][two,]
                assert every.only_together[one, two] == new.sum()
        # A release more never leaves more rows or values, and never sets anybody free who is in.
        known = every.possible >= 0
        both = known[:, 1:] & known[:, :-1]
        assert (np.diff(every.possible)[both] <= 0).all()
        assert (np.diff(every.left)[both] <= 0).all()
        if len(found.considered[0].columns) == 2 and key is None:
            linkage = link(read_release(releases[0], table), table)
            assert found.closest.left[:, 0].tolist() == linkage.closest.tolist()
            values = (linkage.closest_shares > 0).sum(axis=1)
            values[linkage.closest == 0] = -1
            assert found.closest.possible[:, 0].tolist() == values.tolist()
        assert (found.likely >= every.determined).all()
        assert (np.diff(found.likely.astype(int)) >= 0).all()


def test_each_of_several_attributes_has_a_result_of_its_own() -> None:
    frame = pa.table({"age": AGES, "ill": ILL, "pay": list("xyxyxy")})
    table = read_table(frame, quasi=["age"], sensitive=["ill", "pay"])
    found: Any = test_releases(table, [frame])
    assert {name: one.sensitive_name for name, one in found.items()} == {"ill": "ill", "pay": "pay"}
