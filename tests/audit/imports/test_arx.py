"""Projects of ARX: made as ARX writes them, read into plans; what is hostile is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import indiff
from indiff.audit.imports.arx import import_arx
from indiff.errors import UserError

PROJECT = """<project>
\t<name>Example</name>
\t<separator>{sign}</separator>
\t<escape>&quot;</escape>
\t<quote>&quot;</quote>
\t<linebreak>UNIX</linebreak>
</project>
"""
CONFIG = """<config>
\t<suppressTuplesInNonAnonymousOutput>true</suppressTuplesInNonAnonymousOutput>
\t<relativeMaxOutliers>0.05</relativeMaxOutliers>
\t<metric>{metric}</metric>
\t<criteria>
{criteria}
\t</criteria>
</config>
"""
COLUMN = """\t<assigment>
\t\t<name>{name}</name>
\t\t<type>{role}_ATTRIBUTE</type>
\t\t<datatype>{kind}</datatype>
{more}
\t</assigment>
"""
CRITERIA = [
    "3-anonymity",
    "Inclusion",
    "distinct-2-diversity for attribute 'ill'",
    "0.9-closeness with equal ground-distance for attribute 'ill'",
]
AVERAGED = "microAggregationFunction"
HIERARCHY = "\t\t<ref>hierarchies/{name}.csv</ref>\n\t\t<min>All</min>\n\t\t<max>All</max>"


def column(name: str, role: str, kind: str = "String", more: str = "") -> str:
    return COLUMN.format(name=name, role=role, kind=kind, more=more)


COLUMNS = [
    column("id", "IDENTIFYING"),
    column("age", "QUASI_IDENTIFYING", "Integer"),
    column("town", "QUASI_IDENTIFYING", more=HIERARCHY.format(name="town")),
    column("ill", "SENSITIVE", more=HIERARCHY.format(name="ill")),
    column("remark", "INSENSITIVE"),
]


def write_project(
    path: Path,
    *,
    columns: list[str] | None = None,
    criteria: list[str] | None = None,
    metric: str = "Loss (0.5/1.0/1.0)",
    sign: str = ";",
    members: dict[str, str] | None = None,
) -> Path:
    """Write the members of a project that the graphical ARX writes, in its order and spelling."""
    rows = [["id", "age", "town", "ill", "remark"]]
    rows += [
        [f"p{at}", str(20 + at % 4), ("A", "B;1", "C", "D")[at % 4], ("x", "y")[at // 4 % 2], ""]
        for at in range(40)
    ]
    quoted = [[f'"{cell}"' if sign in cell else cell for cell in row] for row in rows]
    towns = [["A", "north"], ["B;1", "north"], ["C", "south"], ["D", "south"]]
    lines = [[f'"{a}"' if sign in a else a, b, "*"] for a, b in towns]
    listed = "\n".join(
        f"\t\t<criterion>{one}</criterion>" for one in (CRITERIA if criteria is None else criteria)
    )
    parts = {
        "metadata.xml": "<metadata>\n\t<version>3.9.1</version>\n</metadata>\n",
        "project.dat": "\xac\xed\x00\x05",
        "project.xml": PROJECT.format(sign=sign),
        "data/input.csv": "\n".join(sign.join(row) for row in quoted) + "\n",
        "input/config.xml": CONFIG.format(criteria=listed, metric=metric),
        "input/definition.xml": "<definition>\n" + "".join(columns or COLUMNS) + "</definition>\n",
        "input/hierarchies/town.csv": "\n".join(sign.join(line) for line in lines) + "\n",
        "input/hierarchies/ill.csv": "\n".join(sign.join(x) for x in (["x", "*"], ["y", "*"])),
        "clipboard.xml": "<clipboard>\n</clipboard>\n",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (parts | (members or {})).items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize("sign", [";", ",", "\t"])
def test_a_project_becomes_a_plan_that_runs(tmp_path: Path, sign: str) -> None:
    made = import_arx(write_project(tmp_path / "a.deid", sign=sign), tmp_path / "out")
    plan = indiff.read_plan(made.place)
    assert plan.data.identifier == ["id"]
    assert (plan.data.quasi, plan.data.sensitive) == (["age", "town"], ["ill"])
    assert plan.data.other == ["remark"]
    assert plan.data.kinds == {"age": "numeric", "remark": "categorical", "id": "categorical"}
    assert list(plan.data.hierarchies) == ["town"]  # t goes by equal distances, as asked
    assert plan.release.sanitizer == "recoding:k=3,distinct_l=2,t=0.9,suppression=0.05"
    assert plan.limits == {"k": 3, "t": 0.9}
    table = plan.data.read()
    assert len(table) == 40
    release = indiff.Recoding(k=3, distinct_l=2, t=0.9, suppression=0.05).sanitize(table)
    assert set(release.to_frame()["town"].to_pylist()) <= {
        "A",
        "B;1",
        "C",
        "D",
        "north",
        "south",
        "*",
    }
    assert release.sanitizer is not None
    for path in (tmp_path / "out").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
    assert made.notes == (
        "its ground distance goes by the column's kind here: 0.9-closeness with equal "
        "ground-distance for attribute 'ill'",
    )


def test_a_hierarchical_distance_takes_the_hierarchy_along(tmp_path: Path) -> None:
    asked = ["0.4-closeness with hierarchical ground-distance for attribute 'ill'"]
    made = import_arx(write_project(tmp_path / "a.deid", criteria=asked), tmp_path / "out")
    assert made.plan is not None
    assert set(made.plan.data.hierarchies) == {"town", "ill"}
    assert made.plan.release.sanitizer == "recoding:t=0.4,suppression=0.05"
    assert made.notes == ()


@pytest.mark.parametrize(
    ("criterion", "written"),
    [
        ("shannon-entropy-1.5-diversity for attribute 'ill'", "entropy_l=1.5"),
        ("recursive-(4.0,2)-diversity for attribute 'ill'", "recursive=4.0/2"),
    ],
)
def test_other_criteria_are_taken_over(tmp_path: Path, criterion: str, written: str) -> None:
    made = import_arx(write_project(tmp_path / "a.deid", criteria=[criterion]), tmp_path / "out")
    assert made.plan is not None
    assert made.plan.release.sanitizer == f"recoding:{written},suppression=0.05"


def test_what_has_no_counterpart_is_said(tmp_path: Path) -> None:
    columns = [
        *COLUMNS[:1],
        column("age", "QUASI_IDENTIFYING", "Date/Time"),
        column("town", "QUASI_IDENTIFYING", more="\t\t<min>1</min>\n\t\t<max>All</max>"),
        column(
            "ill",
            "INSENSITIVE",
            more="\t\t<microAggregationFunction>Mean</microAggregationFunction>",
        ),
    ]
    criteria = ["(1.0E-4)-population-uniqueness (dankar)", "(0.0,0.5)-presence"]
    project = write_project(
        tmp_path / "a.deid", columns=columns, criteria=criteria, metric="Entropy"
    )
    made = import_arx(project, tmp_path / "out")
    assert made.plan is None
    assert made.notes == (
        "age: its data type Date/Time is told by its values here",
        "town: its lowest and highest level are not taken over",
        "ill: its microaggregation is not taken over",
        "criterion not taken over: (1.0E-4)-population-uniqueness (dankar)",
        "criterion not taken over: (0.0,0.5)-presence",
        "the loss is ARX's Loss here, not Entropy",
        "remark: the project gives it no role; taken as other",
        "no criterion was taken over: choose a sanitizer and limits",
        "no column is sensitive: say which, before the plan can be run",
    )
    text = made.place.read_text(encoding="utf-8")
    assert all(f"# Note: {note}" in text for note in made.notes)


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"input/config.xml": '<!DOCTYPE a [<!ENTITY b "c">]><config/>'}, "must be plain XML"),
        ({"input/config.xml": "<config>"}, "must be XML; it is not"),
        ({"project.xml": PROJECT.format(sign="ab")}, "separator must be one sign"),
        (
            {"input/definition.xml": "<definition>" + column("a", "OTHER") + "</definition>"},
            "types",
        ),
        ({"data/input.csv": "age;town\n1;A\n"}, "must have the column 'id'"),
        ({"data/input.csv": 'id;age\n"1;2\n'}, "cannot be read"),
        ({"input/config.xml": " " * (64 << 20)}, "suspicious size"),
    ],
)
def test_what_arx_does_not_write_is_refused(
    tmp_path: Path, members: dict[str, str], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        import_arx(write_project(tmp_path / "a.deid", members=members), tmp_path / "out")


def test_a_hierarchy_never_leaves_its_folder(tmp_path: Path) -> None:
    out = HIERARCHY.format(name="../../town")
    columns = [COLUMNS[0], column("../town", "QUASI_IDENTIFYING", more=out), COLUMNS[3]]
    project = write_project(
        tmp_path / "a.deid",
        columns=columns,
        members={
            "data/input.csv": "id;../town;ill\n1;A;x\n",
            "input/hierarchies/../../town.csv": "A;*\n",
        },
    )
    made = import_arx(project, tmp_path / "out")
    assert made.plan is not None
    assert made.plan.data.hierarchies == {"../town": "hierarchy-1-___town.csv"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.deid", "out"]


def test_a_file_that_is_no_project_and_a_full_folder_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "a.deid"
    other.write_text("no zip")
    with pytest.raises(UserError, match="is a zip archive"):
        import_arx(other, tmp_path / "out")
    with pytest.raises(UserError, match="must be readable"):
        import_arx(tmp_path / "nowhere.deid", tmp_path / "out")
    with pytest.raises(UserError, match="a new or an empty folder"):
        import_arx(write_project(other), tmp_path)
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("metadata.xml", "<metadata/>")
    with pytest.raises(UserError, match=r"must have 'project.xml'"):
        import_arx(other, tmp_path / "out")
