"""Says whether removing outliers keeps the limit on δ, and how many records that costs."""

from __future__ import annotations

from collections.abc import Iterator

from indiff.audit.fix import BUDGET, SHARE, Search, most_removals
from indiff.audit.metrics import number
from indiff.audit.next_steps.case import MOST_TESTED, Case, Step, step
from indiff.errors import UserError
from indiff.sanitizers.noise.mechanisms import NoisySanitizer

MOST_ROUNDS = 20


def removal(case: Case) -> Iterator[Step]:
    """Propose to remove outliers, with what it costs where that is cheap to know; or say why not.

    The search is the fix's own, without its check from scratch, so it removes the same records.
    """
    limit = case.limits.get("delta")
    if limit is None or "delta" not in case.exceeded or not _can_be_fixed(case):
        return
    records, most = len(case.table), most_removals(None, len(case.table))
    above = int((~(case.test.uppers <= limit)).sum())
    option = f"delta={limit:g}"
    search = _search(case, limit, most)
    if search is not None and search.status == "below":
        gone = len(search.removed)
        text = f"Remove {'1 record' if gone == 1 else f'{gone:,} records'} of {records:,}: --fix "
        text += f"{option} finds these outliers, sanitizes what is left and audits it."
        yield step("fix", text, case.command, fix=option)
    elif search is not None and search.status == "budget" and search.rounds:
        text = f"Removing outliers does not help: without the worst {len(search.removed):,} of "
        text += f"{records:,} records δ is still {number(search.rounds[-1].delta)}."
        yield step("none", text)
    elif search is not None and search.status == "stopped":
        yield step("none", f"Removing outliers does not help: {search.reason}".rstrip(".") + ".")
    elif above <= most:
        text = f"Remove outliers: {above:,} of {records:,} records are above the limit. --fix "
        text += f"{option} removes the worst, sanitizes and tests again until none is; how many "
        text += "that takes is known when it has run."
        yield step("fix", text, case.command, fix=option)
    else:
        text = f"Removing outliers is no way out: {above:,} of {records:,} records are above the "
        text += f"limit, and --fix removes at most {most:,} ({BUDGET:.0%}) unless --budget allows "
        yield step("none", f"{text}more.")


def _can_be_fixed(case: Case) -> bool:
    """Tell whether ``--fix`` takes this plan."""
    plan = case.plan
    several = len(plan.data.sensitive) > 1 and not plan.data.joint
    asked = (plan.data.individual, plan.adversary.targets, plan.run.time)
    if case.test is None or case.sanitizer is None or several:
        return False
    noisy = isinstance(case.sanitizer, NoisySanitizer)
    return not noisy and plan.adversary.method == "auto" and all(one is None for one in asked)


def _search(case: Case, limit: float, most: int) -> Search | None:
    """Search for removals, as a fix does, where its adversaries and the table make it cheap."""
    assert case.sanitizer is not None
    rounds = min(MOST_ROUNDS, MOST_TESTED // (len(case.table) * len(case.models)))
    if rounds < 2 or not case.is_fast or len(case.quick) < len(case.models):
        return None
    options = {"model": case.models, **case.plan.settings}
    search = Search(case.table, case.sanitizer, float(limit), most, options)
    try:
        search.remove(SHARE, most=rounds)
    except UserError:
        return None
    return search
