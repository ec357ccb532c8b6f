"""A command around ANJANA: ``python release_with_anjana.py INPUT.csv OUTPUT.csv K SUPPRESSION``."""

import sys

import anjana.anonymity  # type: ignore[import-not-found]
import pandas as pd

table = pd.read_csv(sys.argv[1], dtype={"job": str})
jobs = {"dancer": "artist", "writer": "artist", "lawyer": "office", "clerk": "office"}
ages = range(20, 60)
hierarchies = {
    "job": {0: list(jobs), 1: list(jobs.values()), 2: ["*"] * len(jobs)},
    "age": {0: list(ages), 1: [f"[{a // 10 * 10}, {a // 10 * 10 + 10})" for a in ages]},
}
hierarchies["age"][2] = ["*"] * len(ages)
released = anjana.anonymity.k_anonymity(
    table, ["name"], ["job", "age"], int(sys.argv[3]), float(sys.argv[4]), hierarchies
)
released.to_csv(sys.argv[2], index=False)
