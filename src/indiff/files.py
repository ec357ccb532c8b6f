"""Writes files: whole or not at all, for their owner alone, never over an input; hashes them."""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from indiff.errors import UserError
from indiff.temporary import sweep_once, temporary_prefix

if TYPE_CHECKING:
    import pyarrow as pa

FRAME_ENDINGS = (".csv", ".tsv", ".parquet")
_OPEN_FILE = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/(\d+)")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def make_folder(folder: Path) -> None:
    """Make a folder for reports, with its parents, for its owner only."""
    wrong = None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        wrong = f"made; {str(folder)!r} cannot ({error.strerror})"
    else:
        if not os.access(folder, os.W_OK):
            wrong = f"written; {str(folder)!r} is not"
    if wrong is not None:
        rule = f"--out must be a folder that can be {wrong}"
        raise UserError(rule, way_out="Choose another place", field="out")


def refuse_inputs(what: str, folder: Path, names: Iterable[str], inputs: list[Path]) -> None:
    """Refuse a folder in which one of some files is an input, by whatever link, or a folder."""
    for place in (folder / name for name in names):
        if place.is_dir():
            raise UserError(
                f"a {what} is written as files; {str(place)!r} is a folder",
                way_out="Choose another folder with --out",
                field="out",
            )
        if any(is_same_file(place, path) for path in inputs):
            raise UserError(
                f"a {what} must not overwrite its input; {str(place)!r} is one",
                way_out="Choose another folder with --out",
                field="out",
            )


def is_same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file: by links of either kind, or before it exists.

    >>> is_same_file(Path("a.csv"), Path("folder/../a.csv")), is_same_file(Path("a"), Path("b"))
    (True, False)
    """
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there yet, or cannot be looked at
        return os.path.realpath(one) == os.path.realpath(other)


def label(name: str) -> str:
    """Return a column's name as a cell of a file about records: no spreadsheet calculates it.

    A name that a spreadsheet would take for a formula gets an apostrophe in front, which
    spreadsheets read as "this is text".

    >>> label("diagnosis"), label("=HYPERLINK(1)")
    ('diagnosis', "'=HYPERLINK(1)")
    """
    return f"'{name}" if name.lstrip(" ").startswith(_FORMULA) else name


def check_places(
    outputs: Mapping[str, Path | None], inputs: list[Path], *, frames: tuple[str, ...]
) -> None:
    """Refuse, before any work, outputs that cannot be written or would overwrite an input.

    ``frames`` are the options whose file is a table, which its ending must tell.
    """
    taken = [(path, f"the input {str(path)!r}") for path in inputs]
    for option, path in outputs.items():
        if path is None:
            continue
        if option in frames and path.suffix.lower() not in FRAME_ENDINGS:
            raise UserError(
                f"{option} must end in {', '.join(FRAME_ENDINGS)}",
                f"{str(path)!r}",
                "Change the ending",
            )
        _check_writable(option, path)
        other = next((what for place, what in taken if is_same_file(path, place)), None)
        if other is not None:
            raise UserError(
                f"{option} must be a file of its own",
                f"{str(path)!r}, which is {other}",
                "Choose another name",
            )
        taken.append((path, f"also {option}"))


def _check_writable(option: str, path: Path) -> None:
    if len(os.fsencode(path.name)) > 255:
        raise UserError(
            f"{option} must have a name of at most 255 bytes", way_out="Choose a shorter one"
        )
    if path.is_dir():
        raise UserError(
            f"{option} must be a file; {str(path)!r} is a folder", way_out="Name a file in it"
        )
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise UserError(
            f"{option} must be in a folder that exists; there is no {str(folder)!r}",
            way_out="Make it, or choose another place",
        )
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UserError(
            f"{option} must be a place that can be written; {str(path)!r} is not",
            way_out="Choose another place",
        )


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, privately and whole."""
    with open_private(path) as handle:
        handle.write(text.encode("utf-8", "backslashreplace"))


def write_frame(frame: pa.Table, path: str | Path, *, lasting: bool = True) -> None:
    """Write a frame to ``.csv``, ``.tsv`` or ``.parquet``, as :func:`open_private` does."""
    suffix = Path(path).suffix.lower()
    if suffix not in FRAME_ENDINGS:
        raise UserError(
            "a table is written to a .csv, .tsv or .parquet file",
            f"{str(path)!r}",
            "Change the ending",
        )
    with open_private(path, lasting=lasting) as handle:
        _put_frame(frame, handle, suffix)


def _put_frame(frame: pa.Table, handle: BinaryIO, suffix: str) -> None:
    if suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(frame, handle)
    else:
        import pyarrow.csv as pv

        pv.write_csv(frame, handle, pv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ","))


class Digest(io.RawIOBase):
    """Counts what is written into it and takes its SHA-256, and keeps nothing."""

    def __init__(self) -> None:
        self._sum, self.bytes = hashlib.sha256(), 0

    def writable(self) -> bool:
        """Tell that it can be written to, and no more."""
        return True

    def write(self, data: Any, /) -> int:
        """Take some bytes."""
        self._sum.update(data)
        size = memoryview(data).nbytes
        self.bytes += size
        return size

    def tell(self) -> int:
        """Tell how many bytes were written."""
        return self.bytes

    @property
    def parts(self) -> dict[str, Any]:
        """The SHA-256 and the number of bytes."""
        return {"sha256": self._sum.hexdigest(), "bytes": self.bytes}


def frame_digest(frame: pa.Table, suffix: str) -> dict[str, Any]:
    """Return the SHA-256 and the size of the file that :func:`write_frame` writes."""
    digest = Digest()
    _put_frame(frame, cast(BinaryIO, digest), suffix)
    return digest.parts


def file_digest(path: str | Path) -> dict[str, Any]:
    """Return the SHA-256 and the size of a file."""
    digest = Digest()
    try:
        with Path(path).open("rb") as file:
            while block := file.read(1 << 20):
                digest.write(block)
    except OSError as error:
        raise UserError(
            f"a file must be readable; {str(path)!r} is not ({error.strerror})",
            way_out="Check its name",
        ) from None
    return digest.parts


def write_records(path: Path, results: Sequence[Any]) -> None:
    """Write one row per tested record; with several attributes or models, below each other."""
    import pyarrow as pa

    frames = [result.to_arrow() for result in results]
    if len({result.sensitive_name for result in results}) < len(results):  # who sees which
        frames = [
            frame.append_column("model", pa.array([label(result.model)] * len(frame)))
            for frame, result in zip(frames, results, strict=True)
        ]
    if len(results) > 1:
        frames = [
            frame.add_column(0, "sensitive", pa.array([label(result.sensitive_name)] * len(frame)))
            for frame, result in zip(frames, results, strict=True)
        ]
    write_frame(pa.concat_tables(frames, promote_options="default"), path)


@contextmanager
def open_private(path: str | Path, *, lasting: bool = True) -> Iterator[BinaryIO]:
    """Open a file that only its owner can read and that appears when it is whole.

    The bytes go to a temporary file in the same folder, which takes the file's name at the end; of
    a write that fails nothing is left. What is no file (a pipe, a device, ``/dev/stdout``), and a
    file in a folder that cannot be written, is written in place. A file that is not ``lasting``
    is soon read and thrown away: nobody waits for the disk.
    """
    with written_whole(path, lasting=lasting) as name:
        in_place = name == os.fspath(path)
        with _in_place(name) if in_place else open(name, "wb") as handle:
            yield handle


@contextmanager
def written_whole(path: str | Path, *, lasting: bool = True) -> Iterator[str]:
    """Yield where to write a file, by whatever program, as :func:`open_private` says."""
    try:
        place = _writable_place(path)
        with nullcontext(os.fspath(path)) if place is None else _replacing(place, lasting) as name:
            yield name
    except OSError as error:
        raise UserError(
            f"{str(path)!r} cannot be written ({error.strerror or error}); choose another place."
        ) from None


def _writable_place(path: str | Path) -> str | None:
    """Return the file that a path leads to, or None where it must be written in place."""
    place = os.path.realpath(path)
    if _from_root(path).startswith(("/dev/", "/proc/")):  # perhaps a file by now: 1> out
        return None
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return place
    return place if is_file and os.access(os.path.dirname(place), os.W_OK) else None


@contextmanager
def _replacing(place: str, lasting: bool) -> Iterator[str]:
    folder = os.path.dirname(place)
    sweep_once(folder)
    # Only its owner may read what mkstemp makes.
    descriptor, temporary = tempfile.mkstemp(prefix=f".{temporary_prefix()}", dir=folder)
    try:
        try:
            yield temporary
            if lasting:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)  # Windows renames no open file
        os.replace(temporary, place)
    except BaseException:
        with suppress(FileNotFoundError):  # whoever wrote it may have removed it
            os.unlink(temporary)
        raise


def _from_root(path: str | Path) -> str:
    """Return a whole path with slashes and without a drive: ``/dev/stdout`` is ours anywhere."""
    return os.path.splitdrive(os.path.abspath(path))[1].replace(os.sep, "/")


@contextmanager
def _in_place(path: str | Path) -> Iterator[BinaryIO]:
    stream = _OPEN_FILE.fullmatch(_from_root(path))
    if stream is not None:  # go on where it stands: what follows must not overwrite this
        number = {"stdout": 1, "stderr": 2}.get(stream[1]) or int(stream[2])
        with os.fdopen(os.dup(number), "wb") as handle:
            yield handle
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as handle:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # a device belongs to everybody
            if hasattr(os, "fchmod"):  # elsewhere files have their folder's rights
                os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, 0)  # not before it is known to be the owner's
        yield handle


@contextmanager
def private_files() -> Iterator[None]:
    """Let only the owner read what is written meanwhile, by an engine or another process too."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
