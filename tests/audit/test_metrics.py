"""What every number says in words: for 0, 1, few, many and ∞, as somebody would say it."""

from __future__ import annotations

import re
from math import inf
from typing import Any

import pytest

from indiff.audit.metrics import METRICS, guessed, metric, percent, words_for

WORDS = {
    "size": "3", "sampling": "10%",
    "about": "diagnosis", "model": "tree", "dropped": "None was", "task": "diagnosis",
    "ground": "with any two values equally far apart", "baseline": "14.7%", "original": "17%",
    "majority": "15%", "none": "2 records fit no row.", "at_1": "3.1%", "at_01": "0.5%",
    "of_most": " of at most 2", "rest_of_them": "; for the others by more",
    "rest_of_none": "; for the others it shifts one", "low": "3", "high": "9",
    "sure": "95%", "runs": "2,000 runs", "claim": "ε ≤ 1", "outcome": "not refuted", "how": "",
    "releases": "2024.csv and this release", "before": "2%",
    "tables": "people.csv and visits.csv", "all": "40%",
}  # fmt: skip
# What each number says: written by hand, from its definition.
SAID: dict[str, dict[float, str]] = {
    "population.k_map": {
        0: "Some released groups are not in the population that was given: nobody is known to look "
        "like the people in them, and they count as found.",
        1: "At least one person in the release is the only one in the population who looks like "
        "that.",
        5: "Everyone in the release is one of at least 5 people in the population who look alike "
        "in the released quasi-identifiers.",
    },
    "population.presence": {
        0.25: "Whoever knows somebody's released columns can be up to 25% sure that this person's "
        "record is in the table.",
        1: "Of at least one group in the population everybody is in the table: whoever knows the "
        "released columns of one of them is sure that this person is in it.",
    },
    "population.presence_low": {
        0: "There are people in the population of whom it is certain that they are not in the "
        "table.",
        0.1: "Of every group in the population at least 10% of the people are in the table.",
    },
    "population.journalist": {
        0.2: "Whoever looks for the person behind a record in the whole population picks the right "
        "one with a chance of up to one in 5.",
    },
    "population.journalist_average": {
        0.2: "Over all groups, a record is linked to the right person of the population with a "
        "chance of 20%.",
    },
    "population.marketer": {
        0.2: "Whoever links every record to a list of the whole population is right for 20% of "
        "them on average.",
        1: "Whoever links every record to a list of the whole population is always right.",
    },
    "population.uniques": {
        5: "The number of people who look like nobody else in the whole population is about 5, by "
        "the model that Dankar's rule chooses (tree); the models that have a solution say 3 to 9.",
    },
    "population.unique_share": {
        0.02: "About 2% of the whole population look like nobody else in the released columns, by "
        "the model that Dankar's rule chooses (tree); the models that have a solution say 3 to 9.",
    },
    "population.smallest": {
        12.5: "The smallest released group stands for a group of about 12.5 in the population.",
    },
    "population.individual_risk": {
        0.1: "The person behind the riskiest record is found among all people in the population "
        "who look alike with a chance of 10%.",
        1: "The person behind the riskiest record is the only one in the population who looks like "
        "that.",
    },
    "population.global_risk": {
        0.1: "On average a record leads to the right person in the population with a chance of "
        "10%.",
    },
    "population.expected": {
        52.05: "Whoever links every record to the population is expected to find the right person "
        "for about 52 of them.",
    },
    "population.household_risk": {
        0.1: "At least one member of the riskiest household is found with a chance of 10%; with "
        "one all are found.",
        1: "At least one member of the riskiest household is found for sure; with one all are "
        "found.",
    },
    "population.household_average": {
        0.1: "On average a record belongs to a household of which at least one member is found "
        "with a chance of 10%.",
    },
    "population.household_expected": {
        3: "In about 3 households at least one member is expected to be found.",
    },
    "population.tau1": {
        3: "Of the people who are alone in their group of the table, about 3 are expected to be "
        "alone in the whole population, too, by a log-linear model of their columns (tree); the "
        "models say 3 to 9.",
    },
    "population.tau2": {
        3: "Whoever links everybody who is alone in the table to the population is expected to be "
        "right for about 3 of them, by a log-linear model of their columns (tree); the models say "
        "3 to 9.",
    },
    "determined": {
        0: "Nobody is left with one diagnosis alone, once the rows of 2024.csv and this release "
        "that fit a person are put side by side.",
        0.25: "25% of the people are left with their own diagnosis alone, once the rows of "
        "2024.csv and this release that fit them are put side by side; it was 2% before this "
        "release.",
        1: "Everybody is left with their own diagnosis alone, once the rows of 2024.csv and this "
        "release that fit them are put side by side; it was 2% before this release.",
    },
    "records": {
        1: "The audit is about 1 record. None was left out when the table was read.",
        5000: "The audit is about 5,000 records. None was left out when the table was read.",
    },
    "missing": {
        0: "No value is missing in the quasi-identifiers and sensitive columns.",
        1: "Every value is missing in the quasi-identifiers and sensitive columns.",
        0.3: "30% of the cells in quasi-identifiers and sensitive columns have no value; that "
        "counts as a value of its own.",
    },
    "k": {
        1: "Some people are alone in their group and can be singled out.",
        2: "Going by the quasi-identifiers alone, the columns that an attacker may know, everyone "
        "is one of at least 2 people who look alike.",
        5000: "Going by the quasi-identifiers alone, the columns that an attacker may know, "
        "everyone is one of at least 5,000 people who look alike.",
    },
    "singled_out": {
        0: "Nobody is the only one in a group.",
        1: "1 person is alone: whoever knows that person's quasi-identifiers finds exactly one "
        "record.",
        4000: "4,000 people are alone: whoever knows the quasi-identifiers of one of them finds "
        "exactly one record.",
    },
    "reidentification.itpr": {
        0: "No group tells anything about whose record it is.",
        0.284: "The most telling group leaves 71.6% of its share of the doubt about whose record "
        "it is: 100% would tell nothing, 0% everything.",
        1: "In at least one group there is no doubt whose record it is.",
    },
    "reidentification.dr": {
        0: "The columns remove no doubt about whose record it is: all records look alike.",
        0.2: "On average the columns remove 20% of the doubt about whose record it is.",
        1: "The columns remove all doubt about whose record it is: everybody is alone.",
    },
    "prosecutor": {
        0.2: "Whoever knows that a person is in the table picks that person's record with a chance "
        "of up to one in 5.",
        1: "Of at least one person, whoever knows that this person is in the table is sure to "
        "pick the right record.",
    },
    "marketer": {
        0.0001: "Whoever links every record to a list of all people in the table is right for less "
        "than 0.1% of them on average.",
        1: "Whoever links every record to a list of all people in the table is always right.",
    },
    "epsilon": {
        0: "Nothing in 2,000 runs bounds ε above 0: the claim ε ≤ 1 is not refuted.",
        0.7: "With 95% confidence ε is at least 0.7, by 2,000 runs: the claim ε ≤ 1 is not "
        "refuted.",
    },
    "advantage": {
        0: "One threshold on this adversary's belief in people's true values tells those in the "
        "table from those outside with an advantage of 0, where 0 is guessing and 1 is certainty. "
        "With a false alarm for at most 1% of those outside it finds 3.1% of those inside; "
        "for at most 0.1%, 0.5%.",
    },
    "one_candidate": {
        0: "Nobody has a single released row that fits best. 2 records fit no row.",
        1: "1 person has a single released row that fits best: whoever looks that person up finds "
        "that row. 2 records fit no row.",
        30: "30 people have a single released row that fits them best: whoever looks one of them "
        "up finds that row. 2 records fit no row.",
    },
    "inference.itpr": {
        0: "No group tells anything about diagnosis.",
        0.5: "The most telling group leaves 50% of its share of the doubt about diagnosis: 100% "
        "would tell nothing, 0% everything.",
        1: "In some groups everyone has the same diagnosis.",
    },
    "inference.dr": {
        0: "The columns tell nothing about diagnosis.",
        0.42: "On average the columns remove 42% of the doubt about diagnosis.",
        1: "The columns remove all doubt about diagnosis: in every group everyone has the same.",
    },
    "l": {
        1: "In some groups everyone has the same diagnosis.",
        1.2: "In no group do more than 83.33% have the same diagnosis, so that whoever goes by "
        "a person's group alone guesses it right with at most that chance.",
    },
    "distinct_l": {
        1: "In some groups everyone has the same diagnosis.",
        2: "Every group holds at least 2 different values of diagnosis.",
    },
    "entropy_l": {
        1: "In some groups everyone has the same diagnosis.",
        1.57: "The least diverse group leaves as much doubt about diagnosis as 1.57 equally "
        "frequent values would.",
    },
    "alpha": {
        0.8: "In some group 80% of the people have the same diagnosis: whoever knows that a person "
        "is in it is right with that chance.",
        1: "In some groups everyone has the same diagnosis.",
    },
    "t": {
        0: "Every group has the same shares of diagnosis as the whole table.",
        0.9: "The group that differs most from the whole table in diagnosis is 0.9 away from it, "
        "between 0 (alike) and 1, with any two values equally far apart.",
    },
    "beta": {
        0: "In no group is any value of diagnosis more frequent than in the whole table.",
        0.5: "In some group a value of diagnosis is 1.5 times as frequent as in the whole table.",
        999: "In some group a value of diagnosis is 1,000 times as frequent as in the whole table.",
    },
    "delta_disclosure": {
        0: "Every group has the same shares of diagnosis as the whole table.",
        1: "In some group a value of diagnosis is 2.72 times as frequent, or as rare, as in the "
        "whole table; 1 is the natural logarithm of that.",
        inf: "Some group lacks a value of diagnosis altogether: whoever knows the group rules that "
        "value out.",
    },
    "delta": {
        0: "No person's own record shifts a guess at their diagnosis.",
        0.93: "One person's own record shifts a guess at their diagnosis by 0.93 of at most 2.",
        inf: "One person's own record shifts a guess at their diagnosis without bound: it makes "
        "possible what is ruled out without it.",
    },
    "mean": {
        0: "No person's own record shifts a guess at their diagnosis.",
        0.02: "On average a person's own record shifts a guess at their diagnosis by 0.02 of at "
        "most 2.",
        inf: "There is no average: some person's own record shifts a guess at their diagnosis "
        "without bound.",
    },
    "quantile": {
        0: "For at least 99% of the people, their own record shifts no guess at their diagnosis; "
        "for the others it shifts one.",
        0.1: "For at least 99% of the people, their own record shifts a guess at their diagnosis "
        "by at most 0.1; for the others by more.",
        inf: "For more than 1% of the people, their own record shifts a guess at their diagnosis "
        "without bound.",
    },
    "changed_predictions": {
        0: "For none of the people would this adversary name another diagnosis without their own "
        "record.",
        4.98: "For 4.98% of the people, this adversary would name another diagnosis without their "
        "own record.",
        100: "For all of the people, this adversary would name another diagnosis without their own "
        "record.",
    },
    "told_by_the_crowd": {
        0: "Without a person's own record this adversary names the right diagnosis for none of the "
        "people; always naming the most frequent one is right for 14.7%.",
        1: "Without a person's own record this adversary still names the right diagnosis for all "
        "of the people; always naming the most frequent one is right for 14.7%.",
    },
    "ncp": {
        0: "Every released cell is as exact as in the original.",
        0.125: "On average a released cell stands for 12.5% of its column's range or values.",
        1: "Every released cell may stand for anything: no detail is left.",
    },
    "discernibility": {
        34140: "The squares of the group sizes, with the whole table's size for each suppressed "
        "record, add up to 34,140; the smaller, the easier records are told apart.",
    },
    "keys.k": {
        1: "By a combination of columns that was named, some people are alone and can be singled "
        "out.",
        3: "By every combination of columns that was named, everyone is one of at least 3 people "
        "who look alike.",
    },
    "keys.singled_out": {
        0: "By no combination of columns that was named anybody is alone.",
        1: "By a combination of columns that was named 1 person is alone.",
        1200: "By one combination of columns that was named 1,200 people are alone: whoever has "
        "these columns finds exactly one record.",
    },
    "special.records": {
        0: "Nobody is a special unique: 3 of the released columns, or fewer, single nobody out.",
        1: "1 person is a special unique: 3 of the released columns, or fewer, single this person "
        "out.",
        40: "40 people are special uniques: 3 of the released columns, or fewer, are enough to "
        "single each of them out.",
    },
    "special.dis": {
        0: "No record has a score: 3 of the released columns, or fewer, single nobody out.",
        0.25: "For the most special record the guess is 25% that somebody who finds exactly this "
        "record has found the right person, if the table is 10% of the population.",
    },
    "together.delta": {
        0: "No person's own record shifts a guess at their diagnosis, even for who reads all of "
        "2024.csv and this release.",
        0.25: "One person's own record shifts a guess at their diagnosis by 0.25, for an adversary "
        "who reads all of 2024.csv and this release.",
        inf: "One person's own record shifts a guess at their diagnosis without bound, for an "
        "adversary who reads all of 2024.csv and this release.",
    },
    "joined.only": {
        0: "No released row singles out anybody by the columns of people.csv and visits.csv "
        "together whom one table's own columns do not single out. In the original it is 2% of "
        "the people for who knows one row of a person, and 40% for who knows all of them.",
        0.25: "One released row singles out 25% of the people by the columns of people.csv and "
        "visits.csv together, though no table does so by its own columns. In the original it is "
        "2% for who knows one row of a person, and 40% for who knows all of them.",
    },
    "average_group": {
        1: "Every record is in a group of its own: all detail is kept, and nobody is hidden.",
        6.51: "On average 6.51 records share their released columns; smaller groups keep more "
        "detail, and protect less.",
    },
    "accuracy": {
        0.17: "An analyst who trains on the release predicts diagnosis correctly for 17% of the "
        "records held out. Trained on the original it is 17%, and always naming the most frequent "
        "value 15%.",
    },
}  # fmt: skip
WHOLE = (
    "records", "k", "singled_out", "one_candidate", "distinct_l", "discernibility", "average_group",
    "population.k_map", "keys.k", "keys.singled_out", "special.records",
)  # fmt: skip
CASES = [(name, value, said) for name, table in SAID.items() for value, said in table.items()]


def told(name: str, value: float, **more: Any) -> str:
    return metric(name, **WORDS).found("x", value, WORDS, **more).means


def test_every_metric_is_in_the_table() -> None:
    assert set(SAID) == set(METRICS)


@pytest.mark.parametrize(("name", "value", "said"), CASES)
def test_the_number_at_hand_is_said_in_words(name: str, value: float, said: str) -> None:
    assert told(name, value, exactness="exact") == said


@pytest.mark.parametrize(
    ("name", "exactness"),
    [
        (name, exactness)
        for name in METRICS
        for exactness in ("exact", "estimate", "lower-bound", "approximation", None)
        if exactness in ("exact", None) or name not in WHOLE  # those are counted
    ],
)
def test_every_number_makes_sentences(name: str, exactness: str | None) -> None:
    """0, 1, few, many and ∞, as far as the number can be that: no blank, no "1 records"."""
    least, most = METRICS[name].range
    largest = 10**9 if name in WHOLE and most is None else inf if most is None else most
    for value in (0, 1e-9, 0.004, 0.5, 0.9999999, 1, 1.2, 3, 99.5, 100, 12_345, inf):
        if not least <= value <= largest or (name in WHOLE and value % 1):
            continue
        text = told(name, value, exactness=exactness)
        assert text.endswith("."), text
        assert text[0].isupper() or text[0].isdigit() or text.startswith(("less", "more")), text
        for wrong in (
            "[{}]",
            r"None\b(?! was)",
            r"\bnan\b",
            "  ",
            r"\b[01] (records|people|others)\b",
        ):
            assert not re.search(wrong, text), text


def test_a_0_that_is_estimated_need_not_be_one() -> None:
    assert told("delta", 0, exactness="estimate") != told("delta", 0, exactness="exact")
    assert told("delta", inf, exactness="estimate") == told("delta", inf, exactness="exact")


def test_what_is_true_of_all_findings_is_said_once() -> None:
    """A sentence that several findings share stands at their question, not at each of them."""
    said = [one.does_not_prove for one in METRICS.values()]
    shared = {one for one in said if said.count(one) > 2}
    assert not shared
    assert all(one.does_not_prove.endswith(".") and one.source for one in METRICS.values())


def test_shares_next_to_none_and_all_are_neither() -> None:
    assert [percent(x) for x in (0, 1e-9, 0.001, 0.5, 0.999, 1 - 1e-9, 1)] == [
        "0%", "less than 0.1%", "0.1%", "50%", "99.9%", "more than 99.9%", "100%",
    ]  # fmt: skip
    assert words_for(1e-7)["times"] == "1.0000001 times"


def test_of_several_guesses_one_is_named_and_the_others_are_counted() -> None:
    no_proof = "which may be too favourable: no proof"
    assert guessed([]) == ""
    assert guessed(["a"]) == f"; a is a model's estimate, {no_proof}"
    assert guessed(["a", "b"]) == f"; a and 1 more are models' estimates, {no_proof}"
    assert guessed(["a", "b", "c"]) == f"; a and 2 more are models' estimates, {no_proof}"
