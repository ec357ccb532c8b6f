"""What a report may name."""
