"""DIT version 2."""
