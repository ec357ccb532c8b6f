"""𝒜: the adversary's models, one file per family."""

from indiff.inference.classifier import Classifier
from indiff.inference.encodings import ENCODINGS, Encoding
from indiff.inference.models import Frequency, Model, NaiveBayes, as_model

__all__ = [
    "ENCODINGS",
    "Classifier",
    "Encoding",
    "Frequency",
    "Model",
    "NaiveBayes",
    "as_model",
]
