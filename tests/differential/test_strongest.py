"""The strongest adversary: the pointwise maximum of results made one by one."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from indiff import Frequency, Laplace, Mondrian, NaiveBayes, UserError, differential_test
from indiff.data.table import read_table
from indiff.differential.strongest import StrongestResult, strongest
from tests.properties.random_tables import Sample, make_sample, samples

MODELS = ["naive-bayes", "frequency"]


@given(samples(most=20))
def test_pointwise_maximum(sample: Sample) -> None:
    sanitizer = Mondrian(k=2, unmet="generalize")
    found = differential_test(sample.table, sanitizer, model=MODELS)
    one, other = (differential_test(sample.table, sanitizer, model=m) for m in MODELS)
    assert (found.distances == np.maximum(one.distances, other.distances)).all()
    assert found.deltas == {"naive-bayes": one.delta, "frequency": other.delta}
    assert found.delta == max(one.delta, other.delta) == found.distances.max()
    assert found.deltas[found.model] == found.delta
    expected = np.where(one.distances >= other.distances, *MODELS)
    assert (found.seen_by == expected).all()
    assert found.exactness == "exact"
    assert found.complete
    assert found.confidence is None
    worst = found.worst(3)
    assert worst[0]["distance"] == found.delta
    for entry in worst:
        seen = {"naive-bayes": one, "frequency": other}[entry["model"]]
        place = seen.records.tolist().index(entry["record"])
        assert entry["distance"] == seen.distances[place]
        assert entry["belief"] == seen.true_beliefs[place]


def toy_result() -> StrongestResult:
    table = make_sample(3, 30, ["ties", "set"], 3).table
    found = differential_test(table, Mondrian(k=3), model=MODELS)
    assert isinstance(found, StrongestResult)
    return found


def test_frames_and_plain_data() -> None:
    found = toy_result()
    frame = found.to_frame()
    assert frame.column_names == ["record", "distance", "model", *MODELS]
    both = np.stack([frame[name].to_numpy() for name in MODELS])
    assert (frame["distance"].to_numpy() == both.max(axis=0)).all()
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["delta"] == found.delta
    assert plain["results"]["frequency"]["delta"] == found.deltas["frequency"]


def test_several_distances_sanitizers_and_attributes() -> None:
    table = make_sample(3, 30, ["ties", "set"], 3).table
    by_distance = differential_test(table, Mondrian(k=3), model=MODELS, distance=["tv", "kl"])
    assert list(by_distance) == ["tv", "kl"]
    assert by_distance["kl"].results["frequency"].distance == "kl"
    listed = differential_test(table, ["suppress", "identity"], model=MODELS)
    assert [type(one) for one in listed] == [StrongestResult] * 2
    assert listed[0].delta < listed[1].delta
    two = read_table(
        pa.table({"q": [1, 2, 3, 4], "s": ["a", "b", "a", "b"], "t": ["c", "c", "d", "d"]}),
        quasi=["q"],
        sensitive=["s", "t"],
    )
    assert list(differential_test(two, Mondrian(k=2), model=MODELS)) == ["s", "t"]


def test_limits_hold_for_all_models_together() -> None:
    table = make_sample(3, 12, ["ties"], 2).table
    found = differential_test(
        table, Laplace(1.0), model=[NaiveBayes(), "frequency"], runs=10, targets=[0, 1],
        method="sampled", confidence=0.9,
    )  # fmt: skip
    assert found.confidence == 0.9
    assert [r.confidence for r in found.results.values()] == pytest.approx([0.95, 0.95])
    assert found.exactness == "lower-bound"  # two of twelve records
    assert found.delta_upper == max(r.delta_upper for r in found.results.values())
    assert found.delta_upper >= found.delta


def test_an_interrupted_model_lowers_nothing() -> None:
    found = toy_result()
    whole, part = found.results["naive-bayes"], found.results["frequency"]
    worst = int(whole.distances.argmax())
    keep = np.arange(len(part.records)) != worst
    cut = replace(
        part,
        distances=part.distances[keep],
        beliefs=part.beliefs[keep],
        beliefs_without=part.beliefs_without[keep],
        records=part.records[keep],
        classes=part.classes[keep],
    )
    both = strongest({"naive-bayes": whole, "frequency": cut})
    assert not both.complete
    assert both.delta >= whole.delta
    assert both.records.tolist() == cut.records.tolist()
    assert (both.distances == np.maximum(whole.distances[keep], cut.distances)).all()


def test_bad_input() -> None:
    table = make_sample(3, 12, ["ties"], 2).table
    with pytest.raises(UserError, match="model names no adversary"):
        differential_test(table, Mondrian(k=2), model=[])
    with pytest.raises(UserError, match="models need names of their own; got frequency, frequency"):
        differential_test(table, Mondrian(k=2), model=["frequency", Frequency()])
    with pytest.raises(UserError, match="no model 'frequenzy'"):
        differential_test(table, Mondrian(k=2), model=["frequenzy", "naive-bayes"])
    with pytest.raises(UserError, match="got 95"):
        differential_test(table, Laplace(1.0), model=MODELS, confidence=95, method="sampled")
