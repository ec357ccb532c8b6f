"""Charts: what they draw is what was measured, and Vega accepts every one of them."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from typing import Any

import pytest

import indiff
from indiff.differential.strongest import StrongestResult
from indiff.errors import UserError
from tests.report.documents import HOSTILE, usual

TABLE = {
    "age": [20, 21, 22, 40, 41, 42, 60, 61],
    "sex": ["f", "m", "f", "m", "f", "m", "f", "m"],
    "diagnosis": ["flu", "flu", "cold", "flu", "cold", "cold", "flu", "rare"],
}


@pytest.fixture(scope="module")
def result() -> Any:
    import pyarrow as pa

    table = indiff.read_table(pa.table(TABLE), quasi=["age", "sex"], sensitive="diagnosis")
    return indiff.differential_test(table, indiff.Mondrian(k=2), model="naive-bayes")


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """Every row that a chart holds."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def compiled(chart: Any) -> str:
    """The drawing that Vega makes of a chart."""
    import vl_convert

    drawing: str = vl_convert.vegalite_to_svg(json.dumps(chart.to_dict()))
    return drawing


def test_cdf_is_the_share_at_or_below_each_distance(result: Any) -> None:
    chart = indiff.plot.cdf(result)
    steps = [row for row in rows_of(chart) if "largest" not in row]
    for row in steps:
        below = sum(distance <= row["d"] for distance in result.distances)
        assert row["share"] == pytest.approx(below / 8)
    (end,) = [row for row in rows_of(chart) if "largest" in row]
    assert end["largest"] == pytest.approx(result.delta)
    assert end["share"] == 1
    x = chart.to_dict()["layer"][0]["encoding"]["x"]
    assert x["scale"]["type"] == "log"


def test_cdf_of_zeros_starts_at_their_share() -> None:
    chart = indiff.plot.cdf([{"name": "a", "x": [0.0, 0.25, 1.0], "y": [0.5, 0.75, 1.0]}])
    steps = [row for row in rows_of(chart) if "largest" not in row]
    assert steps[0] == {"series": "a", "d": 0.1, "share": 0.5}
    assert all(row["d"] > 0 for row in steps)


def test_cdf_keeps_rounding_noise_out_of_the_axis() -> None:
    chart = indiff.plot.cdf([{"name": "a", "x": [1e-17, 0.5], "y": [0.5, 1.0]}])
    low, high = chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert low == pytest.approx(1e-6)
    assert high == pytest.approx(0.55)


def test_cdf_of_infinite_distances_ends_below_one() -> None:
    chart = indiff.plot.cdf([{"name": "a", "x": [0.5, "Infinity"], "y": [0.75, 1.0]}])
    assert max(row["share"] for row in rows_of(chart)) == 0.75


def test_cdf_takes_one_result_several_or_the_strongest(result: Any) -> None:
    named = indiff.plot.cdf({"first": result, "second": result})
    assert {row["series"] for row in rows_of(named)} == {"first", "second"}
    listed = indiff.plot.cdf([result, result])
    assert {row["series"] for row in rows_of(listed)} == {result.model, f"{result.model} (2)"}
    strongest = StrongestResult(
        results={"one": result, "two": result},
        distances=result.distances,
        records=result.records,
        seen_by=result.records.astype(str),
    )
    assert {row["series"] for row in rows_of(indiff.plot.cdf(strongest))} == {"one", "two"}


def test_cdf_needs_a_record() -> None:
    with pytest.raises(UserError, match="at least one tested record"):
        indiff.plot.cdf([])


def test_limit_is_drawn_and_named(result: Any) -> None:
    assert {"limit": 0.1, "text": "limit 0.1"} in rows_of(indiff.plot.cdf(result, limit=0.1))


@pytest.mark.parametrize(("limit", "align"), [(1e-5, "left"), (100.0, "right")])
def test_words_of_a_limit_stand_on_the_side_that_has_room(
    result: Any, limit: float, align: str
) -> None:
    words = indiff.plot.cdf(result, limit=limit).to_dict()["layer"][-1]["mark"]
    assert (words["align"], words["dx"] > 0) == (align, align == "left")


def test_parameter_draws_delta_and_mean(result: Any) -> None:
    rows = rows_of(indiff.plot.parameter({2: result}, name="k"))
    values = {row["series"]: row["value"] for row in rows}
    assert values == {
        "δ, the largest distance": pytest.approx(result.delta),
        "mean distance": pytest.approx(result.mean),
    }


def test_parameter_is_linear_where_something_is_zero() -> None:
    points = [{"setting": "a", "value": None, "delta": 0.5, "mean": 0.0}]
    chart = indiff.plot.parameter({"parameter": "k", "points": points})
    assert "log" not in json.dumps(chart.to_dict()["layer"])


def test_risk_compares_two_risks() -> None:
    import pyarrow as pa

    frame = pa.table(TABLE)
    before = indiff.measure_risk(frame, quasi=["age", "sex"], sensitive="diagnosis")
    after = indiff.measure_risk(frame, quasi=["sex"], sensitive="diagnosis")
    rows = rows_of(indiff.plot.risk(before, after))
    ends = {(row["line"], row["series"]): row["value"] for row in rows if "value" in row}
    assert ends["DR · re-identification", "before sanitizing"] == 1  # every age is unique
    # Four of each sex: two of the three bits of who it is remain.
    assert ends["DR · re-identification", "after sanitizing"] == pytest.approx(1 / 3)
    alone = {row["line"]: row["value"] for row in rows_of(indiff.plot.columns(before))}
    assert alone == {"age": 1, "sex": pytest.approx(1 / 3)}
    with pytest.raises(UserError, match="give the one after sanitizing"):
        indiff.plot.risk(before)


def test_risk_without_an_upper_end_is_left_out() -> None:
    rows = [
        {"metric": "MI", "about": "a", "before": 3.0, "after": 1.0, "range": [0, 4]},
        {"metric": "β", "about": "a", "before": 3.0, "after": 1.0, "range": [0, None]},
    ]
    ends = [row for row in rows_of(indiff.plot.risk(rows)) if "value" in row]
    assert [(row["line"], row["value"]) for row in ends] == [("MI · a", 0.75), ("MI · a", 0.25)]


def test_columns_draws_the_worst_thirty() -> None:
    rows = [
        {"column": f"c{place}", "metric": "DR", "before": place / 100, "after": None}
        for place in range(100)
    ]
    lines = [row["line"] for row in rows_of(indiff.plot.columns(rows))]
    assert lines == [f"c{place}" for place in range(99, 69, -1)]


def test_worst_draws_both_beliefs_and_the_distance(result: Any) -> None:
    rows = rows_of(indiff.plot.worst(result, 3))
    first = result.worst(1)[0]
    line = f"record {first['record']}"
    ends = {row["series"]: row["value"] for row in rows if row["line"] == line and "value" in row}
    assert ends["with the record"] == pytest.approx(first["belief"])
    assert ends["without the record"] == pytest.approx(first["belief_without"])
    assert {"line": line, "text": f"d = {first['distance']:.3g}"} in rows
    assert len({row["line"] for row in rows}) == 3


COMPARISON: dict[str, Any] = {
    "rows": [
        {"setting": "mondrian:k=2", "delta": 1.5, "ncp": 0.1, "accuracy": 0.9, "on_front": True},
        {"setting": "mondrian:k=9", "delta": 0.4, "ncp": 0.3, "accuracy": 0.8, "on_front": True},
        {"setting": "identity", "delta": 1.9, "ncp": 0.2, "accuracy": 0.7, "on_front": False},
        {"setting": "broken", "delta": None, "ncp": None, "accuracy": None, "on_front": False},
        {"setting": "endless", "delta": "Infinity", "ncp": 0.1, "accuracy": 0, "on_front": False},
    ],
    "recommended": "mondrian:k=9",
}


def test_tradeoff_names_the_front_and_the_recommended() -> None:
    chart = indiff.plot.tradeoff(COMPARISON)
    kinds = {row["setting"]: row["kind"] for row in rows_of(chart)}
    assert kinds == {
        "mondrian:k=2": "on the front",
        "mondrian:k=9": "recommended",
        "identity": "beaten by another setting",
    }
    named = {row["name"] for row in rows_of(chart)}
    assert named == {"mondrian:k=2", "mondrian:k=9", ""}
    assert "on the front" in compiled(chart)


def test_tradeoff_refuses_what_it_cannot_draw() -> None:
    with pytest.raises(UserError, match="no utility 'npc': did you mean 'ncp'"):
        indiff.plot.tradeoff(COMPARISON, utility="npc")
    with pytest.raises(UserError, match="no risk 'size'"):
        indiff.plot.tradeoff(COMPARISON, risk="size")
    with pytest.raises(UserError, match="no setting has both delta and discernibility"):
        indiff.plot.tradeoff(COMPARISON, utility="discernibility")


def test_vega_draws_every_chart_of_a_document() -> None:
    charts = usual()["charts"]
    made = {
        "naive-bayes": indiff.plot.cdf(charts["cdf"], limit=0.1),
        "mean distance": indiff.plot.parameter(charts["parameter"], limit=0.1),
        "DR · diagnosis": indiff.plot.risk(charts["risk"]),
        "zip": indiff.plot.columns(charts["columns"]),
        "record 4711": indiff.plot.worst(charts["worst"]),
    }
    for words, chart in made.items():
        assert words in compiled(chart)


def test_labels_stay_apart_and_short() -> None:
    rows = [
        {"column": text, "metric": "DR", "before": 0.5, "after": 0.1}
        for text in (*HOSTILE, "x" * 10_001)
    ]
    chart = indiff.plot.columns(rows)
    lines = {row["line"] for row in rows_of(chart)}
    assert len(lines) == len(rows)
    assert max(map(len, lines)) < 70
    assert "<script>" not in compiled(chart)


def test_charts_can_be_combined_and_repeated(result: Any) -> None:
    chart = indiff.plot.cdf(result)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = (chart | indiff.plot.worst(result)).to_dict()
    assert len(both["hconcat"]) == 2
    assert indiff.plot.cdf(result).to_dict() == chart.to_dict()


def test_importing_indiff_does_not_load_altair() -> None:
    code = "import indiff, sys; sys.exit('altair' in sys.modules or 'plot' not in dir(indiff))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
