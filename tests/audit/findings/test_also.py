"""δ of releases that are published beside each other, in an audit."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from indiff import Plan, UserError, differential_test, read_plan, read_table, run_audit
from indiff.audit.findings import also

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "ill", "identifier": ["id"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Persons 0 to 29 this year; last year 5 to 34, of whom every seventh was otherwise ill."""
    for name, people in (("now", range(30)), ("last", range(5, 35))):
        ill = [
            "xyz"[(one + (name == "last" and one % 7 == 0)) * (one % 5 + 1) % 3] for one in people
        ]
        rows = [
            f"p{one},{20 + one * 7 % 30},{'fm'[one % 2]},{value}"
            for one, value in zip(people, ill, strict=True)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,age,sex,ill", *rows]) + "\n")
    return tmp_path


def audited(
    folder: Path, limits: dict[str, float], progress: Any = None, model: str = "frequency",
    **release: Any,
) -> Any:  # fmt: skip
    plan = Plan(
        data={**ROLES, "path": str(folder / "now.csv"), "individual": "id"},
        release={"sanitizer": "mondrian:k=3", **release},
        adversary={"models": [model], "membership": False},
        limits=limits,
        report={"worst": 0},
    )
    return run_audit(plan, progress=progress)


def test_tables_over_time_and_other_columns_are_those_of_python(folder: Path) -> None:
    tables = {"2": str(folder / "last.csv")}
    more: dict[str, Any] = {
        "also": ["mondrian:k=4", "mondrian:k=2"],
        "tables": tables,
        "columns": {"3": ["sex"]},
    }
    result = audited(folder, {}, **more)
    now, last = (read_table(folder / f"{name}.csv", **ROLES) for name in ("now", "last"))
    narrow = read_table(folder / "now.csv", **ROLES | {"quasi": ["sex"]})
    expected = differential_test(
        [now, last, narrow], ["mondrian:k=3", "mondrian:k=4", "mondrian:k=2"],
        model="frequency", individual="id", together=True,
    )  # fmt: skip
    found = result.finding("together.delta:ill")
    assert (found.value, found.exactness) == (pytest.approx(expected.delta, rel=1e-11), "exact")
    assert found.value != result.finding("delta:ill:frequency").value
    told = "5 of the people are not in the table of mondrian:k=4, which says nothing about them"
    assert told in result.document["release"]["notes"]
    assert result.document["plan"]["release"]["tables"] == {"2": "last.csv"}
    parts = {one["name"]: one["part"] for one in result.document["files"]["input"]}
    assert parts == {"now.csv": "table", "last.csv": "table of another release"}
    assert "## 5. Together with what was published before" in result.to_markdown()


def test_a_limit_on_delta_is_on_that_of_all(folder: Path) -> None:
    alone = audited(folder, {}).finding("delta:ill:frequency").value
    result = audited(folder, {"delta": alone}, also=["identity"])
    found = result.finding("together.delta:ill")
    assert found.value > alone
    assert (found.exceeded, found.limit.name) == (True, "delta")
    assert result.verdict["exit_code"] == 1
    kept = audited(folder, {"delta": alone, "together.delta": 2}, also=["identity"])
    assert kept.finding("together.delta:ill").exceeded is False


def test_the_adversary_of_the_plan_is_asked_and_no_other(folder: Path) -> None:
    """By default it is the strongest, who is right more often here than naive Bayes."""
    for model, asked in (("naive-bayes", "naive-bayes"), ("auto", "frequency")):
        found = audited(folder, {}, model=model, also=["mondrian:k=2"])
        assert found.finding("together.delta:ill").parameters["model"] == asked


def test_epsilon_stands_beside_delta(folder: Path) -> None:
    result = audited(folder, {}, also=["laplace:epsilon=0.5", "laplace:epsilon=0.25"])
    found = result.finding("together.delta:ill")
    assert (found.exactness, found.parameters["confidence"]) == ("estimate", 0.95)
    told = "ε adds up to 0.5 + 0.25 = 0.75 (basic composition) for the noisy tables alone"
    assert any(note.startswith(told) for note in result.document["release"]["notes"])


def test_what_cannot_be_tested_together_is_no_pass(folder: Path) -> None:
    (folder / "twice.csv").write_text("id,age,sex,ill\np1,20,f,x\np1,30,f,y\np2,30,m,x\n")
    result = audited(
        folder, {"k": 2}, also=["mondrian:k=1"], tables={"2": str(folder / "twice.csv")}
    )
    found = result.finding("together.delta:ill")
    assert found.status == "failed"
    assert "one record for each person" in str(found.reason)
    assert result.verdict["exit_code"] == 3


@pytest.mark.parametrize(
    ("interrupted", "failures", "distances", "reason"),
    [
        (False, ("record 7: no answer", "record 9: none"), [0.1], "record 7: no answer"),
        (False, (), [], "no record was measured"),
        (True, (), [0.1], "no record was measured"),
    ],
)
def test_what_was_not_measured_together_is_no_pass(
    folder: Path, monkeypatch: pytest.MonkeyPatch,
    interrupted: bool, failures: Any, distances: Any, reason: str,
) -> None:  # fmt: skip
    ended = SimpleNamespace(interrupted=interrupted, failures=failures, distances=distances)
    monkeypatch.setattr(also, "differential_test", lambda *_, **__: ended)
    result = audited(folder, {"k": 2}, also=["mondrian:k=2"])
    found = result.finding("together.delta:ill")
    assert (found.status, found.reason) == ("failed", reason)
    assert result.verdict["exit_code"] == 3


def test_distances_of_nothing_were_measured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    still = SimpleNamespace(
        interrupted=False, failures=(), distances=np.zeros(3), delta=0.0, exactness="exact",
        delta_interval=None, model="frequency", confidence=None, notes=(),
    )  # fmt: skip
    monkeypatch.setattr(also, "differential_test", lambda *_, **__: still)
    told: list[Any] = []
    result = audited(folder, {}, lambda *step: told.append(step), also=["mondrian:k=2"])
    assert ("testing all releases together", 0, 0) in told
    found = result.finding("together.delta:ill")
    assert (found.status, found.value) == ("measured", 0.0)
    assert found.parameters["records"] == 3


@pytest.mark.parametrize(
    ("release", "says"),
    [
        ({"also": ["mondrian:k=0"]}, r"\[release\] also: k must be"),
        ({"also": ["identity"], "tables": {"3": "a.csv"}}, r"got '3' of 2\. Known: 2"),
        ({"also": ["identity"], "columns": {"1": ["age"]}}, r"got '1' of 2"),
        ({"also": ["identity"], "file": "a.csv"}, "also= is for releases that are made here"),
    ],
)
def test_what_a_plan_refuses(release: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        Plan(data=ROLES, release=release)


def test_what_is_said_of_no_sanitizer_is_refused(folder: Path) -> None:
    with pytest.raises(UserError, match="Name a second sanitizer, or leave it out"):
        audited(folder, {}, tables={"2": str(folder / "last.csv")})
    with pytest.raises(UserError, match=r"\[release\] tables\.2 must exist"):
        audited(folder, {}, also=["identity"], tables={"2": "nowhere.csv"})


def test_paths_are_beside_the_plan(folder: Path) -> None:
    text = '[data]\nsensitive = "ill"\n[release]\nalso = "identity"\ntables = {2 = "last.csv"}\n'
    (folder / "plan.toml").write_text(text)
    plan = read_plan(folder / "plan.toml")
    assert plan.release.tables == {"2": str(folder / "last.csv")}
    assert plan.release.also == ["identity"]
    assert plan.files == (str(folder / "last.csv"),)
