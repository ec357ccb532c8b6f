"""Commands that make a file: a release, a hierarchy."""
