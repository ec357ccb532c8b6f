"""The features of one column, as DIT v1's appendix prints them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Table, UserError, read_table
from indiff.inference import Encoding
from indiff.release.regions import Anything, Interval, Missing, Region, ValueSet
from indiff.release.release import Release, ReleasedColumn
from tests.inference.test_encodings import people

MALE, FEMALE = ValueSet(frozenset({"Male"})), ValueSet(frozenset({"Female"}))


BOTH = ValueSet(frozenset({"Male", "Female"}))


def release_of(table: Table, **regions: list[Region]) -> Release:
    """Return a release of one row for each of the regions listed."""
    count = len(next(iter(regions.values())))
    columns = tuple(
        ReleasedColumn.of(table.attribute(name), shown, np.arange(count, dtype=np.int32))
        for name, shown in regions.items()
    )
    classes = (np.arange(count) % 2).astype(np.int32)
    return Release(columns, "ill", table.sensitive.values, classes)


def encode(name: str, table: Table, target: dict[str, Any], **regions: list[Region]) -> Any:
    """Return the features of the rows, and of the target."""
    encoded = Encoding.named(name).of(release_of(table, **regions))
    codes = np.array(
        [[table.attribute(c).values.tolist().index(target[c]) for c in regions]], np.int32
    )
    assert encoded.rows(codes[0]).shape == (len(encoded.release), encoded.width)
    return encoded.rows(codes[0]).round(3).tolist(), encoded.targets(codes)[0].round(3).tolist()


@pytest.mark.parametrize(
    ("encoding", "interval", "thirty"),
    [
        ("Scaling", [0.4], [0.2]),
        ("Bounds", [0.267, 0.533], [0.2, 0.2]),  # printed 0.534
        # printed 0001101 for 15, and 28 = 0011100 for 45 − 15 = 30
        ("Binary", [0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]),
        ("QuantilesA", [0, 1, 1, 0, 0], [0, 1, 0, 0, 0]),
        ("TF", [0], [1]),
    ],
)
def test_the_appendix_on_age(encoding: str, interval: list[float], thirty: list[float]) -> None:
    shown: list[Region] = [Interval(35, 55), Interval(30, 30)]
    rows, target = encode(f"{encoding}-TF", people(), {"age": 30}, age=shown)
    assert rows == [interval, thirty]
    assert target == thirty


@pytest.mark.parametrize(
    ("encoding", "rows"),
    [
        ("Hot", [[1, 0], [0, 1], [1, 1]]),
        ("Binary", [[0, 1], [1, 0], [1, 1]]),
        ("HotA", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ("TF", [[0], [1], [1]]),
    ],
)
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_the_appendix_on_gender(encoding: str, rows: list[list[int]], order: list[int]) -> None:
    shown: list[Region] = [[MALE, FEMALE, BOTH][place] for place in order]
    found, target = encode(f"TF-{encoding}", people(), {"gender": "Female"}, gender=shown)
    assert found == [rows[place] for place in order]  # however the release numbers its regions
    assert target == rows[1]


@pytest.mark.parametrize(("encoding", "zeros"), [("Binary", [0, 0]), ("HotA", [0, 0])])
def test_a_value_that_the_release_never_shows_alone(encoding: str, zeros: list[int]) -> None:
    _, target = encode(f"TF-{encoding}", people(), {"gender": "Female"}, gender=[MALE, BOTH])
    assert target == zeros


def test_the_quantiles_of_the_domain_are_the_printed_ones() -> None:
    ends = [15, 29, 30, 44, 45, 59, 60, 74, 75, 90]
    rows, _ = encode("QuantilesA-TF", people(), {"age": 15}, age=[Interval(e, e) for e in ends])
    assert rows == [list(np.eye(5)[place // 2]) for place in range(10)]


def test_open_ends_stars_and_sets_of_numbers() -> None:
    shown: list[Region] = [
        Anything(), Interval(-np.inf, 30), Interval(60, np.inf), ValueSet(frozenset({20, 80})),
        Interval(29, 45, low_closed=False, high_closed=False),
    ]  # fmt: skip
    bounds, _ = encode("Bounds-TF", people(), {"age": 15}, age=shown)
    assert bounds == [[0, 1], [0, 0.2], [0.6, 1], [0.067, 0.867], [0.187, 0.4]]
    parts, _ = encode("QuantilesA-TF", people(), {"age": 15}, age=shown)
    assert parts == [[1] * 5, [1, 1, 0, 0, 0], [0, 0, 0, 1, 1], [1, 0, 0, 0, 1], [0, 1, 0, 0, 0]]


def test_a_constant_column_and_few_values() -> None:
    for name, wanted in (
        ("Scaling", [0]),
        ("Bounds", [0, 0]),
        ("Binary", [0]),
        ("QuantilesA", [1]),
    ):
        rows, target = encode(f"{name}-TF", people([40, 40]), {"age": 40}, age=[Interval(40, 40)])
        assert rows == [wanted]
        assert target == wanted
    two, _ = encode("QuantilesA-TF", people([40, 50]), {"age": 40}, age=[Interval(50, 50)])
    assert two == [[0, 1]]


def test_a_missing_number_has_a_feature_of_its_own() -> None:
    table = read_table(
        pa.table({"age": [20, 40, None], "ill": ["no", "yes", "no"]}),
        quasi=["age"], sensitive="ill", missing="split",
    )  # fmt: skip
    release = release_of(table, age=[Interval(40, 40), Missing(), Anything()])
    wanted = {
        "Scaling": ([[1, 0], [0, 1], [0.5, 1]], [[0, 0], [0, 1]]),
        "Bounds": ([[1, 1, 0], [0, 0, 1], [0, 1, 1]], [[0, 0, 0], [0, 0, 1]]),
        "QuantilesA": ([[0, 1, 0], [0, 0, 1], [1, 1, 1]], [[1, 0, 0], [0, 0, 1]]),
    }
    for name, (rows, targets) in wanted.items():
        encoded = Encoding.named(f"{name}-TF").of(release)
        assert encoded.rows(np.array([0])).tolist() == rows
        assert encoded.targets(np.array([[0], [2]])).tolist() == targets


def test_bits_that_floating_point_cannot_tell_are_refused() -> None:
    table = people([0, 2**53])
    with pytest.raises(
        UserError, match=r"Binary needs .* less than 2\^53 apart; 'age' goes from 0"
    ):
        encode("Binary-TF", table, {"age": 0}, age=[Anything()])
