"""Asks about each release by itself: beliefs with and without each record, or runs of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.noise.runs import CellRuns, find_cases
from indiff.differential.path import Measurement, Named, Path, Test, is_random
from indiff.differential.people import Chosen, People, find_people
from indiff.differential.together.rule import Floats, shares_with_and_without
from indiff.errors import UserError, option
from indiff.inference import Frequency, Model
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.sanitizer import Sanitizer
from indiff.text import describe

_SEEDS = 3  # of the random numbers of the noisy parts behind the first

Choose = Callable[[Sanitizer, Any, Named, str], Path]


@dataclass(frozen=True, eq=False)
class Part:
    """What one release tells about the records that are asked about, a row for each.

    ``inside`` tells who is in its table; about others it says nothing. ``known`` tells who was
    measured there, or is not in it. ``before`` and
    ``before_without`` are the shares of the values in the table, with and without each person. The
    beliefs are there, or the ``runs`` of a noisy table and which of them is each record's.
    """

    inside: NDArray[np.bool_]
    before: Floats
    before_without: Floats
    known: NDArray[np.bool_]
    measured: Measurement | None = None
    with_record: Floats | None = None
    without: Floats | None = None
    runs: CellRuns | None = None
    case: NDArray[np.intp] | None = None


def ask_part(
    test: Test, place: int, values: Sequence[Any], choose: Choose, distances: Sequence[Named]
) -> Part:
    """Ask about the release of one of the sanitizers."""
    sanitizer, other = test.sanitizer.parts[place], test.sanitizer.tables[place]  # type: ignore[attr-defined]
    table = test.table if other is None else other
    rows = test.people.rows if other is None else _matched(test, other)
    inside = rows >= 0
    there = rows[inside]
    left_out = np.zeros((len(rows), len(values)))
    codes = _codes(table, values)
    if other is None:
        by_person = np.zeros((len(test.people), len(values)))
        np.add.at(by_person, (test.people.owners, codes[rows]), 1)
        left_out = by_person[test.people.owners]
    else:
        left_out[np.flatnonzero(inside), codes[there]] = 1
    before, without = shares_with_and_without(codes, len(values), left_out)
    everybody = np.ones(len(rows), np.bool_)
    part = Part(inside, np.broadcast_to(before, without.shape), without, everybody)
    if isinstance(sanitizer, NoisySanitizer) and sanitizer.randomized:
        return _noisy_part(test, part, place, sanitizer, table, there, values)
    people = test.people if other is None else _alone(there)
    model = Frequency() if isinstance(sanitizer, NoisySanitizer) else test.model
    if is_random(sanitizer, model):
        raise _random(sanitizer, model)
    one = replace(
        test,
        sanitizer=sanitizer,
        model=model,
        table=table,
        chosen=Chosen(people, test.chosen.order if other is None else None),
        whole=cache(lambda: sanitizer.sanitize(table)),
        run=None if test.run is None else test.run / f"release-{place + 1}",
    )
    measured = choose(sanitizer, model, distances[0], "auto").measure(one, distances[:1])
    if measured.columns[distances[0][0]].run_distances is not None:
        raise _random(sanitizer, model)  # a black box that turned out to be random
    return _filled(part, measured, people, inside, table, values)


def _random(sanitizer: Sanitizer, model: Model) -> UserError:
    return UserError(
        "releases are tested together where chance has no part in them, or as noisy tables",
        f"{describe(sanitizer)} and {describe(model)}",
        "Test it by itself, or give a function and a model that are not random",
        field="together",
    )


def _filled(
    part: Part, measured: Measurement, people: People, inside: NDArray[np.bool_],
    table: Table, values: Sequence[Any],
) -> Part:  # fmt: skip
    """Put beliefs about the rows of a table where the records that are asked about stand."""
    spot = np.full(len(table), -1, np.intp)
    spot[people.rows] = np.flatnonzero(inside)
    places = spot[measured.beliefs.rows]
    shape = (len(inside), len(values))
    columns = _columns(measured.sensitive_values, values)
    known = np.zeros(len(inside), np.bool_)
    known[places] = True
    beliefs = []
    for held in (measured.beliefs.with_record, measured.beliefs.without):
        whole = np.zeros(shape)
        whole[np.ix_(places, columns)] = held
        beliefs.append(whole)
    return replace(
        part, measured=measured, with_record=beliefs[0], without=beliefs[1], known=known | ~inside
    )


def _noisy_part(
    test: Test, part: Part, place: int, sanitizer: NoisySanitizer, table: Table,
    there: NDArray[np.intp], values: Sequence[Any],
) -> Part:  # fmt: skip
    """Return runs of a noisy table, cell by cell (DIT v2, Eqs. 2 to 4)."""
    if not test.people.are_records:
        raise UserError(
            "noisy tables are tested together with other releases for people with one record each; "
            f"{test.people.column!r} has people with several",
            way_out="Test the noisy table by itself",
            field="individual",
        )
    grid = sanitizer.grid(table)
    if tuple(grid.sensitive_values) != tuple(values):
        raise UserError(
            "a noisy table is tested together with other releases over the values of the table",
            f"{len(grid.sensitive_values)} declared values for {len(values)}",
            f"Leave out {option('domains')} of the sensitive column",
            field="together",
        )
    seed = test.seed
    if place:
        state = SeedSequence(test.seed, spawn_key=(_SEEDS, place)).generate_state(1)
        seed = int(state[0])
    cases = find_cases(table, grid, there)
    case = np.full(len(part.inside), -1, np.intp)
    case[part.inside] = cases.back
    return replace(part, runs=CellRuns(sanitizer, cases, test.runs, seed), case=case)


def _matched(test: Test, other: Table) -> NDArray[np.intp]:
    """Return the row of each person in another table; −1 where it has none."""
    column, table = test.people.column, test.table
    if column is None:
        if table.source.num_rows != other.source.num_rows:
            raise UserError(
                "tables of other people are matched by a column that names them",
                f"tables of {table.source.num_rows:,} and {other.source.num_rows:,} records",
                f"Name it with {option('individual')}",
                field="individual",
            )
        place = np.searchsorted(other.records, table.records[test.people.rows])
        found = np.minimum(place, len(other) - 1)
        same = other.records[found] == table.records[test.people.rows]
        _check_same_people(test, other, found[same], test.people.rows[same])
        return np.where(same, found, -1)
    for whose, people in ((table, find_people(table, column)), (other, find_people(other, column))):
        if not people.are_records:
            raise UserError(
                "tables over time have one record for each person",
                f"{int((people.sizes > 1).sum()):,} people with several in a table of "
                f"{len(whose):,} records",
                "Keep the latest of them, or test the tables one by one",
                field="individual",
            )
    names = [one.source[column].take(one.records).to_pylist() for one in (table, other)]
    row_of = {name: row for row, name in enumerate(names[1])}
    return np.array([row_of.get(names[0][row], -1) for row in test.people.rows], np.intp)


def _check_same_people(
    test: Test, other: Table, rows: NDArray[np.intp], own: NDArray[np.intp]
) -> None:
    """Refuse records of the same numbers with other sensitive values: they are other people."""
    ours, theirs = test.table.sensitive, other.sensitive
    pairs = zip(ours.codes[own].tolist(), theirs.codes[rows].tolist(), strict=True)
    apart = sum(ours.values[one] != theirs.values[two] for one, two in pairs)
    if apart:
        raise UserError(
            "records of several tables that are matched by their numbers hold the same sensitive "
            "value in all of them",
            f"{apart:,} that do not",
            f"Name the column that tells who they are with {option('individual')}",
            field="individual",
        )


def _alone(rows: NDArray[np.intp]) -> People:
    return People(rows, np.arange(len(rows) + 1))


def _codes(table: Table, values: Sequence[Any]) -> NDArray[np.int32]:
    return _columns(table.sensitive.values, values)[table.sensitive.codes].astype(np.int32)


def _columns(own: Sequence[Any], values: Sequence[Any]) -> NDArray[np.intp]:
    """Return the place of each of a table's values among all."""
    place = {value: number for number, value in enumerate(values)}
    return np.array([place[value] for value in own], np.intp)
