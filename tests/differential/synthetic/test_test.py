"""A synthetic file beside its original: copies are found, the innocent are not accused."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff import UserError, test_synthetic
from indiff.differential.synthetic import nearest as searching
from indiff.differential.synthetic.result import NO_EVIDENCE
from tests.differential.synthetic.made_up import plant, population, read


def drawn(seed: int, size: int) -> tuple[pa.Table, pa.Table, pa.Table]:
    rng = np.random.default_rng(seed)
    one, two, three = (population(size, rng) for _ in range(3))
    return one, two, three


def test_ten_planted_copies_among_ten_thousand_rows_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "MOST_PAIRS", 5 * 10**6)  # copies are searched in all
    original, held_out, fresh = drawn(5, 10_000)
    file = plant(fresh, original, list(range(10)))
    result = test_synthetic(read(original), file, held_out=held_out)
    assert [one.name for one in result.proved] == ["copies"]
    assert result.copies.copied[:10].all()
    alone = test_synthetic(read(original), file)
    assert alone.suspicious
    assert not alone.proved
    clean = test_synthetic(read(original), fresh, held_out=held_out)
    assert not clean.proved
    assert not clean.suspicious


def test_a_generator_that_draws_from_the_population_is_not_accused() -> None:
    accused = suspected = 0
    for seed in range(60):
        original, held_out, fresh = drawn(seed, 150)
        result = test_synthetic(read(original), fresh, held_out=held_out, seed=seed)
        accused += bool(result.proved)
        suspected += result.suspicious
    # At most 5 % each: 3 of 60 expected at most, and 9 is beyond chance (p < 0.005).
    assert accused <= 8
    assert suspected <= 8


def test_near_copies_are_found_by_distance() -> None:
    original, held_out, fresh = drawn(1, 600)
    near = original.slice(0, 300)
    income = np.array(near["income"]) + 0.05
    near = near.set_column(1, "income", pa.array(income))
    file = pa.concat_tables([near, fresh.slice(300)])
    result = test_synthetic(read(original), file, held_out=held_out)
    assert result.copies.count < 5
    assert {one.name for one in result.proved} & {"closest 0.1 %", "closest 1 %"}
    assert "linked by distance" in {one.name for one in result.proved}


def test_claims_stand_beside_those_of_an_adversary_who_never_saw_the_person() -> None:
    original, held_out, _ = drawn(2, 400)
    result = test_synthetic(read(original), original, held_out=held_out)
    claims, unseen = result.claims["matching-rows"], result.claims_without["matching-rows"]
    assert claims.recall > 0.95  # the file is the original
    assert unseen.recall < 0.1
    assert result.claims_held_out is not None
    assert result.claims_held_out["nearest-row"].recall == pytest.approx(
        result.claims_without["nearest-row"].recall, abs=0.12
    )
    assert result.repeated  # and so says the rule for any release


def test_the_distance_to_the_closest_record_comes_with_its_sentence() -> None:
    original, _, fresh = drawn(3, 50)
    document = json.loads(test_synthetic(read(original), fresh).to_json())
    assert document["distance_to_closest"]["meaning"] == NO_EVIDENCE
    assert document["excesses"] == []
    assert any("no test" in note for note in document["notes"])


def test_of_large_tables_some_are_compared_and_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_PAIRS", 2000)
    original, held_out, fresh = drawn(4, 100)
    results = [test_synthetic(read(original), fresh, held_out=held_out, seed=7) for _ in range(2)]
    assert len(results[0].compared) == 20
    assert results[0].compared.tolist() == results[1].compared.tolist()
    assert any("20 of 100 records and 50 of 100 rows" in note for note in results[0].notes)
    frame = results[0].to_frame()
    assert frame["distance_to_closest"].null_count == 80
    assert frame["copied"].null_count == 0


def test_several_attributes_give_a_mapping() -> None:
    original, _, fresh = drawn(6, 60)
    table = indiff.read_table(original, quasi=["age", "income"], sensitive=["ill", "job"])
    assert list(test_synthetic(table, fresh)) == ["ill", "job"]


@pytest.mark.parametrize("confidence", [0, 1, 1.5])
def test_confidence_is_a_probability(confidence: float) -> None:
    original, _, fresh = drawn(6, 60)
    with pytest.raises(UserError, match="confidence"):
        test_synthetic(read(original), fresh, confidence=confidence)


def test_all_comparisons_together_err_as_rarely_as_one() -> None:
    frame = pa.table({"age": list(range(20, 40)), "ill": ["a", "b"] * 10})
    table = indiff.read_table(frame.slice(0, 10), quasi=["age"], sensitive="ill")
    found = indiff.test_synthetic(table, frame.slice(0, 5), held_out=frame.slice(10))
    assert sum(one.share for one in found.excesses) == pytest.approx(1)
    assert found.excesses[0].share == 0.5


def test_a_copy_of_what_several_people_are_tells_of_none_of_them() -> None:
    """Counted are copies of people whom no other equals, in the original and held out."""
    original = pa.table({"age": [1, 1, 2, 3, 4], "ill": list("aaaab")})
    held_out = pa.table({"age": [2, 5, 6, 6], "ill": list("aaaa")})
    file = pa.table({"age": [1, 2, 3, 5, 6, 9], "ill": list("aaaaaa")})
    table = indiff.read_table(original, quasi=["age"], sensitive="ill")
    found = test_synthetic(table, file, held_out=held_out)
    (copies,) = (one for one in found.excesses if one.name == "copies")
    assert (copies.original, copies.people) == (1, 5)  # 3 alone: 1 is twice here, 2 once in each
    assert (copies.held_out, copies.others) == (1, 4)  # 5 alone: 6 is twice there
