"""Several tables of the same people as one, as far as the memory reaches."""
