"""Risk against the population: a table of it, its size, or a survey's weights."""
