"""Folders of releases: the right file for each record, and clear words where there is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff import Mondrian, Releases, Table, UserError, differential_test, read_table
from indiff.sanitizers.oracles.function import OracleFailed
from indiff.sanitizers.sanitizer import as_sanitizer


def people(**options: object) -> Table:
    columns = {
        "age": [28, 36, 47, 53, 72, 36],
        "sex": ["M", "M", "F", "M", "F", "M"],
        "ill": ["flu", "flu", "cancer", "flu", "flu", "flu"],
    }
    return read_table(pa.table(columns), quasi=["age", "sex"], sensitive="ill", **options)  # type: ignore[arg-type]


def write(table: Table, folder: Path, *, ending: str = ".csv") -> None:
    """Write what Mondrian releases of the table, and of it without each record."""
    sanitizer = Mondrian(k=2)
    names = {"release": table}
    names |= {f"without-{table.records[row]}": table.without(row) for row in range(len(table))}
    for name, part in names.items():
        release = sanitizer.sanitize(part)
        if ending == ".parquet":
            pq.write_table(release.to_arrow(), folder / f"{name}.parquet")
        else:
            release.write(folder / f"{name}{ending}")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_the_folder_gives_the_distances_of_the_sanitizer_that_filled_it(
    tmp_path: Path, ending: str
) -> None:
    write(people(), tmp_path, ending=ending)
    result = differential_test(people(), f"releases:{tmp_path}", model="naive-bayes", jobs=1)
    exact = differential_test(people(), Mondrian(k=2), model="naive-bayes")
    assert result.method == "refit"
    np.testing.assert_allclose(result.distances, exact.distances, rtol=0, atol=1e-12)


def test_records_that_look_alike_have_files_of_their_own(tmp_path: Path) -> None:
    write(people(), tmp_path)
    (tmp_path / "without-5.csv").write_text("age,sex,ill\n*,*,cancer\n*,*,cancer\n")
    distances = differential_test(
        people(), Releases(str(tmp_path)), model="naive-bayes", jobs=1
    ).distances
    assert distances[5] > distances[1]


def test_records_keep_their_numbers_where_others_were_dropped(tmp_path: Path) -> None:
    columns = {"age": [None, 28, 36, 47, 53], "ill": ["flu", "flu", "flu", "cancer", "flu"]}
    table = read_table(pa.table(columns), quasi=["age"], sensitive="ill", missing="drop")
    write(table, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir())[:2] == ["release.csv", "without-1.csv"]
    result = differential_test(table, f"releases:{tmp_path}", model="naive-bayes", jobs=1)
    exact = differential_test(table, Mondrian(k=2), model="naive-bayes")
    np.testing.assert_allclose(result.distances, exact.distances, rtol=0, atol=1e-12)


def test_all_records_of_a_person_are_one_file(tmp_path: Path) -> None:
    write(people(), tmp_path)
    absent = people().take([0, 2, 4])
    with pytest.raises(OracleFailed, match=r"without records 1, 3, 5 must be .*without-1-3-5\.csv"):
        Releases(str(tmp_path)).sanitize(absent)
    (tmp_path / "without-1-3-5.csv").write_text("age,sex,ill\n*,*,cancer\n")
    assert len(Releases(str(tmp_path)).sanitize(absent)) == 1


def test_a_missing_file_is_that_records_failure(tmp_path: Path) -> None:
    write(people(), tmp_path)
    (tmp_path / "without-3.csv").unlink()
    releases = Releases(str(tmp_path))
    with pytest.raises(OracleFailed, match=r"without record 3 must be in the folder; .* has no "
                                           r"without-3\.csv, \.tsv or \.parquet"):  # fmt: skip
        releases.sanitize(people().without(3))
    assert len(releases.sanitize(people().without(2))) == 5
    result = differential_test(people(), releases, model="naive-bayes", jobs=1, retries=0)
    assert result.records.tolist() == [0, 1, 2, 4, 5]
    assert not result.complete
    [failure] = result.failures
    assert failure.startswith("record 3: the release without record 3 must be in the folder")
    assert differential_test(
        people(), releases, model="naive-bayes", targets=[2, 4], jobs=1
    ).complete


def test_folders_without_a_release_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no folder '.*/nowhere'"):
        as_sanitizer(f"releases:{tmp_path / 'nowhere'}")
    with pytest.raises(UserError, match=r"whole table must be in the folder; .* no release\.csv"):
        as_sanitizer(f"releases:{tmp_path}")
    (tmp_path / "release.csv").write_text("age,sex,ill\n*,*,flu\n")
    (tmp_path / "release.tsv").write_text("age\tsex\till\n*\t*\tflu\n")
    with pytest.raises(UserError, match=r"has release\.csv and release\.tsv\. Remove all but one"):
        as_sanitizer(f"releases:{tmp_path}")


def test_a_run_goes_on_with_more_files_but_never_with_changed_ones(tmp_path: Path) -> None:
    folder, run = tmp_path / "made", tmp_path / "run"
    folder.mkdir()
    write(people(), folder)
    last = (folder / "without-5.csv").read_bytes()
    (folder / "without-5.csv").unlink()
    releases = Releases(str(folder))
    exact = differential_test(people(), Mondrian(k=2), model="naive-bayes").distances
    some = differential_test(people(), releases, model="naive-bayes", jobs=1, retries=0, run=run)
    assert some.records.tolist() == [0, 1, 2, 3, 4]
    (folder / "without-5.csv").write_bytes(last)
    whole = differential_test(people(), releases, model="naive-bayes", jobs=1, run=run)
    np.testing.assert_allclose(whole.distances, exact, rtol=0, atol=1e-12)
    (folder / "without-2.csv").write_text("age,sex,ill\n*,*,cancer\n*,*,flu\n")
    message = "that without record 2 is another file than when this run read it. Put it back, or"
    with pytest.raises(UserError, match=message):
        differential_test(people(), releases, model="naive-bayes", jobs=1, run=run)
    (folder / "release.csv").write_text("age,sex,ill\n*,*,cancer\n*,*,flu\n")
    with pytest.raises(UserError, match="the sanitizer is another one than when the run in"):
        differential_test(people(), releases, model="naive-bayes", jobs=1, run=run)
