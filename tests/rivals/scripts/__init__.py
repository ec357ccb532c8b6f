"""What runs inside the rivals' environment: pandas and the rivals, nothing of indiff."""
