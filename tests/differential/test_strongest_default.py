"""The default adversary is the strongest of those that are exact and fast, and says who is left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff import Laplace, Mondrian, Plan, differential_test, run_audit
from indiff.data.table import Table, read_table
from indiff.differential.strongest import MOST_WORK, StrongestResult, choose_models
from indiff.inference.encodings import MOST_COUNTED
from tests.command_line import call

THREE = ["naive-bayes", "frequency", "tree"]


def wards(records: int = 600) -> pa.Table:
    """Make columns that say little one by one: illness is in which of them agree."""
    rng = np.random.default_rng(5)
    columns = {name: rng.integers(0, 6, records) for name in ("a", "b", "c", "d")}
    ill = (columns["a"] + columns["b"] + columns["c"] + columns["d"]) % 2 == 0
    ill ^= rng.random(records) < 0.1
    return pa.table({**columns, "ill": np.where(ill, "yes", "no")})


def ward_table(**options: Any) -> Table:
    return read_table(wards(), quasi=["a", "b", "c", "d"], sensitive="ill", **options)


def test_the_default_sees_what_naive_bayes_does_not() -> None:
    table = ward_table()
    found = differential_test(table, Mondrian(k=5), jobs=1)
    assert isinstance(found, StrongestResult)
    assert list(found.results) == THREE
    assert found.left_out is None
    assert found.deltas["naive-bayes"] < 0.2
    assert found.deltas["frequency"] > 0.5
    assert found.deltas["tree"] > 0.5
    one_by_one = [
        differential_test(table, Mondrian(k=5), model=name, jobs=1).distances for name in THREE
    ]
    assert (found.distances == np.max(one_by_one, axis=0)).all()


def test_the_default_result_keeps_the_public_contract() -> None:
    found = differential_test(ward_table(), Mondrian(k=5), jobs=1)
    assert found.delta == found.distances.max() == found.worst(1)[0]["distance"]
    assert found.mean == found.distances.mean()
    assert found.beliefs.shape == found.beliefs_without.shape == (600, 2)
    assert found.sensitive_values == ("no", "yes")
    for place in (0, 300, 599):
        seen = found.results[found.seen_by[place]]
        assert (found.beliefs[place] == seen.beliefs[place]).all()
        assert (found.beliefs_without[place] == seen.beliefs_without[place]).all()
        assert found.distances[place] == seen.distances[place]
    values, shares = found.cdf()
    assert (values[-1], shares[-1]) == (found.delta, 1.0)
    assert found.quantile(1.0) == found.quantiles[0.999] or found.quantile(1.0) == found.delta
    assert 0 <= found.changed_predictions <= 100
    assert found.to_frame().num_rows == 600
    assert '"deltas"' in found.to_json()
    assert (found.method, found.exactness, found.complete) == ("leave-one-out", "exact", True)
    assert len(found.true_beliefs) == len(found.true_beliefs_without) == len(found.classes) == 600
    assert found.std > 0
    assert found.infinite == 0
    assert found.fingerprint == ward_table().fingerprint
    some = differential_test(ward_table(), Mondrian(k=5), targets=200, jobs=1)
    assert some.exactness == "lower-bound"
    assert "confidence at most" in some.guarantee


def test_who_is_chosen_and_who_is_left_out() -> None:
    table = ward_table()

    def chosen(sanitizer: Any, **options: Any) -> tuple[list[str], str | None]:
        found = choose_models(options.pop("model", None), sanitizer, table, **options)
        return list(found.named), found.left_out

    assert chosen(Laplace(1.0)) == (["frequency"], None)
    assert chosen(Mondrian(k=5), model="tree") == (["tree"], None)
    assert chosen(Mondrian(k=5), model=["auto", "knn"]) == ([*THREE, "knn"], None)
    assert chosen(Mondrian(k=5), model=["tree", "auto"], share=10**9)[1] is None
    for sanitizer, options, why in (
        (indiff.Identity(), {}, "it would learn again from a whole release"),
        (Mondrian(k=5), {"method": "refit"}, "it would learn again from a whole release"),
        (Mondrian(k=5), {"individual": "a"}, "all records of a person"),
        (Mondrian(k=5), {"share": MOST_WORK}, "would take it long"),
    ):
        names, told = chosen(sanitizer, **options)
        assert names == ["naive-bayes", "frequency"]
        assert told is not None
        assert why in told
        assert "ask for it by model=['auto', 'tree']" in told


def test_an_audit_shows_each_delta_and_fails_where_one_exceeds() -> None:
    asked: dict[str, Any] = {
        "data": {"quasi": ["a", "b", "c", "d"], "sensitive": "ill"},
        "release": {"sanitizer": "mondrian:k=5"},
        "limits": {"delta": 0.5},
        "run": {"jobs": 1},
    }
    found = run_audit(Plan(**asked), wards())
    assert found.verdict["exit_code"] == 1
    for name in (*THREE, "strongest"):
        assert found.finding(f"delta:ill:{name}").value is not None
    assert found.document["plan"]["adversary"]["models"] == THREE
    alone = run_audit(Plan(**asked, adversary={"models": "naive-bayes"}), wards())
    assert alone.verdict["status"] == "pass"
    assert alone.verdict["reasons"] == [
        "every limit is kept, against naive-bayes alone, cells read as covering a value or not "
        "(encoding TF-TF)"
    ]


def test_on_the_command_line(tmp_path: Path) -> None:
    import pyarrow.csv

    data = tmp_path / "wards.csv"
    pyarrow.csv.write_csv(wards(), data)
    asked = ("test", data, "--quasi", "a,b,c,d", "--sensitive", "ill", "--jobs", "1",
             "--limit", "delta=0.5")  # fmt: skip
    ended = call(*asked, "--json", tmp_path / "r.json")
    assert ended.code == 1
    assert all(name in ended.out for name in THREE)
    alone = call(*asked, "--model", "naive-bayes")
    assert alone.code == 0
    assert "no limit was exceeded, against naive-bayes alone" in " ".join(alone.out.split())


def test_fair() -> None:
    from statsmodels.datasets import fair

    data = fair.load_pandas().data
    quasi = [name for name in data.columns if name not in ("affairs", "rate_marriage")]
    table = read_table(data, quasi=quasi, sensitive="affairs > 0", other="rate_marriage")
    found = differential_test(table, "mondrian:k=5")
    expected = {"naive-bayes": 0.049, "frequency": 1.355, "tree": 1.714}
    assert found.deltas == pytest.approx(expected, abs=5e-4)


def test_the_default_loads_no_scikit_learn() -> None:
    tree = indiff.Classifier("tree")
    assert tree.learns_from_tally(MOST_COUNTED)
    assert not tree.learns_from_tally(MOST_COUNTED + 1)
    code = (
        "import sys, pyarrow as pa, indiff\n"
        "table = indiff.read_table(pa.table({'a': [i % 97 for i in range(300)],"
        " 's': [i % 3 for i in range(300)]}), quasi=['a'], sensitive='s')\n"
        "found = indiff.differential_test(table, 'mondrian:k=5')\n"
        "assert list(found.results) == ['naive-bayes', 'frequency', 'tree']\n"
        "assert 'sklearn' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
