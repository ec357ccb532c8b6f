"""Sanitizers that publish records with other values: PRAM, rank swapping, noise, averages."""
