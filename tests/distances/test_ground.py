"""The earth mover's distance with a ground distance, against POT and against worked examples."""

from __future__ import annotations

import builtins
import math
from pathlib import Path
from typing import Any

import numpy as np
import ot
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from indiff import Hierarchy, Laplace, Mondrian, UserError, differential_test, read_table
from indiff.data.schema import Kind
from indiff.data.table import Sensitive
from indiff.distances.functions import Emd, bind_distance
from indiff.distances.ground import great_circle

FIGURE_2 = (
    "Engineer;Professional;ANY;*",
    "Lawyer;Professional;ANY;*",
    "Professional;ANY;*",
    "Dancer;Artist;ANY;*",
    "Writer;Artist;ANY;*",
    "Artist;ANY;*",
    "ANY;*",
)
JOBS = ("ANY", "Artist", "Dancer", "Engineer", "Lawyer", "Professional", "Writer")


def sensitive(
    values: tuple[Any, ...], kind: Kind = Kind.CATEGORICAL, tree: Hierarchy | None = None
) -> Sensitive:
    return Sensitive("s", kind, values, np.arange(len(values), dtype=np.int32), tree)


def beliefs(rows: int, values: int, seed: int) -> NDArray[np.float64]:
    """Beliefs of which many probabilities are 0, as those of small groups are."""
    rng = np.random.default_rng(seed)
    drawn = rng.exponential(size=(rows, values)) * (rng.random((rows, values)) < 0.7)
    drawn[np.arange(rows), rng.integers(values, size=rows)] += 0.1
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def by_pot(
    one: NDArray[np.float64], other: NDArray[np.float64], costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.array([ot.emd2(p, q, costs) for p, q in zip(one, other, strict=True)])


def certain(place: int, values: int) -> NDArray[np.float64]:
    return np.eye(values)[[place]]


def test_zero_one_equals_transport() -> None:
    one, other = beliefs(1000, 6, 1), beliefs(1000, 6, 2)
    measured = Emd("0/1").bind(sensitive(tuple("abcdef")))(one, other)
    assert np.abs(measured - by_pot(one, other, 1.0 - np.eye(6))).max() < 1e-9


def test_differences_of_numbers_equal_transport() -> None:
    points = (3, -7.5, 40, 3.25, 0, 12)
    costs = np.abs(np.subtract.outer(points, points))
    one, other = beliefs(1000, 6, 3), beliefs(1000, 6, 4)
    bound = Emd("numeric").bind(sensitive(points, Kind.NUMERIC))
    assert np.abs(bound(one, other) - by_pot(one, other, costs)).max() < 1e-9
    assert bound.largest == 47.5


def test_path_lengths_equal_transport() -> None:
    tree = Hierarchy.from_lines(FIGURE_2)
    costs = np.array([[tree.path_length(a, b) for b in JOBS] for a in JOBS], np.float64)
    one, other = beliefs(1000, 7, 5), beliefs(1000, 7, 6)
    bound = Emd("hierarchy").bind(sensitive(JOBS, tree=tree))
    assert np.abs(bound(one, other) - by_pot(one, other, costs)).max() < 1e-9
    assert bound.largest == costs.max() == 4


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_equal_transport(seed: int) -> None:
    rng = np.random.default_rng(seed)
    above = [int(rng.integers(node)) for node in range(1, 12)]
    lines = []
    for node in range(1, 12):
        path, place = [], node
        while place:
            path.append(f"n{place:02d}")
            place = above[place - 1]
        lines.append(";".join([*path, "*"]))
    tree = Hierarchy.from_lines(lines)
    held = tuple(sorted(f"n{node:02d}" for node in rng.choice(np.arange(1, 12), 6, replace=False)))
    costs = np.array([[tree.path_length(a, b) for b in held] for a in held], np.float64)
    one, other = beliefs(50, 6, seed), beliefs(50, 6, 100 + seed)
    bound = Emd("hierarchy").bind(sensitive(held, tree=tree))
    assert np.abs(bound(one, other) - by_pot(one, other, costs)).max() < 1e-9
    assert bound.largest == costs.max()


@pytest.mark.parametrize(
    ("one", "other", "length"), [("Engineer", "Artist", 3), ("Dancer", "Writer", 2)]
)
def test_figure_2_of_dit_v1(one: str, other: str, length: int) -> None:
    bound = Emd("hierarchy").bind(sensitive(JOBS, tree=Hierarchy.from_lines(FIGURE_2)))
    moved = bound(certain(JOBS.index(one), 7), certain(JOBS.index(other), 7))
    assert moved.tolist() == [length]


def test_dates_differ_in_days() -> None:
    bound = Emd("numeric").bind(sensitive(("2024-02-28", "2024-03-01"), Kind.NUMERIC))
    assert bound(certain(0, 2), certain(1, 2)).tolist() == [2.0]


def write(folder: Path, text: str, name: str = "costs.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_matrix_is_read_by_name_and_solved(tmp_path: Path) -> None:
    path = write(tmp_path, "from,c,a,b,unused\na,5,0,2,9\nunused,9,9,9,0\nb,4,2,0,9\nc,0,5,4,9\n")
    costs = np.array([[0.0, 2, 5], [2, 0, 4], [5, 4, 0]])
    bound = Emd(path).bind(sensitive(("a", "b", "c")))
    one, other = beliefs(200, 3, 7), beliefs(200, 3, 8)
    other[:20] = one[:20]
    one[100:], other[100:] = one[:100], other[:100]  # what repeats is solved once
    assert np.abs(bound(one, other) - by_pot(one, other, costs)).max() < 1e-9
    assert (bound(one, other)[:20] == 0).all()
    assert bound.largest == 5
    assert bound.name == "emd:costs.csv"


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e-20, 1e-12, 1.0, 1e12, 1e300, 8e307])
def test_a_matrix_in_any_unit(tmp_path: Path, unit: float) -> None:
    """On a line the transport is the area between the sums; POT alone fails at both ends."""
    path = write(
        tmp_path, f",a,b,c\na,0,{unit},{2 * unit}\nb,{unit},0,{unit}\nc,{2 * unit},{unit},0\n"
    )
    one, other = beliefs(300, 3, 11), beliefs(300, 3, 12)
    expected = np.abs(np.cumsum(one - other, axis=1)[:, :-1]).sum(axis=1)
    measured = Emd(path).bind(sensitive(("a", "b", "c")))(one, other)
    assert np.abs(measured / unit - expected).max() < (1 if unit == 5e-324 else 1e-12)


def test_a_transport_is_feasible_however_beliefs_are_rounded(tmp_path: Path) -> None:
    """Sums that are 1 but for their last digits, and probabilities below the smallest number."""
    path = write(tmp_path, ",a,b,c\na,0,1,2\nb,1,0,1\nc,2,1,0\n")
    one, other = beliefs(400, 3, 13), beliefs(400, 3, 14)
    one[:100] *= 1 + 1e-13
    other[100:200] *= 1 - 1e-13
    one[200:300, 0], other[300:, 2] = 5e-324, 1e-310
    one, other = np.maximum(one, 1e-320), np.maximum(other, 1e-320)
    one[200:300] /= one[200:300].sum(axis=1, keepdims=True)
    other[300:] /= other[300:].sum(axis=1, keepdims=True)
    expected = np.abs(np.cumsum(one - other, axis=1)[:, :-1]).sum(axis=1)
    measured = Emd(path).bind(sensitive(("a", "b", "c")))(one, other)
    assert np.abs(measured - expected).max() < 1e-12


def test_places_on_the_globe(tmp_path: Path) -> None:
    path = write(
        tmp_path, "value,latitude,longitude\nBudapest,47.4979,19.0402\nParis,48.8566,2.3522\n"
    )
    bound = Emd(str(path)).bind(sensitive(("Budapest", "Paris")))
    (moved,) = bound(np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]]))
    assert moved == pytest.approx(0.5 * 1244.6, rel=2e-3)


def test_great_circles_equal_the_angle_between_vectors() -> None:
    rng = np.random.default_rng(0)
    up, along = rng.uniform(-90, 90, 30), rng.uniform(-180, 180, 30)
    a, b = np.radians(up), np.radians(along)
    spots = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)], axis=1)
    crossed = np.linalg.norm(np.cross(spots[:, None], spots[None]), axis=2)
    expected = 6371.0088 * np.arctan2(crossed, spots @ spots.T)
    assert np.allclose(great_circle(up, along), expected, atol=1e-6)
    ends = great_circle(np.array([90.0, -90.0]), np.array([0.0, 0.0]))
    assert ends[0, 1] == pytest.approx(math.pi * 6371.0088)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,b\na,0,1\nb,2,0\n", r"same both ways; 'a' to 'b' is 1 and back 2"),
        (",a,b\na,0,-1\nb,-1,0\n", r"line 2: a ground distance is a number of at least 0; got"),
        (",a,b\na,0,\nb,1,0\n", r"line 2: a ground distance is a number of at least 0; got ''"),
        (",a,b\na,0,nan\nb,nan,0\n", "got 'nan'"),
        (",a,b\na,0,inf\nb,inf,0\n", "got 'inf'"),
        (",a,b\na,1,1\nb,1,0\n", "a value is 0 away from itself; 'a' is 1"),
        (",a,b\na,0\nb,1,0\n", "line 2: 3 cells are needed, as in the first row; got 2"),
        (",a,b\na,0,1\n", "no row for 'b'"),
        (",a\na,0\nb,1\n", "no column for 'b'"),
        (",a,a,b\na,0,0,1\nb,1,1,0\n", "'a' is named twice"),
        (",a,b\na,0,1\na,0,1\nb,1,0\n", "line 3: 'a' has a second row"),
        (",a,b\n", "no ground distances"),
        ("value,latitude,longitude\na,0,0\n", "no line for 'b'"),
        ("value,latitude,longitude\na,91,0\nb,0,0\n", "a latitude is a number from -90 to 90"),
        ("value,latitude,longitude\na,0,181\nb,0,0\n", "a longitude is a number from -180 to"),
        ("value,latitude,longitude\na,0,0\nb,0,0\na,1,1\n", "line 4: 'a' has a second place"),
    ],
)
def test_bad_files_are_errors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Emd(write(tmp_path, text)).bind(sensitive(("a", "b")))


@pytest.mark.parametrize("mark", [",", ";"])
def test_values_that_hold_the_other_mark(tmp_path: Path, mark: str) -> None:
    values = ("cold, bad", "flu; worse")
    cells = [f'"{value}"' if mark in value else value for value in values]
    rows = [["", *cells], [cells[0], "0", "2"], [cells[1], "2", "0"]]
    path = write(tmp_path, "".join(f"{mark.join(row)}\n" for row in rows))
    distance = Emd(path).bind(sensitive(values))
    assert distance(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])).tolist() == [1.0]


def test_values_of_several_lines(tmp_path: Path) -> None:
    values = ("a\nb", "c\u2028d")
    text = ',"a\nb",c\u2028d\n"a\nb",0,2\nc\u2028d,2,0\n'
    distance = Emd(write(tmp_path, text)).bind(sensitive(values))
    assert distance(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])).tolist() == [1.0]


def test_values_that_a_file_would_call_the_same_are_not_0_apart(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text('"","a, b, c"\n"a, b, c",0\n')
    pairs = Sensitive(
        "s, t", Kind.CATEGORICAL, (("a, b", "c"), ("a", "b, c")), np.array([0, 1], np.int32)
    )
    with pytest.raises(UserError, match="two sensitive values are both called 'a, b, c' there"):
        Emd(tmp_path / "g.csv").bind(pairs)


def test_missing_value_needs_a_row(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the missing value"):
        Emd(write(tmp_path, ",a,b\na,0,1\nb,1,0\n")).bind(sensitive(("a", "b", None)))


def test_other_bad_input(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no ground distance 'hierachy': did you mean 'hierarchy'"):
        Emd("hierachy")
    with pytest.raises(UserError, match="a ground distance is one of"):
        Emd(3)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="needs a hierarchy of the sensitive attribute; 's' has"):
        Emd("hierarchy").bind(sensitive(("a", "b")))
    with pytest.raises(UserError, match="it lacks 'Pilot'"):
        Emd("hierarchy").bind(sensitive(("Dancer", "Pilot"), tree=Hierarchy.from_lines(FIGURE_2)))
    with pytest.raises(UserError, match="needs a number for every value of 's'; got 'a', the miss"):
        Emd("numeric").bind(sensitive(("a", 1, None)))
    with pytest.raises(UserError, match="cannot be read"):
        Emd(tmp_path / "none.csv").bind(sensitive(("a", "b")))
    with pytest.raises(UserError, match="beliefs in 2 sensitive values; got shapes"):
        Emd().bind(sensitive(("a", "b")))(certain(0, 3), certain(1, 3))


def test_without_pot_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = Emd(write(tmp_path, ",a,b\na,0,1\nb,1,0\n")).bind(sensitive(("a", "b")))
    found = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ot":
            raise ImportError(name)
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(UserError, match=r"install indiff\[transport\]"):
        bound(certain(0, 2), certain(1, 2))


def test_names_on_the_way_in() -> None:
    name, function = bind_distance("emd:0/1", sensitive(("a", "b")))
    assert name == "emd:0/1"
    assert function(certain(0, 2), certain(1, 2)).tolist() == [1.0]
    assert bind_distance("tv", sensitive(("a", "b")))[0] == "tv"


def jobs_table() -> Any:
    return read_table(
        pa.table(
            {
                "age": [20, 22, 31, 35, 47, 49, 60, 61],
                "job": ["Dancer", "Writer", "Lawyer", "Engineer"] * 2,
            }
        ),
        quasi=["age"],
        sensitive="job",
        hierarchies={"job": Hierarchy.from_lines(FIGURE_2)},
    )


def test_in_a_differential_test() -> None:
    table = jobs_table()
    found = differential_test(
        table, Mondrian(k=2), model="frequency", distance=["emd", Emd("hierarchy")]
    )
    tree = Hierarchy.from_lines(FIGURE_2)
    values = table.sensitive.values
    costs = np.array([[tree.path_length(a, b) for b in values] for a in values], np.float64)
    result = found["emd:hierarchy"]
    expected = by_pot(result.beliefs, result.beliefs_without, costs)
    assert np.allclose(result.distances, expected, atol=1e-9)
    assert result.delta > found["emd"].delta
    named = differential_test(table, Mondrian(k=2), model="frequency", distance="emd:hierarchy")
    assert (named.distances == result.distances).all()


def test_in_a_sampled_test() -> None:
    result = differential_test(
        jobs_table(), Laplace(0.5), distance=Emd("hierarchy"), runs=5, targets=[0]
    )
    assert result.method == "sampled"
    assert result.run_distances is not None
    assert (result.run_distances > 0).any()
    assert (result.run_distances <= 4).all()


def test_the_longest_path_limits_a_sampled_distance() -> None:
    tree = Hierarchy.from_lines(FIGURE_2)
    table = jobs_table()
    values = table.sensitive.values
    longest = max(tree.path_length(a, b) for a in values for b in values)
    result = differential_test(
        table, Laplace(0.5), distance=Emd("hierarchy"), runs=100, targets=[0]
    )
    assert result.largest == longest
    assert result.delta <= result.delta_upper <= longest
    exact = differential_test(table, Mondrian(k=2), model="naive-bayes", distance=Emd("hierarchy"))
    assert exact.largest == longest


def test_a_ground_without_differences_has_no_distance(tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    values = jobs_table().sensitive.values
    lines = [",".join(["", *values]), *(",".join([v, *("0" for _ in values)]) for v in values)]
    path.write_text("\n".join(lines))
    result = differential_test(jobs_table(), Laplace(0.5), distance=Emd(path), runs=5, targets=[0])
    assert (result.largest, result.delta_upper) == (0, 0)
