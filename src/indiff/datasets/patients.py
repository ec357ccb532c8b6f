"""Makes the demo data: invented hospital patients, with a few planted outliers.

No record describes a person. The frequencies are invented, in proportions that are plausible for
one year of a regional hospital: towns differ in age, marital status follows age, and the diagnosis
follows age, sex, season and town.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.errors import UserError

if TYPE_CHECKING:
    from indiff.data.table import Table

IDENTIFIER = "patient_id"
QUASI = ("age", "sex", "zip", "marital_status", "admitted")
SENSITIVE = "diagnosis"
# On δ: naive Bayes sees the six planted people above it, and nobody else.
LIMIT = 0.4

_SEXES = ("female", "male")
_FIRST_DAY = date(2023, 1, 1)
_DAYS_OF_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ADMISSIONS_OF_MONTH = (10, 10, 9, 8, 8, 7, 7, 7, 8, 8, 9, 10)

# Every table below holds whole-number weights: draws are then integer arithmetic alone, which
# gives the same records on every platform.

_YOUNGEST = (0, 5, 18, 25, 35, 45, 55, 65, 75, 85)  # of ten age bands
_OLDEST = (4, 17, 24, 34, 44, 54, 64, 74, 84, 96)


class _Town(NamedTuple):
    weight: int
    zips: tuple[str, ...]
    ages: tuple[int, ...]  # one weight per band


_TOWNS = (
    _Town(  # the city around the hospital
        40,
        ("02108", "02109", "02111", "02114", "02118", "02119", "02121", "02122"),
        (6, 8, 9, 15, 14, 13, 13, 11, 8, 3),
    ),
    _Town(18, ("02138", "02139", "02140", "02142"), (2, 3, 38, 28, 10, 6, 5, 4, 3, 1)),  # students
    _Town(22, ("02301", "02302", "02303", "02305"), (7, 10, 8, 13, 15, 16, 14, 10, 6, 1)),  # works
    _Town(12, ("02631", "02632", "02633"), (1, 2, 2, 4, 6, 9, 16, 27, 24, 9)),  # retired people
    _Town(8, ("12203", "12204", "12208"), (5, 9, 6, 10, 13, 15, 17, 14, 9, 2)),  # the hills
    _Town(1, ("02713",), (0, 0, 0, 1, 3, 9, 16, 20, 10, 1)),  # an island of ageing fishermen
)
_INDUSTRIAL = 2  # whose air makes asthma and bronchitis more frequent

_MARITAL = ("single", "partnered", "married", "separated", "divorced", "widowed")
_MARITAL_OF_BAND = (
    (1, 0, 0, 0, 0, 0),
    (1, 0, 0, 0, 0, 0),
    (86, 10, 4, 0, 0, 0),
    (48, 20, 28, 2, 2, 0),
    (22, 13, 51, 5, 9, 0),
    (15, 9, 54, 5, 16, 1),
    (11, 6, 59, 3, 17, 4),
    (8, 4, 62, 1, 13, 12),
    (6, 2, 51, 1, 8, 32),
    (5, 1, 27, 0, 5, 62),
)

# Weight of each diagnosis in each age band, then what multiplies it: in winter (December to
# February), for women, for men, in the industrial town.
_DIAGNOSES: tuple[tuple[str, tuple[int, ...], tuple[int, int, int, int]], ...] = (
    ("appendicitis", (4, 22, 14, 9, 6, 4, 3, 2, 1, 1), (1, 1, 1, 1)),
    ("arrhythmia", (1, 1, 1, 2, 4, 8, 12, 16, 18, 18), (1, 1, 1, 1)),
    ("asthma", (20, 18, 10, 8, 6, 5, 5, 4, 3, 2), (1, 1, 1, 3)),
    ("bronchitis", (14, 4, 2, 2, 3, 6, 10, 12, 12, 9), (2, 1, 1, 3)),
    ("cancer", (1, 1, 1, 2, 6, 12, 18, 20, 15, 8), (1, 1, 1, 1)),
    ("childbirth", (0, 0, 18, 42, 14, 0, 0, 0, 0, 0), (1, 1, 0, 1)),
    ("depression", (0, 6, 14, 10, 9, 8, 6, 4, 3, 2), (1, 2, 1, 1)),
    ("diabetes", (1, 3, 3, 4, 7, 11, 14, 14, 11, 6), (1, 1, 1, 1)),
    ("fracture", (8, 22, 16, 12, 10, 9, 10, 12, 18, 26), (1, 1, 2, 1)),
    ("gallstones", (0, 1, 4, 7, 9, 10, 9, 7, 5, 3), (1, 2, 1, 1)),
    ("heart failure", (0, 0, 1, 1, 2, 5, 10, 18, 26, 32), (1, 1, 1, 1)),
    ("influenza", (10, 6, 4, 3, 3, 3, 4, 6, 9, 12), (4, 1, 1, 1)),
    ("pneumonia", (10, 4, 2, 2, 3, 4, 6, 10, 16, 22), (2, 1, 1, 1)),
    ("stroke", (0, 0, 1, 1, 2, 5, 9, 14, 18, 18), (1, 1, 1, 1)),
)


class _Outlier(NamedTuple):
    age: int
    sex: str
    zip: str
    marital_status: str
    admitted: date
    diagnosis: str


# Each holds a diagnosis that nobody else in the table has, where everyone else is alike.
_OUTLIERS = (
    _Outlier(105, "female", "02633", "widowed", date(2023, 5, 17), "tetanus"),
    _Outlier(102, "male", "02631", "separated", date(2023, 9, 2), "sarcoidosis"),
    _Outlier(19, "male", "02713", "single", date(2023, 12, 31), "leprosy"),
    _Outlier(7, "female", "02713", "single", date(2023, 1, 1), "tuberculosis"),
    _Outlier(36, "male", "02713", "separated", date(2023, 8, 30), "malaria"),
    _Outlier(24, "female", "12208", "widowed", date(2023, 12, 30), "botulism"),
)


def demo(records: int = 5000, seed: int = 0) -> pa.Table:
    """Make the demo table: hospital patients, one row each, in no particular order.

    Columns: ``patient_id`` (an identifier), ``age`` (0 to 96), ``sex``, ``zip`` (five digits as
    text: most codes start with 0), ``marital_status``, ``admitted`` (a date in 2023) and
    ``diagnosis``, the sensitive one. Six rows are planted outliers, which :func:`demo_outliers`
    lists. The same ``records`` and ``seed`` give the same table.

    The people are invented: a result on this table shows how the test works and says nothing about
    any real population.

    >>> table = demo()
    >>> table.num_rows
    5000
    >>> table.column_names
    ['patient_id', 'age', 'sex', 'zip', 'marital_status', 'admitted', 'diagnosis']
    >>> table.equals(demo(seed=0)), table.equals(demo(seed=1))
    (True, False)
    """
    rng = _generator(records, seed)
    outliers = _outlier_rows(rng, records)
    patient = rng.permutation(records) + 1
    town = _draw(rng, np.tile([place.weight for place in _TOWNS], (records, 1)))
    band = _draw(rng, np.array([place.ages for place in _TOWNS])[town])
    age = rng.integers(np.array(_YOUNGEST)[band], np.array(_OLDEST)[band], endpoint=True)
    sex = _draw(rng, _sex_weights(band))
    zips = _choose_within(rng, town, [place.zips for place in _TOWNS])
    marital = _draw(rng, np.array(_MARITAL_OF_BAND)[band])
    month = _draw(rng, np.tile(_ADMISSIONS_OF_MONTH, (records, 1)))
    day = rng.integers(np.array(_DAYS_OF_MONTH)[month])
    day += np.concatenate([[0], np.cumsum(_DAYS_OF_MONTH)])[month]
    diagnosis = _draw(rng, _diagnosis_weights(band, sex, month, town))

    columns: dict[str, NDArray[np.generic]] = {
        "age": age,
        "sex": np.array(_SEXES, object)[sex],
        "zip": zips,
        "marital_status": np.array(_MARITAL, object)[marital],
        "admitted": day + np.datetime64(_FIRST_DAY, "D"),
        "diagnosis": np.array([name for name, _, _ in _DIAGNOSES], object)[diagnosis],
    }
    for name, column in columns.items():
        for row, outlier in zip(outliers, _OUTLIERS, strict=True):
            column[row] = getattr(outlier, name)
    width = max(6, len(str(records)))
    identifiers = [f"P{number:0{width}d}" for number in patient]
    return pa.table({IDENTIFIER: identifiers, **columns})


def demo_table(records: int = 5000, seed: int = 0) -> Table:
    """Return ``demo(records, seed)`` with its roles and hierarchies, ready for the test.

    >>> print(demo_table(records=200).describe())  # doctest: +NORMALIZE_WHITESPACE
    identifier: patient_id (categorical);
    quasi: age (numeric), sex (categorical), zip (categorical), marital_status (categorical),
    admitted (date); sensitive: diagnosis (categorical)
    """
    from indiff.data.table import read_table

    return read_table(
        demo(records, seed),
        identifier=IDENTIFIER,
        quasi=QUASI,
        sensitive=SENSITIVE,
        hierarchies={
            column: Hierarchy.from_lines(lines, source=f"the demo hierarchy of {column}")
            for column, lines in demo_hierarchies().items()
        },
    )


def demo_outliers(records: int = 5000, seed: int = 0) -> tuple[int, ...]:
    """Return the 0-based rows of the outliers planted in ``demo(records, seed)``.

    Each has a diagnosis of its own and stands apart in age or marital status, or among neighbours
    who are all alike: their records are the ones that the differential test must find.

    >>> rows = demo_outliers()
    >>> demo().take(list(rows))["diagnosis"].to_pylist()
    ['tetanus', 'sarcoidosis', 'leprosy', 'tuberculosis', 'malaria', 'botulism']
    """
    return _outlier_rows(_generator(records, seed), records)


def demo_hierarchies() -> MappingProxyType[str, tuple[str, ...]]:
    """Return the demo table's hierarchies, per column, as ``leaf;parent;…;*`` lines.

    >>> demo_hierarchies()["zip"][0]
    '02108;0210*;021**;*'
    >>> demo_hierarchies()["marital_status"][-1]
    'widowed;formerly married;alone;*'
    """
    zips = sorted(code for town in _TOWNS for code in town.zips)
    return MappingProxyType(
        {
            "zip": tuple(f"{code};{code[:4]}*;{code[:3]}**;*" for code in zips),
            "marital_status": (
                "single;alone;*",
                "partnered;together;*",
                "married;together;*",
                "separated;formerly married;alone;*",
                "divorced;formerly married;alone;*",
                "widowed;formerly married;alone;*",
            ),
        }
    )


def _generator(records: int, seed: int) -> np.random.Generator:
    if records < 100:
        raise UserError(
            "the demo table needs at least 100 records, so that its outliers stay rare",
            records,
            "Raise records",
            field="records",
        )
    if seed < 0:
        raise UserError("seed must be 0 or more", seed, "Choose another seed", field="seed")
    return np.random.Generator(np.random.PCG64(seed))


def _outlier_rows(rng: np.random.Generator, records: int) -> tuple[int, ...]:
    """Choose the outliers' rows: the generator's first draw, so that it can be repeated alone."""
    return tuple(int(row) for row in rng.permutation(records)[: len(_OUTLIERS)])


def _draw(rng: np.random.Generator, weights: NDArray[np.int64]) -> NDArray[np.intp]:
    """Draw one choice per row, in proportion to that row's whole-number weights."""
    below = np.cumsum(weights, axis=1)
    ticket = rng.integers(below[:, -1])
    return np.sum(ticket[:, None] >= below, axis=1, dtype=np.intp)


def _choose_within(
    rng: np.random.Generator, group: NDArray[np.intp], choices: Sequence[Sequence[str]]
) -> NDArray[np.object_]:
    """Choose one of the group's own texts for every row, the first ones more often."""
    chosen = np.empty(group.size, object)
    for number, texts in enumerate(choices):
        rows = np.flatnonzero(group == number)
        weights = np.arange(len(texts), 0, -1) + 2
        chosen[rows] = np.array(texts, object)[_draw(rng, np.tile(weights, (rows.size, 1)))]
    return chosen


def _sex_weights(band: NDArray[np.intp]) -> NDArray[np.int64]:
    """Weigh women more where births (18 to 44) and longer lives (75 and over) bring them in."""
    women = np.array((48, 48, 58, 62, 56, 50, 48, 50, 55, 64))[band]
    return np.stack([women, 100 - women], axis=1)


def _diagnosis_weights(
    band: NDArray[np.intp], sex: NDArray[np.intp], month: NDArray[np.intp], town: NDArray[np.intp]
) -> NDArray[np.int64]:
    weights = np.array([by_band for _, by_band, _ in _DIAGNOSES]).T[band]
    winter, women, men, industrial = np.array([factors for _, _, factors in _DIAGNOSES]).T
    is_winter = (month <= 1) | (month == 11)
    weights = np.where(is_winter[:, None], weights * winter, weights)
    weights = weights * np.where((sex == 0)[:, None], women, men)
    return np.where((town == _INDUSTRIAL)[:, None], weights * industrial, weights)
