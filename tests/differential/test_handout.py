"""What is handed out to a model is what sanitizing without the record from scratch gives."""

from __future__ import annotations

import pytest
from hypothesis import given

from indiff import Mondrian
from indiff.differential.handout import Handout
from tests.properties.random_tables import Sample, samples, sanitizers
from tests.test_release import coverage


def compare(sample: Sample, sanitizer: Mondrian, most: int) -> None:
    handout = Handout(sample.table, sanitizer)
    for row in range(min(len(sample.table), most)):
        given_out = handout.without(row)
        made = sanitizer.sanitize(sample.table.without(row))
        assert given_out.to_arrow().equals(made.to_arrow())
        assert coverage(given_out) == coverage(made)
        assert given_out.constraint_met == made.constraint_met
        assert given_out.classes.tolist() == made.classes.tolist()


@given(samples(most=40), sanitizers())
def test_every_release_without_one_record(sample: Sample, sanitizer: Mondrian) -> None:
    compare(sample, sanitizer, 12)


@pytest.mark.long
@given(samples(most=150, attributes=6), sanitizers())
def test_every_release_without_one_record_at_length(sample: Sample, sanitizer: Mondrian) -> None:
    compare(sample, sanitizer, 150)
