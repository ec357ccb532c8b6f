"""The 24 encodings against the worked examples of DIT v1, Appendix A.1, and against covers()."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff import Mondrian, Table, UserError, differential_test, read_table
from indiff.data.schema import Kind
from indiff.inference import ENCODINGS, Classifier, Encoding
from indiff.release.regions import Anything, Interval, Missing, Region, ValueSet
from indiff.release.release import Release, ReleasedColumn
from indiff.sanitizers.noise.quantiles_before import quantiles_before
from tests.properties.random_tables import Sample, samples, sanitizers

AGES = list(range(15, 91))
MALE, FEMALE = ValueSet(frozenset({"Male"})), ValueSet(frozenset({"Female"}))
BOTH = ValueSet(frozenset({"Male", "Female"}))


def people(ages: list[int] | None = None) -> Table:
    """Every age from 15 to 90 once; Male stands before Female, as in the appendix."""
    ages = ages or AGES
    genders = [("Male", "Female")[place % 2] for place in range(len(ages))]
    ill = [("no", "yes")[place % 3 == 0] for place in range(len(ages))]
    return read_table(
        pa.table({"age": ages, "gender": genders, "ill": ill}),
        quasi=["age", "gender"],
        sensitive="ill",
        orders={"gender": ["Male", "Female"]},
    )


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


def test_names_and_numbers() -> None:
    assert len(set(ENCODINGS)) == 24
    numbered = [Encoding.named(f"e{i}{j}") for i in range(1, 7) for j in range(1, 5)]
    assert [str(encoding) for encoding in numbered] == list(ENCODINGS)
    assert str(Encoding.named("e33")) == "Binary-HotA"
    assert Encoding.named("e64") == Encoding()


@pytest.mark.parametrize("name", ["Scaling-Hott", "e75", "TF", "Hot-Scaling", ""])
def test_an_unknown_encoding_is_answered_with_the_list(name: str) -> None:
    known = (
        r"known numeric ones: Scaling, Bounds, Binary, QuantilesB, QuantilesA, TF; "
        r"known categorical ones: Hot, Binary, HotA, TF\."
    )
    with pytest.raises(UserError, match=rf"no encoding '{name}'.*{known}"):
        Encoding.named(name)
    with pytest.raises(UserError, match=known):
        Classifier("tree", encoding=name)


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(
        UserError, match=r"no encoding 'Scaling-Hott': did you mean 'Scaling-Hot'\?"
    ):
        Encoding.named("Scaling-Hott")


def test_quantiles_must_be_a_number_of_parts() -> None:
    with pytest.raises(UserError, match="quantiles must be a whole number of at least 2; got 1"):
        Encoding("QuantilesA", "Hot", quantiles=1)
    with pytest.raises(UserError, match="quantiles must be a whole number of at least 2; got 0"):
        quantiles_before(people(), 0)


# ── QuantilesB: a step before f ──────────────────────────────────────────────────────────────


def test_quantiles_before_sanitizing() -> None:
    table = quantiles_before(people(), 5)
    age = table.attribute("age")
    assert age.kind == Kind.ORDINAL
    labels = ["15 to 30", "31 to 45", "46 to 60", "61 to 75", "76 to 90"]
    assert age.values.tolist() == labels
    assert [labels[code] for code in age.codes] == table.frame()["age"].to_pylist()
    assert np.bincount(age.codes).tolist() == [16, 15, 15, 15, 15]
    assert "quantiles of the full table" in table.notes[-1]
    release = Mondrian(k=5).sanitize(table)
    assert Encoding.named("QuantilesB-Hot").of(release).width == 5 + 2
    result = differential_test(
        table, Mondrian(k=5), model="tree:encoding=QuantilesB-TF", targets=[0, 40]
    )
    assert table.notes[-1] in result.notes


def test_quantiles_before_keeps_dates_missing_values_and_other_columns() -> None:
    days = pa.array([0, 1, 365, 366, None], pa.int32()).cast(pa.date32())
    table = read_table(
        pa.table({"day": days, "x": list("aabbc"), "ill": list("ynyny")}),
        quasi=["day", "x"], sensitive="ill", missing="split",
    )  # fmt: skip
    cut = quantiles_before(table, 2)
    assert cut.attribute("day").values.tolist() == [
        "1970-01-01 to 1970-01-02", "1971-01-01 to 1971-01-02", None,
    ]  # fmt: skip
    assert cut.attribute("day").codes.tolist() == [0, 0, 1, 1, 2]
    assert cut.attribute("x") is table.attribute("x")
    assert quantiles_before(cut, 2) is cut  # no number is left


def test_quantiles_b_refuses_a_table_that_was_not_cut() -> None:
    release = Mondrian(k=2).sanitize(people())
    with pytest.raises(UserError, match=r"before sanitizing; column 'age' .* quantiles_before"):
        Encoding.named("QuantilesB-Hot").of(release)


# ── the weighted rows are the materialised ones ──────────────────────────────────────────────


def expanded(features: Any, classes: Any, weights: Any) -> list[tuple[float, ...]]:
    rows = np.column_stack([features, classes])
    return sorted(map(tuple, np.repeat(rows, weights.astype(int), axis=0).tolist()))


@given(samples(most=25), sanitizers(), st.sampled_from([n for n in ENCODINGS if "sB" not in n]))
def test_distinct_rows_with_weights_are_all_rows(
    sample: Sample, sanitizer: Mondrian, name: str
) -> None:
    table = sample.table
    encoded = Encoding.named(name).of(sanitizer.sanitize(table))
    codes = np.stack([a.codes for a in table.attributes], axis=1)
    for target in codes[:3]:
        features, classes, weights = encoded.lesson(target)
        rows = encoded.rows(target)
        assert np.isfinite(rows).all()
        assert rows.shape[1] == encoded.targets(codes).shape[1] == encoded.width
        assert weights.sum() == len(table)
        wanted = expanded(rows, encoded.release.classes, np.ones(len(table)))
        assert expanded(features, classes, weights) == wanted


@given(samples(most=25), sanitizers())
def test_tf_is_one_feature_for_each_attribute(sample: Sample, sanitizer: Mondrian) -> None:
    table = sample.table
    release = sanitizer.sanitize(table)
    encoded = Encoding.named("TF-TF").of(release)
    assert encoded.relative
    assert encoded.width == len(table.attributes)
    target = np.array([a.codes[0] for a in table.attributes])
    for place, attribute in enumerate(table.attributes):
        value = attribute.values[attribute.codes[0]]
        value = None if value is None or value != value else value
        covers = release.covers(attribute.name, value)
        assert encoded.rows(target)[:, place].tolist() == covers.tolist()
