"""Numbers cut into quantiles before a table is sanitized."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from indiff import Mondrian, differential_test, read_table
from indiff.data.schema import Kind
from indiff.inference import Encoding
from indiff.sanitizers.noise.quantiles_before import quantiles_before
from tests.inference.test_encodings import people


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
