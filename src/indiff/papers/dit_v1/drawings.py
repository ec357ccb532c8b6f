"""Recomputes DIT v1's Figures 1 and 2, as far as drawings compute, and a small example."""

from __future__ import annotations

import numpy as np

from indiff.data.hierarchy import Hierarchy
from indiff.distances.functions import emd
from indiff.inference import Frequency
from indiff.papers.dit_v2.tables import fraction, toy, toy_result
from indiff.papers.pages import Grid, Page, same, status
from indiff.papers.run import Run
from indiff.sanitizers.mondrian.mondrian import Mondrian

PROFESSIONS = (
    "Engineer;Professional;*",
    "Lawyer;Professional;*",
    "Dancer;Artist;*",
    "Writer;Artist;*",
)


def figure_1(run: Run) -> Page:
    """Figure 1 (Section 2.2): the procedure, step by step, against the one call."""
    table, sanitizer, model = toy(), Mondrian(k=2, regions="cut"), Frequency()
    result = toy_result()
    rows = []
    for i in range(len(table)):
        target = table.take([i])
        with_record = model.beliefs(sanitizer.sanitize(table), target)
        without = model.beliefs(sanitizer.sanitize(table.without(i)), target)
        by_hand = float(np.abs(with_record - without).sum())
        called = float(result.distances[i])
        agree = same(bool(np.isclose(by_hand, called)), True)
        rows.append((str(i + 1), fraction(by_hand), fraction(called), agree))
    return Page(
        status=status(
            all(row[-1] == "same" for row in rows), "the steps and the call disagree"
        ),
        tables=(Grid("The drawn steps one by one, and `differential_test`, on DIT v2's toy data",
                     ("#", "d by the steps", "d by the call", ""), rows),),
    )  # fmt: skip


def figure_2(run: Run) -> Page:
    """Figure 2 (Section 3.3): ground distances in the hierarchy of professions."""
    tree = Hierarchy.from_lines(PROFESSIONS, source="Figure 2")
    rows = []
    for one, other, printed in (("Engineer", "Artist", 3), ("Dancer", "Writer", 2)):
        ours = tree.path_length(one, other)
        rows.append((one, other, ours, printed, same(ours, printed)))
    return Page(
        status=status(all(row[-1] == "same" for row in rows), "…"),
        tables=(Grid("Path lengths", ("from", "to", "ours", "printed", ""), rows),),
    )


def section_3_4_1(run: Run) -> Page:
    """Section 3.4.1: equal predictions, and yet far apart."""
    p, q = np.array([[0.49, 0.01, 0.5]]), np.array([[0.01, 0.49, 0.5]])
    ours = float(emd(p, q)[0])
    rows = (
        ("½Σ|p − p′|, the earth mover's distance with 0/1 ground distance", ours),
        ("¼Σ|p − p′|, as Section 3.3 prints", ours / 2),
        ("printed", "0.24"),
        ("same prediction", "yes" if p.argmax() == q.argmax() else "no"),
    )
    return Page(
        status="reproduced with erratum",
        tables=[Grid("The example", ("what", "value"), rows)],
    )
