"""What models on TF features are given is what sanitizing without the record gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indiff import Classifier, Mondrian, differential_test
from indiff.differential.calls import calls
from indiff.differential.mondrian.leave_one_out import MondrianReleases
from indiff.differential.people import each_record
from indiff.differential.refit.refit import Releases, Without, refit
from indiff.inference import as_model
from indiff.inference.background import with_background
from tests.inference.test_models import materialise
from tests.properties.random_tables import Sample, make_sample, samples, sanitizers


@given(samples(most=40), sanitizers())
def test_a_tally_counts_the_materialised_rows(sample: Sample, sanitizer: Mondrian) -> None:
    table = sample.table
    releases = MondrianReleases(table, sanitizer)
    for row in range(min(len(table), 6)):
        tally = releases.tally(row)
        if tally is None:
            continue
        release = sanitizer.sanitize(table.without(row))
        features = materialise(release, table.take([row]), 0).astype(int)
        wanted = np.zeros_like(tally.counts)
        for bits, of_class in zip(features, release.classes, strict=True):
            wanted[int("".join(map(str, bits)), 2), of_class] += 1
        np.testing.assert_array_equal(tally.counts, wanted)
        assert tally.names == tuple(a.name for a in table.attributes)
        assert release.constraint_met  # where it is not, the release itself is needed


def test_tallies_are_what_is_used_and_few_records_need_a_release() -> None:
    table = make_sample(3, 80, ["ties", "set", "jobs"], 4).table
    releases = MondrianReleases(table, Mondrian(k=3))
    assert sum(releases.tally(row) is None for row in range(len(table))) < 8
    people = each_record(np.arange(len(table)))
    for model, used in (("tree", True), ("logistic", True), ("knn", False), ("frequency", False)):
        ask = Without(table, Mondrian(k=3), as_model(model), people, MondrianReleases)
        assert (ask.tally(np.array([5])) is not None) is used
    ask = Without(table, Mondrian(k=3), as_model("tree"), people, Releases)
    assert ask.tally(np.array([5])) is None
    ask = Without(
        table, Mondrian(k=3), Classifier("tree", encoding="TF-Hot"), people, MondrianReleases
    )
    assert ask.tally(np.array([5])) is None


def prior_of(sample: Sample, draw: int) -> dict[Any, float]:
    values = sample.table.sensitive.values
    shares = np.random.default_rng(draw).dirichlet(np.ones(len(values)))
    shares[-1] = 1 - shares[:-1].sum()
    return dict(zip(values, shares.tolist(), strict=True))


@settings(max_examples=25)
@given(
    samples(most=30), sanitizers(), st.sampled_from(["tree", "logistic"]),
    st.sampled_from(["nothing", "known", "prior", "per record", "both"]),
)  # fmt: skip
def test_beliefs_are_those_of_releases_made_from_scratch(
    sample: Sample, sanitizer: Mondrian, name: str, background: str
) -> None:
    table = sample.table
    prior: Any = None
    if background in ("prior", "both"):
        prior = prior_of(sample, 1)
    elif background == "per record":
        prior = {int(record): prior_of(sample, int(record)) for record in table.records}
    known = ["q0"] if background in ("known", "both") else None
    model, _ = with_background(as_model(name), table, prior, known)
    rows = np.arange(min(len(table), 5))
    fast = refit(table, sanitizer, model, rows, source=MondrianReleases)
    slow = refit(table, sanitizer, model, rows)
    np.testing.assert_allclose(fast.without, slow.without, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(fast.uncovered_without, slow.uncovered_without)
    np.testing.assert_array_equal(fast.generalized, slow.generalized)


class Stubborn(Classifier):
    """Believes what it likes, whatever it inherits."""

    def beliefs(self, release: Any, targets: Any) -> Any:
        return np.tile([1.0, 0.0], (len(targets), 1))


def test_a_model_of_ones_own_is_asked_for_its_own_beliefs() -> None:
    table = make_sample(3, 30, ["ties", "set"], 2).table
    result = differential_test(table, Mondrian(k=3), model=Stubborn("tree"), jobs=1)
    assert result.beliefs_without.tolist() == [[1.0, 0.0]] * len(table)


def test_one_slow_call_starts_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def ask(place: int) -> int:
        clock[0] += 0.05 if place == 0 else 0.0001  # the first one waits for a busy machine
        return place

    def start(*_: Any) -> None:
        raise AssertionError("other processes were started")

    monkeypatch.setattr(calls, "monotonic", lambda: clock[0])
    monkeypatch.setattr("indiff.differential.calls.pools.LokyPool", start)
    found = [
        one.value for group in calls.answers(ask, range(500), calls.Calls(jobs=2)) for one in group
    ]
    assert found == list(range(500))
    with pytest.raises(AssertionError, match="were started"):  # 0.2 s each: worth it at once
        list(
            calls.answers(
                lambda place: clock.__setitem__(0, clock[0] + 0.2), range(50), calls.Calls(jobs=2)
            )
        )


def test_what_targets_share_is_made_before_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_sample(3, 40, ["ties", "set"], 3).table
    people = each_record(np.arange(len(table)))
    ask = Without(table, Mondrian(k=3), as_model("tree"), people, MondrianReleases)
    ask.prepare()
    assert {"_base", "_from_scratch"} <= vars(ask.releases).keys()
    monkeypatch.setattr(Releases, "without", lambda *_: pytest.fail("it was sanitized"))
    Without(table, Mondrian(k=3), as_model("tree"), people, Releases).prepare()
