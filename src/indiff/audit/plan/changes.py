"""Says which options each command takes, and where one differs there: help, default, panel."""

from __future__ import annotations

from typing import Any

from indiff.audit.plan.option import COMPARISON, METRICS, REQUIRED

# fmt: off
_READING = (
    "missing-token", "decimal", "date-format", "header-row", "encoding", "separator", "sheet",
)
_TABLE = (
    "quasi", "sensitive", "joint", "identifier", "other", "hierarchy", "kind", "order", "bins",
    "missing", *_READING, "metadata",
)
_ADVERSARY = ("model", "prior", "known", "distance")
_POPULATION = ("population", "sampling", "weight", "household")
_CLAIM = ("claim", "calls", "canaries")
_SAMPLING = ("runs", "confidence", "jobs", "seed")
COMMANDS = {
    "test": (
        "data", *_TABLE, "join", "on", "individual", "sanitizer", "allow-remote", "together",
        "table", "columns", "release", "key", "rows-in-order", "release-encoding", "suppressed",
        "synthetic", "held-out", *_ADVERSARY, "targets", "method", *_SAMPLING, *_CLAIM, "run",
        "time", "retries", "backend", "scheduler", "limit", "json", "records", "why",
        "show-values", "membership",
    ),
    "risk": (
        "data", *(name for name in _TABLE if name != "missing"), "individual",
        *_POPULATION, "keys", "special", "combinations", "details", "policy", "limit", "engine",
        "master", "threads", "memory-limit", "show-values", "json", "records",
    ),
    "sanitize": (
        "data", *_TABLE, "sanitizer", "allow-remote", "edges", "domain", "seed", "keep", "out",
    ),
    "columns": ("data", *_READING, "share", "size", "json"),
    "compare": (
        "data", *_TABLE, "sanitizer", "allow-remote", "task", "utility", "recommend", *_ADVERSARY,
        *_SAMPLING, "json", "markdown", "chart",
    ),
    "audit": (
        "data", "init", *_TABLE, "join", "on", "individual", *_POPULATION, "sanitizer",
        "allow-remote", "also", "table", "columns", "release", "before", "key", "rows-in-order",
        "release-encoding", "suppressed", *_ADVERSARY, "targets", "method", *_SAMPLING, *_CLAIM,
        "time", "keys", "special", "policy", "limit", "parameter", "task", "fix", "budget", "worst",
        "min-cell", "show-values", "title", "out", "write-release", "pdf", "junit", "summary",
    ),
}
CHANGES: dict[tuple[str, str], dict[str, Any]] = {
    ("test", "order"): {
        "help": "An ordinal column's values in order: COLUMN=A,B,C. Of the targets: worst-first, "
        "random or given; of a claim's also outlying.",
        "metavar": "ORDER",
    },
    ("test", "limit"): {
        "help": "Fail (exit 1) above this: delta=0.1; of several releases determined=0 (a share of "
        "the records); repeatable."
    },
    ("test", "sanitizer"): {
        "help": "name:parameter=value,…, as in mondrian:k=5,l=2 (mondrian has k, l, distinct_l, "
        "entropy_l, recursive=C/L, t, regions=tight or cut, unmet=error or generalize; default "
        "mondrian:k=5) or recoding:k=5,suppression=0.02 (the same limits; loss, suppressed=keep or "
        "drop); or a program, 'command:./anonymize.sh {input} {output}'; or a service, "
        "http://127.0.0.1:8000/anonymize; or a folder of releases, releases:DIR; several with "
        "--together. Others: laplace, pram, rank-swap, mdav … (docs/sanitizers.md).",
        "typed": list[str], "default": None,
    },
    ("test", "release"): {
        "help": "Test this release of DATA, whatever made it, instead of a sanitizer; several: "
        "what they tell together.",
        "typed": list[str],
    },
    ("test", "show-values"): {
        "help": "Show values of the table (with --why), and what a failing program said."
    },
    ("test", "membership"): {"default": False},
    ("risk", "data"): {
        "help": "A table or a release: a file, a folder or a pattern of text or Parquet files, or "
        "- (standard input).",
        "typed": str,
    },
    ("risk", "sensitive"): {
        "help": "Sensitive columns or expressions: their inference is measured.", "metavar": "S",
        "default": [],
    },
    ("risk", "individual"): {"help": "Rows that share it are one person."},
    ("risk", "limit"): {
        "help": "Fail (exit 1) beyond this: k=5 or l=2 (at least), t=0.2, marketer=0.1, "
        "reidentification.itpr=0.5, inference.itpr=0.5, inference.S.dr=0.1 (at most) …; "
        "repeatable.",
        "panel": METRICS,
    },
    ("risk", "policy"): {"panel": METRICS},
    ("risk", "show-values"): {"help": "Name the table's values, rare ones too, in all output."},
    ("sanitize", "seed"): {
        "help": "Of the order of rows; whoever knows it can undo the shuffle. Random by default.",
        "default": None,
    },
    ("sanitize", "out"): {
        "help": "Where the release goes (.csv, .tsv, .parquet).", "metavar": "FILE",
        "default": REQUIRED,
    },
    ("compare", "sanitizer"): {
        "help": "name:parameter=value,…, a parameter with several values: mondrian:k=2,5,10; "
        "repeatable.",
        "typed": list[str], "panel": COMPARISON, "default": REQUIRED,
    },
    ("compare", "task"): {"panel": COMPARISON},
    ("audit", "data"): {
        "help": "A plan (.toml), or a table as in every command.", "metavar": "DATA|PLAN",
    },
    ("audit", "sensitive"): {"default": []},
}
