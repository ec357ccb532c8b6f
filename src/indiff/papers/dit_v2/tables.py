"""Recomputes DIT v2's Tables 1 to 3 and the encoding example of Section 4.3."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa

from indiff.data.table import Table, read_table
from indiff.differential import DifferentialResult, differential_test
from indiff.papers.measure import NAMES
from indiff.papers.pages import Grid, Page, same, span, status
from indiff.papers.run import Run
from indiff.release.reading import read_release
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.noise.mechanisms import Laplace

AGES, GENDERS = (28, 36, 47, 53, 72), ("M", "M", "F", "M", "F")
DISEASES = ("Flu", "Flu", "Cancer", "Flu", "Flu")
# Table 1b: M(q_i), M⁻ⁱ(q_i), d_i; beliefs in Flu and in Cancer.
TABLE_1B = (
    ("(1, 0)", "(1/2, 1/2)", "1"),
    ("(1, 0)", "(1/2, 1/2)", "1"),
    ("(2/3, 1/3)", "(1, 0)", "2/3"),
    ("(2/3, 1/3)", "(1/2, 1/2)", "1/3"),
    ("(2/3, 1/3)", "(1/2, 1/2)", "1/3"),
)
# Table 2: the printed cells, the same with record 4 (2a) and without it (2b).
TABLE_2 = {1: "< 45, M", 2: "< 45, M", **dict.fromkeys((3, 4, 5), "≥ 45, {M, F}")}
# The authors' program cuts numbers at fixed ends, although Section 4.5.2 speaks of quantiles.
PROGRAM_ENDS: dict[str, dict[str, tuple[int, ...]]] = {
    "adult": {"age": (25, 40, 60, 75, 90), "hours-per-week": (20, 40, 60, 80, 100)},
    "internet-v2": {"age": (20, 40, 60, 80)},
}
COUNTED_DRAWS = 20  # counting takes no time, so that more draws than elsewhere show the spread
# Table 3: records, distinct records, sensitive values; Section 4.5.2: quantized distinct records.
TABLE_3 = {"adult": (10_000, 7_960, 14, 2_952), "internet-v2": (9_799, 7_049, 9, 2_926)}
OTHER = "a number is not the printed one"


def toy() -> Table:
    """Return the data set of Table 1a."""
    return read_table(
        pa.table({"Age": AGES, "Gender": GENDERS, "Disease": DISEASES}),
        quasi=["Age", "Gender"],
        sensitive="Disease",
        orders={"Disease": ["Flu", "Cancer"]},
    )


def toy_result(distance: str = "wasserstein") -> DifferentialResult:
    """Return the test of Table 1: 2-anonymity, cut regions, plain frequencies."""
    result: DifferentialResult = differential_test(
        toy(), Mondrian(k=2, regions="cut"), model="frequency", distance=distance
    )
    return result


def fraction(value: float) -> str:
    """Write a number as the fraction that it is.

    >>> fraction(2 / 3), fraction(1.0)
    ('2/3', '1')
    """
    return str(Fraction(value).limit_denominator(1000))


def table_1(run: Run) -> Page:
    """Table 1 (Section 3.2): beliefs and distances of the toy data set, as fractions."""
    result = toy_result()
    rows = []
    for place, printed in enumerate(TABLE_1B):
        pairs = [
            "(" + ", ".join(map(fraction, beliefs)) + ")"
            for beliefs in (result.beliefs[place], result.beliefs_without[place])
        ]
        ours = (*pairs, fraction(result.distances[place]))
        rows.append((str(place + 1), *ours, *printed, same(ours, printed)))
    header = ("#", "M(q)", "M⁻ⁱ(q)", "d", "printed M(q)", "printed M⁻ⁱ(q)", "printed d", "")
    largest, moved = fraction(result.delta), toy_result("coordinate-tv").distances[3]
    text = (
        ("δ, the largest d", largest, "1", same(largest, "1")),
        ("d of record 4 as TVD", fraction(moved), "1 + 1 = 2", same(moved, 2)),
    )
    return Page(
        status=status(all(row[-1] == "same" for row in (*rows, *text)), OTHER),
        tables=(
            Grid("Table 1b, beliefs in (Flu, Cancer)", header, rows),
            Grid("In the text", ("what", "ours", "printed", ""), text),
        ),
    )


def table_2(run: Run) -> Page:
    """Table 2 (Section 4.1): groups of the toy data set with and without record 4."""
    grids = []
    for part, table in (("a", toy()), ("b", toy().without(3))):
        release = Mondrian(k=2, regions="cut").sanitize(table)
        names = sorted(set(TABLE_2.values()))
        cells = release.to_frame()
        rows = []
        groups = np.asarray(release.groups)
        for record, group, age, gender in zip(
            table.records, groups, cells["Age"], cells["Gender"], strict=True
        ):
            text = TABLE_2[record + 1]
            rows.append((f"{record + 1}", f"{age}, {gender}", int(group) + 1, text,
                         same(names[group], text)))  # fmt: skip
        grids.append(Grid(f"Table 2{part}", ("#", "ours", "our group", "printed", "group"), rows))
    agree = all(row[-1] == "same" for grid in grids for row in grid.rows)
    return Page(
        status=status(agree, "the groups differ", "reproduced with erratum"),
        tables=grids,
    )


def table_3(run: Run) -> Page:
    """Table 3 (Section 4.1) and the quantized counts of Section 4.5.2."""
    rows, columns = [], []
    draws = max(COUNTED_DRAWS, run.seeds)
    inside = True
    for name, (size, distinct, values, quantized) in TABLE_3.items():
        seeds = range(draws if name == "adult" else 1)
        tables = [run.table(name, seed, trees=False) for seed in seeds]
        counted: tuple[tuple[str, Callable[[Table], int], int], ...] = (
            ("records", len, size),
            ("distinct records", distinct_records, distinct),
            ("distinct records, the authors' intervals (4.5.2)",
             partial(distinct_records, ends=PROGRAM_ENDS[name]), quantized),
            ("distinct records, five quantiles as the text says", distinct_cells, quantized),
            ("sensitive values", lambda table: len(table.sensitive.values), values),
        )  # fmt: skip
        for what, count, printed in counted:
            ours = [count(table) for table in tables]
            within = min(ours) <= printed <= max(ours)
            inside = inside and (within or "quantiles" in what)
            found = "same" if within and min(ours) == max(ours) else "inside" if within else "below"
            rows.append((NAMES[name], what, span(ours, ","), printed, found))
        quasi = ", ".join(attribute.name for attribute in tables[0].attributes)
        columns.append((NAMES[name], quasi, tables[0].sensitive.name))
    return Page(
        status=status(inside, "another 10,000 records were drawn", "reproduced with erratum"),
        tables=(
            Grid("Data sets", ("data set", "what", f"ours, {draws} selections of Adult",
                               "printed", "printed is"), rows),
            Grid("Columns", ("data set", "quasi-identifiers", "sensitive"), columns),
        ),
    )  # fmt: skip


def distinct_records(table: Table, ends: Mapping[str, tuple[int, ...]] | None = None) -> int:
    """Count the different records: quasi-identifiers, cut at some ends, and sensitive value."""
    columns = [table.sensitive.codes]
    for attribute in table.attributes:
        cut = (ends or {}).get(attribute.name)
        codes = (
            attribute.codes
            if cut is None
            else np.searchsorted(cut, attribute.points)[attribute.codes]
        )
        columns.append(codes.astype(np.int32))
    return len(np.unique(np.stack(columns, axis=1), axis=0))


def distinct_cells(table: Table) -> int:
    """Count the cells that hold a record once each number is cut into five quantiles."""
    counts = Laplace(1.0).grid(table).counts(table)
    return int((np.asarray(counts) > 0).sum())


def section_4_3(run: Run) -> Page:
    """Section 4.3 (and DIT v1, Section 3.1): the target-relative encoding of two records."""
    original = read_table(
        pa.table({
            "age": [15, 16, 17, 20, 25],
            "sex": ["Female", "Male", "Male", "Female", "Male"],
            "country": ["France", "France", "Germany", "Italy", "Germany"],
            "ill": ["yes", "no", "no", "yes", "no"],
        }),
        quasi=["age", "sex", "country"],
        sensitive="ill",
    )  # fmt: skip
    release = read_release(
        pa.table({
            "age": ["[15, 25]", "[17, 20]"],
            "sex": ["Female", "Male"],
            "country": ["{France, Germany}", "{Italy, Germany}"],
            "ill": ["yes", "no"],
        }),
        original,
    )  # fmt: skip
    target: dict[str, str | int] = {"age": 16, "sex": "Male", "country": "France"}
    encoded = np.stack([release.covers(name, value) for name, value in target.items()], axis=1)
    ours = ["(" + ", ".join(str(int(bit)) for bit in row) + ")" for row in encoded]
    printed = ["(1, 0, 1)", "(0, 1, 0)"]
    rows = [(f"r{n + 1}", ours[n], printed[n], same(ours[n], printed[n])) for n in range(2)]
    return Page(
        status=status(ours == printed, OTHER),
        tables=(Grid("Encodings", ("record", "ours", "printed", ""), rows),),
    )
