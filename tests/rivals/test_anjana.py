"""ANJANA's releases, read by the independent checker, and its known slips (README.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.checker import Equal, lost_or_invented, uncovered, violations
from tests.rivals.harness import (
    RivalError,
    anjana,
    anjana_k_anonymity,
    anjana_l_diversity,
    anjana_t_closeness,
    levels,
)

pinned = pytest.mark.system  # what a pinned version does by itself: none of our code runs

XY = {"q": levels(["x;*", "y;*"])}
JOBS = [
    "dancer;artist;culture;*",
    "writer;artist;culture;*",
    "curator;culture;*",
    "lawyer;office;*",
    "clerk;office;*",
]
AGES = [
    list(range(20, 60)),
    [f"[{age // 10 * 10}, {age // 10 * 10 + 10})" for age in range(20, 60)],
    ["*"] * 40,
]


def people() -> pd.DataFrame:
    job = ["dancer", "writer", "curator", "lawyer", "clerk"]
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(60)],
            "job": [job[(i * i) % 5] for i in range(60)],
            "age": [20 + (i * 7) % 40 for i in range(60)],
            "illness": [["flu", "cold", "mumps"][(i + i // 7) % 3] for i in range(60)],
        }
    )


def job_covers(label: str) -> Callable[[str], bool]:
    return lambda job: any(label in line.split(";") for line in JOBS if line.split(";")[0] == job)


def age_covers(label: Any) -> Callable[[int], bool]:
    if label == "*":
        return lambda age: True
    if isinstance(label, int):
        return lambda age: age == label
    low, high = (int(end) for end in str(label).strip("[)").split(","))
    return lambda age: low <= age < high


@pytest.mark.parametrize(
    ("release", "asked"),
    [
        (lambda f, h: anjana_k_anonymity(f, ["job", "age"], ["name"], h, 3), {"k": 3}),
        (
            lambda f, h: anjana_l_diversity(
                f, ["job", "age"], ["name"], h, 3, 2, sensitive="illness"
            ),
            {"k": 3, "distinct_l": 2},
        ),
        (
            lambda f, h: anjana_t_closeness(
                f, ["job", "age"], ["name"], h, 3, 0.3, sensitive="illness"
            ),
            {"k": 3, "t": 0.3, "ground": Equal()},
        ),
    ],
    ids=["k", "l", "t"],
)
def test_releases_keep_their_promise(
    release: Callable[[pd.DataFrame, Any], pd.DataFrame], asked: dict[str, Any]
) -> None:
    frame = people()
    released = release(frame, {"job": levels(JOBS), "age": AGES})
    groups = list(zip(released["job"], released["age"], strict=True))
    assert len(set(groups)) > 1
    assert violations(groups, released["illness"].tolist(), **asked) == []
    assert lost_or_invented(frame["illness"], released["illness"]) == []
    assert set(released["name"]) == {"*"}
    assert uncovered(zip(frame["job"], map(job_covers, released["job"]), strict=True)) == []
    assert uncovered(zip(frame["age"], map(age_covers, released["age"]), strict=True)) == []


def test_adult_with_its_own_ragged_hierarchies(needs_data: Path) -> None:
    columns = {3: "education", 5: "marital_status", 8: "race", 9: "sex", 14: "income"}
    frame = pd.read_csv(
        needs_data / "adult.data", header=None, usecols=list(columns), nrows=500, dtype=str
    ).rename(columns=columns)
    frame = frame.apply(lambda column: column.str.strip())
    quasi = ["education", "marital_status", "race", "sex"]
    folder = needs_data / "hierarchies" / "adult"
    hierarchies = {
        name: levels((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines())
        for name in quasi
    }
    released = anjana_k_anonymity(frame, quasi, [], hierarchies, 5, suppression=10)
    assert 450 <= len(released) <= 500
    groups = list(released[quasi].itertuples(index=False, name=None))
    assert violations(groups, released["income"].tolist(), k=5) == []


@pinned
def test_an_unreachable_goal_is_an_empty_frame_for_k_and_an_error_elsewhere() -> None:
    frame = pd.DataFrame({"q": ["x", "x", "y"], "s": ["a", "b", "a"]})
    assert anjana_k_anonymity(frame, ["q"], [], XY, 4).shape == (0, 0)
    with pytest.raises(RivalError, match="Values not defined"):
        anjana_t_closeness(frame, ["q"], [], XY, 4, 0.5, sensitive="s")


@pinned
def test_suppression_publishes_the_original_row_numbers() -> None:
    frame = pd.DataFrame({"q": ["y", "x", "x", "x"], "s": ["a", "b", "a", "b"]})
    released = anjana_k_anonymity(frame, ["q"], [], XY, 2, suppression=30)
    assert released.to_dict("list") == {
        "index": [1, 2, 3],
        "q": ["x", "x", "x"],
        "s": ["b", "a", "b"],
    }


@pinned
def test_a_unique_record_with_its_only_quasi_identifier_missing_is_published() -> None:
    frame = pd.DataFrame({"q": ["x", "x", "x", None], "s": ["a", "b", "a", "b"]})
    released = anjana_k_anonymity(frame, ["q"], [], XY, 2)
    assert released["q"].isna().tolist() == [False, False, False, True]


@pinned
def test_recursive_diversity_is_granted_to_a_group_without_it() -> None:
    # 10 < 2 · 1 is false for group x.
    frame = pd.DataFrame(
        {"q": ["x"] * 11 + ["y"] * 2, "s": ["a"] * 10 + ["b", "a", "b"]},
    )
    released = anjana(
        "recursive_c_l_diversity", frame, ["q"], [], XY, sens_att="s", k=2, c=2, l_div=2
    )
    [broken] = violations(released["q"].tolist(), released["s"].tolist(), recursive=(2, 2))
    assert broken.group == "x"


@pinned
def test_a_value_missing_from_its_hierarchy_raises_a_key_error() -> None:
    frame = pd.DataFrame({"q": ["x", "x", "z"], "s": ["a", "b", "a"]})
    with pytest.raises(RivalError, match="KeyError: 'q'"):
        anjana_k_anonymity(frame, ["q"], [], XY, 2)
