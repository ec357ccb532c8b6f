"""Background knowledge against scikit-learn with a class prior, and against its definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.naive_bayes import BernoulliNB

from indiff import Frequency, Laplace, Mondrian, NaiveBayes, UserError, differential_test
from indiff.data.table import Table, read_table
from indiff.inference.background import Background, Prior, with_background
from indiff.release.release import Release
from tests.properties.random_tables import Sample, samples


def encoded(release: Release, table: Table, row: int, names: list[str]) -> NDArray[np.float64]:
    """The TF encoding of some columns, from what the release publicly says it covers."""
    cells = table.take([row]).frame().to_pylist()[0]
    return np.stack([release.covers(name, cells[name]) for name in names], axis=1).astype(float)


def by_scikit_learn(
    release: Release, features: NDArray[np.float64], prior: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    held = np.unique(release.classes)
    given_prior = None if prior is None else prior[held] / prior[held].sum()
    model = BernoulliNB(class_prior=given_prior).fit(features, release.classes)
    belief = np.zeros(len(release.sensitive_values))
    belief[held] = model.predict_proba(np.ones((1, features.shape[1])))[0]
    return belief


def random_prior(values: tuple[Any, ...], seed: int) -> dict[Any, float]:
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(values)))
    return dict(zip(values, (float(share) for share in shares), strict=True))


def toy(**more: Any) -> Table:
    return read_table(
        pa.table(
            {
                "age": [28, 36, 47, 53, 72, 28],
                "sex": list("MMFMFM"),
                "ill": ["Flu", "Flu", "Cancer", "Flu", "Flu", "Flu"],
            }
        ),
        quasi=["age", "sex"],
        sensitive="ill",
        **more,
    )


@given(samples(most=20), st.integers(0, 100), st.data())
def test_naive_bayes_with_a_prior_and_known_columns(
    sample: Sample, seed: int, data: st.DataObject
) -> None:
    table = sample.table
    names = [a.name for a in table.attributes]
    known = sorted(data.draw(st.sets(st.sampled_from(names), min_size=1)))
    prior = random_prior(table.sensitive.values, seed)
    shares = np.array(list(prior.values()))
    sanitizer = Mondrian(k=2, unmet="generalize")
    result = differential_test(table, sanitizer, model="naive-bayes", prior=prior, known=known)
    row = seed % len(table)
    for held, believed in ((table, result.beliefs), (table.without(row), result.beliefs_without)):
        release = sanitizer.sanitize(held)
        features = encoded(release, table, row, known)
        assert np.allclose(believed[row], by_scikit_learn(release, features, shares), atol=1e-9)


@given(samples(most=20), st.integers(0, 100))
def test_the_wrapper_equals_the_place_that_naive_bayes_has(sample: Sample, seed: int) -> None:
    table = sample.table
    prior = random_prior(table.sensitive.values, seed)
    sanitizer = Mondrian(k=2, unmet="generalize")
    fast = differential_test(table, sanitizer, model="naive-bayes", prior=prior)
    slow = differential_test(table, sanitizer, model=Background(NaiveBayes(), Prior.of(prior)))
    assert fast.method == "leave-one-out"
    assert np.allclose(fast.beliefs, slow.beliefs, atol=1e-9)
    assert np.allclose(fast.beliefs_without, slow.beliefs_without, atol=1e-9)


def test_frequency_by_hand() -> None:
    """Everybody in one group, q = (1/6, 5/6), π = (1/2, 1/2): the belief is π itself."""
    result = differential_test(
        toy(), "suppress", model="frequency", prior={"Flu": 0.5, "Cancer": 0.5}
    )
    assert np.allclose(result.beliefs, 0.5)
    # Without the only record with Cancer its share is 0, and so is the belief in it.
    assert result.beliefs_without[2].tolist() == [0, 1]
    assert np.allclose(np.delete(result.distances, 2), 0)
    assert result.distances[2] == pytest.approx(1.0)
    assert any("the same for all records" in note for note in result.notes)


def test_shares_of_the_release_change_nothing() -> None:
    table = toy()
    release = Mondrian(k=2).sanitize(table)
    shares = dict(zip(table.sensitive.values, release.class_totals() / len(table), strict=True))
    for model in (NaiveBayes(), Frequency()):
        informed = Background(model, Prior.of(shares))
        assert np.allclose(informed.beliefs(release, table), model.beliefs(release, table))


def test_records_may_have_priors_of_their_own() -> None:
    """Records 0 and 5 are alike: only what is known of them beforehand differs."""
    table = toy()
    each = {r: {"Flu": 0.1 + 0.15 * r, "Cancer": 0.9 - 0.15 * r} for r in range(6)}
    for model in ("naive-bayes", "frequency"):
        result = differential_test(table, Mondrian(k=6), model=model, prior=each)
        assert not np.allclose(result.beliefs[0], result.beliefs[5])
        for record, shares in each.items():
            alone = differential_test(
                table, Mondrian(k=6), model=model, prior=shares, targets=[record], method="refit"
            )
            assert np.allclose(result.beliefs[record], alone.beliefs[0], atol=1e-9)
            assert np.allclose(result.beliefs_without[record], alone.beliefs_without[0], atol=1e-9)
        assert any("one for each record" in note for note in result.notes)


def test_known_columns_of_any_model() -> None:
    """Frequency on sex alone: of the four men all have Flu, of the two women one."""
    result = differential_test(toy(), "identity", model="frequency", known="sex")
    assert result.beliefs[:, 1].tolist() == [1, 1, 0.5, 1, 0.5, 1]
    assert result.beliefs_without[:, 1].tolist() == [1, 1, 1, 1, 0, 1]
    assert "the adversary knows sex alone of 2 columns" in result.notes


def test_files(tmp_path: Path) -> None:
    shared, each = tmp_path / "shared.csv", tmp_path / "each.csv"
    shared.write_text("value,probability\nFlu,0.7\nCancer,0.2\nPlague,0.1\n")
    each.write_text("record,Cancer,Flu\n" + "".join(f"{r},0.{r + 1},0.{9 - r}\n" for r in range(6)))
    table = toy()
    from_file = differential_test(table, Mondrian(k=2), model="naive-bayes", prior=shared)
    # A value that nobody holds has no share in any release: it takes no part.
    mapped = differential_test(
        table, Mondrian(k=2), model="naive-bayes", prior={"Flu": 7 / 9, "Cancer": 2 / 9}
    )
    assert np.allclose(from_file.distances, mapped.distances)
    read = Prior.of(str(each)).for_records(table.sensitive.values, [3, 0])
    assert np.allclose(read, [[0.4, 0.6], [0.1, 0.9]])


def test_noisy_tables_are_read_as_the_paper_does() -> None:
    result = differential_test(
        toy(), Laplace(1.0), prior={"Flu": 0.5, "Cancer": 0.5}, runs=5, targets=[0, 2]
    )
    assert result.method == "sampled"
    assert result.model == "smoothed-frequency"


def test_random_models_stay_random() -> None:
    class Noisy:
        randomized = True

        def __init__(self, seed: int = 0) -> None:
            self.seed = seed

        def seeded(self, seed: int) -> Noisy:
            return Noisy(seed)

        def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
            return np.random.default_rng(self.seed).dirichlet([1, 1], len(targets))

    wrapped, _ = with_background(Noisy(), toy(), known=["age"])
    assert isinstance(wrapped, Background)
    assert wrapped.randomized
    assert wrapped.seeded(7).model.seed == 7
    assert not hasattr(Background(Frequency()), "seeded")
    assert differential_test(toy(), "identity", model=Noisy(), known="age", runs=3).runs == 3


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"Flu": 0.5, "Cancer": 0.4}, r"a prior must sum to 1; got 0.9"),
        ({"Flu": 1.0}, "it misses 'Cancer'"),
        ({"Flu": 1.5, "Cancer": -0.5}, "probabilities from 0 to 1; got 1.5 for 'Flu'"),
        ({"Flu": "x", "Cancer": 1}, "probabilities from 0 to 1; got 'x' for 'Flu'"),
        ({}, "a prior is a mapping"),
        ({0: {"Flu": 0.5, "Cancer": 0.5}}, "there is none for record 1"),
        ({0: {"Flu": 0.5, "Cancer": 0.4}}, "must sum to 1 for record 0; got 0.9"),
        ({0: {"Flu": 1.0}}, "every sensitive value a probability for record 0; it misses 'Canc"),
        ({0: {"Flu": 1.0}, 1: 0.5}, "maps values to probabilities; got 0.5 for record 1"),
        ({"a": {"Flu": 1.0}}, "has record numbers as keys; got 'a'"),
        ({1: 0.25, "1": 0.25, "Flu": 0.5}, "names the value '1' twice; keep one"),
        ({0: {1.0: 0.5, "1": 0.5}}, "names the value '1' twice for record 0; keep one"),
    ],
)
def test_bad_priors(prior: Any, message: str) -> None:
    for model in ("naive-bayes", "frequency"):
        with pytest.raises(UserError, match=message):
            differential_test(toy(), Mondrian(k=2), model=model, prior=prior)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("value,share\nFlu,1\n", "must have the columns value and probability"),
        (
            "value,probability\nFlu,much\n",
            "line 2: a probability is a number from 0 to 1; got 'much'",
        ),
        ("value,probability\nFlu,0.5\nFlu,0.5\n", "names a value twice"),
        ("value,probability\nFlu\n", "line 2: 2 cells are needed"),
        ("record,Flu,Cancer\nx,0.5,0.5\n", "line 2: a record is a number from 0; got 'x'"),
        ("record,Flu,Cancer\n1,0.5,0.5\n1,0.5,0.5\n", "line 3: record 1 is there twice"),
        ("record,Flu,Cancer\n", "names no record"),
        ("record,Flu,Flu\n1,1,0\n", "names a value twice"),
        ("", "got nothing"),
        ('value,probability\n"' + "x" * 200_000, "line 2: this is not CSV .* check its quotes"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prior.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        differential_test(toy(), Mondrian(k=2), model="naive-bayes", prior=path)


def test_other_bad_input(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no quasi-identifier 'agee': did you mean 'age'"):
        differential_test(toy(), Mondrian(k=2), model="naive-bayes", known=["agee"])
    with pytest.raises(UserError, match="known names no quasi-identifier"):
        differential_test(toy(), Mondrian(k=2), model="naive-bayes", known=[])
    for strange in ([3], [None], 3, iter(["age"])):
        with pytest.raises(UserError, match="known is a list of names of quasi-identifiers; got"):
            differential_test(toy(), Mondrian(k=2), model="naive-bayes", known=strange)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="a prior is given once"):
        differential_test(
            toy(),
            Mondrian(k=2),
            model=NaiveBayes(prior="uniform"),
            prior={"Flu": 0.5, "Cancer": 0.5},
        )
    with pytest.raises(UserError, match="cannot be read"):
        differential_test(toy(), Mondrian(k=2), model="naive-bayes", prior=tmp_path / "none.csv")
    with pytest.raises(UserError, match="for record 0 it gives all of them none"):
        differential_test(toy(), "identity", model="frequency", prior={"Flu": 0.0, "Cancer": 1.0})
