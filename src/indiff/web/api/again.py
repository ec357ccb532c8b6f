"""Turns a run back into the request behind it, to be changed and started once more."""

from __future__ import annotations

from typing import Any

from indiff.errors import UserError
from indiff.web.api.choices import plainly
from indiff.web.api.models import AdversaryChoice, ReleaseChoice, RunRequest
from indiff.web.api.planning import as_text
from indiff.web.store.rows import Row
from indiff.web.store.store import Store


def request_of(store: Store, run: Row) -> dict[str, Any]:
    """Return what a run was started with, as the forms of the pages and a request have it."""
    plan = run["task"]["plan"]
    found: dict[str, Any] = {
        "releases": [_release_of(store, run["dataset"], plan["release"])],
        "adversary": {
            name: value
            for name, value in plan["adversary"].items()
            if name in AdversaryChoice.model_fields
        },
        "context": dict(plan.get("context", {})),  # none where an older version made the run
        "limits": dict(plan["limits"]),
    }
    for section in ("data", "report", "run"):
        known = RunRequest.model_fields.keys() & plan[section].keys() - {"title"}
        found |= {name: plan[section][name] for name in sorted(known)}
    title, own = str(plan["report"]["title"]), str(run["title"])
    for called in (own, plainly(own)):  # an older version took the name as it is
        title = title.removesuffix(f": {called}")
    if title != store.dataset(run["dataset"])["name"]:
        found["title"] = title
    return found


def _release_of(store: Store, dataset: str, section: dict[str, Any]) -> dict[str, Any]:
    if section.get("file"):
        for one in store.releases(dataset):
            if one["path"] == section["file"]:
                names = ReleaseChoice.model_fields.keys() - {"sanitizer", "file", "command"}
                told = {name: section[name] for name in sorted(names) if section.get(name)}
                return {"file": one["id"], **told}
        raise UserError(
            "the release of this run was deleted", way_out="Upload it again, then choose it"
        )
    for name, command in store.settings.commands.items():
        if as_text(command) == section["sanitizer"]:
            return {"command": name}
    return {"sanitizer": section["sanitizer"]}
