"""Tables 1 to 7 of the ITPR paper: what is stored is what is printed, and the pages agree."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from indiff.papers.index import choose
from indiff.papers.itpr.curves import ONE_AGE, common_disease, rare_disease, two_values
from indiff.papers.itpr.figures import hard_to_read, mark, rises
from indiff.papers.itpr.printed import AGE, DISEASE, PATIENTS, ZIP, as_printed, released
from indiff.papers.itpr.tables import (
    information_of,
    table_1,
    table_2,
    table_4,
    table_5,
    table_6,
)
from indiff.papers.pages import Grid, Page
from indiff.papers.run import Run


def verdicts(page: Page, table: int = 0) -> Counter[object]:
    return Counter(row[-1] for row in page.tables[table].rows)


def row_of(grid: Grid, *start: object) -> tuple[object, ...]:
    (found,) = (tuple(row) for row in grid.rows if tuple(row[: len(start)]) == start)
    return found


def test_the_examples_are_the_printed_ones() -> None:
    assert (len(PATIENTS), PATIENTS[0], PATIENTS[14]) == (
        15, (35510, 21, "Asthma"), (35511, 26, "Diabetes"),
    )  # fmt: skip
    assert all(len(cases) == 8 for of in (AGE, DISEASE, ZIP) for cases in of.values())


@pytest.mark.parametrize(
    ("rows", "of_each"),
    [(9, {"Asthma": 1, "Diabetes": 1, "HIV": 1}), (15, {"Asthma": 1, "Diabetes": 3, "HIV": 1})],
)
def test_the_releases_have_the_printed_groups(rows: int, of_each: dict[str, int]) -> None:
    data = released(rows)
    groups: dict[tuple[str, str], Counter[str]] = {}
    for code, age, disease in zip(data["zip"], data["age"], data["disease"], strict=True):
        groups.setdefault((code, age), Counter())[disease] += 1
    assert groups == dict.fromkeys([("3551*", "2*"), ("3559*", "4*"), ("352*", "3*")], of_each)


def test_numbers_are_cut_not_rounded_to_two_digits_or_as_many_as_printed() -> None:
    assert as_printed(0.5488, "0.54") == "0.54"
    assert as_printed(0.6038, "0.6") == "0.6"
    assert as_printed(0.61, "0.6") == "0.61"  # a printed 0.6 is no excuse for 0.61
    assert as_printed(0.8749, "0.875") == "0.874"
    assert as_printed(1 - 1e-12, "1.0") == "1.0"


def test_every_number_of_tables_1_and_2_is_the_same(itpr_run: Run) -> None:
    for page, k, share in ((table_1(itpr_run), "3", "0.33"), (table_2(itpr_run), "5", "0.60")):
        assert page.status == "reproduced"
        assert verdicts(page) == {"same": 4}
        assert [row[2] for row in page.tables[0].rows] == [k, "3", "0", share]


def test_table_3_is_not_what_its_text_describes(itpr_run: Run) -> None:
    (item,) = choose(["itpr:table-3"])
    page = item.make(itpr_run)
    assert page.status == "reproduced with erratum"
    assert verdicts(page) == {"same": 6, "differs": 2}
    assert "case 2 of Disease, case 3 of Disease" in page.notes[0]


def test_table_4_is_the_same_but_for_two_misprints(itpr_run: Run) -> None:
    page = table_4(itpr_run)
    assert page.status == "reproduced with erratum"
    assert verdicts(page) == {"same": 38, "erratum": 2}
    wrong = [row[:2] for row in page.tables[0].rows if row[-1] == "erratum"]
    assert wrong == [(f"case 5 of Age, case {case} of Disease", "MIL") for case in (2, 3)]
    assert row_of(page.tables[0], "case 4 of Age", "MIL")[2:] == (2.75, "2.75", "2.75", "same")


def test_the_two_misprints_of_mil_follow_from_neither_reading() -> None:
    for case in (2, 3):
        found = information_of({"age": AGE[5], "disease": DISEASE[case]})
        assert not math.isclose(found.mil, 1, abs_tol=0.1)
        assert not math.isclose(found.mil_unweighted, 1, abs_tol=0.1)


def test_tables_5_and_6_are_the_same(itpr_run: Run) -> None:
    five, six = table_5(itpr_run), table_6(itpr_run)
    assert five.status == "reproduced with erratum"  # the weights, and the label of row 7
    assert verdicts(five) == {"same": 10}
    assert row_of(five.tables[0], 7)[1:5] == (
        "case 2 of Age, case 2 of Zip Code", pytest.approx(0.75), "0.75", "0.75",
    )  # fmt: skip
    assert six.status == "reproduced"
    assert verdicts(six) == {"same": 2}


def test_a_number_that_is_another_is_said_to_be(
    itpr_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(AGE, 4, AGE[3])
    assert table_4(itpr_run).status == "differs because 5 numbers are others"
    assert table_5(itpr_run).status == "differs because 1 numbers are others"


def test_table_7_follows_from_the_curves(itpr_run: Run) -> None:
    (item,) = choose(["itpr:table-7"])
    page = item.make(itpr_run)
    assert page.status.startswith("reproduced (by a rule of ours")
    assert verdicts(page) == {"same": 6}
    two, rare = two_values(itpr_run), rare_disease(itpr_run)
    assert mark([two], "DR") == "✗"
    assert hard_to_read(two, "MIL")
    assert not hard_to_read(two, "ITPR")
    assert mark([rare], "ELD") == "✗"
    alone = common_disease(itpr_run, ONE_AGE)  # the page says on which tables its marks rest
    assert rises(alone, "MIL")
    assert rises(alone, "ELD")
    assert "MIL and ELD grow" in page.notes[2]
