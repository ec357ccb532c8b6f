"""The server: routes, sessions, and the checks before every request."""
