"""Regions of texts: values, sets and nodes of a tree, however nasty, come back or are refused."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.release.cells import read_regions
from indiff.release.regions import (
    Anything,
    Coverage,
    Mask,
    Missing,
    Node,
    Region,
    UnreadableRegion,
    ValueSet,
    node_region,
)
from indiff.release.release import write_regions
from tests.release.test_regions import (
    AGE_WITH_GAPS,
    GRADE,
    JOB,
    SEX,
    ZIP,
    a_column,
    a_set,
    covered,
    read_or_refuse,
    read_region,
    texts,
    tree,
)


@pytest.mark.parametrize(
    ("text", "column", "region"),
    [
        ("Female", SEX, a_set("Female")),
        (" Female ", SEX, a_set("Female")),
        ("{Female,Male}", SEX, a_set("Female", "Male")),
        ("{ Female , Male }", SEX, a_set("Female", "Male")),
        ("{Male}", SEX, a_set("Male")),
        ("Female~Male", SEX, a_set("Female", "Male")),
        ("low~mid~high", GRADE, a_set("low", "mid", "high")),
        ("low ~ high", GRADE, a_set("low", "high")),
        ("3551*", ZIP, Mask("3551")),
        ("35***", ZIP, Mask("35")),
        ("*****", ZIP, Mask("")),
        ("3551", ZIP, a_set("3551")),
        ("*", SEX, Anything()),
        ("Artist", JOB, Node("Artist", frozenset({"Artist", "Dancer", "Writer"}))),
        ("Lawyer", JOB, Node("Lawyer", frozenset({"Lawyer"}))),
        ("{Dancer, Lawyer}", JOB, a_set("Dancer", "Lawyer")),
        ('{"Artist", Lawyer}', JOB, a_set("Artist", "Lawyer")),
        ("", texts("a", None), a_set(None)),
        ("missing", texts("a", None), a_set(None)),
        ("missing", texts("a", "missing", None), a_set("missing")),
        ("missing", tree("a;*", missing=True), Node("missing", frozenset({None}))),
        ("", tree("a;*", missing=True), Node("missing", frozenset({None}))),
        ("", texts("", "a", None), a_set("")),
        ("missing", texts("low", None, kind=Kind.ORDINAL), Missing()),
        ("", AGE_WITH_GAPS, Missing()),
        ("missing", AGE_WITH_GAPS, Missing()),
        # a value of the column is read before any form that it looks like
        ("{a, b}", texts("a", "b", "{a, b}"), a_set("{a, b}")),
        ("a~b", texts("a", "a~b", "b"), a_set("a~b")),
        ("35*", texts("35*", "351"), a_set("35*")),
        (
            "8166*",
            tree("81667;8166*;*", "81668;8166*;*"),
            Node("8166*", frozenset(["81667", "81668"])),
        ),
        # values that contain a separator, where only one reading is possible
        ("{a, b, c}", texts("a, b", "c"), a_set("a, b", "c")),
        ("a~b~c", texts("a", "b~c"), a_set("a", "b~c")),
        ("{x,y}", texts("x,y", "z"), a_set("x,y")),
    ],
)
def test_values_in(text: str, column: Attribute, region: Region) -> None:
    assert read_region(text, column) == region


def test_a_null_cell_is_the_missing_value_even_beside_empty_text() -> None:
    assert read_region(None, texts("", "a", None)) == a_set(None)
    assert read_region(None, AGE_WITH_GAPS) == Missing()


def test_two_readings_with_the_same_coverage_are_one() -> None:
    two, three = "a~a", "a~a~a"  # five are two and three, or three and two
    assert read_region("a~a~a~a~a", texts(two, three)) == a_set(two, three)
    with pytest.raises(UnreadableRegion, match="more than one way"):  # six: three twos, two threes
        read_region("a~a~a~a~a~a", texts(two, three))


NO_BLANKS = ["*", "**", "a*", "missing", "a", "b", "c", "a,b", "a~b", "b~c", '"', '"a"', 'a"b', ","]


HAS_BLANKS = ["", " ", " a", "a ", "a, b", "{a, b}", '{"a", "b"}', '{ "a", "b"}', "[1, 2]"]


NO_BLANKS += [
    "{",
    "}",
    "20-40",
    "<5",
    "{missing}",
    '{"*"}',
    '{""}',
    "{a}",
    '{"a"}',
    "~",
    "{}",
    "{,}",
]
HAS_BLANKS += ["missing value", "a\nb", "\n", "\x00"]

NASTY = st.one_of(
    st.sampled_from(NO_BLANKS + HAS_BLANKS),
    st.text(alphabet='ab,~*{}" \n', max_size=6),
    st.text(max_size=5),
)


@st.composite
def value_cases(draw: st.DrawFn) -> tuple[Attribute, list[Region]]:
    plain_values = draw(st.lists(NASTY, min_size=1, max_size=8, unique=True))
    gaps = draw(st.booleans())
    kind = draw(st.sampled_from([Kind.CATEGORICAL, Kind.ORDINAL]))
    ordered = sorted(plain_values) if kind == Kind.CATEGORICAL else plain_values
    values = [*ordered, *([None] if gaps else [])]
    column = texts(*values, kind=kind)
    regions: list[Region] = [Anything()]
    regions += draw(
        st.lists(
            st.frozensets(st.sampled_from(values), min_size=1).map(ValueSet), min_size=1, max_size=6
        )
    )
    for value in plain_values:
        prefix = value[: draw(st.integers(0, len(value)))]
        if not prefix.endswith("*") and any(Mask(prefix).covers(other) for other in values):
            regions.append(Mask(prefix))
    if gaps and kind == Kind.ORDINAL:
        regions.append(Missing())
    return column, regions


@given(value_cases())
def test_regions_of_nasty_values_cover_what_brute_force_says_and_come_back(
    case: tuple[Attribute, list[Region]],
) -> None:
    column, regions = case
    coverage = Coverage(column)
    written = write_regions(regions, column)
    for region, text in zip(regions, written, strict=True):
        expected = [region.covers(value) for value in column.values]
        assert coverage.of(region).tolist() == expected
        back = read_region(text, column)
        assert coverage.of(back).tolist() == expected
        if isinstance(region, ValueSet) and region.values != {None}:
            assert back == region
        if isinstance(region, Missing | Anything):
            assert back == region
    read, rows, _ = read_regions(written, column)
    assert [read[row] for row in rows] == [read_region(text, column) for text in written]


@st.composite
def tree_cases(draw: st.DrawFn) -> tuple[Attribute, list[Region]]:
    label = NASTY.map(str.strip).filter(lambda text: text not in ("", "*"))
    labels = draw(st.lists(label, min_size=1, max_size=10, unique=True))
    above = {  # a label's parent comes later in the list: no cycle
        child: draw(st.sampled_from([*labels[i + 1 :], "*"])) for i, child in enumerate(labels)
    }
    inner = set(above.values())
    paths: list[tuple[int, list[str]]] = []
    for number, start in enumerate(labels, 1):
        if start in inner and draw(st.booleans()):
            continue  # an inner node that no record holds
        path = [start]
        while path[-1] != "*":
            path.append(above[path[-1]])
        paths.append((number, path))
    hierarchy = Hierarchy.from_paths(paths)
    if draw(st.booleans()):
        assume(not ("missing" in labels and "missing value" in labels))
        hierarchy = hierarchy.with_missing()
    column = a_column(texts(*hierarchy.values).values, Kind.CATEGORICAL, hierarchy=hierarchy)
    regions = [node_region(hierarchy, label) for label in hierarchy.labels]
    sets = st.frozensets(st.sampled_from(hierarchy.values), min_size=1).map(ValueSet)
    return column, [*regions, *draw(st.lists(sets, max_size=6))]


@given(tree_cases())
def test_hierarchy_regions_come_back(case: tuple[Attribute, list[Region]]) -> None:
    column, regions = case
    for region, text in zip(regions, write_regions(regions, column), strict=True):
        expected = [region.covers(value) for value in column.values]
        assert covered(region, column).tolist() == expected
        back = read_region(text, column)
        assert covered(back, column).tolist() == expected
        if isinstance(region, Node | Anything):
            assert back == region
            assert text == (region.label if isinstance(region, Node) else "*")


def _every_split(pieces: list[str]) -> list[list[str]]:
    if not pieces:
        return [[]]
    return [
        ["~".join(pieces[:i]), *rest]
        for i in range(1, len(pieces) + 1)
        for rest in _every_split(pieces[i:])
    ]


@given(
    st.lists(st.text(alphabet="ab~", min_size=1, max_size=3), min_size=1, max_size=6, unique=True),
    st.text(alphabet="ab~", min_size=1, max_size=8),
)
def test_a_set_is_read_if_every_way_to_split_it_into_values_gives_the_same(
    values: list[str], text: str
) -> None:
    column = texts(*sorted(values))
    ways = {frozenset(way) for way in _every_split(text.split("~")) if set(way) <= set(values)}
    if text in values:
        ways = {frozenset({text})}
    region, _ = read_or_refuse(text, column)
    assert region == (ValueSet(next(iter(ways))) if len(ways) == 1 else None)


@given(value_cases(), NASTY)
def test_any_text_isread_or_refused_with_a_sentence(
    case: tuple[Attribute, list[Region]], text: str
) -> None:
    column, _ = case
    region, refusal = read_or_refuse(text, column)
    if region is None:
        assert refusal.endswith((".", "?"))
        assert text not in column.values.tolist()
    else:
        assert covered(region, column).any()
        if text != "*" and text in column.values.tolist():
            assert region == a_set(text)
