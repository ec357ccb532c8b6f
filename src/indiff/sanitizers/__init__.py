"""f: the sanitizers, one file per technique."""
