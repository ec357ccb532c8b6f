"""One synthetic file beside its original, and beside records that its generator never saw."""
