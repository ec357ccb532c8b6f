"""The commands that work with other tools."""
