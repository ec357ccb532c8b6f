"""Explains every term that a report uses, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Term:
    """A word of the report and what it means.

    ``uses`` are the metrics, adversaries, sanitizers or distances whose report needs it; a term
    without any belongs in every report.
    """

    term: str
    means: str
    uses: tuple[str, ...] = ()


_ALWAYS = (
    Term("adversary", "Whoever reads the release and wants to learn about one person. Here it is a "
         "program that learns from the release and then guesses."),
    Term("belief", "How probable an adversary holds each possible sensitive value of a person."),
    Term("column roles", "An identifier names people and is never released. Quasi-identifiers are "
         "what an attacker may know of a person, such as age or postcode. A sensitive attribute "
         "is what nobody shall learn about a person. Other columns are left out of both release "
         "and audit."),
    Term("constraint", "What a sanitizer promises of its release, such as groups of at least 5. A "
         "release that does not meet its own constraint never passes."),
    Term("exactness", "Exact: computed for every record. Estimate: sampled, with an interval that "
         "holds the true number with the stated confidence; or, of the population, what a model "
         "expects, which may be too favourable. Lower bound: not every record was tested, so the "
         "true number may be larger. Approximation: a faster way that can err."),
    Term("fingerprint", "A digest of the columns in use, in any order of the records, or of a "
         "file: it tells whether two hold the same. It is made with a secret key, which its first "
         "eight characters name, so that only whoever has the key can try a guess against it."),
    Term("group", "All released records that look alike in their quasi-identifiers."),
    Term("hierarchy", "A file that says which coarser values stand for which finer ones."),
    Term("inference", "Deducing a person's sensitive value. Private inference rests on that "
         "person's own record and is a leak; public inference rests on everybody else's."),
    Term("interval", "The range in which the true number lies, with the stated confidence. A limit "
         "is checked against its worse end. Of an estimate in the population it goes from the "
         "lowest model to the highest, without any confidence."),
    Term("limit", "What a number may be at most, or must be at least."),
    Term("linkability", "Joining a record of the release to a person, or to another source."),
    Term("policy", "Limits and points that an authority or a house asks for, with their source."),
    Term("pass, fail, incomplete", "Pass: every limit was measured and is kept. Fail: one is "
         "exceeded, or the release breaks its own promise. Incomplete: something that a limit "
         "needs is not known, which is no pass."),
    Term("record number", "The position of a record in the input; the first is record 0."),
    Term("region", "What one coarsened cell stands for, such as the ages 40 to 49."),
    Term("release", "The table as it is to be published."),
    Term("sanitizer", "The method that turns the original table into the release."),
    Term("seed", "The number from which all random choices follow, so that they can be repeated."),
    Term("SHA-256", "A checksum of a file. Two files with the same one are the same file; a "
         "changed letter changes it altogether."),
    Term("singling out", "Isolating the one record that belongs to a person."),
    Term("suppressed cell", "A released cell that may stand for any value of its column."),
    Term("typical cell", "The cell in the middle, if all cells of a column are put in the order of "
         "how many values they may stand for."),
)  # fmt: skip

_WHERE_USED = (
    Term("accuracy of an analyst", "How often somebody who learns from the release predicts a "
         "column of new records correctly: what the release is still good for.", ("accuracy",)),
    Term("advantage", "How much better than guessing an adversary tells people who are in the "
         "table from people who are not: 0 is guessing, 1 certainty.", ("advantage",)),
    Term("strongest adversary", "For every record, whichever of the adversaries that were asked "
         "sees most of it. Its δ is the largest of theirs.",
         ("delta", "mean", "quantile", "changed_predictions", "together.delta")),
    Term("ε (epsilon)", "How much more probable, as a factor e^ε, one record may at most make any "
         "outcome of a differentially private release. What is observed is a lower bound.",
         ("epsilon",)),
    Term("false alarm", "Somebody outside the table who is taken for somebody in it.",
         ("advantage",)),
    Term("average group size", "Released records per group, on average.", ("average_group",)),
    Term("candidate", "A released row that fits what is known of a person.", ("one_candidate",)),
    Term(
        "determined",
        "Of a person: only one sensitive value is left, the person's own.",
        ("determined",),
    ),
    Term("joined tables", "Tables of the same people, such as visits, put together by a key: a row "
         "for each combination of rows that belong together.", ("joined.only",)),
    Term("changed predictions", "The share of people for whom the adversary's best guess changes "
         "when their own record is taken out.", ("changed_predictions",)),
    Term("differential test", "For every person, the table is sanitized with and without that "
         "person's record, and an adversary learns from both releases. How far its two beliefs "
         "about the person lie apart is what the record itself gives away.",
         ("delta", "mean", "quantile")),
    Term("discernibility", "A penalty that adds up the squares of the group sizes: the smaller, "
         "the more detail is kept.", ("discernibility",)),
    Term("distance (d)", "How far apart an adversary's beliefs with and without a person's record "
         "are. 0 means that the record makes no difference.", ("delta", "mean", "quantile")),
    Term("DR, disclosure risk on average", "The share of the uncertainty about whose record it is, "
         "or about a sensitive value, that the published columns remove on average: 0 is nothing, "
         "1 is all of it.", ("reidentification.dr", "inference.dr")),
    Term("ITPR, information-theoretic privacy risk", "How much of the doubt the most telling group "
         "removes: 0 is nothing, 1 means that somebody is identified, or that a group gives its "
         "value away. The doubt is divided evenly among the groups, and a group is weighed by its "
         "size, so that small groups count as telling.",
         ("reidentification.itpr", "inference.itpr")),
    Term("k, smallest group", "How many records share their published quasi-identifiers at least. "
         "k = 1 means that somebody is alone.", ("k",)),
    Term("ℓ, diversity", "No sensitive value makes up more than one in ℓ of any group. ℓ = 1 means "
         "that everybody in some group has the same value. Distinct ℓ counts the values of a "
         "group; entropy ℓ weighs them by how evenly they are spread.",
         ("l", "distinct_l", "entropy_l")),
    Term("largest chance of a correct link (prosecutor risk)", "The chance of picking the right "
         "record of a person who is known to be in the table: one over the smallest group.",
         ("prosecutor",)),
    Term("mean of the differential test", "The distance of a person on average. A small mean with "
         "a large δ means that few people are exposed.", ("mean",)),
    Term("membership inference", "Telling that a person is in the table at all.", ("advantage",)),
    Term("missing cells", "Cells without a value; missing counts as a value of its own.",
         ("missing",)),
    Term("NCP, normalised certainty penalty", "The share of a column's range that a released cell "
         "stands for on average: 0 is the original, 1 a column of stars.", ("ncp",)),
    Term("quantile", "The distance that 99% of the people do not exceed.", ("quantile",)),
    Term("records", "The rows of the table, one person each unless the plan says otherwise.",
         ("records",)),
    Term("records alone in their group", "Records that nobody else looks like.", ("singled_out",)),
    Term("share of records linked correctly (marketer risk)", "How many records are linked to the "
         "right person on average, when all are linked to a list of everybody.", ("marketer",)),
    Term("key", "A combination of columns that somebody may have, named in the plan.",
         ("keys.k", "keys.singled_out")),
    Term("special unique", "A record that few columns are enough to single out. Its score (SUDA) "
         "grows with how few they are; DIS guesses from it how likely a match is right.",
         ("special.records", "special.dis")),
    Term("population", "All the people of whom the table is a sample. A number against it asks "
         "who stands out among all of them, not only in the table.",
         tuple(f"population.{name}" for name in (
             "k_map", "presence", "presence_low", "journalist", "journalist_average", "marketer",
             "uniques", "unique_share", "smallest", "individual_risk", "global_risk", "expected",
             "household_risk", "household_average", "household_expected", "tau1", "tau2"))),
    Term("k-map", "The fewest people of the population who look like some released group.",
         ("population.k_map",)),
    Term("presence (δ-presence)", "The share of the people who look alike that is in the release: "
         "at 1 it is certain that each of them is in it.",
         ("population.presence", "population.presence_low")),
    Term("journalist risk", "The chance of picking the right person of the population for a "
         "record, without knowing whether the person is in the table: one over the k-map.",
         ("population.journalist", "population.journalist_average")),
    Term("population unique", "Somebody whom nobody else in the population looks like.",
         ("population.uniques", "population.unique_share")),
    Term("individual risk", "The chance that a record leads to its person among all who look "
         "alike in the population, where survey weights or the sampling say how many these are.",
         ("population.individual_risk", "population.global_risk", "population.expected",
          "population.smallest")),
    Term("household risk", "The chance that at least one member of a household is found.",
         ("population.household_risk", "population.household_average",
          "population.household_expected")),
    Term("τ₁, τ₂", "Of the people who are alone in the table, how many a model of the columns "
         "expects to be alone in the population (τ₁), or to be found in it (τ₂).",
         ("population.tau1", "population.tau2")),
    Term("t, closeness", "How far a group's sensitive values are from the whole table's: 0 means "
         "that no group differs from the table.", ("t",)),
    Term("told by the crowd", "How often an adversary is right about people whose records it has "
         "not seen: what the release teaches about the population.", ("told_by_the_crowd",)),
    Term("α, largest share of one value", "The share of a group that holds one and the same "
         "sensitive value, in the worst group.", ("alpha",)),
    Term("β, gain", "How much more frequent a sensitive value is in some group than in the whole "
         "table, as a share of the latter: 1 means twice as frequent.", ("beta",)),
    Term("δ (delta)", "How much of a guess about a person rests on that person's own record, for "
         "whoever is exposed most: the largest distance of the differential test. 0 means that "
         "taking part makes no difference to anybody.", ("delta",)),
    Term("δ-disclosure", "How far the share of a value in a group may be from its share in the "
         "table, as a logarithm; infinite where a group lacks a value.", ("delta_disclosure",)),
    Term("Mondrian", "A sanitizer that splits the table into groups of similar people and "
         "publishes the region of each group.", ("mondrian",)),
    Term("recoding", "A sanitizer that coarsens a whole column in the same way.", ("recoding",)),
    Term("noisy counts", "A sanitizer that publishes counts with random noise added.",
         ("laplace", "geometric", "gaussian", "randomized-response")),
    Term("changed values", "A sanitizer that publishes records with other values: drawn anew, "
         "traded with similar records, with noise, or averaged over a group.",
         ("pram", "rank-swap", "additive-noise", "multiplicative-noise", "mdav")),
    Term("synthetic rows", "Rows drawn from what was measured of the table, with noise, instead of "
         "the records themselves.", ("dp-marginals",)),
    Term("identity", "The original records, published as they are.", ("identity",)),
    Term("suppress", "A release in which every quasi-identifier is a star.", ("suppress",)),
    Term("program", "A sanitizer that is another program, run as it is.",
         ("command", "shell", "http", "releases")),
    Term("naive Bayes", "An adversary who weighs each column by itself.", ("naive-bayes",)),
    Term("conditional frequency", "An adversary who looks at a person's group alone and takes its "
         "values by their frequency.", ("frequency",)),
    Term("tree", "An adversary who asks one question after the other about the columns.",
         ("tree",)),
    Term("forest", "An adversary who asks many random trees.", ("forest",)),
    Term("logistic", "An adversary who weighs the columns in one formula.", ("logistic",)),
    Term("gradient boosting", "An adversary who adds up many small trees, each correcting the ones "
         "before it.", ("gradient-boosting",)),
    Term("mlp", "An adversary that is a small neural network.", ("mlp",)),
    Term("knn", "An adversary who looks at the people most alike.", ("knn",)),
    Term("encoding", "How a region becomes numbers that a model can learn from.",
         ("tree", "forest", "logistic", "gradient-boosting", "mlp", "knn", "naive-bayes")),
    Term("TF-TF", "The usual encoding: for every column, whether the cell covers the value.",
         ("TF-TF",)),
    Term("wasserstein", "The distance used: the differences of both beliefs, added up over all "
         "values. It goes from 0 (the same) to 2 (no value in common); half of it is "
         "the share of the belief that moves.", ("wasserstein",)),
    Term("emd, tv, kl, js, hellinger", "Other distances between two beliefs; the parameters name "
         "the one used.",
         ("emd", "tv", "coordinate-tv", "kl", "js", "hellinger", "max-divergence")),
)  # fmt: skip


def glossary(document: Mapping[str, Any]) -> list[Term]:
    """Return the terms that a report of this document uses, in the order of the alphabet."""
    plan = document.get("plan") or {}
    who = plan.get("adversary") or {}
    used = {one["metric"] for one in document["findings"]}
    tried = document.get("tried") or {}
    named = [*(who.get("models") or ()), *tried.get("models", ()), *tried.get("other_models", ())]
    used |= {str(name).partition(":")[0] for name in named} | {*tried.get("encodings", ())}
    used.add(str(who.get("distance") or "").partition(":")[0])
    used.add(str(document["release"]["sanitizer"]).partition(":")[0])
    found = [*_ALWAYS, *(one for one in _WHERE_USED if used.intersection(one.uses))]
    return sorted(found, key=lambda one: one.term.casefold())
