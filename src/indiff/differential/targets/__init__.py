"""Which records are tested, in which order, and what a sample of them guarantees."""
