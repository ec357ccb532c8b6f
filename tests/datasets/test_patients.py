"""The demo table: what it promises, and that a differential test finds what was planted."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from indiff.data.hierarchy import Hierarchy
from indiff.datasets import demo, demo_hierarchies, demo_outliers
from indiff.datasets.patients import IDENTIFIER, QUASI, SENSITIVE
from indiff.errors import UserError

PINNED = [
    {
        "patient_id": "P003592",
        "age": 74,
        "sex": "female",
        "zip": "12203",
        "marital_status": "widowed",
        "admitted": date(2023, 3, 1),
        "diagnosis": "bronchitis",
    },
    {
        "patient_id": "P004208",
        "age": 12,
        "sex": "female",
        "zip": "02111",
        "marital_status": "single",
        "admitted": date(2023, 9, 5),
        "diagnosis": "appendicitis",
    },
]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return demo().to_pandas()


def cramers_v(one: pd.Series, other: pd.Series) -> float:
    """Association of two categorical columns, between 0 and 1."""
    counts = pd.crosstab(one, other).to_numpy().astype(float)
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / counts.sum()
    chi2 = ((counts - expected) ** 2 / expected).sum()
    return float(np.sqrt(chi2 / counts.sum() / (min(counts.shape) - 1)))


def test_columns_and_types() -> None:
    table = demo()
    assert table.num_rows == 5000
    assert table.column_names == [IDENTIFIER, *QUASI, SENSITIVE]
    text = [IDENTIFIER, "sex", "zip", "marital_status", "diagnosis"]
    assert all(table.schema.field(name).type == pa.string() for name in text)
    assert table.schema.field("age").type == pa.int64()
    assert table.schema.field("admitted").type == pa.date32()
    assert all(column.null_count == 0 for column in table.columns)


@pytest.mark.parametrize("records", [100, 733, 5000, 20_000])
def test_any_size(records: int) -> None:
    table = demo(records, seed=3)
    assert table.num_rows == records
    assert len(set(table[IDENTIFIER].to_pylist())) == records
    assert len(set(demo_outliers(records, seed=3))) == 6


def test_same_seed_same_bytes_other_seed_other_records() -> None:
    def content(table: pa.Table) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    assert content(demo(seed=4)) == content(demo(seed=4))
    assert content(demo(seed=4)) != content(demo(seed=5))
    assert demo_outliers(seed=4) != demo_outliers(seed=5)


def test_the_default_table_is_pinned() -> None:
    """Documentation quotes results on it: a change of the generator must be noticed."""
    assert demo().slice(0, 2).to_pylist() == PINNED


def test_values_are_plausible(frame: pd.DataFrame) -> None:
    others = frame.drop(index=list(demo_outliers()))
    assert others["age"].between(0, 96).all()
    assert 0.5 < (others["sex"] == "female").mean() < 0.6
    assert others["admitted"].between(date(2023, 1, 1), date(2023, 12, 31)).all()
    assert frame["zip"].str.fullmatch(r"\d{5}").all()
    assert 0.8 < frame["zip"].str.startswith("0").mean() < 1
    assert others["diagnosis"].value_counts().min() >= 100
    assert (others.loc[others["diagnosis"] == "childbirth", "sex"] == "female").all()
    assert others.loc[others["diagnosis"] == "childbirth", "age"].between(18, 44).all()
    assert (others.loc[others["age"] < 18, "marital_status"] == "single").all()


def test_columns_are_correlated(frame: pd.DataFrame) -> None:
    frame = frame.drop(index=list(demo_outliers()))
    ages = frame.groupby("marital_status")["age"].median()
    assert ages["single"] < ages["married"] < ages["widowed"]
    band = frame["age"] // 10
    assert cramers_v(band, frame["marital_status"]) > 0.3
    assert cramers_v(band, frame["diagnosis"]) > 0.2
    assert cramers_v(band, frame["zip"]) > 0.15
    assert cramers_v(frame["sex"], frame["diagnosis"]) > 0.2
    winter = pd.to_datetime(frame["admitted"]).dt.month.isin([12, 1, 2])
    influenza = frame["diagnosis"] == "influenza"
    assert influenza[winter].mean() > 2 * influenza[~winter].mean()
    industrial = frame["zip"].str.startswith("023")
    asthma = frame["diagnosis"] == "asthma"
    assert asthma[industrial].mean() > 1.5 * asthma[~industrial].mean()


def test_hierarchies_cover_every_value(frame: pd.DataFrame) -> None:
    for column, lines in demo_hierarchies().items():
        tree = Hierarchy.from_lines(lines)
        assert tree.notes == ()
        assert set(frame[column]) <= set(tree.values)
    zips = Hierarchy.from_lines(demo_hierarchies()["zip"])
    assert zips.values_below("0210*") == {"02108", "02109"}
    assert all(
        value is not None and value.startswith(label.rstrip("*"))
        for label in zips.labels
        for value in zips.values_below(label)
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_each_outlier_is_alone_with_its_diagnosis(seed: int) -> None:
    held = demo(seed=seed)[SENSITIVE].to_pylist()
    count = Counter(held)
    alone = {row for row, diagnosis in enumerate(held) if count[diagnosis] == 1}
    assert alone == set(demo_outliers(seed=seed))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_outliers_are_the_worst_records_of_a_differential_test(seed: int) -> None:
    """DIT v2, Section 3.2, with a sanitizer so plain that the test is a few lines.

    Every cell is generalized to a fixed bin, so f(D⁻ⁱ) is f(D) without row i; the beliefs are
    those of Bernoulli naive Bayes on "does the region cover the target's value", with add-one
    smoothing, and the distance is Σ|p − p'|.
    """
    frame = demo(seed=seed).to_pandas()
    bins = np.stack(
        [
            frame["age"] // 10,
            pd.factorize(frame["sex"])[0],
            pd.factorize(frame["zip"].str[:4])[0],
            pd.factorize(frame["marital_status"])[0],
            pd.to_datetime(frame["admitted"]).dt.isocalendar().week,
        ],
        axis=1,
    ).astype(int)
    diagnosis, names = pd.factorize(frame["diagnosis"])
    held = np.bincount(diagnosis)
    covering = [
        np.array(
            [np.bincount(diagnosis[column == value], minlength=len(names)) for value in column]
        )
        for column in bins.T
    ]
    own = np.eye(len(names))[diagnosis]  # what the target itself adds to every count

    def beliefs(removed: np.ndarray) -> np.ndarray:
        size = held - removed
        joint = size.astype(float)
        for counts in covering:
            joint = joint * (counts - removed + 1) / (size + 2)
        return joint / joint.sum(1, keepdims=True)

    distances = np.abs(beliefs(np.zeros_like(own)) - beliefs(own)).sum(1)
    worst = np.argsort(-distances)[:12]
    assert set(demo_outliers(seed=seed)) <= set(worst.tolist())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"records": 20}, r"at least 100 records.*got 20\. Raise records"),
        ({"seed": -1}, r"seed must be 0 or more; got -1"),
    ],
)
def test_bad_arguments(arguments: dict[str, int], message: str) -> None:
    for function in (demo, demo_outliers):
        with pytest.raises(UserError, match=message):
            function(**arguments)


def test_importing_the_package_is_cheap() -> None:
    code = (
        "import sys, indiff.datasets; "
        "sys.exit(any(m in sys.modules for m in ('numpy', 'pyarrow', 'numba', 'urllib.request')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_functions_are_not_hidden_by_modules() -> None:
    code = (
        "import indiff.datasets as d; import indiff.datasets.patients, indiff.datasets.fetch; "
        "assert all(callable(getattr(d, name)) for name in 2 * d.__all__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    import indiff.datasets

    with pytest.raises(AttributeError, match="no attribute 'adults'"):
        _ = indiff.datasets.adults
