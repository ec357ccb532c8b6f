"""A test that does not fit into the memory that is free is refused."""

from __future__ import annotations

import pytest

from indiff.differential import memory
from indiff.errors import UserError


def test_a_test_that_does_not_fit_is_refused_with_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """20,000 × 10,000 numbers of 8 bytes, four times."""
    monkeypatch.setattr(memory, "free_memory", lambda: 3 * 10**9)
    memory.check_memory(9_000, 10_000)
    with pytest.raises(
        UserError,
        match=r"20,000 records over 10,000 sensitive values need about 6\.4 GB of memory; "
        r"3\.0 GB are free\. Test fewer records with targets=200",
    ):
        memory.check_memory(20_000, 10_000)
