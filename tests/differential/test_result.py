"""What a result says: by hand, on numbers that are easy to check."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from indiff import DifferentialResult, UserError


def result(distances: list[float], **options: Any) -> DifferentialResult:
    size = len(distances)
    beliefs = np.tile([0.6, 0.3, 0.1], (size, 1))
    return DifferentialResult(
        **{
            "distances": np.array(distances, np.float64),
            "beliefs": beliefs,
            "beliefs_without": beliefs,
            "records": np.arange(size) * 10,
            "classes": np.zeros(size, np.int32),
            "sensitive_name": "ill",
            "sensitive_values": ("flu", "cold", None),
            "sanitizer": "identity",
            "model": "frequency",
            "distance": "wasserstein",
            "method": "refit",
            "exactness": "exact",
            "table_size": size,
            "fingerprint": "0",
            "requested": size,
            **options,
        }
    )


def test_summaries_by_hand() -> None:
    found = result([0.0, 0.5, 1.0, 0.5])
    assert (found.delta, found.worst_case) == (1, 1)
    assert (found.mean, found.average_case) == (0.5, 0.5)
    assert found.std == pytest.approx(np.sqrt(0.125))
    values, shares = found.cdf()
    assert values.tolist() == [0, 0.5, 1]
    assert shares.tolist() == [0.25, 0.75, 1]


@pytest.mark.parametrize(
    ("share", "expected"), [(0, 1), (0.2, 1), (0.21, 2), (0.5, 3), (0.6, 3), (0.81, 5), (1, 5)]
)
def test_a_quantile_is_a_distance_that_occurs(share: float, expected: float) -> None:
    assert result([5, 3, 1, 4, 2]).quantile(share) == expected


def test_a_quantile_is_a_share() -> None:
    with pytest.raises(UserError, match=r"a quantile is a share from 0 to 1; got 95"):
        result([1.0]).quantile(95)


def test_infinite_distances_are_kept_and_counted() -> None:
    found = result([0.25, np.inf, 0.75, np.inf], distance="kl")
    assert found.infinite == 2
    assert found.delta == np.inf
    assert found.mean == np.inf
    assert found.std == 0.25  # of the finite ones
    assert found.quantile(0.5) == 0.75
    assert found.quantile(0.51) == np.inf
    assert all(not np.isnan(value) for value in found.quantiles.values())
    values, shares = found.cdf()
    assert values.tolist() == [0.25, 0.75, np.inf]
    assert shares.tolist() == [0.25, 0.5, 1]
    assert [line["record"] for line in found.worst(3)] == [10, 30, 20]


def test_json_is_valid_and_holds_no_value_of_the_table() -> None:
    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is not JSON")

    text = result([0.25, np.inf]).to_json()
    plain = json.loads(text, parse_constant=refuse)
    assert plain["delta"] == "Infinity"
    assert plain["infinite"] == 1
    assert plain["quantiles"]["0.5"] == 0.25
    assert plain["records_in_table"] == 2
    assert "flu" not in text


def test_an_empty_result_is_incomplete_and_still_json() -> None:
    found = result([], requested=5)
    assert not found.complete
    assert np.isnan(found.delta)
    assert np.isnan(found.changed_predictions)
    assert json.loads(found.to_json())["delta"] == "NaN"


def test_the_worst_come_first_and_ties_by_record() -> None:
    found = result([0.5, 1.0, 0.5, 1.0])
    assert [line["record"] for line in found.worst(3)] == [10, 30, 0]
    assert len(found.worst(100)) == 4
    assert found.worst(1)[0] == {
        "record": 10,
        "distance": 1.0,
        "belief": 0.6,
        "belief_without": 0.6,
        "prediction_changed": False,
    }


def test_changed_predictions_are_a_percentage_and_rounding_is_no_change() -> None:
    beliefs = np.array([[0.5, 0.5], [0.7, 0.3], [0.4, 0.6], [0.5, 0.5]])
    without = np.array([[0.5 - 1e-15, 0.5 + 1e-15], [0.3, 0.7], [0.3, 0.7], [0.4, 0.6]])
    found = result(
        [0.0] * 4, beliefs=beliefs, beliefs_without=without, sensitive_values=("flu", "cold")
    )
    assert found.predictions_changed.tolist() == [False, True, False, True]
    assert found.changed_predictions == 50


def test_the_belief_in_the_true_value() -> None:
    found = result([0.0, 0.0], classes=np.array([2, 1], np.int32))
    assert found.true_beliefs.tolist() == [0.1, 0.3]
    frame = found.to_arrow()
    assert frame.column_names == [
        "record",
        "distance",
        "belief",
        "belief_without",
        "prediction_changed",
    ]
    assert frame["record"].to_pylist() == [0, 10]


def test_a_failure_makes_a_result_incomplete() -> None:
    assert result([0.1]).complete
    assert not result([0.1], failures=("record 3",)).complete
    assert not result([0.1], requested=2).complete
