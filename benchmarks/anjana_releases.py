"""ANJANA's releases of a table and of the table without each record, in one process.

Run by ``black_boxes.py`` in the environment that has ANJANA: ``python anjana_releases.py FOLDER``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
from anjana.anonymity import k_anonymity  # type: ignore[import-not-found]


def main(folder: Path) -> None:
    """Read ``table.csv`` and ``arguments.json``; write ``releases.csv``, one below the other."""
    arguments = json.loads((folder / "arguments.json").read_text(encoding="utf-8"))
    table = pd.read_csv(folder / "table.csv", keep_default_na=False)
    levels = {name: dict(enumerate(steps)) for name, steps in arguments["levels"].items()}
    with (folder / "releases.csv").open("w", encoding="utf-8", newline="") as file:
        for without in range(-1, len(table)):
            left = table[table["record"] != without].reset_index(drop=True)
            released = k_anonymity(
                left, [], list(levels), arguments["k"], arguments["suppression"], levels
            )
            released = released[table.columns]
            released.insert(0, "without", without)
            released.to_csv(file, index=False, header=without == -1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
