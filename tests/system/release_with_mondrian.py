"""Our own Mondrian as a program: ``release_with_mondrian.py INPUT OUTPUT SENSITIVE K``."""

from __future__ import annotations

import sys

from indiff.release import write_frame
from indiff.sanitizers.mondrian import Mondrian
from indiff.table import read_table


def main(given: str, made: str, sensitive: str, k: str) -> None:
    table = read_table(given, sensitive=sensitive)
    # Of D⁻ⁱ too: where the constraint cannot be met, everything is generalized.
    release = Mondrian(k=int(k), unmet="generalize").sanitize(table)
    write_frame(release.to_arrow(), made)


if __name__ == "__main__":
    main(*sys.argv[1:])
