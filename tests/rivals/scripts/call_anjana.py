"""Anonymizes a table with ANJANA: ``python -m tests.rivals.scripts.call_anjana FOLDER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anjana.anonymity as rival  # type: ignore[import-not-found]

from tests.rivals import wire


def main(folder: Path) -> None:
    arguments = json.loads((folder / "arguments.json").read_text(encoding="utf-8"))
    levels = {
        column: dict(enumerate(levels)) for column, levels in arguments["hierarchies"].items()
    }
    released = getattr(rival, arguments["method"])(
        data=wire.read_frame(folder / "in0.csv"),
        ident=arguments["identifiers"],
        quasi_ident=arguments["quasi"],
        supp_level=arguments["suppression"],
        hierarchies=levels,
        **arguments["options"],
    )
    wire.write_frame(released, folder / "out.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
