"""Distances between beliefs, and ground distances between sensitive values."""
