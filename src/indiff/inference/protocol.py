"""What a model is: the adversary's inference algorithm 𝒜."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.inference.tally import Tally
from indiff.release.release import Release


@runtime_checkable
class Model(Protocol):
    """𝒜: release × targets → beliefs (DIT v2, Definition 1)."""

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return one row per target: the probability of each sensitive value; rows sum to 1."""
        ...


@runtime_checkable
class TallyModel(Model, Protocol):
    """A model that may need no more of a release than what TF features show to one target."""

    def learns_from_tally(self, columns: int) -> bool:
        """Tell whether a tally of so many columns is all that it needs of a release."""
        ...

    def belief_from_tally(self, tally: Tally, target: Table) -> NDArray[np.float64]:
        """Return the one row that ``beliefs`` has for the tally's release and target."""
        ...


def is_randomized_model(model: Model) -> bool:
    """Tell whether a model says of itself that fitting it twice may give two beliefs."""
    return bool(getattr(model, "randomized", False))
