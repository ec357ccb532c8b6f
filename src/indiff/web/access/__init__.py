"""Who may use the server: sessions, and the checks before every request."""
