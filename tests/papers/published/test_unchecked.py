"""The deliberately broken sanitizer breaks exactly what it should."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, NaiveBayes, Table, UserError, datasets, read_table
from indiff.papers.published import unchecked as broken_guarantee
from indiff.papers.published.unchecked import UncheckedMondrian, chosen_rows, compare
from indiff.papers.run import Run


def ages(*values: int) -> Table:
    ill = ["y" if n % 2 else "n" for n in range(len(values))]
    return read_table(pa.table({"age": values, "ill": ill}), quasi=["age"], sensitive="ill")


def test_the_right_hand_side_of_a_numeric_cut_is_not_counted() -> None:
    table = ages(20, 30, 30, 30, 50)  # the median of five is the second: 30; one is left above it
    release = UncheckedMondrian(2).sanitize(table)
    assert release.groups is not None
    assert np.bincount(release.groups).tolist() == [4, 1]
    assert not release.constraint_met
    sound = Mondrian(k=2).sanitize(table)
    assert sound.groups is not None
    assert np.bincount(sound.groups).tolist() == [5]


def test_without_ties_it_is_mondrian(needs_data: Path) -> None:
    rng = np.random.default_rng(0)
    table = read_table(
        pa.table({"a": rng.permutation(400), "b": rng.permutation(400),
                  "s": rng.integers(0, 3, 400).astype(str)}),
        quasi=["a", "b"], sensitive="s",
    )  # fmt: skip
    for regions in ("tight", "cut"):
        broken = UncheckedMondrian(8, regions).sanitize(table)
        sound = Mondrian(k=8, regions=regions).sanitize(table)
        assert broken.to_frame().equals(sound.to_frame())
        assert broken.constraint_met


@pytest.mark.parametrize("regions", ["tight", "cut"])
def test_hierarchies_and_remembered_groups(needs_data: Path, regions: str) -> None:
    table = Run(folder=needs_data).table("adult", records=600)
    sanitizer = UncheckedMondrian(3, regions)  # type: ignore[arg-type]
    release = sanitizer.sanitize(table)
    assert release.groups is not None
    assert (np.bincount(release.groups) < 3).any()
    for row in (0, 77, 300, 599):
        smaller = table.without(row)
        afresh = UncheckedMondrian(3, regions).sanitize(smaller)  # type: ignore[arg-type]
        assert sanitizer.sanitize(smaller).to_frame().equals(afresh.to_frame())


def test_every_record_is_covered_by_its_group(needs_data: Path) -> None:
    table = datasets.adult(300, folder=needs_data)
    release = UncheckedMondrian(4).sanitize(table)
    for column in release.columns:
        codes = table.attribute(column.attribute.name).codes
        for row in range(0, 300, 7):
            assert column.covering(int(codes[row]))[row]


def test_the_most_exposed_and_random_others_are_chosen() -> None:
    rows, drawn = chosen_rows(np.linspace(0, 1, 2_000))
    assert (len(rows), int(drawn.sum())) == (500, 400)
    assert rows[~drawn].tolist() == list(range(1_900, 2_000))
    assert len(set(rows.tolist())) == 500


def test_comparison_by_the_definition(needs_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broken_guarantee, "MOST_EXPOSED", 10)
    monkeypatch.setattr(broken_guarantee, "OTHERS", 20)
    table = Run(folder=needs_data).table("adult", records=550)
    exposed = np.linspace(0, 1, 550)
    found = compare(table, 5, "tight", exposed)
    model, broken = NaiveBayes(), UncheckedMondrian(5)
    assert found.sizes.sum() == 550
    for place in (0, 15, 29):
        target = table.take([int(found.rows[place])])
        one = model.beliefs(broken.sanitize(table), target)
        other = model.beliefs(
            UncheckedMondrian(5).sanitize(table.without(int(found.rows[place]))), target
        )
        assert found.distances[place] == pytest.approx(np.abs(one - other).sum(), abs=1e-12)


def test_bad_input() -> None:
    with pytest.raises(UserError, match="k must be a whole number of at least 1; got 0"):
        UncheckedMondrian(0)
