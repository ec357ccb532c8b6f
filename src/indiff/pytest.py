"""Makes an audit a test: the fixture ``indiff_audit`` and the marker ``indiff`` of pytest.

pytest loads this module wherever indiff is installed, so it imports nothing that takes time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from indiff.audit.document import AuditResult
    from indiff.audit.plan.plan import Plan

_MARKER = (
    "indiff(plan=None, out=None): an audit by indiff; every test that uses indiff_audit has this "
    "mark (-m 'not indiff' leaves them out), and one that is marked by hand can name its plan"
)
_TOLD = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", _MARKER)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what uses the fixture: audits take time, and can be chosen or left out."""
    uses = "indiff_audit" in getattr(item, "fixturenames", ())
    if uses and item.get_closest_marker("indiff") is None:
        item.add_marker("indiff")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the verdict and its reasons where a test with an audit fails."""
    report = yield
    if report.failed:
        report.sections += [("indiff: the verdict", told) for told in item.stash.get(_TOLD, ())]
    return report


@pytest.fixture
def indiff_audit(request: pytest.FixtureRequest) -> Callable[..., AuditResult]:
    """Run an audit: ``assert indiff_audit("plan.toml").passed``.

    The plan is a path, seen from the test's own folder, or a :class:`indiff.Plan`; without one it
    is the marker's. ``table`` is a frame to audit instead of the plan's file, and ``out`` a folder
    that gets the report. A limit that is exceeded, a number that was not measured and a plan
    without any limit are no pass.
    """
    mark = request.node.get_closest_marker("indiff")
    given = {} if mark is None else _of_marker(*mark.args, **mark.kwargs)
    told = request.node.stash.setdefault(_TOLD, [])

    def audit(
        plan: Plan | str | Path | None = None, table: Any = None, *, out: str | Path | None = None
    ) -> AuditResult:
        chosen = given.get("plan") if plan is None else plan
        place = given.get("out") if out is None else out
        result = _audited(chosen, table, request.path.parent)
        if place is not None:
            result.write(request.path.parent / place)
        told.append(verdict_text(result))
        if result.bug is not None:
            raise result.bug
        return result

    return audit


def _of_marker(plan: Any = None, out: Any = None) -> dict[str, Any]:
    return {"plan": plan, "out": out}


def _audited(plan: Any, table: Any, folder: Path) -> AuditResult:
    """Run the audit; what a user can correct is a failure in one sentence."""
    from indiff.audit.run import run_audit
    from indiff.errors import UserError

    if plan is None:
        pytest.fail("indiff_audit needs a plan: indiff_audit('plan.toml')", pytrace=False)
    try:
        return run_audit(folder / plan if isinstance(plan, str | Path) else plan, table)
    except UserError as error:
        pytest.fail(f"indiff: {error}", pytrace=False)


def verdict_text(result: AuditResult) -> str:
    """Return the verdict, its reasons and the next steps in lines, as the command line words them.

    >>> import indiff
    >>> plan = indiff.Plan(data={"quasi": ["age", "sex"], "sensitive": "diagnosis"})
    >>> result = indiff.run_audit(plan, indiff.datasets.demo(records=100))
    >>> print(verdict_text(result).splitlines()[0], result.passed)
    NO LIMITS: nothing was exceeded because no limit was given False
    """
    from indiff import text as plain
    from indiff.report.exposed import above_limit
    from indiff.report.finding import VERDICTS

    document = result.document
    lines = [VERDICTS[result.verdict["status"]].line]
    lines += [f"  {one}" for one in (*above_limit(document), *result.verdict["reasons"])]
    lines += [f"next: {one['text']}" for one in document["next_steps"]]
    return "\n".join(plain.message(line) for line in lines)
