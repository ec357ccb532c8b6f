"""Option texts to values: lists, pairs, ranges; what cannot be read is one clear sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from indiff.errors import UserError, option, unknown

Bins = int | list[float]
STANDARD_OUTPUT = Path("/dev/stdout")
MOST_RECORDS = 10**12  # where the table was not read yet: the test refuses records beyond its last

MOST_TARGETS = 10**8  # more than any table that is tested: a list of them would fill the memory


def split_list(text: str) -> list[str]:
    """Split at commas, except inside double quotes and parentheses; no part may be empty.

    >>> split_list('age, sex,"street, number",coalesce(a, b) > 3')
    ['age', 'sex', 'street, number', 'coalesce(a, b) > 3']
    """
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        depth += 0 if quoted else (character == "(") - (character == ")")
        if character == "," and not quoted and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    names = [_unquoted(part.strip()) for part in parts]
    if not all(names):
        raise UserError("a list is written a,b,c with no empty part", f"{text!r}")
    return names


def split_lists(texts: Iterable[str] | None) -> list[str]:
    """Join the lists of an option that was given several times.

    >>> split_lists(["age,sex", "zip"])
    ['age', 'sex', 'zip']
    """
    return [name for text in texts or () for name in split_list(text)]


def _unquoted(text: str) -> str:
    whole = re.fullmatch(r'"([^"]*)"', text)
    return whole.group(1) if whole else text


def pairs(flag: str, texts: Iterable[str] | None, what: str) -> dict[str, str]:
    """Read ``column=value`` texts; a column with an equals sign is written in double quotes.

    >>> pairs("--kind", ["age=ordinal", '"a=b"=numeric'], "KIND")
    {'age': 'ordinal', 'a=b': 'numeric'}
    """
    read: dict[str, str] = {}
    for text in texts or ():
        match = re.fullmatch(r'\s*("[^"]*"|[^=]*?)\s*=\s*(.*?)\s*', text, re.DOTALL)
        column = _unquoted(match.group(1)) if match else ""
        if match is None or not column or not match.group(2):
            raise UserError(f"{flag} is written COLUMN={what}", f"{text!r}")
        if column in read:
            raise UserError(f"{flag} may name a column once", f"{column!r} twice")
        read[column] = match.group(2)
    return read


def lists(option: str, texts: Iterable[str] | None) -> dict[str, Sequence[str]]:
    """Read ``column=a,b,c`` texts.

    >>> lists("--order", ["size=small,medium,large"])
    {'size': ['small', 'medium', 'large']}
    """
    return {column: split_list(values) for column, values in pairs(option, texts, "A,B,C").items()}


def numbers(option: str, texts: Iterable[str] | None) -> dict[str, Sequence[float]]:
    """Read ``column=1,2.5`` texts.

    >>> numbers("--edges", ["age=18,65.5"])
    {'age': [18.0, 65.5]}
    """
    read: dict[str, Sequence[float]] = {}
    for column, text in pairs(option, texts, "X,Y").items():
        try:
            read[column] = [float(part) for part in text.split(",")]
        except ValueError:
            raise UserError(f"{option} is written {column}=X,Y with numbers", f"{text!r}") from None
    return read


def bins(texts: Sequence[str] | None) -> Bins | dict[str, Bins] | None:
    """Read ``--bins``: a number of quantiles or a list of edges, for all or for one column.

    >>> bins(["4"]), bins(["1000,50000.5"]), bins(["income=4", "age=30,60"])
    (4, [1000.0, 50000.5], {'income': 4, 'age': [30.0, 60.0]})
    """
    if not texts:
        return None
    if any("=" in text for text in texts):
        named = pairs("--bins", texts, "NUMBER or EDGES")
        return {column: _bins(value) for column, value in named.items()}
    if len(texts) > 1:
        raise UserError(
            "--bins may be given once, or once per column as COLUMN=…", ", ".join(texts)
        )
    return _bins(texts[0])


def _bins(text: str) -> Bins:
    if re.fullmatch(r"\s*[0-9]+\s*", text):
        return int(text)
    try:
        edges = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        edges = []
    if not edges or not all(map(math.isfinite, edges)):
        raise UserError(
            "--bins is a number of quantiles (4) or a list of edges (18,65)", f"{text!r}"
        )
    return edges


def output(path: Path) -> Path:
    """Read where a result goes: ``-`` is standard output.

    >>> print(output(Path("-")), output(Path("result.json")))
    /dev/stdout result.json
    """
    return STANDARD_OUTPUT if str(path) == "-" else path


def date_format(texts: Sequence[str] | None) -> str | dict[str, str] | None:
    """Read ``--date-format``: one for all columns, or one for each that is named.

    >>> date_format(["%d.%m.%Y"]), date_format(["birth=excel"])
    ('%d.%m.%Y', {'birth': 'excel'})
    """
    if not texts:
        return None
    if any("=" in text for text in texts):
        return pairs(option("date_format"), texts, "FORMAT")
    if len(texts) > 1:
        raise UserError(
            f"{option('date_format')} may be given once, or once per column as COLUMN=…",
            ", ".join(texts),
        )
    return texts[0]


def sheet(text: str | None) -> str | int | None:
    """Read a sheet: its name, or its position from 0 behind a hash.

    >>> sheet("2023"), sheet("#1")
    ('2023', 1)
    """
    if text is not None and re.fullmatch(r"#[0-9]+", text):
        return int(text[1:])
    return text


def targets(text: str | None, records: int = MOST_RECORDS) -> list[int] | int | None:
    """Read how many records (a plain number), or which: a range with its end, or a list of both.

    >>> targets("7", 100), targets("7-7", 100), targets("0-3", 100), targets("3,10-12", 100)
    (7, [7], [0, 1, 2, 3], [3, 10, 11, 12])
    """
    if text is None:
        return None
    if re.fullmatch(r"\s*[0-9]{1,12}\s*", text):
        if int(text) < 1:
            raise UserError(
                "--targets is a number of records of at least 1, or record numbers such as "
                "0-49 or 7-7",
                f"{text!r}",
            )
        return int(text)
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,12})\s*(?:-\s*([0-9]{1,12})\s*)?", part)
        first, last = (match.group(1), match.group(2) or match.group(1)) if match else ("1", "0")
        if int(first) > int(last):
            raise UserError(
                "--targets is how many (200), or a list of record numbers and ranges such "
                "as 7-7, 0-49 or 3,10-12",
                f"{text!r}",
            )
        if int(last) - int(first) >= MOST_TARGETS:
            raise UserError(
                f"--targets names at most {MOST_TARGETS:,} records in a range", f"{text!r}",
                "Give their number instead, as in 200",
            )  # fmt: skip
        if int(last) >= records:
            raise UserError(
                f"--targets must name records from 0 to {records - 1:,}, the last of the input",
                f"{text!r}",
            )
        numbers.extend(range(int(first), int(last) + 1))
    return numbers


def limits(texts: Iterable[str] | None, known: Iterable[str] = ()) -> dict[str, float]:
    """Read ``name=number`` limits, of which only ``known`` ones may be named where there are any.

    >>> limits(["delta=0.1", "mean=0.01"], ["delta", "mean"])
    {'delta': 0.1, 'mean': 0.01}
    """
    read: dict[str, float] = {}
    for text in texts or ():
        name, _, value = (
            part.strip() for part in (text.rpartition("=") if "=" in text else (text, "", ""))
        )
        if known and name not in known:
            raise unknown("limit", name, known)
        if name in read:
            raise UserError("a limit may be given once", f"{name!r} twice", field="limit")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or not 0 <= number < math.inf:
            shown = name or "NAME"
            raise UserError(
                f"a limit is written {shown}=NUMBER, of at least 0", f"{text!r}", field="limit"
            )
        read[name] = number
    return read
