"""𝒜: the adversary's models, one file per family."""

from __future__ import annotations

from indiff.errors import UserError, unknown
from indiff.inference.frequency import Frequency
from indiff.inference.naive_bayes import NaiveBayes
from indiff.inference.protocol import Model

MODELS: dict[str, type[Model]] = {"naive-bayes": NaiveBayes, "frequency": Frequency}


def as_model(model: str | Model) -> Model:
    """Return a model from its name, or the model itself.

    >>> as_model("naive-bayes")
    NaiveBayes(alpha=1.0, prior='release')
    """
    if isinstance(model, str):
        if model not in MODELS:
            raise unknown("model", model, MODELS)
        return MODELS[model]()
    if not isinstance(model, Model):
        raise UserError(
            f"a model is a name ({', '.join(MODELS)}) or an object with "
            f"beliefs(release, targets); got {model!r}."
        )
    return model


__all__ = ["Frequency", "Model", "NaiveBayes", "as_model"]
