"""The scripts need the rivals' environment, so pytest must not import them here."""

collect_ignore_glob = ["scripts/*.py"]
