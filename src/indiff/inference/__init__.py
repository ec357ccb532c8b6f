"""𝒜: the adversary's models, one file per family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from indiff.errors import UserError, unknown
from indiff.inference.classifier import CLASSIFIERS, Classifier, is_estimator
from indiff.inference.counting import Frequency, NaiveBayes
from indiff.inference.encodings import ENCODINGS, Encoding
from indiff.inference.protocol import Model

MODELS: dict[str, Callable[[], Model]] = {
    "naive-bayes": NaiveBayes,
    "frequency": Frequency,
    **{name: partial(Classifier, name) for name in CLASSIFIERS if name != "naive-bayes"},
}


def as_model(model: str | Model) -> Model:
    """Return a model from its name or from a scikit-learn classifier, or the model itself.

    >>> as_model("naive-bayes")
    NaiveBayes(alpha=1.0, prior='release')
    >>> as_model("tree:encoding=Scaling-Hot").encoding
    Encoding(numeric='Scaling', categorical='Hot', quantiles=5)
    """
    if isinstance(model, str):
        return _parse(model)
    given: object = model  # whatever it was said to be
    if isinstance(given, type):
        raise UserError(f"a model must be an object, not a class: write {given.__name__}(…).")
    if isinstance(given, Model):
        return given
    if is_estimator(given):
        return Classifier(given)
    raise UserError(
        f"a model is a name ({', '.join(MODELS)}), a scikit-learn classifier "
        "(with predict_proba) or an object with beliefs(release, targets)",
        f"{given!r}",
    )


def _parse(text: str) -> Model:
    name, colon, rest = text.partition(":")
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    if not colon:
        return MODELS[name]()
    key, sign, encoding = rest.partition("=")
    if name not in CLASSIFIERS or key != "encoding" or not sign:
        raise UserError(
            "a model takes no parameter in its name but an encoding, as in "
            "tree:encoding=Scaling-Hot, and frequency takes none",
            f"{text!r}",
        )
    return Classifier(name, encoding=encoding)


__all__ = [
    "ENCODINGS",
    "Classifier",
    "Encoding",
    "Frequency",
    "Model",
    "NaiveBayes",
    "as_model",
]
