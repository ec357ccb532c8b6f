"""Collects the next steps: those that were measured to help, and what was measured not to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indiff.audit.next_steps import columns, records, settings
from indiff.audit.next_steps.case import TESTED, Case, Step, step
from indiff.audit.next_steps.tried import CONSTRAINTS, Tried, settings_tried
from indiff.text import name as short_name

_NO_LIMIT = (
    "The plan sets no limit, so nothing can be kept or exceeded: decide what is enough, such as "
    "k of at least 5 and δ of at most 0.5, and audit again."
)
_ELSE = (
    "What was not tried, and may help: leave out several columns, ask for other groups, or publish "
    "noisy counts instead (laplace:epsilon=1), whose δ falls with epsilon."
)


def next_steps(cases: Sequence[Case]) -> list[Step]:
    """Return what to do next, of every sensitive attribute; nothing where every limit is kept.

    Nothing is proposed that was not tried, or that the numbers rule out; what was tried and does
    not help is said. Whether something is tried depends on the size of the table alone, never on
    the clock: two runs of a plan propose the same.
    """
    first = cases[0]
    if not first.limits and first.plan.policy is None:
        return [step("none", _NO_LIMIT)]
    found = [*_unmeasured(first), *_untested(first)]
    own = [[*_of_attribute(case)] for case in cases]
    for case, steps in zip(cases, own, strict=True):
        for one in steps:
            if all(one in others for others in own):  # true of the only one, too
                found += [one] * (one not in found)
            else:
                about = short_name(case.table.sensitive.name)
                found.append(one | {"text": f"About {about}: {one['text']}"})
    return [one | {"text": first.redaction.text(one["text"])} for one in found]


def _of_attribute(case: Case) -> Iterator[Step]:
    """Propose what keeps the limits on one sensitive attribute, and say what does not."""
    tried = Tried()
    if case.exceeded & set(TESTED):
        tried = settings_tried(case)
        found = [
            *settings.from_curve(case, tried),
            *records.removal(case, tried),
            *columns.told_most(case, tried),
        ]
        yield from found
        if case.is_fast and not any(one["kind"] != "none" for one in found):
            yield step("none", _ELSE)
    yield from settings.constraint(case, tried)
    yield from columns.wider_groups(case)
    handled = {*TESTED, *CONSTRAINTS, *columns.COUNTS}
    rest = case.exceeded - handled
    if rest and not case.exceeded & handled:
        text = f"Nothing that was tried tells how to keep the limit on {' and '.join(sorted(rest))}"
        yield step("none", f"{text}: coarsen columns or ask for more, and audit again.")


def _unmeasured(case: Case) -> Iterator[Step]:
    for one in case.columns:
        why = "it names people" if one.names_people else "nothing was measured of it"
        more = "" if one.names_people else ", or make it a quasi-identifier or sensitive"
        yield step("coarsen", f"Publish without the column {short_name(one.name)}{more}: {why}.")


def _untested(case: Case) -> Iterator[Step]:
    partial = [one for one in case.findings if one.limit and one.exactness == "lower-bound"]
    if partial and case.plan.adversary.targets is not None and case.plan.release.file is None:
        text = "Test all records: a limit can only hold if nobody was left out of the test."
        yield step("none", text)
