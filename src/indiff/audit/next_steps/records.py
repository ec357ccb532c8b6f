"""Says whether removing outliers keeps the limit on δ, and how many records that costs."""

from __future__ import annotations

from collections.abc import Iterator

from indiff.audit.findings.exposure import adversaries_of
from indiff.audit.fix import BUDGET, SHARE, Search, most_removals
from indiff.audit.metrics import number
from indiff.audit.next_steps.case import MOST_TESTED, Case, Step, step
from indiff.audit.next_steps.tried import Tried, also_kept, groups_of, is_one_group, unkept
from indiff.errors import UserError
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.sanitizers.noise.mechanisms import CellMechanism
from indiff.sanitizers.sanitizer import Sanitizer, as_sanitizer
from indiff.text import counted, describe

MOST_ROUNDS = 20
MOST_SETTINGS = 2  # so many are searched: those with the fewest records above the limit
# Seconds that one core takes for one record and adversary, by refits and by the exact walk; twice
# as long on a slow machine. Told in words that no machine changes much.
_REFIT, _WALK = 4e-3, 6e-4
_SPANS = {60: "less than a minute", 600: "some minutes", 3600: "up to an hour"}


def removal(case: Case, tried: Tried) -> Iterator[Step]:
    """Propose to remove outliers, with what it costs where that is cheap to know; or say why not.

    It is looked for with the plan's own setting and, where no other keeps the limit, with those
    that leave the fewest records above it. The search is the fix's own, without its check from
    scratch, so it removes the same records.
    """
    limit = case.limits.get("delta")
    if limit is None or "delta" not in case.exceeded or not _can_be_fixed(case):
        return
    records, most = len(case.table), most_removals(None, len(case.table))
    settings = _settings(case, tried, float(limit))
    few = [name for name, above in settings.items() if above <= most]
    searches = {name: _search(case, name, float(limit), most) for name in few[:MOST_SETTINGS]}
    for name, search in searches.items():
        if search is None or search.status != "below":
            continue
        is_own = name == case.plan.release.sanitizer
        if (not is_own and is_one_group(search.left, name)) or unkept(case, name, search.left):
            continue
        told = counted(len(search.removed), "record")
        later = _asked_later(case, name, search)
        told = f"about {told}" if later else told
        why = _why(settings[name], len(search.removed), later)
        yield _proposed(case, name, f"emove {told} of {records:,}{why}", search)
        return
    name, above = next(iter(settings.items()))
    first = searches.get(name)
    if first is not None and first.status == "budget" and first.rounds:
        text = f"Removing outliers does not help: without the worst {len(first.removed):,} of "
        text += f"{records:,} records δ is still {number(first.rounds[-1].delta)}"
        yield step("none", f"{text}{_at(case, name)}.")
    elif first is not None and first.status == "stopped":
        yield step("none", f"Removing outliers does not help: {first.reason}".rstrip(".") + ".")
    elif above <= most:
        told = f"{above:,} of {records:,} records {'is' if above == 1 else 'are'} above the limit"
        text = f"emove outliers, as {told}"
        yield _proposed(case, name, text, None)
    else:
        text = f"Removing outliers is no way out: {above:,} of {records:,} records are above the "
        text += f"limit{_at(case, name)}, and --fix removes at most {most:,} ({BUDGET:.0%}) unless "
        yield step("none", f"{text}--budget allows more.")


def _settings(case: Case, tried: Tried, limit: float) -> dict[str, int]:
    """Return how many records are above the limit by setting, those with the fewest first."""
    own, above = case.plan.release.sanitizer, int((~(case.test.uppers <= limit)).sum())
    if tried.kept is not None:
        return {own: above}
    found = {x["setting"]: x["above"] for x in tried.allowed(case) if x.get("above") is not None}
    return dict(sorted(({own: 0} | found | {own: above}).items(), key=lambda item: item[1]))


def _asked_later(case: Case, setting: str, search: Search) -> list[str]:
    """Name the adversaries of the plan that the search did not ask."""
    models = adversaries_of(case.plan, as_sanitizer(setting), case.table).models
    asked = {describe(one) for one in search.options["model"]}
    return [name for name in map(describe, models) if name not in asked]


def _why(above: int, removed: int, later: list[str]) -> str:
    """Say in brackets why more go than are above the limit, and who was not asked yet.

    >>> _why(1, 2, ["tree"]), _why(2, 2, [])
    (' (1 above the limit, and 1 more who stands out then; tree was not asked yet)', '')
    """
    told = []
    if removed > above:
        stand = "stands" if removed - above == 1 else "stand"
        told.append(f"{above:,} above the limit, and {removed - above:,} more who {stand} out then")
    if later:
        told.append(f"{' and '.join(later)} {'was' if len(later) == 1 else 'were'} not asked yet")
    return f" ({'; '.join(told)})" if told else ""


def _at(case: Case, setting: str) -> str:
    return "" if setting == case.plan.release.sanitizer else f" with {setting}"


def _proposed(case: Case, setting: str, what: str, search: Search | None) -> Step:
    """Propose to remove outliers with a setting, and say what comes of it."""
    option, is_own = f"delta={case.limits['delta']:g}", setting == case.plan.release.sanitizer
    text = f"R{what}: " if is_own else f"Ask for {setting}, and r{what}: "
    text += f"--fix {option} removes the "
    if search is None:
        text += "worst, sanitizes and tests again until none is; how many that takes is known when "
        text += "it has run."
    else:
        text += "outliers, sanitizes and audits what is left, and tests it from scratch, which "
        text += f"takes {_span(case, search)}.{_coarser(case, setting, search)}{also_kept(case)}"
    more = {} if is_own else {"sanitizer": setting}
    return step("fix", text, case.command, **more, fix=option)


def _coarser(case: Case, setting: str, search: Search) -> str:
    """Say how much detail another setting costs: how many groups it publishes."""
    now, then = groups_of(case.table, case.plan.release.sanitizer), groups_of(search.left, setting)
    if now is None or then is None or then >= now:
        return ""
    told = f" That publishes {then:,} groups instead of {now:,}"
    return f"{told}: less detail, and what it is still good for was not measured."


def _span(case: Case, search: Search) -> str:
    """Say how long a fix takes: every round's test, the audit's, and one from scratch."""
    models, records = len(case.models), len(case.table)
    walks = (len(search.rounds) + 1) * records * models * _WALK
    seconds = walks + records * models * _REFIT
    return next((words for most, words in _SPANS.items() if seconds <= most), "hours")


def _can_be_fixed(case: Case) -> bool:
    """Tell whether ``--fix`` takes this plan."""
    plan = case.plan
    several = len(plan.data.sensitive) > 1 and not plan.data.joint
    asked = (plan.data.individual, plan.adversary.targets, plan.run.time)
    if case.test is None or case.sanitizer is None or several:
        return False
    noisy = isinstance(case.sanitizer, CellMechanism) or case.sanitizer.randomized
    return not noisy and plan.adversary.method == "auto" and all(one is None for one in asked)


def _search(case: Case, setting: str, limit: float, most: int) -> Search | None:
    """Search for removals, as a fix does, where its adversaries and the table make it cheap."""
    made = as_sanitizer(setting)
    models = _cheap(case, made)
    rounds = MOST_TESTED // (len(case.table) * max(1, len(models)))
    if rounds < 2 or not models or not case.is_fast:
        return None
    search = Search(case.table, made, limit, most, {"model": models, **case.plan.settings})
    try:
        search.remove(SHARE, most=min(rounds, MOST_ROUNDS))
    except UserError:
        return None
    return search


def _cheap(case: Case, made: Sanitizer) -> tuple[Model, ...]:
    """Return the adversaries of the fix that are cheap to ask; none if others than a tree are not.

    A tree sees about as many outliers as they do, but it takes its time.
    """
    models = adversaries_of(case.plan, made, case.table).models
    cheap = tuple(one for one in models if isinstance(one, NaiveBayes | Frequency))
    rest = {describe(one) for one in models if one not in cheap}
    return cheap if rest <= {"tree"} else ()
