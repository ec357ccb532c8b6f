"""A plan and the command line let a service be anywhere only where they say so."""

from __future__ import annotations

from typing import Any

import pytest

from indiff import Plan
from indiff.audit.plan.recipe import Recipe

DATA = {"sensitive": "ill"}
AWAY = "http://example.org/anonymize"
ALLOWED = "http(remote=yes)://example.org/anonymize"


@pytest.mark.parametrize(
    ("release", "made"),
    [({"sanitizer": AWAY}, AWAY), ({"sanitizer": AWAY, "allow_remote": True}, ALLOWED),
     ({"sanitizer": ALLOWED}, ALLOWED), ({"sanitizer": "mondrian:k=3", "allow_remote": True},
                                         "mondrian:k=3")],
)  # fmt: skip
def test_a_plan_says_where_a_service_may_be(release: dict[str, Any], made: str) -> None:
    assert Plan(data=DATA, release=release).release.sanitizer == made


def test_so_does_the_command_line() -> None:
    raw = {"sanitizer": AWAY, "sensitive": ["ill"], "allow-remote": True}
    assert Recipe("sanitize", raw)["sanitizer"] == ALLOWED
    assert Recipe("sanitize", raw | {"allow-remote": False})["sanitizer"] == AWAY
    assert Recipe("compare", raw | {"sanitizer": [AWAY, "identity"]})["sanitizer"] == [
        ALLOWED,
        "identity",
    ]
