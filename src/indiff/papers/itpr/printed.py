"""Holds what the ITPR paper prints: its example tables and its results."""

from __future__ import annotations

import math

METRICS = ("DR", "MI", "CP", "MIL", "ELD")

# Tables 1a and 2a: zip code, age, disease. Table 1 has the first nine records.
PATIENTS = (
    (35510, 21, "Asthma"), (35591, 42, "HIV"), (35593, 47, "Asthma"), (35210, 38, "Diabetes"),
    (35273, 32, "HIV"), (35517, 20, "Diabetes"), (35599, 49, "Diabetes"), (35262, 33, "Asthma"),
    (35511, 26, "HIV"), (35212, 39, "Diabetes"), (35281, 32, "Diabetes"), (35596, 41, "Diabetes"),
    (35592, 46, "Diabetes"), (35515, 23, "Diabetes"), (35511, 26, "Diabetes"),
)  # fmt: skip

# Table 3, and Table 6 for the zip codes.
AGE = {
    1: (30, 62, 37, 21, 19, 47, 71, 73),
    2: (30,) * 8,
    3: (30, 30, 30, 47, 30, 30, 30, 30),
    4: (30, 30, 30, 47, 30, 47, 30, 30),
    5: (30,) * 4 + (47,) * 4,
}
DISEASE = {
    1: ("Diabetes", "Epilepsy", "Asthma", "Allergies", "Depression", "HIV", "Heart Disease",
        "Cancer"),
    2: ("Diabetes", "Diabetes", "Epilepsy", "Depression", "HIV", "Heart Disease", "Cancer",
        "Allergies"),
    3: ("Diabetes",) * 5 + ("HIV", "Asthma", "Allergies"),
}  # fmt: skip
ZIP = {1: (35000,) * 3 + (35510,) * 5, 2: (35000,) * 3 + (35510,) * 3 + (35200,) * 2}

# Table 4 in the order of METRICS: re-identification by case of Age, and inference by case of
# Disease beside case 5 of Age.
REIDENTIFICATION = {
    1: ("1.0", "3.0", "0.875", "3.0", "1.0"),
    2: ("0.0", "0.0", "0.0", "0.0", "0.125"),
    3: ("0.18", "0.54", "0.31", "3.0", "1.0"),
    4: ("0.27", "0.81", "0.43", "2.75", "0.5"),
    5: ("0.33", "1.0", "0.5", "2.0", "0.25"),
}
INFERENCE = {
    1: ("0.33", "1.0", "0.5", "2.0", "0.25"),
    2: ("0.36", "1.0", "0.5", "1.0", "0.35"),
    3: ("0.35", "0.54", "0.31", "1.0", "1.0"),
}
# Two printed values of MIL that no reading of Eq. 8 gives, and what its own weighting gives.
MIL_ERRATA = {2: "2.0", 3: "1.54"}

# Table 5: cases of Age, Zip Code and Disease in each row, and the printed ITPR.
ITPR_ROWS = (
    (1, None, None, "1.0"),
    (2, None, None, "0.0"),
    (3, None, None, "1.0"),
    (4, None, None, "0.83"),
    (5, None, None, "0.33"),
    (2, 1, None, "0.6"),
    (2, 2, None, "0.75"),  # its printed label repeats case 1 of Zip Code
    (5, None, 1, "0.33"),
    (5, None, 2, "0.45"),
    (5, None, 3, "1.0"),
)

# Table 7: re-identification risk, inference risk.
BENEFITS = {
    "DR": ("✗", "(✓)"),
    "MI": ("✗", "(✓)"),
    "CP": ("✗", "(✓)"),
    "MIL": ("(✓)", "✗"),
    "ELD": ("(✓)", "✗"),
    "ITPR": ("✓", "✓"),
}


def released(rows: int) -> dict[str, list[str]]:
    """Return Table 1b (9 rows) or 2b (15): ``352*`` hides two digits, the other codes one."""
    found: dict[str, list[str]] = {"zip": [], "age": [], "disease": []}
    for code, age, disease in PATIENTS[:rows]:
        found["zip"].append("352*" if code < 35300 else f"{code // 10}*")
        found["age"].append(f"{age // 10}*")
        found["disease"].append(disease)
    return found


def example(
    age: int, zip_code: int | None = None, disease: int | None = None
) -> dict[str, list[int] | list[str]]:
    """Return the eight records of Tables 3 and 6 with the cases of some attributes.

    >>> sorted(example(5, disease=3))
    ['age', 'disease']
    """
    data: dict[str, list[int] | list[str]] = {"age": list(AGE[age])}
    if zip_code is not None:
        data["zip"] = list(ZIP[zip_code])
    if disease is not None:
        data["disease"] = list(DISEASE[disease])
    return data


def as_printed(value: float, printed: str) -> str:
    """Cut a number as the paper does, which truncates, to the printed digits and at least two."""
    digits = max(2, len(printed.partition(".")[2]))
    cut = math.floor(value * 10**digits + 1e-9) / 10**digits
    return str(cut + 0.0)
