"""What the server keeps on disk: its database, uploaded files, results."""
