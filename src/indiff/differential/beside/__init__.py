"""One release beside its original, without its sanitizer."""
