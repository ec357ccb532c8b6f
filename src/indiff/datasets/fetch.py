"""Finds the papers' two data sets, Adult and Internet Usage, fetches them if asked, reads them."""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from indiff.errors import UserError, from_data, option, unknown
from indiff.files import open_private

if TYPE_CHECKING:
    from indiff.data.hierarchy import Hierarchy
    from indiff.data.table import Table

ADULT_QUASI = ("age", "education", "marital-status", "hours-per-week", "native-country")
ADULT_SENSITIVE = "occupation"
INTERNET_QUASI = {
    "v2": ("age", "race", "education_attainment", "major_occupation", "marital_status"),
    "v1": ("age", "country", "education_attainment", "major_occupation", "marital_status", "race"),
}
INTERNET_SENSITIVE = "household_income"
_TIMEOUT = 60  # seconds without a single byte
_CHUNK = 1 << 16


@dataclass(frozen=True)
class RemoteFile:
    """A public file that never changes: its name, its address and the SHA-256 of its bytes."""

    name: str
    url: str
    sha256: str
    size: int


# Adult: the static files of the classic UCI repository, CC BY 4.0.
_UCI_ADULT = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
_ADULT_TRAINING = RemoteFile(
    "adult.data",
    f"{_UCI_ADULT}/adult.data",
    "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    3_974_305,
)
_ADULT_TEST = RemoteFile(
    "adult.test",
    f"{_UCI_ADULT}/adult.test",
    "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    2_003_153,
)
# Internet Usage, CC BY 4.0: UCI's final_general.dat.gz holds number codes in place of the answers,
# so this is the file with the answers that the papers' authors published, at a fixed commit.
_INTERNET = RemoteFile(
    "internet.data",
    "https://raw.githubusercontent.com/kassemal/diffTesting/"
    "03ea55ddd1ea304be7307519abe863bda4c6077c/data/internet.data",
    "3aca07a018281f14ed2197c65a3968efd2b18c3110580d94331b8ba9e18c7704",
    2_763_861,
)

_ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip
_ADULT_NUMERIC = (
    "age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week",
)  # fmt: skip
_INTERNET_FIELDS = 72
_INTERNET_PLACES = {  # of the columns that the papers use
    "age": 1,
    "country": 11,
    "education_attainment": 18,
    "household_income": 21,
    "major_occupation": 32,
    "marital_status": 33,
    "race": 39,
}


def adult(
    records: int | None = 10_000,
    seed: int = 0,
    *,
    download: bool = False,
    folder: str | Path | None = None,
    base_url: str | None = None,
    hierarchies: Mapping[str, str | Path | Hierarchy] | None = None,
) -> Table:
    """Return UCI Adult (Census Income) as the papers use it (DIT v2, Section 4.1, Table 3).

    Quasi-identifiers: age, education, marital-status, hours-per-week, native-country; sensitive:
    occupation (14 values). The records are those of :func:`adult_frame`; the papers do not say
    which 10,000 they drew, so a result on these agrees with theirs in kind, not digit by digit.

    Example, which needs the network once::

        table = adult(download=True)
        len(table), len(table.sensitive.values)     # (10000, 14)
    """
    frame = adult_frame(records, seed, download=download, folder=folder, base_url=base_url)
    return _table(frame, ADULT_QUASI, ADULT_SENSITIVE, hierarchies)


def adult_frame(
    records: int | None = 10_000,
    seed: int = 0,
    *,
    download: bool = False,
    folder: str | Path | None = None,
    base_url: str | None = None,
) -> pa.Table:
    """Return all 15 columns of Adult: ``records`` of its 45,222 complete records, drawn by seed.

    The training part comes first, then the test part, as in the files; records with a missing
    value (``?``) are left out; of the others, ``records`` are drawn without replacement and kept in
    the files' order (``records=None`` keeps them all). What was left out is said in the frame's
    metadata, under ``notes``.

    Example, which needs the network once::

        adult_frame(download=True).num_rows    # 10000
    """
    if seed < 0:
        raise UserError("seed must be 0 or more", seed, "Choose another seed", field="seed")
    rows = [
        row
        for file in (_ADULT_TRAINING, _ADULT_TEST)
        for row in _rows(file, ", ", len(_ADULT_COLUMNS), folder, download, base_url)
    ]
    complete = [row for row in rows if "?" not in row]
    notes = [
        f"{len(rows) - len(complete):,} of {len(rows):,} records with a missing value left out"
    ]
    if records is not None:
        if not 1 <= records <= len(complete):
            raise UserError(
                "records must be at least 1 and at most the number of complete ones "
                f"({len(complete):,})",
                f"{records:,}",
                "Choose a number between them, or None for all",
                field="records",
            )
        notes.append(f"{records:,} of the {len(complete):,} others drawn with seed {seed}")
        drawn = np.random.Generator(np.random.PCG64(seed)).permutation(len(complete))[:records]
        complete = [complete[row] for row in np.sort(drawn)]
    columns = dict(zip(_ADULT_COLUMNS, map(list, zip(*complete, strict=True)), strict=True))
    columns["income"] = [label.removesuffix(".") for label in columns["income"]]
    return _frame(columns, _ADULT_NUMERIC, notes)


def internet_usage(
    version: Literal["v2", "v1"] = "v2",
    *,
    download: bool = False,
    folder: str | Path | None = None,
    base_url: str | None = None,
    hierarchies: Mapping[str, str | Path | Hierarchy] | None = None,
) -> Table:
    """Return the Internet Usage survey of 1997 as the papers use it: 9,799 records.

    Quasi-identifiers of DIT v2 (Section 4.1, Table 3): age, race, education_attainment,
    major_occupation, marital_status; DIT v1 (Section 3) has country as well. Sensitive:
    household_income (9 values, one of them ``Not-Say``). The 309 records without a stated age are
    left out, as in the papers, and the table's notes say so.

    Example, which needs the network once::

        table = internet_usage(download=True)
        len(table), len(table.sensitive.values)     # (9799, 9)
    """
    if version not in INTERNET_QUASI:
        raise unknown("version of the papers", version, INTERNET_QUASI, field="version")
    frame = internet_usage_frame(download=download, folder=folder, base_url=base_url)
    return _table(frame, INTERNET_QUASI[version], INTERNET_SENSITIVE, hierarchies)


def internet_usage_frame(
    *, download: bool = False, folder: str | Path | None = None, base_url: str | None = None
) -> pa.Table:
    """Return the columns of the Internet Usage survey that the papers use, in the file's order.

    The 309 of 10,108 records whose age is ``Not-Say`` are left out; the frame's metadata says so,
    under ``notes``.

    Example, which needs the network once::

        internet_usage_frame(download=True).num_rows    # 9799
    """
    rows = _rows(_INTERNET, "\t", _INTERNET_FIELDS, folder, download, base_url)
    stated = [row for row in rows if row[_INTERNET_PLACES["age"]] != "Not-Say"]
    note = f"{len(rows) - len(stated):,} of {len(rows):,} records with age Not-Say left out"
    columns = {name: [row[place] for row in stated] for name, place in _INTERNET_PLACES.items()}
    return _frame(columns, ["age"], [note])


def _rows(
    file: RemoteFile,
    separator: str,
    fields: int,
    folder: str | Path | None,
    download: bool,
    base_url: str | None,
) -> list[list[str]]:
    path = locate(file, folder=folder, download=download, base_url=base_url)
    lines = path.read_text(encoding="ascii").splitlines()
    rows = [line.split(separator) for line in lines if line and line[0] != "|"]
    for row in rows:
        if len(row) != fields:
            raise UserError(
                f"{file.name} must have {fields} fields on each line; one has {len(row)}: "
                f"{from_data(separator.join(row)[:60])}",
                way_out="Replace the file",
            )
    return rows


def _frame(
    columns: Mapping[str, Sequence[str]], numeric: Sequence[str], notes: Sequence[str]
) -> pa.Table:
    arrays = {
        name: pa.array(map(int, texts), pa.int64()) if name in numeric else pa.array(texts)
        for name, texts in columns.items()
    }
    return pa.table(arrays).replace_schema_metadata({"notes": "\n".join(notes)})


def _table(
    frame: pa.Table,
    quasi: Sequence[str],
    sensitive: str,
    hierarchies: Mapping[str, str | Path | Hierarchy] | None,
) -> Table:
    """Give a frame its roles; what it leaves out is said in every result's notes."""
    from indiff.data.table import read_table

    table = read_table(
        frame.select([*quasi, sensitive]), quasi=quasi, sensitive=sensitive, hierarchies=hierarchies
    )
    notes = frame.schema.metadata[b"notes"].decode().split("\n")
    return replace(table, notes=(*table.notes, *notes))


def locate(
    file: RemoteFile,
    *,
    folder: str | Path | None = None,
    download: bool = False,
    base_url: str | None = None,
) -> Path:
    """Return the path of a verified copy of ``file``.

    Looked for in ``folder`` (else in the folder that ``INDIFF_DATA`` names), then in the user's
    cache. Only with ``download=True`` is it fetched, from ``file.url`` or from below ``base_url``,
    into the cache. Whatever its origin, a copy with another SHA-256 is refused: results on other
    bytes could not be compared with anyone's.
    """
    chosen = folder if folder is not None else os.environ.get("INDIFF_DATA")
    if chosen:
        local = Path(chosen) / file.name
        if local.is_file():
            return _verified(file, local)
    cached = cache_folder() / file.name
    if cached.is_file() and _sha256(cached) == file.sha256:
        return cached
    if not download:
        place = f"is not in {str(chosen)!r}" if chosen else "has no local copy"
        if cached.is_file():
            place = f"is damaged in the cache ({str(cached)!r})"
        raise UserError(
            f"the data file {file.name} {place}; set INDIFF_DATA to the folder that holds it, or "
            f"pass {option('download', True)} to fetch it.",
            field="download",
        )
    url = file.url if base_url is None else f"{base_url.rstrip('/')}/{file.name}"
    _fetch(file, url, cached)
    return cached


def cache_folder() -> Path:
    """Return the folder in the user's cache directory where downloaded files are kept."""
    from indiff.kernels import cache_directory

    return cache_directory() / "datasets"


def _verified(file: RemoteFile, path: Path) -> Path:
    try:
        found = _sha256(path)
    except OSError as error:
        raise UserError(
            f"the data file {str(path)!r} cannot be read ({error.strerror}); check its permissions."
        ) from None
    if found != file.sha256:
        raise UserError(
            f"{str(path)!r} is not the published {file.name}: its SHA-256 starts with "
            f"{found[:16]}, expected {file.sha256[:16]}; replace the file."
        )
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch(file: RemoteFile, url: str, target: Path) -> None:
    """Download to a temporary file beside ``target`` and rename it once its bytes are verified."""
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(target.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise UserError(
            f"the cache folder {str(target.parent)!r} cannot be written ({error.strerror}); "
            "set XDG_CACHE_HOME to a folder that can."
        ) from None
    with open_private(target) as stream:
        received = _receive(file, url, stream.write)
        if received != file.sha256:
            raise UserError(
                f"the download of {url} has a SHA-256 that starts with {received[:16]}, expected "
                f"{file.sha256[:16]}; it was removed: try again, or point INDIFF_DATA to a good "
                "copy."
            )


def _receive(file: RemoteFile, url: str, write: Callable[[bytes], object]) -> str:
    """Pass the body at ``url`` to ``write`` and return its SHA-256."""
    if not url.startswith(("https://", "http://")):
        raise UserError("a download address must start with https://", repr(url), field="base_url")
    digest, received, failed = hashlib.sha256(), 0, ""
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            # One chunk beyond the expected size is enough to know that the bytes are others.
            while received <= file.size and (chunk := response.read(_CHUNK)):
                digest.update(chunk)
                write(chunk)
                received += len(chunk)
        if received < file.size:
            failed = f"the download of {url} ended after {received:,} of {file.size:,} bytes"
    except urllib.error.HTTPError as error:
        error.close()
        failed = f"{url} cannot be downloaded (HTTP status {error.code})"
    except urllib.error.URLError as error:
        failed = f"{url} cannot be downloaded ({error.reason})"
    except (OSError, http.client.HTTPException) as error:
        failed = f"{url} cannot be downloaded ({error!r})"
    if failed:
        raise UserError(f"{failed}; check the connection, or point INDIFF_DATA to a local copy.")
    return digest.hexdigest()
