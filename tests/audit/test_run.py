"""The run: what it measures equals the instruments; a step that cannot be made is a failed one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from indiff.audit.document import AuditResult
from indiff.audit.findings.tested import accuracy
from indiff.audit.run import _promises
from indiff.errors import UserError
from indiff.sanitizers.sanitizer import Promise

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "report.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
QUASI = ["age", "sex", "zip"]


def plan(**sections: Any) -> Any:
    """A plan that leaves out what takes time, unless it is asked for."""
    sections.setdefault("data", {"quasi": QUASI, "sensitive": "diagnosis"})
    sections["adversary"] = {"membership": False} | sections.get("adversary", {})
    sections["report"] = {"worst": 1} | sections.get("report", {})
    return indiff.Plan(**sections)


def whole_plan() -> Any:
    return plan(
        limits={"k": 5, "delta": 0.01},
        adversary={"membership": True},
        report={"parameter": "mondrian:k=2,5", "worst": 10},
    )


@pytest.fixture(scope="module")
def patients() -> Any:
    return indiff.datasets.demo(records=400)


@pytest.fixture(scope="module")
def table(patients: Any) -> Any:
    return indiff.read_table(patients, quasi=QUASI, sensitive="diagnosis")


@pytest.fixture(scope="module")
def audited(patients: Any) -> Any:
    return indiff.run_audit(whole_plan(), patients)


def valid(result: Any) -> None:
    VALIDATOR.validate(json.loads(result.to_json()))


def test_the_schema_holds(audited: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    valid(audited)


def test_the_findings_are_what_the_instruments_measure(
    audited: Any, table: Any, patients: Any
) -> None:
    tested = indiff.differential_test(table, "mondrian:k=5", model="naive-bayes")
    release = indiff.Mondrian(k=5).sanitize(table)
    after = indiff.measure_risk(release, quasi=QUASI, sensitive="diagnosis")
    before = indiff.measure_risk(patients, quasi=QUASI, sensitive="diagnosis")
    at = {one.id: one for one in audited.findings}
    assert at["delta:diagnosis:naive-bayes"].value == pytest.approx(tested.delta)
    assert at["mean:diagnosis:naive-bayes"].value == pytest.approx(tested.mean)
    assert at["quantile:diagnosis:naive-bayes"].value == pytest.approx(tested.quantile(0.99))
    assert at["delta:diagnosis:naive-bayes"].range == (0, 2)
    changed = at["changed_predictions:diagnosis:naive-bayes"].value
    assert changed == pytest.approx(tested.changed_predictions)
    readings: dict[str, Any] = {
        "k": lambda r: r.groups.k,
        "singled_out": lambda r: r.groups.singled_out,
        "marketer": lambda r: r.groups.marketer,
        "reidentification.itpr": lambda r: r.reidentification.itpr,
        "reidentification.dr": lambda r: r.reidentification.dr,
        "inference.itpr:diagnosis": lambda r: r.inference["diagnosis"].itpr,
        "inference.dr:diagnosis": lambda r: r.inference["diagnosis"].dr,
        "l:diagnosis": lambda r: r.groups.l,
        "t:diagnosis": lambda r: r.groups.t,
        "entropy_l:diagnosis": lambda r: r.groups.entropy_l,
    }
    for id, read in readings.items():
        assert at[id].value == pytest.approx(read(after)), id
        assert at[id].before == pytest.approx(read(before)), id
    for row in audited.document["charts"]["columns"]:
        whole, released = before.columns[row["column"]], after.columns[row["column"]]
        assert row["before"] == pytest.approx(whole.reidentification.dr)
        assert row["after"] == pytest.approx(released.reidentification.dr)
    membership = indiff.membership_inference(tested)
    told = at["advantage:diagnosis:naive-bayes"]
    assert told.value == pytest.approx(membership.advantage.value)
    ends = (membership.advantage.lower, membership.advantage.upper)
    assert told.interval == pytest.approx(ends)
    for rate, one in membership.true_positives_at.items():  # every rate has its interval
        found = told.parameters["true_positives_interval"][str(rate)]
        assert found == pytest.approx([one.lower, one.upper])
    ends = (membership.area.lower, membership.area.upper)
    assert told.parameters["area_interval"] == pytest.approx(ends)
    assert told.means.count("(interval ") == 2


def test_public_inference_is_the_accuracy_without_the_record(audited: Any, table: Any) -> None:
    tested = indiff.differential_test(table, "mondrian:k=5", model="naive-bayes")
    crowd = audited.finding("told_by_the_crowd:diagnosis:naive-bayes")
    right = tested.beliefs_without.argmax(axis=1) == tested.classes
    assert crowd.value == pytest.approx(right.mean(), abs=0.02)  # ties are shared
    assert crowd.inference == "public"
    counts = table.sensitive.counts
    assert crowd.parameters["baseline"] == pytest.approx(counts.max() / counts.sum())
    assert audited.finding("delta:diagnosis:naive-bayes").inference == "private"


def test_ties_count_by_their_share() -> None:
    beliefs = np.array([[0.4, 0.4, 0.2], [0.2, 0.2, 0.6]])
    assert accuracy(beliefs, np.array([1, 2])) == pytest.approx(0.75)


def test_the_charts(audited: Any, table: Any) -> None:
    charts = audited.document["charts"]
    tested = indiff.differential_test(table, "mondrian:k=5")
    for curve, delta in zip(charts["cdf"], tested.deltas.values(), strict=True):
        assert len(curve["x"]) <= 500
        assert curve["x"][-1] == pytest.approx(delta)
        assert curve["y"][-1] == 1
    assert [point["value"] for point in charts["parameter"]["points"]] == [2, 5]
    assert charts["parameter"]["points"][1]["delta"] == pytest.approx(tested.delta)
    assert [one["record"] for one in charts["worst"]] == [r["record"] for r in tested.worst(10)]
    for one in charts["worst"]:
        assert one["why"].startswith("Without it, its group of ")
        assert one["group_size"] >= 5
    assert {one["column"] for one in charts["columns"]} == set(QUASI)


def test_two_runs_differ_in_timing_alone(audited: Any, patients: Any) -> None:
    again = indiff.run_audit(whole_plan(), patients)
    first, second = json.loads(audited.to_json()), json.loads(again.to_json())
    del first["timing"], second["timing"]
    assert json.dumps(first) == json.dumps(second)
    texts = [
        re.sub(r"(?m)^- (started|duration): .*$", "", x.to_markdown()) for x in (audited, again)
    ]
    assert texts[0] == texts[1]


def test_written_and_read_again(audited: Any, tmp_path: Path) -> None:
    paths = audited.write(tmp_path / "new" / "report")
    assert [path.name for path in paths.values()] == ["report.html", "report.json", "report.md"]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in paths.values())
    assert len(list((tmp_path / "new" / "report").iterdir())) == 3  # nothing half-written stays
    again = AuditResult.from_json(paths["report.json"].read_text(encoding="utf-8"))
    assert again.to_markdown() == audited.to_markdown() == paths["report.md"].read_text("utf-8")
    assert again.findings == audited.findings
    with pytest.raises(UserError, match="no audit's document"):
        AuditResult.from_json("{}")
    with pytest.raises(UserError, match="is JSON; this is not"):
        AuditResult.from_json("no")


def test_no_report_over_an_input(patients: Any, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(patients, tmp_path / "data.csv")
    (tmp_path / "report.json").symlink_to(tmp_path / "data.csv")
    data = {"quasi": ["sex"], "sensitive": "diagnosis", "path": str(tmp_path / "data.csv")}
    result = indiff.run_audit(plan(data=data))
    with pytest.raises(UserError, match="a report must not overwrite its input"):
        result.write(tmp_path)
    assert pyarrow.csv.read_csv(tmp_path / "data.csv").num_rows == 400


def test_in_a_notebook(audited: Any) -> None:
    shown = audited._repr_html_()
    assert shown.startswith("<div>")
    assert "Smallest group (k)" in shown
    assert "exceeded" in shown


def test_an_adversary_that_fails_leaves_the_others(patients: Any, tmp_path: Path) -> None:
    """Neither can be told a prior that lacks most values."""
    prior = tmp_path / "prior.csv"
    prior.write_text("value,probability\nflu,1\n")
    result = indiff.run_audit(
        plan(adversary={"models": ["naive-bayes", "frequency"], "prior": str(prior)}), patients
    )
    failed = [one for one in result.findings if one.status == "failed"]
    assert {one.id.split(":")[2] for one in failed} == {"naive-bayes", "frequency"}
    assert all("a prior must give every sensitive value" in str(one.reason) for one in failed)
    assert result.finding("k").status == "measured"
    assert (result.verdict["status"], result.verdict["exit_code"]) == ("incomplete", 3)
    valid(result)


def test_a_release_that_cannot_be_made_is_no_pass(patients: Any) -> None:
    result = indiff.run_audit(
        plan(release={"sanitizer": "mondrian:l=300"}, limits={"delta": 2, "k": 1}), patients
    )
    assert result.verdict["exit_code"] == 3
    assert result.finding("k").status == "failed"
    assert result.finding("k").before == 1
    assert result.document["release"]["constraint_met"] is False
    valid(result)


def test_an_unmet_constraint_fails(patients: Any) -> None:
    result = indiff.run_audit(
        plan(release={"sanitizer": "mondrian:l=300,unmet=generalize"}, limits={"k": 1}), patients
    )
    assert (result.verdict["status"], result.verdict["exit_code"]) == ("fail", 1)
    assert "the constraint of mondrian:l=300 is not met" in result.verdict["reasons"][0]
    valid(result)


def test_a_recoding_says_whom_suppression_alone_protects(patients: Any, table: Any) -> None:
    sanitizer = indiff.Recoding(k=5, suppression=0.05)
    state = sanitizer.best(table).state
    assert state is not None
    assert state.suppressed > 5
    result = indiff.run_audit(
        plan(
            release={"sanitizer": str(sanitizer)},
            limits={"k": 5, "delta": 2},
            adversary={"models": ["naive-bayes"]},
        ),
        patients,
    )
    said = f"{state.suppressed:,} of the 400 records are suppressed"
    assert any(said in note for note in result.document["release"]["notes"])
    assert said in result.to_html()
    assert said in result.to_markdown()
    assert (result.verdict["status"], result.finding("k").value) == ("pass", 5)
    (worst,) = result.document["charts"]["worst"]
    assert worst["why"].startswith("Without it, every column keeps its level; ")
    valid(result)


def test_a_promise_that_only_a_tests_release_breaks_counts() -> None:
    kept = SimpleNamespace(constraint_met=True, unmet=None)
    broken = SimpleNamespace(constraint_met=False, unmet="k is 4")
    exposures: Any = [SimpleNamespace(results={"tree": kept, "naive-bayes": broken})]
    audit: Any = SimpleNamespace(sanitizer=None)
    assert _promises(audit, [], exposures) == [Promise(True, None), Promise(False, "k is 4")]


def test_a_noisy_table_has_no_group_models(patients: Any) -> None:
    few = {"quasi": ["sex"], "sensitive": "diagnosis"}
    result = indiff.run_audit(
        plan(
            data=few,
            release={"sanitizer": "laplace:epsilon=1"},
            adversary={"membership": True},
            limits={"k": 5},
        ),
        patients,
    )
    assert result.finding("k").status == "skipped"
    assert result.finding("delta:diagnosis:frequency").status == "measured"
    assert result.finding("advantage:diagnosis:frequency").status == "skipped"
    assert (result.verdict["status"], result.verdict["exit_code"]) == ("fail", 1)
    assert "not differentially private" in result.verdict["reasons"][0]
    assert {one["why"] for one in result.document["charts"]["worst"]} == {
        "the release or the adversary is random, so no single group explains it"
    }
    valid(result)


def test_a_release_made_elsewhere(patients: Any, table: Any, tmp_path: Path) -> None:
    indiff.Mondrian(k=5).sanitize(table).write(tmp_path / "release.csv", seed=1)
    result = indiff.run_audit(
        plan(release={"file": str(tmp_path / "release.csv")}, limits={"k": 5}), patients
    )
    assert result.finding("k").value == 5
    assert result.finding("one_candidate:diagnosis").value == 0
    delta = result.finding("delta:diagnosis:naive-bayes")
    assert delta.status == "skipped"
    assert "no row of the release is known" in str(delta.reason)
    assert result.document["release"]["sanitizer"] == "release.csv"
    assert result.verdict["status"] == "pass"
    valid(result)
    limited = indiff.run_audit(
        plan(release={"file": str(tmp_path / "release.csv")}, limits={"delta": 2}), patients
    )
    assert limited.verdict["exit_code"] == 3


def test_several_sensitive_attributes(patients: Any) -> None:
    both = {"quasi": ["age", "zip"], "sensitive": ["sex", "diagnosis"]}
    result = indiff.run_audit(plan(data=both, limits={"inference.sex.itpr": 1}), patients)
    ids = {one.id for one in result.findings}
    assert {"k:sex", "k:diagnosis", "delta:sex:naive-bayes", "delta:diagnosis:naive-bayes"} <= ids
    assert [one.id for one in result.findings if one.limit] == ["inference.itpr:sex"]
    assert {one["about"] for one in result.document["charts"]["worst"]} == {"sex", "diagnosis"}
    titles = [one.title for one in result.findings]
    assert len(titles) == len(set(titles))
    valid(result)


def test_a_joint_and_a_binned_attribute(patients: Any) -> None:
    joint = {"quasi": ["zip"], "sensitive": ["sex", "diagnosis"], "joint": True}
    result = indiff.run_audit(plan(data=joint), patients)
    assert result.finding("t:sex, diagnosis").status == "measured"
    binned = {"quasi": ["zip", "sex"], "sensitive": "age", "bins": 4}
    result = indiff.run_audit(plan(data=binned), patients)
    assert result.finding("t:age").status == "measured"
    closeness = result.finding("t:age").value
    assert closeness is not None
    assert 0 <= closeness <= 1
    valid(result)


def test_several_adversaries(patients: Any) -> None:
    result = indiff.run_audit(
        plan(adversary={"models": ["naive-bayes", "frequency"]}, limits={"delta": 0.1}), patients
    )
    deltas = [result.finding(f"delta:diagnosis:{m}").value for m in ("naive-bayes", "frequency")]
    assert result.finding("delta:diagnosis:strongest").value == max(filter(None, deltas))
    assert len(result.document["charts"]["cdf"]) == 2
    valid(result)


def test_a_few_targets_are_a_lower_bound(patients: Any) -> None:
    result = indiff.run_audit(plan(adversary={"targets": [0, 1, 2]}, limits={"delta": 2}), patients)
    assert result.finding("delta:diagnosis:naive-bayes").exactness == "lower-bound"
    assert result.verdict["exit_code"] == 3
    assert result.document["plan"]["adversary"]["targets"] == "0-2"
    assert result.document["plan"]["adversary"]["models"] == ["naive-bayes", "frequency", "tree"]
    data = result.document["plan"]["data"]
    assert data["identifier"] == ["patient_id"]  # text that is different in every record
    assert data["other"] == ["marital_status", "admitted"]


def test_individuals_count_once() -> None:
    """Four rows of two people: alone by rows of one person each, not by rows."""
    frame = pa.table(
        {"person": ["a", "a", "b", "b"] * 5, "age": [30, 30, 47, 47] * 5,
         "ill": ["flu", "cold"] * 10}
    )  # fmt: skip
    data = {"quasi": ["age"], "sensitive": "ill", "individual": "person"}
    result = indiff.run_audit(plan(data=data, release={"sanitizer": "identity"}), frame)
    assert result.finding("k").value == 1
    rows = indiff.run_audit(
        plan(data={"quasi": ["age"], "sensitive": "ill"}, release={"sanitizer": "identity"}), frame
    )
    assert rows.finding("k").value == 10
    crowd = result.finding("told_by_the_crowd:ill:naive-bayes")
    assert crowd.parameters["individuals"] == 2


def test_nobody_knows_whose_the_rows_of_a_foreign_release_are(
    patients: Any, table: Any, tmp_path: Path
) -> None:
    indiff.Mondrian(k=5).sanitize(table).write(tmp_path / "release.csv", seed=1)
    data = {"quasi": QUASI, "sensitive": "diagnosis", "individual": "patient_id"}
    result = indiff.run_audit(
        plan(data=data, release={"file": str(tmp_path / "release.csv")}, limits={"k": 5}), patients
    )
    assert result.finding("k").status == "failed"
    assert "nobody knows whose the rows" in str(result.finding("k").reason)
    assert result.verdict["exit_code"] == 3


def test_dropped_rows_approximate_and_never_pass(patients: Any, table: Any, tmp_path: Path) -> None:
    release = indiff.Mondrian(k=5).sanitize(table).to_frame()
    release = release.append_column("patient_id", patients["patient_id"])
    pyarrow.csv.write_csv(release, tmp_path / "release.csv")
    data = {"quasi": QUASI, "sensitive": "diagnosis", "identifier": "patient_id"}
    file = {"file": str(tmp_path / "release.csv"), "key": "patient_id"}
    result = indiff.run_audit(plan(data=data, release=file, limits={"delta": 2}), patients)
    delta = result.finding("delta:diagnosis:naive-bayes")
    assert (delta.status, delta.exactness) == ("measured", "approximation")
    assert result.verdict["exit_code"] == 3
    valid(result)


def test_an_interruption_keeps_what_was_measured(patients: Any) -> None:
    def stop(stage: Any, done: Any, total: Any) -> None:
        if done >= 2:
            raise KeyboardInterrupt

    result = indiff.run_audit(
        plan(
            adversary={"models": ["logistic", "naive-bayes"], "targets": list(range(6))},
            limits={"delta": 2, "k": 5},
            run={"jobs": 1},
        ),
        patients,
        progress=stop,
    )
    assert (result.verdict["status"], result.verdict["exit_code"]) == ("incomplete", 130)
    assert result.finding("delta:diagnosis:logistic").parameters["records_tested"] < 6
    assert result.finding("delta:diagnosis:naive-bayes").status == "skipped"
    assert result.finding("k").value == 5
    valid(result)


@pytest.mark.parametrize("stage", ["testing", "explaining", "measuring utility"])
def test_an_interruption_at_any_later_stage(patients: Any, stage: Any) -> None:
    def stop(now: Any, done: Any, total: Any) -> None:
        if now.startswith(stage):
            raise KeyboardInterrupt

    result = indiff.run_audit(
        plan(adversary={"models": ["tree"], "targets": [0, 1]}, limits={"k": 5}, run={"jobs": 1}),
        patients,
        progress=stop,
    )
    assert (result.verdict["status"], result.verdict["exit_code"]) == ("incomplete", 130)
    assert result.finding("ncp").reason == "the audit was interrupted"
    assert result.finding("k").status == "measured"
    valid(result)


def test_an_unexpected_error_is_not_swallowed(
    patients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **options: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("indiff.audit.findings.exposure.differential_test", broken)
    result = indiff.run_audit(plan(), patients)
    assert isinstance(result.bug, ZeroDivisionError)  # which the command line raises in the end
    assert result.verdict["exit_code"] == 3


def test_bad_input_raises(patients: Any) -> None:
    with pytest.raises(UserError, match="no column 'agee': did you mean 'age'"):
        indiff.run_audit(plan(data={"quasi": ["agee"], "sensitive": "sex"}), patients)
    with pytest.raises(UserError, match=r"\[data\] path is needed"):
        indiff.run_audit(plan())
    with pytest.raises(UserError, match="no column 'persn'"):
        indiff.run_audit(
            plan(data={"quasi": QUASI, "sensitive": "diagnosis", "individual": "persn"}), patients
        )


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"adversary": {"known": ["agee"]}}, "no quasi-identifier 'agee': did you mean 'age'"),
        ({"adversary": {"targets": [3, 400]}}, "record numbers from 0 to 399.*got 400"),
        ({"adversary": {"prior": "none.csv"}}, r"\[adversary\] prior must exist.*'none.csv'"),
        ({"release": {"file": "none.csv"}}, r"\[release\] file must exist.*'none.csv'"),
        ({"report": {"task": "agee"}}, "no column to predict 'agee': did you mean 'age'"),
    ],
)
def test_a_plan_that_does_not_fit_the_table_is_bad_input(
    patients: Any, sections: Any, message: Any
) -> None:
    with pytest.raises(UserError, match=message):
        indiff.run_audit(plan(**sections), patients)


def test_a_table_too_small_for_an_analyst_still_has_a_utility() -> None:
    frame = pa.table({"age": [30, 31, 40, 41], "ill": ["a", "b", "b", "a"]})
    data = {"quasi": ["age"], "sensitive": "ill"}
    result = indiff.run_audit(
        plan(data=data, release={"sanitizer": "mondrian:k=2"}, limits={"ncp": 1}), frame
    )
    assert result.finding("ncp").value == pytest.approx(
        1 / 11
    )  # a year of the eleven from 30 to 41
    assert result.finding("accuracy").status == "skipped"
    assert "at least 10 records" in str(result.finding("accuracy").reason)
    assert result.verdict["status"] == "pass"
    asked = indiff.run_audit(
        plan(data=data, release={"sanitizer": "mondrian:k=2"}, report={"task": "age"}), frame
    )
    assert asked.finding("accuracy").status == "failed"
    assert asked.verdict["status"] == "incomplete"


@pytest.mark.parametrize("key", [None, "patient_id"])
def test_a_release_that_names_people_is_no_pass(
    patients: Any, table: Any, tmp_path: Path, key: Any
) -> None:
    """As a key the names are there to be matched; otherwise they would be published."""
    place = tmp_path / "release.csv"
    frame = indiff.Mondrian(k=5).sanitize(table).to_frame()
    for name in ("patient_id", "marital_status"):
        frame = frame.append_column(name, patients[name])
    pyarrow.csv.write_csv(frame.append_column("<b>", patients["sex"]), place)
    data = {"quasi": QUASI, "sensitive": "diagnosis", "identifier": "patient_id"}
    release = {"file": str(place), "key": key}
    result = indiff.run_audit(plan(data=data, release=release, limits={"k": 5}), patients)
    notes = result.document["release"]["notes"]
    others = "'marital_status' (as it is in the original), '<b>' (holds the values of 'sex');"
    named = "the release has the identifier 'patient_id', which names people"
    if key is None:
        assert (result.verdict["status"], result.verdict["exit_code"]) == ("fail", 1)
        assert result.verdict["reasons"][0] == named
        assert others in result.verdict["reasons"][1]
    else:
        assert (result.verdict["status"], result.verdict["exit_code"]) == ("incomplete", 3)
        assert others in result.verdict["reasons"][0]
        assert "'patient_id' to match its rows: publish it without" in notes[-1]
    valid(result)


def test_a_program_that_returns_names_is_no_pass(patients: Any) -> None:
    data = {"quasi": ["sex"], "sensitive": "diagnosis", "identifier": "patient_id"}
    copying = {"sanitizer": "command:cp {input} {output}"}
    result = indiff.run_audit(
        plan(data=data, release=copying, adversary={"targets": 1}, run={"jobs": 1}), patients
    )
    assert result.verdict["exit_code"] == 1
    assert "has the identifier 'patient_id'" in result.verdict["reasons"][0]


def test_what_an_adversary_is_noted_for_is_kept_among_several(patients: Any) -> None:
    """A note on k-nearest neighbours stands in the report, whoever else was asked."""
    asked = {"models": ["frequency", "knn"], "targets": [0, 1], "membership": False}
    result = indiff.run_audit(plan(adversary=asked), patients)
    assert any("chooses arbitrarily among" in note for note in result.document["release"]["notes"])
