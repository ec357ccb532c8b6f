"""Recomputes the ITPR paper's Tables 1 to 6: the examples, and every metric of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from indiff.papers.itpr import printed as paper
from indiff.papers.pages import Grid, Page, same
from indiff.papers.run import Run
from indiff.risk import Risk, measure_risk
from indiff.risk.metrics import InformationRisk


def risk_of(data: Mapping[str, Sequence[Any] | NDArray[Any]]) -> Risk:
    """Measure a table in which a column named ``disease`` is the sensitive attribute."""
    sensitive = "disease" if "disease" in data else None
    frame = pa.table({name: pa.array(values) for name, values in data.items()})
    quasi = [name for name in data if name != sensitive]
    return measure_risk(frame, quasi=quasi, sensitive=sensitive, details=False)


def information_of(data: Mapping[str, Sequence[Any] | NDArray[Any]]) -> InformationRisk:
    """Return the inference metrics of ``disease``, or the re-identification ones without it."""
    risk = risk_of(data)
    return risk.inference["disease"] if "disease" in data else risk.reidentification


def _released(run: Run, rows: int, printed: tuple[str, ...]) -> Page:
    """Show a release (Section 3.1): its k, ℓ and t, and what can be inferred in a group."""
    data = paper.released(rows)
    groups = risk_of(data).groups
    disease = groups.sensitive["disease"]
    share = f"{1 / disease.l:.2f}"
    ours = (str(groups.k), str(disease.distinct_l), f"{disease.t:g}", share)
    what = ("k", "ℓ (distinct)", "t", "largest probability of a disease in a group")
    lines = [(*line, same(*line[1:])) for line in zip(what, ours, printed, strict=True)]
    cells = zip(paper.PATIENTS[:rows], data["zip"], data["age"], strict=True)
    return Page(
        status=_status(lines),
        tables=(
            Grid("The release", ("what", "ours", "printed", ""), lines),
            Grid(
                "The records and their groups",
                ("#", "zip code", "age", "zip code released", "age released", "disease"),
                [
                    (str(i), str(code), str(age), masked, decade, disease)
                    for i, ((code, age, disease), masked, decade) in enumerate(cells, 1)
                ],
            ),
        ),
    )


table_1 = partial(_released, rows=9, printed=("3", "3", "0", "0.33"))
table_2 = partial(_released, rows=15, printed=("5", "3", "0", "0.60"))


def table_3(run: Run) -> Page:
    """Table 3 (Section 3.3): eight records, five cases of Age and three of Disease."""
    described = (
        ("all different", (1,) * 8),
        ("all the same", (8,)),
        ("only one record differs", (7, 1)),
        ("only two records differ", (6, 2)),
        ("half and half", (4, 4)),
    )
    cases: list[tuple[str, int, Sequence[int | str]]] = [
        *(("Age", case, ages) for case, ages in paper.AGE.items()),
        *(("Disease", case, diseases) for case, diseases in paper.DISEASE.items()),
    ]
    lines = []
    for attribute, case, values in cases:
        text, sizes = described[case - 1]
        found = tuple(sorted(Counter(values).values(), reverse=True))
        lines.append((f"case {case} of {attribute}", text, _sizes(found), same(found, sizes)))
    others = [line[0] for line in lines if line[-1] == "differs"]
    header = ("identifier", *(f"{attribute}, case {case}" for attribute, case, _ in cases))
    records = [(f"#{i + 1}", *(str(values[i]) for _, _, values in cases)) for i in range(8)]
    return Page(
        status="reproduced with erratum" if others else "reproduced",
        tables=(
            Grid("The cases as described, and as printed",
                 ("attribute", "described", "records that share each value", ""), lines),
            Grid("Table 3", header, records),
        ),
        facts={"others": others},
    )  # fmt: skip


def table_4(run: Run) -> Page:
    """Table 4 (Section 3.3): five metrics of the cases, cut to the printed digits."""
    lines = []
    for age, disease, printed in (
        *((case, None, paper.REIDENTIFICATION[case]) for case in paper.AGE),
        *((5, case, paper.INFERENCE[case]) for case in paper.DISEASE),
    ):
        found = information_of(paper.example(age, disease=disease))
        for metric, text in zip(paper.METRICS, printed, strict=True):
            value: float = getattr(found, metric.lower())
            cut = paper.as_printed(value, text)
            known = metric == "MIL" and disease and paper.MIL_ERRATA.get(disease) == cut
            verdict = "erratum" if known else same(cut, text)
            lines.append((_cases(age, disease=disease), metric, value, cut, text, verdict))
    return Page(
        status=_status(lines, "reproduced with erratum"),
        tables=(
            Grid("Re-identification (Age alone) and inference (with Disease)",
                 ("attributes", "metric", "ours", "cut", "printed", ""), lines),
        ),
    )  # fmt: skip


def table_5(run: Run) -> Page:
    """Table 5 (Section 4): ITPR of the cases, of one attribute and of two."""
    lines = []
    for number, (age, code, disease, printed) in enumerate(paper.ITPR_ROWS, 1):
        value = information_of(paper.example(age, code, disease)).itpr
        cut = paper.as_printed(value, printed)
        lines.append((number, _cases(age, code, disease), value, cut, printed, same(cut, printed)))
    return Page(
        status=_status(lines, "reproduced with erratum"),
        tables=[Grid("ITPR", ("#", "attributes", "ours", "cut", "printed", ""), lines)],
    )  # fmt: skip


def table_6(run: Run) -> Page:
    """Table 6 (Section 4): two cases of Zip Code, and the ITPR that Table 5 prints of them."""
    lines = []
    for case, own in paper.ZIP.items():
        (printed,) = (text for _, code, _, text in paper.ITPR_ROWS if code == case)
        cut = paper.as_printed(information_of(paper.example(2, case)).itpr, printed)
        sizes = _sizes(tuple(Counter(own).values()))
        lines.append((f"case {case}", sizes, cut, printed, same(cut, printed)))
    codes = zip(*paper.ZIP.values(), strict=True)
    records = [(f"#{i}", *map(str, both)) for i, both in enumerate(codes, 1)]
    return Page(
        status=_status(lines),
        tables=(
            Grid("ITPR of Age (case 2) and Zip Code together",
                 ("Zip Code", "records that share each value", "ours", "printed in Table 5", ""),
                 lines),
            Grid("Table 6", ("#", *(f"case {case}" for case in paper.ZIP)), records),
        ),
    )  # fmt: skip


def _sizes(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))


def _cases(age: int, code: int | None = None, disease: int | None = None) -> str:
    found = {"Age": age, "Zip Code": code, "Disease": disease}
    return ", ".join(f"case {case} of {name}" for name, case in found.items() if case)


def _status(lines: Sequence[Sequence[object]], good: str = "reproduced") -> str:
    wrong = sum(line[-1] == "differs" for line in lines)
    return f"differs because {wrong} numbers are others" if wrong else good
