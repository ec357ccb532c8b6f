"""Other people's tools, called for comparison."""
