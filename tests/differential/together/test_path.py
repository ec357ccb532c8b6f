"""Releases read together, against Bayes' rule written out for every record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, Recoding, differential_test, read_table
from indiff.data.table import Table
from indiff.differential.people import fallback
from indiff.errors import UserError
from indiff.sanitizers.sanitizer import as_sanitizer

FRAME = pa.table(
    {
        "who": list("abcdefgh"),
        "age": [21, 24, 33, 36, 45, 48, 51, 57],
        "sex": list("mfmfmfmf"),
        "ill": ["flu", "cancer", "flu", "asthma", "flu", "asthma", "flu", "flu"],
    }
)


def read(frame: pa.Table = FRAME, quasi: tuple[str, ...] = ("age", "sex")) -> Table:
    other = [name for name in ("age", "sex") if name not in quasi]
    return read_table(frame, quasi=list(quasi), sensitive="ill", identifier="who", other=other)


def believed(release: Any, table: Table, row: int) -> np.ndarray[Any, Any]:
    """Return the shares of the values among the rows that cover a record, or among all."""
    inside = np.ones(len(release), bool)
    for column in release.columns:
        inside &= column.covering(int(table.attribute(column.attribute.name).codes[row]))
    inside = inside if inside.any() else ~inside
    counts = np.bincount(release.classes[inside], minlength=len(table.sensitive.values))
    return np.asarray(counts / counts.sum())


def shares(table: Table) -> np.ndarray[Any, Any]:
    return np.asarray(table.sensitive.counts / len(table))


def by_definition(table: Table, sanitizers: list[Any], row: int) -> list[np.ndarray[Any, Any]]:
    """Return the belief with and without a record: prior times each release's ratio."""
    found = []
    for left in (table, table.without(row)):
        prior = shares(left)
        product = [float(share) for share in prior]
        for one in sanitizers:
            chosen = as_sanitizer(one)
            made = chosen if left is table else fallback(chosen)
            belief = believed(made.sanitize(left), table, row)
            product = [
                p * float(b) / float(q) if q > 0 else 0.0
                for p, b, q in zip(product, belief, prior, strict=True)
            ]
        total = sum(product)
        found.append(np.array(product) / total if total else prior)
    return found


def test_two_groups_by_hand() -> None:
    # Ages in pairs, then in fours: 21 and 24 hold flu and cancer; with 33 and 36 flu twice, cancer
    # and asthma. The shares are 5/8, 1/8 and 2/8.
    pairs = replace(Mondrian(k=2), regions="cut")
    table = read(quasi=("age",))
    found = differential_test(table, [pairs, Mondrian(k=4)], model="frequency", together=True)
    prior = np.array([2, 1, 5]) / 8  # asthma, cancer, flu
    first, second = np.array([0, 1, 1]) / 2, np.array([1, 1, 2]) / 4
    product = first * second / prior
    assert found.sensitive_values == ("asthma", "cancer", "flu")
    assert found.beliefs[0] == pytest.approx(product / product.sum(), abs=1e-15)
    assert found.exactness == "exact"
    assert found.method == "leave-one-out"
    assert "0 of 8 records share their groups of all 2 releases with nobody" in str(found.notes)
    # 51 and 57 hold flu alone, in the pairs already.
    assert "2 of 8 records have their own value alone in common" in str(found.notes)
    assert "0 of them though with none of the groups by itself" in str(found.notes)


def test_groups_that_leave_one_value_only_together() -> None:
    # Mondrian's groups are the men and the women below 40 and from 40 on; recoding's are decades.
    # 21 is flu or asthma in the one and flu or cancer in the other; so it goes for 36 (flu), 45
    # (flu) and 51 (asthma). 48 and 57 both hold cancer, and are a group of Mondrian's.
    ill = ["flu", "cancer", "asthma", "flu", "flu", "cancer", "asthma", "cancer"]
    table = read(FRAME.set_column(3, "ill", pa.array(ill)))
    decades = Recoding(k=2, weights={"age": 100.0, "sex": 0.001})
    assert decades.sanitize(table).to_frame()["age"].to_pylist()[:2] == ["[20, 29]"] * 2
    found = differential_test(table, [Mondrian(k=2), decades], model="frequency", together=True)
    notes = str(found.notes)
    assert "6 of 8 records have their own value alone in common with all their groups" in notes
    assert "4 of them though with none of the groups by itself" in notes
    assert "8 of 8 records share their groups of all 2 releases with nobody" in notes


@pytest.mark.parametrize("block", range(20))
def test_against_the_definition(block: int) -> None:
    for seed in range(25 * block, 25 * block + 25):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(8, 15))
        frame = pa.table(
            {
                "who": [str(row) for row in range(size)],
                "age": rng.integers(20, 30, size),
                "sex": rng.choice(["m", "f"], size),
                "ill": [*"uv", *rng.choice(list("uvw"), size - 2)],
            }
        )
        table, cut = read(frame), Mondrian(k=3, regions="cut")
        choices = [Mondrian(k=2), cut, Mondrian(k=4), "identity", "suppress"]
        picked = rng.choice(len(choices), int(rng.integers(2, 5)), replace=False)
        chosen = [choices[place] for place in picked]
        found = differential_test(table, chosen, model="frequency", together=True, distance="tv")
        for row in range(size):
            present, absent = by_definition(table, chosen, row)
            assert found.beliefs[row] == pytest.approx(present, abs=1e-12)
            assert found.beliefs_without[row] == pytest.approx(absent, abs=1e-12)
            assert found.distances[row] == pytest.approx(abs(present - absent).sum() / 2, abs=1e-12)


@pytest.mark.parametrize("model", [None, "frequency", ["naive-bayes", "frequency"]])
def test_one_release_has_the_bits_of_the_single_test(model: Any) -> None:
    table = read()
    alone = differential_test(table, "mondrian:k=2", model=model)
    together = differential_test(table, ["mondrian:k=2"], model=model, together=True)
    assert together.distances.tobytes() == alone.distances.tobytes()
    assert together.beliefs.tobytes() == alone.beliefs.tobytes()


def test_a_release_of_other_people_changes_nothing() -> None:
    table, strangers = read(), read(FRAME.set_column(0, "who", pa.array(list("stuvwxyz"))))
    alone = differential_test(table, "mondrian:k=2", model="frequency", individual="who")
    both = differential_test(
        [table, strangers], ["mondrian:k=2", "identity"], model="frequency", individual="who",
        together=True,
    )  # fmt: skip
    assert both.distances.tobytes() == alone.distances.tobytes()
    assert both.beliefs.tobytes() == alone.beliefs.tobytes()
    assert "8 of the people are not in the table of identity" in " ".join(both.notes)


def test_other_quasi_identifiers_in_each_release() -> None:
    ages, sexes = read(quasi=("age",)), read(quasi=("sex",))
    found = differential_test(
        [ages, sexes], [Mondrian(k=2), "identity"], model="frequency", together=True
    )
    first = Mondrian(k=2).sanitize(ages)
    prior = shares(ages)
    for row in range(len(ages)):
        belief = (
            believed(first, ages, row)
            * believed(as_sanitizer("identity").sanitize(sexes), sexes, row)
            / prior
        )
        assert found.beliefs[row] == pytest.approx(belief / belief.sum(), abs=1e-12)


def test_people_who_enter_and_change_over_time() -> None:
    now = read()
    then = FRAME.slice(0, 5).set_column(1, "age", pa.array([20, 23, 32, 35, 58]))
    then = then.set_column(3, "ill", pa.array(["flu", "gout", "flu", "asthma", "flu"]))
    older = read(then)
    found = differential_test(
        [now, older], [Mondrian(k=2), "identity"], model="frequency", individual="who",
        together=True,
    )  # fmt: skip
    assert found.sensitive_values == ("asthma", "cancer", "flu", "gout")
    # b had gout: a release of her old record says so for certain, though cancer is true now.
    alone = differential_test(now, Mondrian(k=2), model="frequency", individual="who")
    assert found.beliefs[5:, :3].tobytes() == alone.beliefs[5:].tobytes()
    assert found.beliefs[0, 2] == 1  # flu in both
    with pytest.raises(UserError, match="matched by a column that names them"):
        differential_test([now, older], ["identity"] * 2, model="frequency", together=True)


def test_a_prior_of_the_adversarys_own() -> None:
    table, prior = read(), {"asthma": 0.5, "cancer": 0.25, "flu": 0.25}
    sanitizers = [Mondrian(k=2), Mondrian(k=4)]
    found = differential_test(table, sanitizers, model="frequency", together=True, prior=prior)
    belief = np.array([0.5, 0.25, 0.25])
    for one in sanitizers:
        belief = belief * believed(one.sanitize(table), table, 3) / shares(table)
    assert found.beliefs[3] == pytest.approx(belief / belief.sum(), abs=1e-12)


def test_a_noisy_table_is_an_estimate_and_its_epsilon_is_named() -> None:
    table = read()
    found = differential_test(
        table, ["mondrian:k=2", "laplace:epsilon=0.5", "geometric:epsilon=1"], model="frequency",
        together=True, runs=30, jobs=1,
    )  # fmt: skip
    assert found.exactness == "estimate"
    assert (found.lower <= found.upper).all()
    told = " ".join(found.notes)
    assert "ε adds up to 0.5 + 1 = 1.5 (basic composition) for the noisy tables alone" in told
    assert "1 of the releases has no noise, so together there is no ε" in told
    # Nearly without noise it is what the exact counts say.
    sharp = differential_test(
        table, ["suppress", "laplace:epsilon=1e9"], model="frequency", together=True, runs=5,
        jobs=1,
    )  # fmt: skip
    plain = differential_test(table, "laplace:epsilon=inf", model="frequency", distance="tv")
    assert sharp.beliefs == pytest.approx(plain.beliefs, abs=1e-6)


def test_what_cannot_be_read_together() -> None:
    table = read()

    def random(frame: pa.Table, rng: np.random.Generator) -> pa.Table:
        return frame.take(pa.array(rng.permutation(frame.num_rows)))

    with pytest.raises(UserError, match="where chance has no part in them"):
        differential_test(table, ["identity", random], together=True, runs=2, model="frequency")
    with pytest.raises(UserError, match="got identity and mlp"):
        differential_test(table, ["identity"] * 2, together=True, model="mlp")
    others = read(FRAME.set_column(3, "ill", pa.array(FRAME["ill"].to_pylist()[::-1])))
    with pytest.raises(UserError, match="hold the same sensitive value in all of them; got 6"):
        differential_test([table, others], ["identity"] * 2, together=True, model="frequency")
    with pytest.raises(UserError, match="choose their methods"):
        differential_test(table, ["identity"] * 2, together=True, method="refit")
    with pytest.raises(UserError, match="one sanitizer for each"):
        differential_test([table, table], ["identity"], together=True)
    with pytest.raises(UserError, match="one table, unless several are read together; got 2"):
        differential_test([table, table], ["identity"] * 2)
    with pytest.raises(UserError, match="at least one sanitizer"):
        differential_test(table, [], together=True)


def test_recoding_is_read_together_with_mondrian() -> None:
    table = read()
    sanitizers = [Recoding(k=2), Mondrian(k=3)]
    found = differential_test(table, sanitizers, model="frequency", together=True)
    for row in range(len(table)):
        present, absent = by_definition(table, sanitizers, row)
        assert found.beliefs[row] == pytest.approx(present, abs=1e-12)
        assert found.beliefs_without[row] == pytest.approx(absent, abs=1e-12)
