"""The audit in a browser: a local server, its store, its workers and its pages."""
