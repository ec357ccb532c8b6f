"""An audit against the population: findings, limits that pass and fail, and what fails instead."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from indiff import Identity, Laplace, Plan, measure_risk, read_table, run_audit
from indiff.audit.findings.population import figures_said, population_findings
from indiff.audit.findings.release import Subject
from indiff.audit.metrics import number, percent
from indiff.audit.verdict import judge, whom
from tests.command_line import call

RNG = np.random.default_rng(2)
PEOPLE = pa.table(
    {
        "age": [str(x) for x in RNG.integers(20, 40, 900)],
        "sex": RNG.choice(["f", "m"], 900),
        "ill": RNG.choice(["yes", "no"], 900),
        "w": RNG.uniform(3, 9, 900),
        "hid": [f"h{x}" for x in np.arange(900) // 3],
    }
)
SAMPLE = PEOPLE.slice(0, 120)
TREE = "\n".join(f"{age};{age // 10}0s;*" for age in range(20, 40))


def audited(folder: Path, population: dict[str, Any], **more: Any) -> Any:
    (folder / "age.csv").write_text(TREE)
    (folder / "sex.csv").write_text("f;*\nm;*\n")
    pq.write_table(PEOPLE, folder / "register.parquet")
    trees = {name: str(folder / f"{name}.csv") for name in ("age", "sex")}
    sections: dict[str, Any] = {
        "data": {"quasi": ["age", "sex"], "sensitive": "ill", "hierarchies": trees},
        "release": {"sanitizer": "recoding:k=3"},
        "adversary": {"models": ["frequency"], "targets": 2},
        "population": population,
    }
    return run_audit(Plan(**(sections | more)), SAMPLE)


@pytest.mark.parametrize(
    ("known", "limits", "status"),
    [
        ("table", {"population.k_map": 4}, "pass"),
        ("table", {"population.k_map": 900}, "fail"),
        ("table", {"population.marketer": 0.5}, "pass"),
        ({"source": 900}, {"population.smallest": 900}, "fail"),
        ({"source": 900}, {"population.uniques": 900}, "pass"),
        ({"weight": "w"}, {"population.individual_risk": 0.9}, "pass"),
        ({"weight": "w"}, {"population.individual_risk": 1e-6}, "fail"),
        ({"sampling": 0.1, "household": "hid"}, {"population.household_risk": 0.99}, "pass"),
        ({"sampling": 0.1}, {"population.k_map": 1}, "incomplete"),
    ],
)
def test_limits_pass_and_fail(
    known: Any, limits: dict[str, float], status: str, tmp_path: Path
) -> None:
    known = {"source": str(tmp_path / "register.parquet")} if known == "table" else known
    result = audited(tmp_path, known, limits=limits)
    assert result.verdict["status"] == status, result.verdict["reasons"]
    (name,) = limits
    if status != "incomplete":
        found = result.finding(name)
        assert found.before is not None
        assert found.parameters["statistic"] in ("maximum", "minimum", "average", "total")


def test_what_cannot_be_measured_is_no_pass(tmp_path: Path) -> None:
    """Whose weight is whose is not known of a release made elsewhere."""
    csv.write_csv(SAMPLE.select(["age", "sex", "ill"]), tmp_path / "release.csv")
    known, limits = {"weight": "w"}, {"population.individual_risk": 1.0}
    release = {"file": str(tmp_path / "release.csv")}
    result = audited(tmp_path, known, limits=limits, release=release)
    found = result.finding("population.individual_risk")
    assert found.status == "failed"
    assert "nobody knows whose 'w' belongs to which row" in str(found.reason)
    assert result.verdict["exit_code"] != 0


@pytest.mark.parametrize(
    "known", ["table", {"source": 900}, {"sampling": 0.1333}, {"weight": "w"},
              {"sampling": 0.1333, "household": "hid"}],
)  # fmt: skip
def test_whatever_would_have_been_measured_is_missed(known: Any, tmp_path: Path) -> None:
    """Of a noisy table, whose rows are nobody's, every number is a failed one: none disappears."""
    if known == "table":
        pq.write_table(PEOPLE, tmp_path / "register.parquet")
        known = {"source": str(tmp_path / "register.parquet")}
    data = {"quasi": ["age", "sex"], "sensitive": "ill"}
    plan = Plan(data=data, population=known)
    table = read_table(SAMPLE, quasi=["age", "sex"], sensitive="ill", other=["w", "hid"])
    found = {}
    for sanitizer in (Identity(), Laplace(1.0)):
        rng = (np.random.default_rng(1),) if sanitizer.randomized else ()
        subject = Subject(table, apart=False, release=sanitizer.sanitize(table, *rng))
        found[sanitizer] = population_findings([subject], plan, sanitizer).findings
    measured, missed = found.values()
    assert {one.status for one in measured} == {"measured"}
    assert {one.status for one in missed} == {"failed"}
    assert sorted(one.id for one in missed) == sorted(one.id for one in measured)


ESTIMATED = [
    "smallest", "individual_risk", "global_risk", "expected", "household_risk",
    "household_average", "household_expected", "uniques", "unique_share", "tau1", "tau2",
]  # fmt: skip


def test_no_estimate_reads_as_exact(tmp_path: Path) -> None:
    """What is known of it is said where a limit is kept, and where it is exceeded."""
    known = {"sampling": 0.1333, "household": "hid"}
    result = audited(tmp_path, known)
    for name in ESTIMATED:
        one = result.finding(f"population.{name}")
        assert one.exactness == "estimate"
        is_high, value = name == "smallest", float(one.value)
        end = value if one.interval is None else one.interval[0 if is_high else 1]
        findings, kept = judge(result.findings, {one.metric: end})
        (reason,) = kept.reasons
        says = f"; {one.title} is a model's estimate, which may be too favourable: no proof"
        assert (kept.status, reason.endswith(says)) == ("pass", True), reason
        (said,) = (x for x in findings if x.metric == one.metric)
        assert "estimate" in said.does_not_prove or "may be" in said.does_not_prove
        if end == 0:  # nothing is below it
            continue
        _, fails = judge(result.findings, {one.metric: end * (1.001 if is_high else 0.999)})
        assert fails.status == "fail"
        verb = "is estimated at" if one.interval is None else "may be"
        assert f"{one.title} {verb} " in fails.reasons[0]


def test_what_was_counted_is_said_without_it(tmp_path: Path) -> None:
    known, limits = {"source": str(tmp_path / "register.parquet")}, {"population.expected": 119.0}
    verdict = audited(tmp_path, known, limits=limits).verdict
    assert verdict["reasons"] == [f"every limit is kept{whom(['frequency'])}"]


def audit_by_words(folder: Path, limit: str) -> tuple[int, dict[str, Any]]:
    pq.write_table(SAMPLE, folder / "sample.parquet")
    words = ["--sensitive", "ill", "--sanitizer", "recoding:k=3", "--model", "frequency"]
    words += ["--targets", "2", "--weight", "w", "--household", "hid", "--sampling", "0.1333"]
    words += ["--limit", limit, "--out", str(folder / "out")]
    ended = call("audit", folder / "sample.parquet", *words)
    return ended.code, json.loads((folder / "out" / "report.json").read_text())


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("population.household_risk=0.9999", 0),
        ("population.expected=0.0001", 1),
        ("population.k_map=1", 3),  # which needs a table of the population
    ],
)
def test_a_limit_sets_the_exit_code(limit: str, code: int, tmp_path: Path) -> None:
    ended, document = audit_by_words(tmp_path, limit)
    verdict = document["verdict"]
    assert (ended, verdict["exit_code"]) == (code, code), verdict["reasons"]
    if code == 0:  # a pass that rests on an estimate says so where the verdict stands
        page = (tmp_path / "out" / "report.html").read_text()
        (box,) = re.findall(r'<section class="verdict.*?</section>', page, re.DOTALL)
        assert "which may be too favourable: no proof" in box


def test_the_command_line_takes_it_all(tmp_path: Path) -> None:
    code, document = audit_by_words(tmp_path, "population.household_risk=0.0001")
    assert code == 1
    named = {one["metric"] for one in document["findings"]}
    assert {"population.uniques", "population.tau2", "population.household_risk"} <= named
    assert "Largest risk of a household" in (tmp_path / "out" / "report.html").read_text()
    assert "hid" not in [
        one["name"] for one in document["table"]["columns"] if one["role"] == "quasi"
    ]


def test_a_share_is_said_in_percent_and_a_number_of_people_is_not() -> None:
    frame = pa.table({"a": [1, 1, 1, 2, 2, 3, 4, 5, 6, 6], "b": list("xxyxyxyxzz")})
    found = measure_risk(frame, quasi=["a", "b"], sampling=0.2, details=False).population
    assert found is not None
    said = {one.id.removeprefix("population."): one for one in figures_said(found)}
    assert found.uniques is not None
    solved = [name for name, one in found.uniques.models.items() if one.uniques is not None]
    assert said["uniques"].parameters["converged"] == solved == ["zayatz", "snb"]
    for name, written in (("uniques", number), ("unique_share", percent)):
        low, high = said[name].interval or (0, 0)
        assert f"the models that have a solution say {written(low)} to {written(high)}." in (
            said[name].means
        )
    frame = pa.table({
        "a": [1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4], "b": list("xxyzxyyxzzzy"),
        "c": list("ppqpqqpqppqq"),
    })  # fmt: skip
    found = measure_risk(frame, quasi=["a", "b", "c"], sampling=0.2, details=False).population
    assert found is not None
    said = {one.id.removeprefix("population."): one for one in figures_said(found)}
    for name in ("tau1", "tau2"):
        low, high = said[name].interval or (0, 0)
        assert low < high  # two models of the columns say different things
        assert said[name].means.endswith(f"; the models say {number(low)} to {number(high)}.")
