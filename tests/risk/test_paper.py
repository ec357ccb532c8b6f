"""Tables 1, 2, 4 and 5 and Figures 1–4 of the ITPR paper, on every engine."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from indiff.risk import Risk, measure_risk

ZIP_AGE_DISEASE = [
    (35510, 21, "Asthma"), (35591, 42, "HIV"), (35593, 47, "Asthma"), (35210, 38, "Diabetes"),
    (35273, 32, "HIV"), (35517, 20, "Diabetes"), (35599, 49, "Diabetes"), (35262, 33, "Asthma"),
    (35511, 26, "HIV"), (35212, 39, "Diabetes"), (35281, 32, "Diabetes"), (35596, 41, "Diabetes"),
    (35592, 46, "Diabetes"), (35515, 23, "Diabetes"), (35511, 26, "Diabetes"),
]  # fmt: skip

AGE = {
    1: [30, 62, 37, 21, 19, 47, 71, 73],
    2: [30] * 8,
    3: [30, 30, 30, 47, 30, 30, 30, 30],
    4: [30, 30, 30, 47, 30, 47, 30, 30],
    5: [30] * 4 + [47] * 4,
}
DISEASE = {
    1: ["Diabetes", "Epilepsy", "Asthma", "Allergies", "Depression", "HIV", "Heart", "Cancer"],
    2: ["Diabetes", "Diabetes", "Epilepsy", "Depression", "HIV", "Heart", "Cancer", "Allergies"],
    3: ["Diabetes", "Diabetes", "Diabetes", "Diabetes", "Diabetes", "HIV", "Asthma", "Allergies"],
}
ZIP = {1: [35000] * 3 + [35510] * 5, 2: [35000] * 3 + [35510] * 3 + [35200] * 2}


def measure(data: dict[str, list[Any]], engine: Any, sensitive: str | None = None) -> Risk:
    quasi = [name for name in data if name != sensitive]
    return measure_risk(
        pa.table(data), quasi=quasi, sensitive=sensitive, engine=engine, details=False
    )


def generalized(rows: int) -> dict[str, list[Any]]:
    """Tables 1b and 2b: ``3551*``, ``3559*`` and ``352*``, which hides two digits (errata 13)."""
    found: dict[str, list[Any]] = {"zip": [], "age": [], "disease": []}
    for code, age, disease in ZIP_AGE_DISEASE[:rows]:
        found["zip"].append("352*" if code < 35300 else f"{code // 10}*")
        found["age"].append(f"{age // 10}*")
        found["disease"].append(disease)
    return found


@pytest.mark.parametrize(
    ("rows", "k", "distinct_l", "frequency_l"), [(9, 3, 3, 3), (15, 5, 3, 5 / 3)]
)
def test_tables_1_and_2(
    rows: int, k: int, distinct_l: int, frequency_l: float, engine: str
) -> None:
    risk = measure(generalized(rows), engine, "disease")
    assert risk.groups.k == k
    assert risk.groups.distinct_l == distinct_l
    assert risk.groups.t == 0
    assert risk.groups.l == pytest.approx(frequency_l)  # "0,60 in the second, 0,33 in the first"


def cut(number: float, digits: int) -> float:
    """Table 4 truncates rather than rounds (errata 4)."""
    return math.floor(number * 10**digits + 1e-9) / 10**digits


@pytest.mark.parametrize(
    ("case", "printed"),
    [
        (1, (1.0, 3.0, 0.875, 3.0, 1.0)),
        (2, (0.0, 0.0, 0.0, 0.0, 0.125)),
        (3, (0.18, 0.54, 0.31, 3.0, 1.0)),
        (4, (0.27, 0.81, 0.43, 2.75, 0.5)),
        (5, (0.33, 1.0, 0.5, 2.0, 0.25)),
    ],
)
def test_table_4_reidentification(case: int, printed: tuple[float, ...], engine: str) -> None:
    found = measure({"age": AGE[case]}, engine).reidentification
    computed = (found.dr, found.mi, found.cp, found.mil, found.eld)
    digits = (2, 2, 3 if case == 1 else 2, 2, 3)
    assert tuple(map(cut, computed, digits)) == printed


@pytest.mark.parametrize(
    ("case", "printed", "mil"),
    [
        (1, (0.33, 1.0, 0.5, 0.25), 2.0),
        (2, (0.36, 1.0, 0.5, 0.35), 2.0),  # MIL is printed as 1.0 (errata 2)
        (3, (0.35, 0.54, 0.31, 1.0), 1.54),  # MIL is printed as 1.0 (errata 2)
    ],
)
def test_table_4_inference(case: int, printed: tuple[float, ...], mil: float, engine: str) -> None:
    risk = measure({"age": AGE[5], "disease": DISEASE[case]}, engine, "disease")
    found = risk.inference["disease"]
    assert tuple(cut(x, 2) for x in (found.dr, found.mi, found.cp, found.eld)) == printed
    assert cut(found.mil, 2) == mil


@pytest.mark.parametrize(
    ("row", "data", "printed"),
    [
        (1, {"age": AGE[1]}, 1.0),
        (2, {"age": AGE[2]}, 0.0),
        (3, {"age": AGE[3]}, 1.0),
        (4, {"age": AGE[4]}, 0.83),
        (5, {"age": AGE[5]}, 0.33),
        (6, {"age": AGE[2], "zip": ZIP[1]}, 0.6),
        (7, {"age": AGE[2], "zip": ZIP[2]}, 0.75),  # printed as case 1 of Zip Code (errata 1)
        (8, {"age": AGE[5], "disease": DISEASE[1]}, 0.33),
        (9, {"age": AGE[5], "disease": DISEASE[2]}, 0.45),
        (10, {"age": AGE[5], "disease": DISEASE[3]}, 1.0),
    ],
)
def test_table_5(row: int, data: dict[str, list[Any]], printed: float, engine: str) -> None:
    sensitive = "disease" if "disease" in data else None
    risk = measure(data, engine, sensitive)
    found = risk.inference["disease"] if sensitive else risk.reidentification
    assert cut(found.itpr, 2) == printed
    assert found.itpr_combined == (found.itpr if row in (6, 7) else None)


def two_values(smaller: int) -> dict[str, list[Any]]:
    return {"sex": ["m"] * smaller + ["f"] * (10_000 - smaller)}


def test_figure_1_two_values_of_y() -> None:
    risks = [measure(two_values(n), "in-process").reidentification for n in range(1, 5001, 250)]
    equal = measure(two_values(5000), "in-process").reidentification
    assert equal.epsilon == 0
    assert cut(equal.itpr, 2) == 0.07
    assert risks[0].epsilon == 9998
    assert risks[0].itpr == 1.0
    assert equal.mil == pytest.approx(7, abs=0.2)  # "between 7 and 13"
    assert risks[0].mil == pytest.approx(13.3, abs=0.1)
    curve = [*risks, equal]
    assert [r.epsilon for r in curve] == sorted((r.epsilon for r in curve), reverse=True)
    for name in ("itpr", "mil", "eld"):  # these fall as the two values become equally frequent
        numbers = [getattr(r, name) for r in curve]
        assert numbers == sorted(numbers, reverse=True), name
    for name in ("mi", "cp"):  # these rise, which is what the paper holds against them
        numbers = [getattr(r, name) for r in curve]
        assert numbers == sorted(numbers), name
    assert all(r.dr < 0.1 for r in curve)


def test_figure_2_ten_values_of_y() -> None:
    def risk(smallest: int) -> Any:
        rest = [(10_000 - smallest) // 9] * 9
        rest[0] += 10_000 - smallest - sum(rest)
        sizes = [smallest, *rest]
        data = {"age": [value for value, size in enumerate(sizes) for _ in range(size)]}
        return measure(data, "in-process").reidentification

    curve = [risk(smallest) for smallest in (1, 10, 100, 500, 1000)]
    assert curve[0].itpr == 1.0
    numbers = [r.itpr for r in curve]
    assert numbers == sorted(numbers, reverse=True)


def five_ages(common: int) -> dict[str, list[Any]]:
    """Each of five ages: 2,000 records, ten diseases, one of which is held ``common`` times."""
    rest = [(2000 - common) // 9] * 9
    rest[0] += 2000 - common - sum(rest)
    diseases = ["a"] * common + [str(i) for i, size in enumerate(rest) for _ in range(size)]
    return {"age": [age for age in range(5) for _ in range(2000)], "disease": diseases * 5}


def test_figure_3_spread_of_the_sensitive_values_in_one_group() -> None:
    curve = []
    for common in (200, 400, 800, 1200, 1600):
        data = five_ages(200)
        skewed = five_ages(common)["disease"][:2000]
        data["disease"] = skewed + data["disease"][2000:]
        curve.append(measure(data, "in-process", "disease").inference["disease"])
    lambdas = [r.lambda_ or 0 for r in curve]
    assert lambdas == sorted(lambdas)
    for name in ("itpr", "dr", "mi", "cp", "eld"):
        numbers = [getattr(r, name) for r in curve]
        assert numbers == sorted(numbers), name


def test_figure_4_difference_between_group_and_table() -> None:
    curve = []
    for shift in (0, 100, 200, 400):
        data = five_ages(200)
        group = ["a"] * (200 + shift) + data["disease"][200 + shift : 2000]
        data["disease"] = group + data["disease"][2000:]
        curve.append(measure(data, "in-process", "disease").inference["disease"])
    thetas = [r.theta for r in curve]
    assert thetas == sorted(thetas)
    assert thetas[0] == pytest.approx(0, abs=1e-12)
    itprs = [r.itpr for r in curve]
    assert itprs == sorted(itprs)
