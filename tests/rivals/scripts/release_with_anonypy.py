"""A command around AnonyPy: ``release_with_anonypy.py INPUT.csv OUTPUT.csv K``."""

from __future__ import annotations

import sys

import anonypy  # type: ignore[import-not-found]
import pandas as pd


def main(given: str, made: str, k: str) -> None:
    table = pd.read_csv(given).astype({"job": "category"})
    groups = anonypy.Preserver(table, ["job", "age"], "illness").anonymize_k_anonymity(int(k))
    counted = pd.DataFrame(groups).map(lambda cell: cell[0] if isinstance(cell, list) else cell)
    counted["job"] = "{" + counted["job"] + "}"
    # It counts equal rows; a release has a row for each.
    counted.loc[counted.index.repeat(counted.pop("count"))].to_csv(made, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
