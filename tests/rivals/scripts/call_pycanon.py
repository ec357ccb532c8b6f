"""Measures tables with pyCANON: ``python -m tests.rivals.scripts.call_pycanon FOLDER``."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import pycanon.anonymity as rival  # type: ignore[import-not-found]

from tests.rivals import wire


def _measure(name: str, frame: Any, quasi: list[str], sensitive: list[str]) -> Any:
    if name == "k":
        return rival.k_anonymity(frame, quasi)
    function = {
        "alpha_k": rival.alpha_k_anonymity,
        "distinct_l": rival.l_diversity,
        "entropy_l": rival.entropy_l_diversity,
        "recursive": rival.recursive_c_l_diversity,
        "t": rival.t_closeness,
        "basic_beta": rival.basic_beta_likeness,
        "enhanced_beta": rival.enhanced_beta_likeness,
        "delta_disclosure": rival.delta_disclosure,
    }[name]
    return function(frame, quasi, sensitive)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    number = float(value)
    return int(number) if math.isfinite(number) and number == int(number) else number


def main(folder: Path) -> None:
    arguments = json.loads((folder / "arguments.json").read_text(encoding="utf-8"))
    results = []
    for position, case in enumerate(arguments["cases"]):
        frame = wire.read_frame(folder / f"in{position}.csv")
        values, seconds = {}, {}
        for name in arguments["measures"]:
            start = time.perf_counter()
            try:
                value = _measure(name, frame, case["quasi"], case["sensitive"])
            except Exception as error:
                error.add_note(f"pyCANON's {name} on table {position}")
                raise
            seconds[name] = time.perf_counter() - start
            values[name] = _plain(value)
        results.append({"values": values, "seconds": seconds})
    (folder / "result.json").write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
