"""What was recognised in a release: every cell is counted once, under the shape it was read as."""

from __future__ import annotations

import datetime

import pyarrow as pa

from indiff.data.hierarchy import Hierarchy
from indiff.data.table import read_table
from indiff.release.reading import read_release
from indiff.release.recognised import recognised

FRAME = pa.table(
    {
        "age": [28, 36, None, 53],
        "born": [datetime.date(1976, 7, day) for day in (4, 5, 6, 7)],
        "plz": ["10115", "10117", "10119", "10437"],
        "job": ["Dancer", "Poet", "Lawyer", "Dancer"],
        "sex": ["F", "M", "F", "X"],
        "ill": ["no", "yes", "no", "yes"],
    }
)
TREE = Hierarchy.from_lines(["Dancer;Artist;*", "Poet;Artist;*", "Lawyer;*"])


def test_every_cell_is_counted_under_its_shape() -> None:
    table = read_table(
        FRAME,
        quasi=["age", "born", "plz", "job", "sex"],
        sensitive="ill",
        hierarchies={"job": TREE},
        missing="split",
    )
    made = pa.table(
        {
            "age": ["20-39", "36", "missing", "*"],
            "born": ["1976", "1976-07", "1976-07-06", "1976"],
            "plz": ["1011*", "1011*", "NA", "10437"],
            "job": ["Artist", "Artist", "Lawyer", "Dancer"],
            "sex": ["{F, M}", "{F, M}", "F", "NA"],
            "ill": ["no", "yes", "no", "yes"],
        }
    )
    found = recognised(read_release(made, table, suppressed=["NA"]))
    told = {
        name: {shape.name: (shape.cells, shape.regions) for shape in shapes}
        for name, shapes in found.items()
    }
    assert told == {
        "age": {"range": (1, 1), "single value": (1, 1), "missing": (1, 1), "suppressed": (1, 1)},
        "born": {"period": (3, 2), "single day": (1, 1)},
        "plz": {"masked code": (2, 1), "suppressed": (1, 1), "single value": (1, 1)},
        "job": {"group of the hierarchy": (2, 1), "single value": (2, 2)},
        "sex": {"set of values": (2, 1), "single value": (1, 1), "suppressed": (1, 1)},
    }
    assert [shape.name for shape in found["born"]] == ["period", "single day"]
