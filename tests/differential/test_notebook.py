"""Results in a notebook: short, escaped, and without values of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import indiff

EVIL = "<script>alert(1)</script>"


def people() -> pa.Table:
    rng = np.random.default_rng(0)
    cells: dict[str, Any] = {"age": rng.integers(20, 60, 60), EVIL: rng.choice(["secret", "b"], 60)}
    return pa.table(cells)


def test_differential_tests() -> None:
    table = indiff.read_table(people(), quasi=["age"], sensitive=EVIL)
    one = indiff.differential_test(table, "mondrian:k=5", model="naive-bayes")
    several = indiff.differential_test(table, "mondrian:k=5", model=["naive-bayes", "frequency"])
    for result, models in ((one, 1), (several, 2)):
        shown = result._repr_html_()
        assert EVIL not in shown
        assert "&lt;script&gt;" in shown
        assert "secret" not in shown
        assert f"<td>{result.worst(1)[0]['record']}</td>" in shown
        assert shown.count("60 of 60") == models
        assert len(shown) < 5000


def test_an_estimate_shows_what_delta_may_be() -> None:
    table = indiff.read_table(people(), quasi=["age"], sensitive=EVIL)
    noisy = indiff.differential_test(table, "laplace:epsilon=1", runs=3, method="sampled")
    assert noisy.delta_interval is not None
    assert f"<td>{noisy.delta_upper:.4g}</td>" in noisy._repr_html_()


def test_risk() -> None:
    risk = indiff.measure_risk(people(), quasi=["age"], sensitive=EVIL)
    shown = risk._repr_html_()
    assert EVIL not in shown
    assert "secret" not in shown
    assert f"k = {risk.groups.k}" in shown
    assert f"<td>{risk.reidentification.dr:.4g}</td>" in shown


class Silent:
    """A model that never answers without a record."""

    def beliefs(self, release: Any, targets: Any) -> Any:
        if len(release) == 60:
            return np.full((len(targets), 2), 0.5)
        raise RuntimeError("secret")


def test_nothing_measured() -> None:
    table = indiff.read_table(people(), quasi=["age"], sensitive=EVIL)
    failed = indiff.differential_test(
        table, "mondrian:k=5", model=Silent(), targets=[0], method="refit", jobs=1
    )
    shown = failed._repr_html_()
    assert "0 of 60" in shown
    assert "secret" not in shown


def test_a_comparison() -> None:
    table = indiff.read_table(people(), quasi=["age"], sensitive=EVIL)
    found = indiff.compare(table, "mondrian:k=2,5,600")
    shown = found._repr_html_()
    assert shown.startswith("<div><h3>3 settings about &lt;script&gt;")
    assert f"<td>mondrian:k=5</td><td>{found.rows[1].delta:.4g}</td>" in shown
    assert shown.count("on the front") == sum(row.on_front for row in found.rows) > 0
    assert "failed: k must be at least 1 and at most the number of records (60); got 600" in shown
    assert EVIL not in shown
    assert "secret" not in shown


def test_a_fix() -> None:
    table = indiff.read_table(people(), quasi=["age"], sensitive=EVIL)
    found = indiff.fix(table, "mondrian:k=5", model="naive-bayes", delta=0.3, budget=30)
    shown = found._repr_html_()
    assert shown.count("<tr>") == len(found.rounds) + 1
    assert f"<td>0</td><td>0</td><td>{found.rounds[0].delta:.4g}</td>" in shown
    assert "Keep the list of removed records to yourself." in shown
