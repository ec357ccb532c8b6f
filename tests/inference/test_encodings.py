"""The 24 encodings against the worked examples of DIT v1, Appendix A.1, and against covers()."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff import Mondrian, Table, UserError, read_table
from indiff.inference import ENCODINGS, Classifier, Encoding
from indiff.sanitizers.noise.quantiles_before import quantiles_before
from tests.properties.random_tables import Sample, samples, sanitizers

AGES = list(range(15, 91))


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
