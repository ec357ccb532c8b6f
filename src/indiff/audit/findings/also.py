"""Tests what one adversary learns from a release and those that are published beside it."""

from __future__ import annotations

from indiff.audit.findings.earlier import Attempts, Earlier
from indiff.audit.findings.exposure import settings
from indiff.audit.findings.release import Subject
from indiff.audit.metrics import metric
from indiff.differential.test import differential_test
from indiff.errors import UserError
from indiff.text import name as short_name

STEP = "releases beside"


def with_others(audit: Attempts, subject: Subject, earlier: Earlier) -> Earlier:
    """Return δ of all releases that are made here, beside what earlier ones add.

    One adversary reads this release and those of ``[release] also``, and a person is left out of
    all of them (:mod:`indiff.differential.together.rule`). Nothing where there are no others.
    """
    plan, table = audit.plan, subject.table
    if not plan.release.also:
        return earlier
    about = table.sensitive.name
    what, id = metric("together.delta", about=short_name(about)), f"together.delta:{about}"
    sanitizers = [plan.release.sanitizer, *plan.release.also]

    def find() -> Earlier:
        audit.say("testing all releases together", 0, 0)
        tables = plan.data.beside(plan.release, len(sanitizers), audit.table)
        own = [one.focus(about) for one in tables]
        models = None if plan.adversary.models == ["auto"] else plan.adversary.models
        asked = settings(plan, 1) | {"method": "auto", "model": models}
        result = differential_test(own, sanitizers, together=True, **asked)
        if result.interrupted or result.failures or not len(result.distances):
            reason = result.failures[0] if result.failures else "no record was measured"
            return Earlier((what.missed(id, "failed", str(reason), about=about),))
        words = {"about": short_name(about), "releases": " and ".join(sanitizers)}
        finding = what.found(
            id, result.delta, words, about=about, exactness=result.exactness,
            interval=result.delta_interval, seed=plan.run.seed,
            parameters={
                "releases": sanitizers, "model": result.model, "records": len(result.distances),
                "confidence": result.confidence,
            },
        )  # fmt: skip
        return Earlier((finding,), notes=tuple(result.notes))

    try:
        found: Earlier | None = audit.attempt(STEP, find)
    except UserError as error:  # as of every adversary: what others measured must survive it
        found, audit.lost[STEP] = None, str(error)
    if found is None:
        missed = what.missed(id, "failed", audit.lost.get(STEP, ""), about=about)
        found = Earlier((missed,))
    return earlier._replace(
        findings=(*earlier.findings, *found.findings), notes=(*earlier.notes, *found.notes)
    )
