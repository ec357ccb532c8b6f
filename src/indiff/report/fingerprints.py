"""Lists the files of a report with their checksums, and says what each kind of checksum is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indiff import text as plain
from indiff.text import number

CHECK = (
    "SHA-256 is a plain checksum of the release's file: whoever has the file can compute it and "
    "compare all 64 characters, or run indiff verify report.json FILE.",
    "A fingerprint is a checksum made with a secret key of whoever ran the audit, so that nobody "
    "can try guesses at the table against it. Its first 8 characters name the key; only whoever "
    "has that key can check it. Those here are of whole files. Another is in the appendix: of what "
    "the table holds, whatever the order of its rows.",
    "The report itself is not signed: that its numbers are those of the table is checked by indiff "
    "verify with --data, on a machine that has the table.",
)


def file_rows(document: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return every file with its part, name and size, and its fingerprint or SHA-256."""
    files = document.get("files") or {"input": [], "release": []}
    several = len(files["release"]) > 1
    unwritten = (
        "not written" if several else "kept in no file (audit --write-release FILE writes it)"
    )
    rows = [
        (
            f"the release for {plain.name(str(one['about']))} that was judged"
            if several and one.get("about")
            else "the release that was judged",
            unwritten if one["name"] is None else str(one["name"]),
            f"{number(one['bytes'])} bytes",
            f"SHA-256 {one['sha256']}",
        )
        for one in files["release"]
    ]
    return rows + [
        (f"input: {one['part']}", str(one["name"]), "", f"fingerprint {one['fingerprint']}")
        for one in files["input"]
    ]
