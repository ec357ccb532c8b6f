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


# What a sampled result says of itself: of three records, two have limits of their own.

LIMITED: dict[str, Any] = {
    "lower": np.array([0.1, 0.3, 0.2]), "upper": np.array([0.4, 0.5, 0.9]),
    "exactness": "estimate", "confidence": 0.9, "runs": 7, "largest": 2.0,
    "change_chances": np.array([0.5, 0.0, 0.25]), "change_limits": (0.125, 0.5),
    "run_distances": np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.0, 0.9, 0.1]]),
}  # fmt: skip


def test_limits_are_checked_against_the_upper_ends() -> None:
    found = result([0.2, 0.4, 0.3], **LIMITED)
    assert found.uppers.tolist() == [0.4, 0.5, 0.9]
    assert (found.delta, found.delta_upper) == (0.4, 0.9)
    assert found.mean_upper == pytest.approx(0.6)
    assert found.delta_interval == (0.3, 0.9)
    exact = result([0.2, 0.4, 0.3])
    assert (exact.delta_interval, exact.delta_upper) == (None, 0.4)
    assert exact.mean_upper == exact.mean
    part = result([0.2, 0.4, 0.3], **LIMITED | {"exactness": "lower-bound"})
    assert part.delta_interval is None
    none = result([], **LIMITED | {"lower": np.zeros(0), "upper": np.zeros(0)})
    assert none.delta_interval is None
    assert np.isnan(none.delta_upper)
    assert np.isnan(none.mean_upper)


def test_limits_on_changed_predictions_are_percentages() -> None:
    """Chances of ½, 0 and ¼ are 25 % in the mean; limits of ⅛ and ½ are 12.5 % and 50 %."""
    found = result([0.2, 0.4, 0.3], **LIMITED)
    assert found.changed_predictions == 25
    assert found.changed_interval == (12.5, 50.0)
    assert found.changed_upper == 50
    assert found.changed_exactness == "estimate"
    assert found.changed_part() == {
        "changed_predictions_percent": 25,
        "changed_predictions_lower": 12.5,
        "changed_predictions_upper": 50,
        "changed_predictions_exactness": "estimate",
    }
    exact = result([0.2, 0.4, 0.3])
    assert exact.changed_interval is None
    assert exact.changed_part() == {
        "changed_predictions_percent": 0, "changed_predictions_exactness": "exact",
    }  # fmt: skip
    # Chances that are known, as by a closed form, have no limits.
    known = result([0.2, 0.4], change_chances=np.array([1.0, 0.5]))
    assert (known.changed_predictions, known.changed_upper) == (75, 75)
    assert known.changed_exactness == "exact"


def test_plain_data_of_an_estimate() -> None:
    plain = result([0.2, 0.4, 0.3], **LIMITED).to_dict()
    wanted = {
        "delta": 0.4, "delta_lower": 0.3, "delta_upper": 0.9, "mean_upper": pytest.approx(0.6),
        "confidence": 0.9, "runs": 7, "records_tested": 3, "records_requested": 3,
        "records_in_table": 3, "records_dropped": 0, "exactness": "estimate", "complete": True,
        "sensitive_value_count": 3,
    }  # fmt: skip
    assert {name: plain[name] for name in wanted} == wanted
    part = result([0.2, 0.4, 0.3], **LIMITED | {"exactness": "lower-bound"}).to_dict()
    assert part["delta_lower"] == 0.3
    assert "delta_upper" not in part
    assert "mean_upper" not in part
    exact = result([0.2]).to_dict()
    beside = {"delta_lower", "delta_upper", "confidence", "individual", "people", "guarantee"}
    assert beside.isdisjoint(exact)
    assert "out_of_time" not in exact
    told = result([0.2], individual="who", people=1, guarantee="at most so", out_of_time=True)
    for name, value in (("individual", "who"), ("people", 1), ("guarantee", "at most so")):
        assert told.to_dict()[name] == value
    assert told.to_dict()["out_of_time"] is True


def test_a_row_for_each_record_with_what_is_known_of_it() -> None:
    frame = result([0.2, 0.4, 0.3], sizes=np.array([1, 2, 1]), **LIMITED).to_arrow()
    assert frame["lower"].to_pylist() == [0.1, 0.3, 0.2]
    assert frame["upper"].to_pylist() == [0.4, 0.5, 0.9]
    assert frame["records"].to_pylist() == [1, 2, 1]
    assert frame["prediction_changed"].to_pylist() == [0.5, 0.0, 0.25]


def test_nobody_moved_is_0_and_not_unknown() -> None:
    found = result([0.0, 0.0])
    assert (found.delta, found.mean, found.std, found.quantile(0.5)) == (0, 0, 0, 0)
    assert (found.delta_upper, found.mean_upper, found.changed_predictions) == (0, 0, 0)
    assert found.cdf()[1].tolist() == [1.0]
    assert found.complete
    limited = result([0.0, 0.0], **LIMITED | {"lower": np.zeros(2), "upper": np.zeros(2)})
    assert limited.delta_interval == (0.0, 0.0)
    assert limited.to_dict()["delta_lower"] == 0


def test_the_usual_quantiles() -> None:
    """Of 1 to 2,000 the p-quantile is 2,000 p: the smallest that so many do not exceed."""
    found = result(list(range(1, 2001))).quantiles
    assert found == {
        0.05: 100, 0.25: 500, 0.5: 1000, 0.75: 1500, 0.9: 1800, 0.95: 1900, 0.99: 1980, 0.999: 1998,
    }  # fmt: skip
    assert np.isnan(result([]).quantile(0.5))
    for share in (-0.001, 1.001):
        with pytest.raises(UserError, match="from 0 to 1"):
            result([1.0]).quantile(share)


@pytest.mark.parametrize(
    ("measured", "failed", "requested", "out_of_time", "interrupted"),
    [
        (2, 0, 2, False, False),
        (1, 1, 2, False, False),
        (1, 0, 2, False, True),
        (1, 1, 3, False, True),
        (1, 0, 2, True, False),
        (2, 0, 2, True, False),
    ],
)
def test_what_was_not_reached_was_interrupted_unless_the_time_was_up(
    measured: int, failed: int, requested: int, out_of_time: bool, interrupted: bool
) -> None:
    found = result(
        [0.0] * measured, failures=("no",) * failed, requested=requested, out_of_time=out_of_time
    )
    assert found.interrupted == interrupted
    assert found.complete == (measured == requested and not failed)


def test_the_population_is_people_where_a_column_names_them() -> None:
    assert result([0.1, 0.2]).population == 2
    assert result([0.1, 0.2], people=1).population == 1


def test_the_worst_ten_by_default() -> None:
    found = result([one / 20 for one in range(20)])
    assert [len(found.worst()), len(found.to_dict()["worst"]), len(found.worst(12))] == [10, 10, 12]
    assert len(json.loads(found.to_json())["worst"]) == 10
    assert len(json.loads(found.to_json(worst=2))["worst"]) == 2


def test_runs_are_needed_for_a_tail() -> None:
    found = result([0.1])
    for ask in (found.tail, found.epsilon_for):
        with pytest.raises(UserError, match="needs the distances of single runs"):
            ask(0.1)


def test_a_tail_is_of_the_records_number_with_the_results_confidence() -> None:
    """Record 10 is at least 0.4 away in all three runs; of fewer runs less is known."""
    found = result([0.2, 0.5, 0.3], **LIMITED)
    tail = found.tail(0.4)
    assert (tail.estimate, tail.record) == (1.0, 10)
    # Clopper-Pearson below three of three, for three records together with 90 %.
    assert tail.lower < (0.1 / 3) ** (1 / 3) + 1e-9
    usual = result([0.2, 0.5, 0.3], **LIMITED | {"confidence": None}).tail(0.4)
    assert usual.lower < tail.lower
    least = found.epsilon_for(0.5)
    assert least.record in (0, 10, 20)
    assert least.upper <= 2.0
    unsaid = result([0.2, 0.5, 0.3], **LIMITED | {"confidence": None})
    same = result([0.2, 0.5, 0.3], **LIMITED | {"confidence": 0.95})
    assert unsaid.epsilon_for(0.5) == same.epsilon_for(0.5)
    assert unsaid.tail(0.4) == same.tail(0.4)


def test_where_records_stand() -> None:
    found = result([0.1, 0.2, 0.3], records=np.array([30, 10, 20]))
    assert found.places(np.array([10, 20, 30])).tolist() == [1, 2, 0]
    assert len({found, found, result([0.1])}) == 2  # a result is equal to itself alone


def test_ties_within_rounding_are_decided_by_the_first() -> None:
    beliefs = np.array([[0.4, 0.2, 0.4], [0.3, 0.3, 0.4]])
    without = np.array([[0.4 - 4e-13, 0.2, 0.4], [0.3, 0.3, 0.4 + 4e-13]])
    found = result([0.0, 0.0], beliefs=beliefs, beliefs_without=without)
    assert found.predictions_changed.tolist() == [0, 0]
    moved = np.array([[0.4 - 4e-9, 0.2, 0.4], [0.4, 0.3, 0.3]])
    found = result([0.0, 0.0], beliefs=beliefs, beliefs_without=moved)
    assert found.predictions_changed.tolist() == [1, 1]


def test_what_is_not_given_is_none() -> None:
    plain = result([0.5, 0.5], requested=2).to_dict()
    for name in ("generalized_without", "uncovered", "uncovered_without", "records_dropped"):
        assert plain[name] == 0
    assert plain["timing"] == {"seconds": 0.0}
    assert "out_of_time" not in plain
    given = {name: getattr(result([0.5]), name) for name in DifferentialResult.__annotations__}
    del given["requested"]
    assert not DifferentialResult(**given).requested
