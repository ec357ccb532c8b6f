"""The numbers an audit can find: what each means, does not prove, and where it comes from."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

from indiff.audit.metric import Metric

ITPR = "ITPR paper (Information Theoretic-based Privacy Risk Evaluation, 2019)"
DIT = "DIT v2 (Differential Inference Testing, 2019)"
_ITPR_SOURCE = f"{ITPR}, Definition 4.2 and Eq. 10, with the weight p(y) that its tables use"
# A group that is small counts as telling, whoever is in it.
_BY_SIZE = (
    "It weighs a group by its size, so that a small group looks more telling than a large one "
    "that tells as much, and it does not say how many people are in it."
)
_SAME = "In some groups everyone has the same {about}."

_ALL = (
    Metric(
        "records", "Records in the table", "table", None, (0, None),
        "The audit is about {records}. {dropped} left out when the table was read.",
        "It does not say how large the population is from which these people come.",
        "counted in the table",
    ),
    Metric(
        "missing", "Missing cells", "table", None, (0, 1),
        "{percent} of the cells in quasi-identifiers and sensitive columns have no value; that "
        "counts as a value of its own.",
        "It does not say why values are missing; that somebody has none can itself tell something.",
        "counted in the table",
        at={
            0: "No value is missing in the quasi-identifiers and sensitive columns.",
            1: "Every value is missing in the quasi-identifiers and sensitive columns.",
        },
    ),
    Metric(
        "k", "Smallest group (k)", "singling-out", "high", (1, None),
        "Nobody is alone: everyone is one of at least {value} people who look alike in the "
        "released columns.",
        "It does not protect the sensitive value: a group may hold only one.",
        "Samarati and Sweeney 1998; DIT v2, Section 4.1",
        at={1: "Some people are alone in their group and can be singled out."},
    ),
    Metric(
        "singled_out", "Records alone in their group", "singling-out", "low", (0, None),
        "{people} are alone: whoever knows the released columns of one of them finds exactly one "
        "record.",
        "A record in a group of two is not counted and is hardly safer.",
        "El Emam 2013, Chapter 16; WP29 opinion 05/2014, singling out",
        at={
            0: "Nobody is alone.",
            1: "1 person is alone: whoever knows that person's released columns finds exactly one "
            "record.",
        },
    ),
    Metric(
        "reidentification.itpr", "Re-identification, worst group (ITPR)", "singling-out", "low",
        (0, 1),
        "Give every group an even share of the doubt about whose record it is: the most telling "
        "group leaves {rest} of its share.",
        _BY_SIZE,
        _ITPR_SOURCE,
        at={
            0: "No group tells anything about whose record it is.",
            1: "In at least one group there is no doubt whose record it is.",
        },
    ),
    Metric(
        "reidentification.dr", "Re-identification, average (DR)", "singling-out", "low", (0, 1),
        "On average the columns remove {percent} of the doubt about whose record it is.",
        "An average hides the few who stand out: look at the smallest group too.",
        f"{ITPR}, Eq. 5",
        at={
            0: "The columns remove no doubt about whose record it is: all records look alike.",
            1: "The columns remove all doubt about whose record it is: everybody is alone.",
        },
    ),
    Metric(
        "prosecutor", "Largest chance of a correct link", "linkability", "low", (0, 1),
        "Whoever knows that a person is in the table picks that person's record with a chance of "
        "up to {one_in}.",
        "It is a chance within a group; columns outside the quasi-identifiers may decide between "
        "its members.",
        "El Emam 2013, Chapter 16 (prosecutor risk)",
        at={
            1: "Of at least one person, whoever knows that this person is in the table is sure to "
            "pick the right record."
        },
    ),
    Metric(
        "marketer", "Share of records linked correctly", "linkability", "low", (0, 1),
        "Whoever links every record to a list of all people in the table is right for {percent} "
        "of them on average.",
        "An average hides the few who are linked for sure.",
        "El Emam 2013, Chapter 16 (marketer risk)",
        at={1: "Whoever links every record to a list of all people in the table is always right."},
    ),
    Metric(
        "advantage", "Membership inference by {model} (advantage)", "linkability", "low", (0, 1),
        "One threshold on this adversary's belief tells people in the table from people outside "
        "with an advantage of {value}, where 0 is guessing and 1 is certainty. With a false alarm "
        "for at most 1% of those outside it finds {at_1} of those inside; for at most 0.1%, "
        "{at_01}.",
        "It describes the tested records together and does not bound what is learned about one "
        "of them. With a deterministic sanitizer, whoever holds both releases tells every record "
        "that makes a difference.",
        f"{DIT}, Section 2.1; the advantage of Yeom et al. 2018",
        "private",
    ),
    Metric(
        "one_candidate", "Records that exactly one released row fits best", "linkability", "low",
        (0, None),
        "{people} have a single released row that fits them best: whoever looks one of them up "
        "finds that row. {none}",
        "One candidate is no re-identification: in a perturbed or synthetic release it may be "
        "somebody else's row, or nobody's. Many candidates are no protection if they all hold "
        "the same value.",
        "WP29 opinion 05/2014, linkability; by coverage of all quasi-identifiers, the most "
        "specific candidates alone",
        at={
            0: "Nobody has a single released row that fits best. {none}",
            1: "1 person has a single released row that fits best: whoever looks that person up "
            "finds that row. {none}",
        },
    ),
    Metric(
        "inference.itpr", "Inference of {about}, worst group (ITPR)", "inference", "low", (0, 1),
        "Give every group an even share of the doubt about {about}: the most telling group leaves "
        "{rest} of its share.",
        _BY_SIZE,
        _ITPR_SOURCE,
        at={0: "No group tells anything about {about}.", 1: _SAME},
    ),
    Metric(
        "inference.dr", "Inference of {about}, average (DR)", "inference", "low", (0, 1),
        "On average the columns remove {percent} of the doubt about {about}.",
        "An average hides single exposed groups.",
        f"{ITPR}, Eq. 5",
        at={
            0: "The columns tell nothing about {about}.",
            1: "The columns remove all doubt about {about}: in every group everyone has the same.",
        },
    ),
    Metric(
        "l", "Diversity of {about} (1/ℓ-frequency)", "inference", "high", (1, None),
        "In no group do more than {share} have the same {about}, so that whoever knows a "
        "person's group guesses it right with at most that chance.",
        "An adversary who learns from all groups together can do better than guessing within one.",
        "Machanavajjhala et al. 2007; DIT v2, Section 4.1",
        at={1: _SAME},
    ),
    Metric(
        "distinct_l", "Fewest values of {about} in a group", "inference", "high", (1, None),
        "Every group holds at least {value} different values of {about}.",
        "One of the values may be far more frequent than the others.",
        "Machanavajjhala et al. 2007 (distinct ℓ-diversity)",
        at={1: _SAME},
    ),
    Metric(
        "entropy_l", "Entropy diversity of {about}", "inference", "high", (1, None),
        "The least diverse group leaves as much doubt about {about} as {value} equally frequent "
        "values would.",
        "One value may still be more frequent than that suggests.",
        "Machanavajjhala et al. 2007 (entropy ℓ-diversity)",
        at={1: _SAME},
    ),
    Metric(
        "alpha", "Largest share of one value of {about} in a group", "inference", "low", (0, 1),
        "In some group {percent} of the people have the same {about}: whoever knows that a "
        "person is in it is right with that chance.",
        "It is about the worst group and does not say how many people are in it.",
        "Wong et al. 2006 ((α, k)-anonymity)",
        at={1: _SAME},
    ),
    Metric(
        "t", "Distance of a group's {about} from the table's (t)", "inference", "low", (0, 1),
        "The group that differs most from the whole table in {about} is {value} away from it, "
        "between 0 (alike) and 1, {ground}.",
        "A small t bounds what a group tells, not what a record adds to it.",
        "Li, Li and Venkatasubramanian 2007 (t-closeness, earth mover's distance)",
        at={0: "Every group has the same shares of {about} as the whole table."},
    ),
    Metric(
        "beta", "Largest gain of a value of {about} in a group (β)", "inference", "low", (0, None),
        "In some group a value of {about} is {times} as frequent as in the whole table.",
        "Rare values weigh most: one record of a value that hardly anyone has makes it large.",
        "Cao and Karras 2012 (basic β-likeness)",
        at={0: "In no group is any value of {about} more frequent than in the whole table."},
    ),
    Metric(
        "delta_disclosure", "δ-disclosure of {about}", "inference", "low", (0, None),
        "In some group a value of {about} is {ratio} as frequent, or as rare, as in the whole "
        "table; {value} is the natural logarithm of that.",
        "A group that lacks a value makes it infinite, however rare the value is.",
        "Brickell and Shmatikov 2008",
        at={
            0: "Every group has the same shares of {about} as the whole table.",
            inf: "Some group lacks a value of {about} altogether: whoever knows the group rules "
            "that value out.",
        },
    ),
    Metric(
        "delta", "Differential test of {about}: δ by {model}", "inference", "low", (0, None),
        "{one_person}'s own record shifts a guess at their {about} {by}{value}{of_most}.",
        "A small δ is about this adversary, this sanitizer, this table and this attribute.",
        f"{DIT}, Definition 1 and Section 3.2",
        "private",
        {
            0: "{no_person}'s own record shifts a guess at their {about}.",
            inf: "{one_person}'s own record shifts a guess at their {about} without bound: it "
            "makes possible what is ruled out without it.",
        },
    ),
    Metric(
        "mean", "Differential test of {about}: mean by {model}", "inference", "low", (0, None),
        "On average {a_person}'s own record shifts a guess at their {about} {by_mean}{value}"
        "{of_most}.",
        "An average hides exposed people, so it is never enough on its own.",
        f"{DIT}, Section 3.2; average-case differentiation of the DIT draft, Definition 1",
        "private",
        {
            0: "{no_person}'s own record shifts a guess at their {about}.",
            inf: "There is no average: {some_person}'s own record shifts a guess at their {about} "
            "without bound.",
        },
    ),
    Metric(
        "quantile", "Differential test of {about}: 99% of records by {model}", "inference", "low",
        (0, None),
        "For at least 99% of the {tested}, their own record shifts a guess at their {about} by at "
        "most {value}{rest_of_them}.",
        "It says nothing about the remaining people, up to 1%, who are the most exposed.",
        f"{DIT}, Figure 2 (the distribution of d)",
        "private",
        {
            0: "For at least 99% of the {tested}, their own record shifts no guess at their "
            "{about}{rest_of_none}.",
            inf: "For more than 1% of the {tested}, their own record shifts a guess at their "
            "{about} without bound.",
        },
    ),
    Metric(
        "changed_predictions", "Predictions of {about} changed by one record (%), {model}",
        "inference", "low", (0, 100),
        "For {by_mean_share}{value}% of the {tested}, this adversary would name another {about} "
        "without their own record.",
        "A prediction that stays the same may still have become far more certain. Where chance "
        "decides, it is the mean probability of a change, with the same chance on both sides.",
        "DIT v1 (2018), Section 3.4.1",
        "private",
        {
            0: "For none of the {tested} would this adversary name another {about} without their "
            "own record.",
            100: "For all of the {tested}, this adversary would name another {about} without their "
            "own record.",
        },
    ),
    Metric(
        "told_by_the_crowd", "What the crowd tells about {about}, {model}", "inference", None,
        (0, 1),
        "Without a person's own record this adversary names the right {about} for {percent} of "
        "the {tested}; always naming the most frequent one is right for {baseline}.",
        "Public inference is not harmless: it can be used against whole groups. It is measured on "
        "the people in the table, not on a new sample.",
        f"{DIT}, Section 1 (private against public inference)",
        "public",
        {
            0: "Without a person's own record this adversary names the right {about} for none of "
            "the {tested}; always naming the most frequent one is right for {baseline}.",
            1: "Without a person's own record this adversary still names the right {about} for all "
            "of the {tested}; always naming the most frequent one is right for {baseline}.",
        },
    ),
    Metric(
        "ncp", "Information lost (normalised certainty penalty)", "utility", "low", (0, 1),
        "On average a released cell stands for {percent} of its column's range or values.",
        "It does not say whether the release is good enough for a purpose; only the purpose can.",
        "Xu et al. 2006 (normalised certainty penalty)",
        at={
            0: "Every released cell is as exact as in the original.",
            1: "Every released cell may stand for anything: no detail is left.",
        },
    ),
    Metric(
        "discernibility", "Discernibility", "utility", "low", (0, None),
        "The squares of the group sizes, with the whole table's size for each suppressed record, "
        "add up to {value}; the smaller, the easier records are told apart.",
        "It counts sizes alone and ignores how wide the regions are.",
        "Bayardo and Agrawal 2005",
    ),
    Metric(
        "average_group", "Average group size", "utility", "low", (1, None),
        "On average {value} records share their released columns; smaller groups keep more detail, "
        "and protect less.",
        "An average hides very large groups, in which all detail is lost.",
        "LeFevre et al. 2006",
        at={1: "Every record is in a group of its own: all detail is kept, and nobody is hidden."},
    ),
    Metric(
        "accuracy", "Accuracy that an analyst keeps on {task}", "utility", "high", (0, 1),
        "An analyst who trains on the release predicts {task} correctly for {percent} of the "
        "records held out. Trained on the original it is {original}, and always naming the most "
        "frequent value {majority}.",
        "It is one task with one model; another task may suffer more.",
        "train on the release, predict held-out records: LeFevre et al. 2006, Section 5",
    ),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def metric(name: str, **words: Any) -> Metric:
    """Return a metric with the blanks of its title filled.

    >>> metric("t", about="income").title
    "Distance of a group's income from the table's (t)"
    """
    return replace(METRICS[name], title=METRICS[name].title.format(**words))
