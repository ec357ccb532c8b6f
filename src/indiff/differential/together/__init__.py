"""The differential test of several releases of the same people, read by one adversary."""
