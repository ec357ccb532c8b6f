"""Hierarchies: ragged, untidy, wrong; and the numbering on which regions rest."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff import Hierarchy, Table, UserError, read_table

JOBS = [
    "Dancer;Artist;*",
    "Writer;Artist;*",
    "Artist;*",
    "Lawyer;Law;Office;*",
    "Clerk;Office;*",
    "Miner;*",
]


def test_every_node_is_a_range_of_values() -> None:
    tree = Hierarchy.from_lines(JOBS)
    assert set(tree.values) == {"Dancer", "Writer", "Artist", "Lawyer", "Clerk", "Miner"}
    assert tree.values_below("Artist") == {"Artist", "Dancer", "Writer"}
    assert tree.values_below("Office") == {"Lawyer", "Clerk"}
    assert tree.values_below("Law") == {"Lawyer"}
    assert tree.values_below("Miner") == {"Miner"}
    assert tree.values_below("*") == set(tree.values)


@pytest.mark.parametrize(
    ("one", "other", "length"),
    [
        ("Dancer", "Writer", 2),
        ("Dancer", "Artist", 1),
        ("Dancer", "Lawyer", 5),
        ("Miner", "Clerk", 3),
        ("Miner", "Miner", 0),
    ],
)
def test_path_lengths_by_hand(one: str, other: str, length: int) -> None:
    tree = Hierarchy.from_lines(JOBS)
    assert tree.path_length(one, other) == length
    assert tree.path_length(other, one) == length


@pytest.mark.parametrize(
    "lines",
    [
        ["a;x;*", "b;x;*", "c;*"],
        ["a,x,*", "b,x,*", "c,*"],
        [" a ; x ;* ", "", "   ", "b;x;*", "c;*"],
        ["a;x", "b;x", "c"],  # the root is added
        ["a;x;x;*", "b;x;*;*", "c;c;*"],  # regular files repeat a label upwards
        ["a;x;*;;", "b;x;*", "c;*"],
    ],
)
def test_untidy_lines_mean_the_same(lines: list[str]) -> None:
    tree = Hierarchy.from_lines(lines)
    assert sorted(map(str, tree.values)) == ["a", "b", "c"]
    assert tree.values_below("x") == {"a", "b"}


def test_empty_fields_are_skipped_and_reported() -> None:
    tree = Hierarchy.from_lines(["USA;North-America;*", "Canada;;North-America;*"])
    assert tree.values_below("North-America") == {"USA", "Canada"}
    assert tree.notes == ("the hierarchy, line 2: an empty field was skipped",)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["a;x;*", "b;y;*", "a;y;*"], r"'a' has two parents, 'x' \(line 1\) and 'y' \(line 3\)"),
        (["a;b;a;*"], r"line 1: 'a' stands above itself \(a cycle\)"),
        (["a;b", "b;a"], r"'b' has two parents|cycle"),
        (["a;*;b"], r"line 1: '\*' may only end a line"),
        ([";x;*"], r"line 1: the value at the start is empty"),
        ([], r"has no lines"),
        (["", "  "], r"has no lines"),
        (["*"], r"names no value"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_lines(lines: list[str], text: str) -> None:
    with pytest.raises(UserError, match=text):
        Hierarchy.from_lines(lines)


def test_quotes_hold_a_separator_and_are_closed() -> None:
    tree = Hierarchy.from_lines(['"a;b";x;*', 'c;"5"" pipe";*', '5" nail;x;*'])
    assert set(tree.values) == {"a;b", "c", '5" nail'}
    assert '5" pipe' in tree
    for line in ('"a;x;*', '"a"b;x;*', "a" * 200_000 + ";x;*"):
        with pytest.raises(UserError, match="line 2 cannot be split into labels"):
            Hierarchy.from_lines(["c;x;*", line])


def test_a_circle_over_several_lines_is_found() -> None:
    with pytest.raises(UserError, match=r"cycle"):
        Hierarchy.from_paths([(1, ["a", "b"]), (2, ["b", "c"]), (3, ["c", "a"]), (4, ["d", "*"])])


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_bytes("﻿Zürich;CH;*\r\nBern;CH;*\r\n".encode())
    assert Hierarchy.read(path).values_below("CH") == {"Zürich", "Bern"}
    with pytest.raises(UserError, match=r"cannot be read \(No such file or directory\)"):
        Hierarchy.read(tmp_path / "none.csv")
    path.write_bytes("Zürich;*".encode("latin-1"))
    with pytest.raises(UserError, match="is not UTF-8 text; save it as UTF-8"):
        Hierarchy.read(path)


def test_an_unknown_label_has_a_near_one() -> None:
    with pytest.raises(UserError, match="'Artst' is not in the hierarchy: did you mean 'Artist'"):
        Hierarchy.from_lines(JOBS).node("Artst")


def test_missing_is_one_more_value_below_the_root() -> None:
    tree = Hierarchy.from_lines(["a;x;*", "missing;*"]).with_missing()
    assert tree.values == ("missing", "a", None) or tree.values == ("a", "missing", None)
    assert tree.values_below("*") == {"a", "missing", None}
    assert tree.values_below("missing") == {"missing"}  # a label of its own, not mistaken for it


def test_every_real_hierarchy_is_read(needs_data: Path) -> None:
    files = sorted((needs_data / "hierarchies").rglob("*.csv"))
    assert len(files) > 20
    for path in files:
        tree = Hierarchy.read(path)
        assert tree.labels[0] == "*"
        firsts = {
            line.replace(",", ";").split(";")[0].strip()
            for line in path.read_text(encoding="utf-8-sig").splitlines()
            if line.strip()
        }
        assert len(tree.values) <= len(firsts) + 1


@given(st.lists(st.integers(0, 20), min_size=1, max_size=25), st.sets(st.integers(0, 25)))
def test_ranges_hold_exactly_the_values_below(above: list[int], inner: set[int]) -> None:
    """A random tree: label i + 1 hangs below some label up to i; label 0 is the root."""
    parent = {place + 1: min(number, place) for place, number in enumerate(above)}
    leaves = set(parent) - set(parent.values())
    holders = leaves | (inner & set(parent))

    def chain(label: int) -> list[str]:
        labels = [f"n{label}"]
        while parent[label] != 0:
            label = parent[label]
            labels.append(f"n{label}")
        return [*labels, "*"]

    tree = Hierarchy.from_lines(";".join(chain(label)) for label in sorted(holders))
    assert set(tree.values) == {f"n{label}" for label in holders}
    for node, label in enumerate(tree.labels):
        below = {value for value in tree.values if label in chain(int(str(value)[1:]))}
        assert tree.values_below(label) == below
        assert tree.last[node] - tree.first[node] + 1 == len(below)
    for code, value in enumerate(tree.values):
        assert tree.labels[tree.value_node[code]] == value
        assert tree.code_of[value] == code


JOBS_TABLE = pa.table(
    {
        "job": ["Dancer", "Writer", "Lawyer", "Clerk", "Clerk", "Miner"],
        "ill": ["flu", "flu", "cold", "cold", "gout", "flu"],
    }
)
JOB_LINES = [
    "Dancer;Artist;*",
    "Writer;Artist;*",
    "Lawyer;Office;*",
    "Clerk;Office;*",
    "Miner;Outside;*",
]


def read_jobs(tree: Hierarchy) -> Table:
    return read_table(JOBS_TABLE, quasi=["job"], sensitive="ill", hierarchies={"job": tree})


@pytest.mark.parametrize(
    "header",
    [
        "level0;level1;level2",
        "Level 0;Level 1;*",
        "job;group;all",
        "JOB;*",
        "value;group",  # no value of the column, and its cells occur nowhere else
        "occupation;sector;any",
    ],
)
def test_a_header_is_no_branch_and_is_said(tmp_path: Path, header: str) -> None:
    plain = read_jobs(Hierarchy.from_lines(JOB_LINES))
    for tree in (
        Hierarchy.from_lines([header, *JOB_LINES]),
        Hierarchy.from_lines(["", header, "", *JOB_LINES]),
    ):
        table = read_jobs(tree)
        assert table.attribute("job").values.tolist() == plain.attribute("job").values.tolist()
        assert table.attribute("job").hierarchy.labels == plain.attribute("job").hierarchy.labels  # type: ignore[union-attr]
        assert any("taken for a header" in note for note in table.notes), table.notes
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join([header, *JOB_LINES]))
    read = read_table(JOBS_TABLE, quasi=["job"], sensitive="ill", hierarchies={"job": path})
    assert f"{path}, line 1: taken for a header" in " ".join(read.notes)
    assert header.partition(";")[0] not in read.attribute("job").hierarchy.labels  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "first",
    [
        "Poet;Artist;*",  # its group is another line's
        "Poet;Space;*",  # a line as it should be, up to the root
        "Dancer;Artist;*",
    ],
)
def test_a_line_that_is_like_the_others_is_no_header(first: str) -> None:
    table = read_jobs(Hierarchy.from_lines([first, *JOB_LINES]))
    assert first.partition(";")[0] in table.attribute("job").values.tolist()
    assert not any("header" in note for note in table.notes)


def test_a_value_that_is_called_like_a_level_or_the_column_stays() -> None:
    frame = pa.table({"job": ["level0", "job", "Clerk", "Clerk"], "ill": list("abab")})
    for lines in (["level0;level1", "job;*", "Clerk;*"], ["job;x", "level0;*", "Clerk;*"]):
        table = read_table(
            frame,
            quasi=["job"],
            sensitive="ill",
            hierarchies={"job": Hierarchy.from_lines(lines)},
        )
        assert set(table.attribute("job").values) == {"level0", "job", "Clerk"}
        assert not any("header" in note for note in table.notes)


def test_lines_of_values_that_no_record_holds_are_counted() -> None:
    table = read_jobs(Hierarchy.from_lines([*JOB_LINES, "Poet;Artist;*", "Judge;Office;*"]))
    assert "2 of the 7 values in the hierarchy of 'job' are held by no record" in table.notes
    assert not any("held by no" in n for n in read_jobs(Hierarchy.from_lines(JOB_LINES)).notes)


def test_a_label_that_a_line_repeats_stays_for_as_many_levels() -> None:
    tree = Hierarchy.from_lines(["a;A;A;*", "b;B1;B;*", "c;C;*;*", "d;d;d;*"])
    levels = [dict(zip(tree.values, level, strict=True)) for level in tree.level_nodes.tolist()]
    shown = [[tree.labels[level[value]] for value in "abcd"] for level in levels]
    assert shown == [["a", "b", "c", "d"], ["A", "B1", "C", "d"], ["A", "B", "*", "d"], ["*"] * 4]


def test_levels_that_would_divide_are_steps_instead() -> None:
    tree = Hierarchy.from_lines(["a;A;A;B;*", "b;A;B;B;*"])
    shown = [[tree.labels[node] for node in level] for level in tree.level_nodes]
    assert shown == [["a", "b"], ["A", "A"], ["B", "B"], ["*", "*"]]


@pytest.mark.parametrize("header", [[], ["level;name"]])
def test_lines_of_depth_and_label_are_a_tree(header: list[str]) -> None:
    lines = [
        *header,
        "@;Total",
        "@@;A",
        '"@@@";"a1"',
        "@@@;a2",
        "@@;B",
        "@@@;b1",
        "@@@@;b1a",
        "@@;C",
    ]
    tree = Hierarchy.from_lines(lines)
    plain = Hierarchy.from_lines(["a1;A;*", "a2;A;*", "b1a;b1;B;*", "C;*"])
    assert tree.values == plain.values
    assert tree.labels == plain.labels
    assert tree.parent.tolist() == plain.parent.tolist()
    assert tree.for_column("q", {"a1", "C"}).values_below("A") == {"a1", "a2"}


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["@;Total", "@@@;a"], "line 2: its depth does not follow"),
        (["@@;A", "@@@;a"], "line 1: its depth does not follow"),
        (["@;Total", "@@;A", "@;Other"], "line 3: its depth does not follow"),
        (["@;Total"], "names no value"),
    ],
)
def test_depths_that_make_no_tree_are_refused(lines: list[str], text: str) -> None:
    with pytest.raises(UserError, match=text):
        Hierarchy.from_lines(lines)
