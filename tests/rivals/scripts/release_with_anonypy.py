"""A command around AnonyPy: ``python release_with_anonypy.py INPUT.csv OUTPUT.csv K``."""

import sys

import anonypy  # type: ignore[import-not-found]
import pandas as pd

table = pd.read_csv(sys.argv[1], dtype={"job": str}).astype({"job": "category"})
groups = anonypy.Preserver(table, ["job", "age"], "illness").anonymize_k_anonymity(int(sys.argv[3]))
counted = pd.DataFrame(groups).map(lambda cell: cell[0] if isinstance(cell, list) else cell)
counted["job"] = "{" + counted["job"] + "}"
# It counts equal rows; a release has a row for each.
rows = counted.loc[counted.index.repeat(counted.pop("count"))]
rows.to_csv(sys.argv[2], index=False)
