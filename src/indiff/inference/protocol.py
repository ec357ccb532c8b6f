"""What a model is: the adversary's inference algorithm 𝒜."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from indiff.release import Release
from indiff.table import Table


@runtime_checkable
class Model(Protocol):
    """𝒜: release × targets → beliefs (DIT v2, Definition 1)."""

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return one row per target: the probability of each sensitive value; rows sum to 1."""
        ...
