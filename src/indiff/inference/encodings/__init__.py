"""How regions become features: the 24 encodings of DIT v1, Appendix A."""

from indiff.inference.encodings.encoding import ENCODINGS, EncodedRelease, Encoding

__all__ = ["ENCODINGS", "EncodedRelease", "Encoding"]
