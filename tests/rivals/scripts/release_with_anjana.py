"""A command around ANJANA: ``release_with_anjana.py INPUT.csv OUTPUT.csv K SUPPRESSION``."""

from __future__ import annotations

import sys
from typing import Any

import anjana.anonymity  # type: ignore[import-not-found]
import pandas as pd


def main(given: str, made: str, k: str, suppression: str) -> None:
    jobs = {"dancer": "artist", "writer": "artist", "lawyer": "office", "clerk": "office"}
    ages = list(range(20, 62))
    tens = [f"[{age // 10 * 10}, {age // 10 * 10 + 10})" for age in ages]
    hierarchies: dict[str, dict[int, list[Any]]] = {
        "job": {0: list(jobs), 1: list(jobs.values()), 2: ["*"] * len(jobs)},
        "age": {0: ages, 1: tens, 2: ["*"] * len(ages)},
    }
    released = anjana.anonymity.k_anonymity(
        pd.read_csv(given), ["name"], ["job", "age"], int(k), float(suppression), hierarchies
    )
    released.to_csv(made, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
