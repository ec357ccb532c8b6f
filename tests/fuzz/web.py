"""Asks a server what nobody expects: requests, tables, hierarchies and releases that are changed."""

# ruff: noqa: E501 - a table of requests

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.cases import values
from tests.fuzz.strange import changed, separated, strength, written
from tests.fuzz.valid import arx_release, hierarchy, people

REQUEST: dict[str, Any] = {
    "releases": [{"sanitizer": "mondrian:k=3"}], "adversary": {"membership": False, "targets": 3},
    "seed": 1, "limits": {"delta": 1}, "min_cell": 5, "title": "A title",
}  # fmt: skip
READING: dict[str, Any] = {"encoding": "utf-8", "separator": ",", "header_row": 1}
ROLES: dict[str, Any] = {
    "columns": [{"name": "age", "role": "quasi", "kind": "numeric"}, {"name": "ill", "role": "sensitive"}]
}  # fmt: skip
BUILT: dict[str, Any] = {"build": "bands", "column": "age", "widths": [5, 10], "start": 0}


def body(dice: random.Random, given: dict[str, Any]) -> bytes:
    """Return a request as JSON, perhaps changed."""
    match strength(dice):
        case "nothing":
            return json.dumps(given).encode()
        case "wildly":
            return changed(dice, json.dumps(given).encode())
        case _:
            made = dict(given)
            key = dice.choice(list(made))
            if dice.random() < 0.1:
                made[dice.choice(("more", key.upper()))] = made.pop(key)
            else:
                made[key] = values(dice, made[key])
            text = json.dumps(made)
            return (text.replace('"', "[" * 2000, 1) if dice.random() < 0.02 else text).encode()


def ask(dice: random.Random, folder: Path) -> tuple[list[tuple[str, int]], str | None]:
    """Ask a new server some questions; return what each was answered, and what broke it."""
    from tests.web.site import V1, open_site

    site = open_site(folder)
    dataset = site.upload(written(people()))["id"]
    answers: list[tuple[str, int]] = []
    of = f"/datasets/{dataset}"
    questions: tuple[tuple[str, str, str, Callable[[], bytes]], ...] = (
        ("HTTP, run", "POST", f"{of}/runs", lambda: body(dice, REQUEST)),
        ("HTTP, estimate", "POST", f"{of}/estimates", lambda: body(dice, REQUEST)),
        ("HTTP, reading", "PUT", f"{of}/reading", lambda: body(dice, READING)),
        ("HTTP, roles", "PUT", f"{of}/roles", lambda: body(dice, ROLES)),
        ("HTTP, built hierarchy", "POST", f"{of}/hierarchies", lambda: body(dice, BUILT)),
        ("HTTP, table", "POST", "/datasets?name=more.csv", lambda: separated(dice, people())),
        ("HTTP, hierarchy", "PUT", f"{of}/hierarchies/town", lambda: separated(dice, hierarchy("town"))),
        ("HTTP, release", "POST", f"{of}/releases?name=out.csv", lambda: separated(dice, arx_release(), ";")),
    )  # fmt: skip
    for _ in range(8):
        kind, method, path, sent = dice.choice(questions)
        headers = {"content-type": "application/json"}
        answer = site.client.request(method, f"{V1}{path}", content=sent(), headers=headers)
        answers.append((kind, answer.status_code))
        if answer.status_code >= 500:
            return answers, f"{method} {path} {answer.status_code}: {answer.text[:500]}"
        site.work()
    for job in site.server.store.jobs():
        if "internal error" in str(job["problem"]):
            return answers, f"a job: {job['kind']} {job['task']} {job['problem']}"[:1500]
    return answers, None
