"""Changes what is valid: a cell or two, or bytes anywhere."""

# ruff: noqa: E501 - tables of strange values

from __future__ import annotations

import csv
import io
import random
import unicodedata
from collections.abc import Callable

Rows = list[list[str]]

TEXTS = (
    "", " ", "0", "-1", "1", "7", "99999999999999999999", "9" * 5000, "1e308", "-1e308", "1e400", "nan",
    "inf", "-inf", "0x1f", "1,5", "1.234,5", "a", "b,c", "é", "\u202e", "\x1b[31m", "'", '"', '""',
    "=1+1", "a=b", "age", "town", "ill", "*", "[1, 2]", "[1-2]", "NA", "null", "None", "true", "x" * 3000,
    "2024-02-30", "31.12.2024", "🂡" * 30, "../../etc/passwd", "/dev/null", "people.csv", "side.csv", "-",
    "-0", "0.1", "1e-320", "9223372036854775808", "1_000", "+1", "١", "½", "\u00a0", "\ufeff", "0.30000000000000004",
)  # fmt: skip
REGIONS = (
    "*", "[20, 40[", "[20, 40]", "]20, 40]", "(20, 40)", "(20.0, 40.0]", "20-29", "20–29", "[20-29]", "20 to 29", "20~29",
    "<20", "<=20", "≥50", "80+", "{20, 40}", "{town0, town1}", "town0~town1", "town*", "2*", "(-inf, 40]", "[20, ∞)",
    "[40, 20]", "[20, 20[", "[nan, 1]", "[1e400, 2]", "[, 3]", "[1, 2, 3]", "(20-30)", "1-2-3", "{}", "{20}", "missing",
    "1976-07", "1976", "[1970, 1980[", "1976-07-04", "[1976-07-04, 1976-07-05]", ">1976", "1976+", "-5--3", "[-5, -3]",
    "1.234", "1,5-2,5", "[1,5; 2,5]", "{1;2}", "* ", " *", "**", "NA", "[20, 40", "20, 40]", "1e5", "[1e5, 1e6]",
)  # fmt: skip


def strength(dice: random.Random) -> str:
    """Return how much to change: nothing, a little (mostly), or wildly."""
    return dice.choice(("nothing", *("a little",) * 7, *("wildly",) * 2))


def changed(dice: random.Random, data: bytes) -> bytes:
    """Flip, cut, repeat and insert some bytes."""
    made = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 5, 30))):
        place = dice.randrange(len(made) + 1)
        match dice.randrange(5):
            case 0 if place < len(made):
                made[place] ^= 1 << dice.randrange(8)
            case 1:
                del made[place:]
            case 2:
                del made[place : place + dice.randrange(1, 9)]
            case 3:
                made[place:place] = dice.choice(TEXTS).encode()
            case _:
                made[place:place] = made[max(0, place - 40) : place] * dice.choice((1, 2, 50))
    return bytes(made[:900_000])


def near(dice: random.Random, cell: str, rows: Rows, column: int) -> str:
    """Return a cell that is not far from this one."""
    others = [row[column] for row in rows[1:] if column < len(row)] or [""]
    number = cell.strip().replace(".", "", 1).lstrip("-").isdigit()
    ways: list[Callable[[], str]] = [
        lambda: dice.choice(others), lambda: dice.choice(dice.choice(rows) or [""]), lambda: "", lambda: f" {cell} ",
        lambda: cell.upper(), lambda: cell + "é", lambda: unicodedata.normalize("NFD", cell + "é"), lambda: f"{cell},{cell}",
        lambda: f"{cell}\n{cell}", lambda: f'"{cell}"', lambda: f"{cell};{cell}", lambda: f"{cell}\t", lambda: f"0{cell}",
        lambda: f"{cell}.5", lambda: f"{cell},5", lambda: f"-{cell}", lambda: f"{cell}%", lambda: f"{cell}e3",
        lambda: cell[:-1], lambda: cell * 2, lambda: dice.choice(TEXTS), lambda: dice.choice(REGIONS),
        lambda: f"[{cell}, {dice.choice(others)}]", lambda: f"{{{cell}, {dice.choice(others)}}}", lambda: f"{cell}*",
    ]  # fmt: skip
    if number:
        ways += [
            lambda: str(float(cell) + 1), lambda: str(-float(cell)), lambda: str(float(cell) * 1e6), lambda: f"{float(cell):e}",
            lambda: str(float(cell) / 3), lambda: "0", lambda: "nan", lambda: "inf", lambda: f"{cell}.0",
        ]  # fmt: skip
    return dice.choice(ways)()


def nudged(dice: random.Random, given: Rows) -> Rows:
    """Change one or two things of a table of cells, whose first row may be a header."""
    rows = [list(row) for row in given]
    for _ in range(dice.choice((1, 1, 2))):
        if not rows:
            return rows
        line = dice.randrange(len(rows))
        column = dice.randrange(max(1, len(rows[line])))
        match dice.randrange(20):
            case 0:
                del rows[line]
            case 1:
                rows.insert(dice.randrange(len(rows) + 1), list(rows[line]))
            case 2:
                dice.shuffle(rows)
            case 3:
                rows[line] = rows[line][:column]
            case 4:
                rows[line].append(dice.choice(TEXTS))
            case 5:
                for row in rows:
                    del row[column : column + 1]
            case 6:
                for row in rows:
                    row[column:column] = row[column : column + 1]
            case 7:
                for row in rows[1:]:
                    row[column : column + 1] = [dice.choice(("", "1", "x", "*"))]
            case 8:
                for place, row in enumerate(rows[1:]):
                    row[column : column + 1] = [f"{place}"]
            case 9:
                for row in rows:
                    row.reverse()
            case 10:
                text = near(dice, "".join(rows[line][column : column + 1]), rows, column)
                for row in rows[1:]:
                    if dice.random() < 0.3:
                        row[column : column + 1] = [text]
            case 11:
                del rows[1 + dice.randrange(5) :]
            case 12:
                for row in rows[1:]:
                    row[column : column + 1] = [
                        near(dice, "".join(row[column : column + 1]), rows, column)
                    ]
            case _ if rows[line]:
                rows[line][column] = near(dice, rows[line][column], rows, column)
    return rows


def written(rows: Rows, separator: str = ",") -> bytes:
    """Return a table of cells as separated text."""
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def separated(dice: random.Random, rows: Rows, separator: str = ",") -> bytes:
    """Return a table of cells as text that is changed, by cells or by bytes, or not at all."""
    match strength(dice):
        case "nothing":
            return written(rows, separator)
        case "wildly":
            return changed(dice, written(rows, separator))
        case _ if dice.random() < 0.85:
            return written(nudged(dice, rows), separator)
    text = written(rows, dice.choice((";", "\t", "|", " ")))
    match dice.randrange(7):
        case 0:
            return text.replace(b"\n", dice.choice((b"\r", b"\r\n", b"\n\n")))
        case 1:
            return b"\xef\xbb\xbf" + text
        case 2:
            return text.decode().encode("utf-16")
        case 3:
            return b"A title\n\n" + text
        case 4:
            return text.rstrip(b"\n")
        case 5:
            return text + b"\n" * dice.choice((1, 3))
        case _:
            return b"\n" + text
