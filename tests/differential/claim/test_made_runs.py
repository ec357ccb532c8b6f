"""Runs that were made elsewhere: each file is one run, and one file is never two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff.data.table import Table
from indiff.differential.claim.made_runs import TRUSTED
from indiff.errors import UserError
from indiff.sanitizers.oracles.function import OracleFailed

AGES, ILL = [20, 21, 20, 21, 20, 22, 20, 21], list("nnyynynn")


def people(**options: Any) -> Table:
    frame = pa.table({"who": list("abcdefga"), "age": AGES, "ill": ILL})
    return indiff.read_table(frame, quasi=["age"], sensitive="ill", identifier="who", **options)


def write_run(file: Path, absent: list[int], noise: float, rng: np.random.Generator) -> None:
    """Write a table of noisy counts, of everybody but some."""
    there = [(a, i) for row, (a, i) in enumerate(zip(AGES, ILL, strict=True)) if row not in absent]
    lines = [
        f"{age},{ill},{max(round(there.count((age, ill)) + rng.laplace(0, noise)), 0)}"
        for age in (20, 21, 22) for ill in "ny"
    ]  # fmt: skip
    file.write_text("age,ill,weight\n" + "\n".join(lines) + "\n")


def write(folder: Path, noise: float, runs: int, sides: tuple[tuple[int, ...], ...]) -> str:
    rng = np.random.default_rng(3)
    for absent in ((), *sides):
        name = "-".join(["without", *map(str, absent)]) if absent else "release"
        (folder / name).mkdir()
        for run in range(runs):
            write_run(folder / name / f"{run}.csv", list(absent), noise, rng)
    return f"releases:{folder}"


def test_too_little_noise_is_refuted_by_files(tmp_path: Path) -> None:
    found = indiff.test_claim(people(), write(tmp_path, 0.05, 120, ((0,), (5,))), epsilon=1, jobs=1)
    assert found.refuted
    assert (found.records, found.observed[0].counted.runs) == (2, 60)
    assert found.calls == found.requested == 120 + 2 * 60 + 60
    assert TRUSTED in found.notes


def test_enough_noise_is_not(tmp_path: Path) -> None:
    found = indiff.test_claim(people(), write(tmp_path, 1, 60, ((0,), (5,))), epsilon=1, jobs=1)
    assert not found.refuted
    assert found.complete


def test_no_file_is_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, read = write(tmp_path, 1, 40, ((0,), (5,))), []
    own = indiff.Releases.read_run

    def note(self: indiff.Releases, table: Table, run: int) -> Any:
        read.append((len(table), tuple(table.records.tolist()), run))
        return own(self, table, run)

    monkeypatch.setattr(indiff.Releases, "read_run", note)
    indiff.test_claim(people(), text, epsilon=1, jobs=1)
    assert len(read) == len(set(read)) == 40 + 2 * 20 + 20


def test_one_release_for_each_side_is_no_test(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    write_run(tmp_path / "release.csv", [], 1, rng)
    write_run(tmp_path / "without-0.csv", [0], 1, rng)
    says = r"at least 20 runs .*; got 0 runs with everybody and at most 0 without a record"
    with pytest.raises(UserError, match=says):
        indiff.test_claim(people(), f"releases:{tmp_path}", epsilon=1)
    with pytest.raises(UserError, match="one file read twice is no second run"):
        indiff.infer_membership(people(), f"releases:{tmp_path}")


def test_canaries_cannot_be_put_into_what_is_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="are there already"):
        indiff.test_claim(people(), write(tmp_path, 1, 20, ((0,),)), epsilon=1, canaries=10)


def test_a_single_test_does_not_take_runs(tmp_path: Path) -> None:
    with pytest.raises(OracleFailed, match="has runs of a random sanitizer"):
        indiff.differential_test(people(), write(tmp_path, 1, 2, ((0,),)), targets=[0])


def test_all_records_of_a_person(tmp_path: Path) -> None:
    text = write(tmp_path, 0.05, 60, ((0, 7), (1,)))
    found = indiff.test_claim(people(), text, epsilon=1, individual="who", jobs=1)
    assert found.refuted
    assert found.records == 2
    named = indiff.test_claim(people(), text, epsilon=1, individual="who", targets=[1], jobs=1)
    assert named.observed[0].record == 1


def test_members_are_told_by_files(tmp_path: Path) -> None:
    text = write(tmp_path, 0.05, 60, ((0,), (5,)))
    found = indiff.infer_membership(people(), text, jobs=1, runs=500)
    assert (found.records, found.runs) == ((0, 5), 60)
    assert found.overall["count of its cell"].advantage.lower > 0.5
    assert TRUSTED in found.notes


def test_a_run_goes_on_only_with_the_same_files(tmp_path: Path) -> None:
    (made := tmp_path / "made").mkdir()
    text = write(made, 1, 20, ((0,),))
    first = indiff.test_claim(people(), text, epsilon=1, jobs=1, run=tmp_path / "run")
    again = indiff.test_claim(people(), text, epsilon=1, jobs=1, run=tmp_path / "run")
    assert again.epsilon == first.epsilon
    write_run(made / "release" / "3.csv", [], 9, np.random.default_rng(1))
    with pytest.raises(UserError, match="the sanitizer is another one"):
        indiff.test_claim(people(), text, epsilon=1, jobs=1, run=tmp_path / "run")
