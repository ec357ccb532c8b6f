"""The worst of several sensitive attributes, on numbers written by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from indiff.risk.measure import _with_population, measure_risk
from indiff.risk.metrics import DERIVED, GroupRisk, SensitiveGroups, SizeClass

SMALL = {"l": 1.5, "distinct_l": 2, "entropy_l": 1.25}
LARGE = {"alpha": 0.5, "t": 0.25, "beta": 1.0, "beta_enhanced": 2.0, "delta_disclosure": 0.75}


def groups(shift: float, name: str) -> SensitiveGroups:
    numbers: dict[str, Any] = {key: value + shift for key, value in (SMALL | LARGE).items()}
    return SensitiveGroups(sensitive=name, recursive=(3.0 + shift, 2), **numbers)


def risk(*sensitive: SensitiveGroups) -> GroupRisk:
    return GroupRisk(
        columns=("age",), k=2, groups=1, records=2, singled_out=0, prosecutor=0.5, journalist=0.5,
        marketer=0.5, sizes=(SizeClass(2, 2, 1, 2),),
        sensitive={one.sensitive: one for one in sensitive},
    )  # fmt: skip


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_worst_counts_in_any_order(order: tuple[int, ...]) -> None:
    """A small ℓ is worse, and a large share, distance or gain."""
    found = risk(*(groups(shift, f"s{shift}") for shift in order))
    assert {name: getattr(found, name) for name in SMALL} == SMALL
    assert {name: getattr(found, name) for name in LARGE} == {
        name: value + 2 for name, value in LARGE.items()
    }
    assert found.recursive == (5.0, 2)  # of equal ℓ, the larger c
    assert set(DERIVED) == {*SMALL, *LARGE, "recursive"}


def test_without_a_sensitive_attribute_there_is_none() -> None:
    assert [getattr(risk(), name) for name in DERIVED] == [None] * 9


def test_a_population_takes_the_first_note_away() -> None:
    """The note that no population is known; what else is noted stays."""
    known = SimpleNamespace(table=SimpleNamespace(journalist=0.125), notes=("of the population",))
    groups_found = replace(risk(), notes=("none is known", "of the groups"))
    found = _with_population(groups_found, known)  # type: ignore[arg-type]
    assert found.notes == ("of the groups", "of the population")
    assert found.journalist == 0.125
    assert _with_population(groups_found, None) is groups_found
    estimated = SimpleNamespace(table=None, notes=("of the population",))
    assert _with_population(groups_found, estimated) is groups_found  # type: ignore[arg-type]


def test_of_a_constant_nothing_is_learned() -> None:
    """H(X) is 0, and so is what is left of it: all of it, by convention."""
    frame = pa.table({"age": [1, 1, 2, 2], "ill": ["x"] * 4})
    found = measure_risk(frame, quasi="age", sensitive="ill").inference["ill"]
    assert (found.h, found.h_conditional, found.h_normalised) == (0, 0, 1)
    assert (found.itpr, found.dr, found.mi, found.eld, found.cp) == (0, 0, 0, 1, 0)
    assert found.notes == (
        "ill is constant: nothing can be learned about it, and ELD is 1 by formula",
    )


@pytest.mark.parametrize("values", [["x", "y"], [1, 2]])
def test_groups_that_are_like_the_whole_table_have_a_t_of_0(values: list[Any], engine: Any) -> None:
    frame = pa.table({"age": [1, 1, 2, 2], "ill": values * 2})
    found = measure_risk(frame, quasi="age", sensitive="ill", engine=engine)
    assert found.groups.sensitive["ill"].t == 0
