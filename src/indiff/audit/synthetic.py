"""Judges what one synthetic file tells of the records behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indiff.audit.verdict import Exit, Verdict, with_columns

if TYPE_CHECKING:
    from indiff.differential.synthetic.result import Excess, SyntheticResult


def judge_synthetic(results: Sequence[SyntheticResult]) -> Verdict:
    """Fail what more of the original's people suffer than chance gives; nothing else passes.

    Nothing was found is no proof, so that the verdict is never better than incomplete. Nobody is
    accused without held-out records: a file that is no fresh sample need not be one that copies.
    """
    proved = [
        f"{_sentence(excess)}, with {result.confidence:.0%} confidence"
        for result in results
        for excess in result.proved
    ]
    reasons = tuple(dict.fromkeys(proved))
    code = Exit.EXCEEDED if proved else Exit.INCOMPLETE
    if not proved:
        reasons = (_unproved(results),)
    first = results[0]
    return with_columns(Verdict(code, reasons), first.unmeasured, first.repeated)


def _sentence(one: Excess) -> str:
    return (
        f"the file holds something of the original's people ({one.name}): of {one.original:,} of "
        f"{one.people:,}, and of {one.held_out:,} of {one.others:,} held out "
        f"(p = {one.p_value:.2g})"
    )


def _unproved(results: Sequence[SyntheticResult]) -> str:
    first = results[0]
    if first.held_out is not None:
        tested = sum(len(result.excesses) for result in results)
        return (
            f"nothing of the original's people was proved to be in the file, by {tested} "
            f"comparisons with {first.held_out:,} held-out records; that is no proof that nothing "
            "is: no pass"
        )
    if first.suspicious:
        return (
            f"{first.copies.singles:,} records that nobody shares are in the file, more than in a "
            f"fresh sample (p = {first.copies.fresh:.2g}): it may copy them, or only be narrower "
            "than the population; --held-out tells which"
        )
    return (
        "without --held-out nothing can be proved, neither that records are in the file nor that "
        "they are not: no pass"
    )
