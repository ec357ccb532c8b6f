"""What an adversary knows is refused before any test, where it does not fit an attribute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pytest

import indiff
from indiff.cli.test import check_knowledge
from indiff.distances import functions
from indiff.errors import UserError
from tests.command_line import call

FRAME = pa.table(
    {"age": [30, 30, 40, 40], "ill": ["a", "b", "a", "b"], "poor": ["y", "n", "n", "y"]}
)
TABLE = indiff.read_table(FRAME, quasi=["age"], sensitive=["ill", "poor"])


def plan(sanitizer: str = "mondrian:k=2", **adversary: Any) -> indiff.Plan:
    return indiff.Plan(
        data={"quasi": ["age"], "sensitive": ["ill", "poor"]},
        adversary=adversary,
        release={"sanitizer": sanitizer},
    )


def prior(folder: Path, *values: str) -> str:
    path = folder / "prior.csv"
    share = 1 / len(values)
    path.write_text("value,probability\n" + "".join(f"{one},{share}\n" for one in values))
    return str(path)


def test_what_fits_is_let_pass() -> None:
    check_knowledge(TABLE, plan())
    check_knowledge(TABLE, plan(known=["age"]))
    check_knowledge(TABLE, plan(distance="tv"))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"known": ["agee"]}, "no quasi-identifier 'agee'"),
        ({"distance": "emd:numeric"}, "'numeric' needs a number for every value of 'ill'"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        check_knowledge(TABLE, plan(**given))


def test_a_prior_of_other_values_is_refused(tmp_path: Path) -> None:
    """It fits the first attribute, and not the second."""
    with pytest.raises(UserError, match="it misses 'n', 'y'"):
        check_knowledge(TABLE, plan(prior=prior(tmp_path, "a", "b")))
    check_knowledge(TABLE.focus("ill"), plan(prior=prior(tmp_path, "a", "b")))


def test_a_noisy_table_has_values_of_its_own() -> None:
    check_knowledge(TABLE, plan("laplace:epsilon=1", distance="emd:numeric"))


def test_what_a_distance_needs_is_missed_before_any_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried on one belief that holds every value equally probable, about each attribute."""
    tried: list[Any] = []

    def bind(name: str, sensitive: Any) -> Any:
        return name, lambda one, other: tried.append((sensitive.name, one, other))

    monkeypatch.setattr(functions, "bind_distance", bind)
    check_knowledge(TABLE, plan(distance="emd:0/1"))
    assert [name for name, _, _ in tried] == ["ill", "poor"]
    for _, one, other in tried:
        assert one.tolist() == other.tolist() == [[0.5, 0.5]]
    check_knowledge(TABLE, plan(distance="tv"))
    check_knowledge(TABLE, plan("laplace:epsilon=1", distance="emd:0/1"))
    assert len(tried) == 2


def test_the_command_asks_nobody_before_it_knows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The prior fits the first attribute, which is not tested in vain."""
    asked: list[Any] = []
    test = "indiff.differential.differential_test"
    monkeypatch.setattr(test, lambda *given, **_: asked.append(given))
    pc.write_csv(FRAME, tmp_path / "people.csv")
    ended = call(
        "test", tmp_path / "people.csv", "--quasi", "age", "--sensitive", "ill,poor", "--sanitizer",
        "mondrian:k=2", "--prior", prior(tmp_path, "a", "b"),
    )  # fmt: skip
    assert (ended.code, asked) == (2, [])
    assert "it misses 'n', 'y'" in " ".join(ended.err.split())
