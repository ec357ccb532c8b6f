"""Commands before a test: look at the columns, build a hierarchy, make a release."""
