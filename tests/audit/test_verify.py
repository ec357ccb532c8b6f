"""A report and its release: what belongs together, what was altered, what cannot be decided."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

import indiff
from indiff.audit.outliers import audit_rest, without_outliers
from indiff.audit.plan.fixing import with_limit
from indiff.audit.verify import Verification, verify
from indiff.errors import UserError

Change = Callable[[dict[str, Any]], object]


def sections(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "data": {"path": str(folder / "data.csv"), "quasi": ["age", "sex"],
                 "sensitive": "diagnosis", **more.pop("data", {})},
        "adversary": {"membership": False, "models": ["naive-bayes"]},
        "report": {"worst": 1},
        "limits": {"k": 2, "delta": 0.01},
        **more,
    }  # fmt: skip


@pytest.fixture(scope="module")
def filed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a report about it, and the release that was judged."""
    folder = tmp_path_factory.mktemp("filed")
    pyarrow.csv.write_csv(indiff.datasets.demo(records=150), folder / "data.csv")
    result = indiff.run_audit(indiff.Plan(**sections(folder)))
    result.write(folder)
    result.write_release(folder / "release.csv")
    return folder


def told(found: Verification) -> dict[str, str]:
    return {one.about: one.status for one in found.answers}


def altered(filed: Path, folder: Path, change: Change) -> Path:
    document = json.loads((filed / "report.json").read_text(encoding="utf-8"))
    change(document)
    (folder / "report.json").write_text(json.dumps(document), encoding="utf-8")
    return folder / "report.json"


def of(document: dict[str, Any], id: str) -> dict[str, Any]:
    return next(one for one in document["findings"] if one["id"] == id)


def test_what_belongs_together(filed: Path) -> None:
    found = verify(filed / "report.json", filed / "release.csv", filed / "data.csv")
    assert told(found) == {"release": "same", "table": "same", "numbers": "same"}
    assert found.exit_code == 0


def test_without_the_data_only_the_release_is_compared(filed: Path) -> None:
    found = verify(filed / "report.json", filed / "release.csv")
    assert told(found) == {"release": "same", "numbers": "not asked"}
    assert found.exit_code == 0


@pytest.mark.parametrize(("delta", "status"), [(0.45, "below"), (0.01, "budget")])
def test_an_audit_after_outliers_were_removed(
    filed: Path, tmp_path: Path, delta: float, status: str
) -> None:
    plan = with_limit(indiff.Plan(**sections(filed)), delta)
    found, left = without_outliers(plan, delta, 30, None)
    result = audit_rest(plan, found, left)
    result.write(tmp_path)
    result.write_release(tmp_path / "release.csv")
    told_fix = result.document["fix"]
    assert told_fix["status"] == found.status == status
    assert result.document["table"]["records"] == 150 - told_fix["removed"]
    report = tmp_path / "report.json"
    again = verify(report, tmp_path / "release.csv", filed / "data.csv")
    assert told(again) == {"release": "same", "table": "same", "numbers": "same"}
    assert again.exit_code == 0
    # Whoever hides that records were removed speaks of another table; in vain, none was.
    hidden = altered(tmp_path, tmp_path, lambda document: document.update(fix=None))
    again = verify(hidden, tmp_path / "release.csv", filed / "data.csv")
    assert (again.exit_code == 0) == (status == "budget")


def test_one_letter_of_the_release(filed: Path, tmp_path: Path) -> None:
    release = (filed / "release.csv").read_text()
    (tmp_path / "release.csv").write_text(release.replace("female", "femalE", 1))
    found = verify(filed / "report.json", tmp_path / "release.csv")
    assert told(found)["release"] == "different"
    assert found.exit_code == 1


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda d: of(d, "k").update(value=50.0), ("k",)),
        (lambda d: of(d, "k").update(means="Nobody is exposed."), ("k",)),
        (
            lambda d: of(d, "delta:diagnosis:naive-bayes").update(value=0.0, exceeded=False),
            ("delta:diagnosis:naive-bayes",),
        ),
        (lambda d: d["verdict"].update(status="pass", exit_code=0), ("verdict.status",)),
        (lambda d: d["charts"]["worst"].clear(), ("charts.worst",)),
        (lambda d: d["findings"].remove(of(d, "ncp")), ("ncp",)),
    ],
)
def test_a_number_that_was_altered(
    filed: Path, tmp_path: Path, change: Change, names: tuple[str, ...]
) -> None:
    report = altered(filed, tmp_path, change)
    found = verify(report, filed / "release.csv", filed / "data.csv")
    assert told(found)["numbers"] == "different"
    assert found.exit_code == 1
    differing = next(one.names for one in found.answers if one.about == "numbers")
    assert set(names) <= set(differing)
    assert len(differing) <= 2


def test_a_release_that_was_put_into_the_report(filed: Path, tmp_path: Path) -> None:
    """The sum fits the wrong release, but the data give another one."""
    release = tmp_path / "release.csv"
    release.write_text((filed / "release.csv").read_text().replace("female", "*"))
    own = hashlib.sha256(release.read_bytes()).hexdigest()
    report = altered(filed, tmp_path, lambda d: d["files"]["release"][0].update(sha256=own))
    found = verify(report, release, filed / "data.csv")
    assert told(found) == {"release": "same", "table": "same", "numbers": "different"}
    assert [one.names for one in found.answers][-1] == ("files.release",)


def test_rounding_on_another_machine_is_no_difference(filed: Path, tmp_path: Path) -> None:
    def nudge(document: dict[str, Any]) -> None:
        one = of(document, "ncp")
        one["value"] *= 1 + 1e-12

    report = altered(filed, tmp_path, nudge)
    assert verify(report, filed / "release.csv", filed / "data.csv").exit_code == 0


def test_another_version_may_count_in_another_way(filed: Path, tmp_path: Path) -> None:
    def older(document: dict[str, Any]) -> None:
        document["versions"]["indiff"] = "0.0.1"
        of(document, "k")["value"] = 3.0

    report = altered(filed, tmp_path, older)
    found = verify(report, filed / "release.csv", filed / "data.csv")
    assert told(found)["numbers"] == "undecided"
    assert "made with indiff 0.0.1" in found.answers[-1].text
    assert found.exit_code == 3
    report = altered(filed, tmp_path, lambda d: d["versions"].update(indiff="0.0.1"))
    assert verify(report, filed / "release.csv", filed / "data.csv").exit_code == 0


def test_another_table(filed: Path, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(indiff.datasets.demo(records=151), tmp_path / "data.csv")
    found = verify(filed / "report.json", filed / "release.csv", tmp_path / "data.csv")
    assert told(found) == {"release": "same", "table": "different"}
    assert found.exit_code == 1


def test_the_same_records_in_another_file(filed: Path, tmp_path: Path) -> None:
    text = (filed / "data.csv").read_text()
    (tmp_path / "data.csv").write_text(text.replace(",", ";"))
    found = verify(filed / "report.json", filed / "release.csv", tmp_path / "data.csv")
    assert told(found)["table"] == "same"
    assert "another file with the records" in found.answers[1].text


def test_other_records_of_the_same_file(filed: Path, tmp_path: Path) -> None:
    """As after a fix: the file is the input, but some of its records were removed."""
    report = altered(filed, tmp_path, lambda d: d["table"].update(fingerprint="0" * 64))
    found = verify(report, filed / "release.csv", filed / "data.csv")
    assert told(found)["table"] == "undecided"
    assert found.exit_code == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["plan"]["data"].update(missing_tokens=["a hidden text"]), "withholds a value"),
        (lambda d: d["plan"]["data"].update(hierarchies={"sex": "sex.csv"}), "'sex.csv' is needed"),
        (lambda d: d["plan"]["data"].update(quasi=["agee"]), "no column 'agee'"),
        (lambda d: d["plan"].update(population=[1]), "has named values; population has none"),
    ],
)
def test_a_plan_that_cannot_be_run_again(
    filed: Path, tmp_path: Path, change: Change, message: str
) -> None:
    report = altered(filed, tmp_path, change)
    found = verify(report, filed / "release.csv", filed / "data.csv")
    assert told(found)["numbers"] == "undecided"
    assert message in found.answers[-1].text
    assert found.exit_code == 3


def test_an_older_report_names_no_release(filed: Path, tmp_path: Path) -> None:
    report = altered(filed, tmp_path, lambda d: d.pop("files"))
    found = verify(report, filed / "release.csv")
    assert told(found)["release"] == "undecided"
    assert found.exit_code == 3


def test_a_release_made_elsewhere(filed: Path, tmp_path: Path) -> None:
    made = {"file": str(filed / "release.csv")}
    indiff.run_audit(indiff.Plan(**sections(filed, release=made))).write(tmp_path)
    report = tmp_path / "report.json"
    found = verify(report, filed / "release.csv", filed / "data.csv")
    assert told(found) == {"release": "same", "table": "same", "numbers": "same"}
    (tmp_path / "release.csv").write_text("age,sex,diagnosis\n*,*,flu\n")
    found = verify(report, tmp_path / "release.csv", filed / "data.csv")
    assert told(found) == {"release": "different", "numbers": "not asked"}
    assert found.exit_code == 1


def test_files_that_cannot_be_read(filed: Path, tmp_path: Path) -> None:
    for report, release, data in (
        (tmp_path / "no.json", filed / "release.csv", None),
        (filed / "report.json", tmp_path / "no.csv", None),
        (filed / "report.json", filed / "release.csv", tmp_path / "no.csv"),
        (filed / "data.csv", filed / "release.csv", None),
    ):
        with pytest.raises(UserError):
            verify(report, release, data)


@pytest.mark.parametrize(
    "part", ["files.release", "files.input", "plan.data", "plan.adversary.distance", "plan.release",
             "plan.run", "table", "verdict.exit_code", "findings", "versions"],
)  # fmt: skip
def test_a_part_that_no_audit_wrote(filed: Path, tmp_path: Path, part: str) -> None:
    *way, last = part.split(".")
    values: tuple[Any, ...] = ([1], "x", {"a": {"b": 1}}, [[]])
    for strange in values:
        if (part, strange) == ("plan.adversary.distance", "x"):
            continue  # it could be one; the plan refuses it by its name
        document = json.loads((filed / "report.json").read_text(encoding="utf-8"))
        inner = document
        for name in way:
            inner = inner[name]
        inner[last] = strange
        (tmp_path / "report.json").write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(UserError, match="has the parts that an audit wrote"):
            verify(tmp_path / "report.json", filed / "release.csv", filed / "data.csv")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"kind": ' + "9" * 5000 + "}", "{"])
def test_json_that_cannot_be_read(filed: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(UserError, match="an audit's file is JSON"):
        verify(tmp_path / "report.json", filed / "release.csv")


def test_a_number_beyond_all_others_is_another_number(filed: Path, tmp_path: Path) -> None:
    report = altered(filed, tmp_path, lambda d: of(d, "k").update(value=10**400))
    found = verify(report, filed / "release.csv", filed / "data.csv")
    assert told(found)["numbers"] == "different"


def test_without_the_key_the_numbers_alone_are_checked(
    filed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another key can confirm neither the file nor the records; that is said, not passed over."""
    (tmp_path / "key").write_text("another key than the one of the report")
    monkeypatch.setenv("INDIFF_KEY", str(tmp_path / "key"))
    found = verify(filed / "report.json", filed / "release.csv", filed / "data.csv")
    assert told(found) == {"release": "same", "table": "undecided", "numbers": "same"}
    assert "another key" in found.answers[1].text
    assert found.exit_code == 3
    other = tmp_path / "other.csv"
    pyarrow.csv.write_csv(indiff.datasets.demo(records=151), other)
    found = verify(filed / "report.json", filed / "release.csv", other)
    assert told(found)["numbers"] == "different"
    assert found.exit_code == 1
