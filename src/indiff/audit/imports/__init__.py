"""Plans from the projects of other tools."""
