"""What ties a report to its files: SHA-256 as sha256sum has it, keyed for what was read."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from indiff.audit.provenance import file_fingerprint
from indiff.errors import InternalError, UserError

DATA: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "diagnosis"}
QUICK: dict[str, Any] = {
    "adversary": {"membership": False, "models": ["naive-bayes"]},
    "report": {"worst": 0},
}


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    return indiff.datasets.demo(records=150)


def audited(table: Any, data: dict[str, Any] | None = None, **sections: Any) -> Any:
    return indiff.run_audit(indiff.Plan(data=data or DATA, **QUICK, **sections), table)


def test_every_file_that_was_read_is_named(patients: pa.Table, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(patients, tmp_path / "data.csv")
    (tmp_path / "zip.csv").write_text("".join(f"{z},*\n" for z in set(patients["zip"].to_pylist())))
    data = {
        "path": str(tmp_path / "data.csv"), "quasi": ["sex", "zip"], "sensitive": "diagnosis",
        "hierarchies": {"zip": str(tmp_path / "zip.csv")},
    }  # fmt: skip
    files = audited(None, data).document["files"]
    for told, (part, name) in zip(
        files["input"], [("table", "data.csv"), ("hierarchy", "zip.csv")], strict=True
    ):
        key = Path(os.environ["INDIFF_KEY"]).read_text(encoding="ascii").strip()
        own = hmac.new(key.encode(), sha(tmp_path / name).encode(), "sha256").hexdigest()
        known = hmac.new(key.encode(), b"the name of this key", "sha256").hexdigest()[:8]
        assert told == {"part": part, "name": name, "fingerprint": f"{known}-{own}"}
    of_frame = audited(patients, {**data, "path": None}).document["files"]["input"]
    assert [one["part"] for one in of_frame] == ["hierarchy"]


def test_the_plan_itself_is_one_of_the_files(patients: pa.Table, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(patients, tmp_path / "data.csv")
    place = tmp_path / "plan.toml"
    place.write_text(
        '[data]\npath = "data.csv"\nquasi = ["age", "sex"]\nsensitive = "diagnosis"\n'
        '[adversary]\nmodels = ["naive-bayes"]\nmembership = false\n[report]\nworst = 0\n'
    )
    for result in (
        indiff.run_audit(place),
        indiff.run_audit(indiff.read_plan(place), plan_file=place),
    ):
        told = {one["part"]: one for one in result.document["files"]["input"]}
        assert told["plan"]["name"] == "plan.toml"
        assert told["plan"]["fingerprint"] == file_fingerprint(place)


def test_all_files_of_a_pattern_are_named(patients: pa.Table, tmp_path: Path) -> None:
    for place in (0, 1):
        pyarrow.csv.write_csv(patients.slice(75 * place, 75), tmp_path / f"part-{place}.csv")
    told = audited(None, {**DATA, "path": str(tmp_path / "part-*.csv")}).document["files"]["input"]
    assert [one["name"] for one in told] == ["part-0.csv", "part-1.csv"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_what_is_written_is_what_the_report_names(
    patients: pa.Table, tmp_path: Path, ending: str
) -> None:
    place = tmp_path / f"out{ending}"
    result = audited(patients, release={"write": str(place)})
    result.write_release(place)
    (told,) = result.document["files"]["release"]
    assert told == {
        "name": place.name, "sha256": sha(place), "bytes": place.stat().st_size, "rows": 150,
        "about": "diagnosis",
    }  # fmt: skip
    assert place.stat().st_mode & 0o777 == 0o600
    assert indiff.read_table(place, quasi=["age", "sex"], sensitive="diagnosis").source.num_rows


def test_the_order_of_the_input_leaves_no_trace(patients: pa.Table, tmp_path: Path) -> None:
    """Two inputs with the same records in another order give the same bytes."""
    result = audited(patients)
    turned = audited(patients.take(pa.array(range(149, -1, -1))))
    assert result.document["files"]["release"] == turned.document["files"]["release"]
    result.write_release(tmp_path / "release.csv")
    rows = (tmp_path / "release.csv").read_text().splitlines()[1:]
    assert rows == sorted(rows)
    kept = result.releases[0].to_arrow()
    assert sorted(map(str, kept.to_pylist())) == sorted(
        map(str, result.releases[0].sorted_rows().to_pylist())
    )


def test_a_release_made_elsewhere_is_named_by_its_own_bytes(
    patients: pa.Table, tmp_path: Path
) -> None:
    table = indiff.read_table(patients, **DATA)
    indiff.Mondrian(k=5).sanitize(table).write(tmp_path / "made.csv", seed=3)
    result = audited(patients, release={"file": str(tmp_path / "made.csv")})
    (told,) = result.document["files"]["release"]
    assert (told["name"], told["sha256"], told["rows"]) == (
        "made.csv", sha(tmp_path / "made.csv"), 150,
    )  # fmt: skip
    with pytest.raises(UserError, match="one made elsewhere"):
        result.write_release(tmp_path / "again.csv")


@pytest.mark.parametrize(
    ("data", "release", "message"),
    [
        ({"sensitive": ["sex", "diagnosis"], "quasi": ["age"]}, {}, "several sensitive attributes"),
        (DATA, {"sanitizer": "laplace:epsilon=1"}, "chance that comes from the plan's seed"),
        (DATA, {"file": "made.csv"}, "one made elsewhere"),
    ],
)
def test_what_must_not_be_published_is_not_written(data: Any, release: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        indiff.Plan(data=data, release={**release, "write": "out.csv"})


def test_nor_is_it_written_from_python(patients: pa.Table, tmp_path: Path) -> None:
    noisy = audited(patients, release={"sanitizer": "laplace:epsilon=1"})
    with pytest.raises(UserError, match="for the test alone"):
        noisy.write_release(tmp_path / "out.csv")
    two = audited(patients, {"sensitive": ["sex", "diagnosis"], "quasi": ["age"]})
    with pytest.raises(UserError, match="got 2 here"):
        two.write_release(tmp_path / "out.csv")
    assert len(two.document["files"]["release"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_another_file_than_the_one_that_is_named_is_refused(
    patients: pa.Table, tmp_path: Path
) -> None:
    result = audited(patients)
    with pytest.raises(UserError, match=r"the SHA-256 of a \.csv file"):
        result.write_release(tmp_path / "out.parquet")
    result.document["files"]["release"][0]["sha256"] = "0" * 64
    with pytest.raises(InternalError, match="not the one that was judged"):
        result.write_release(tmp_path / "out.csv")


def test_never_over_an_input(patients: pa.Table, tmp_path: Path) -> None:
    place = tmp_path / "data.csv"
    pyarrow.csv.write_csv(patients, place)
    before = sha(place)
    result = audited(None, {**DATA, "path": str(place)})
    with pytest.raises(UserError, match="which is the input"):
        result.write_release(place)
    assert sha(place) == before
