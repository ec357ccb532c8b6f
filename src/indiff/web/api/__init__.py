"""The HTTP interface under ``/api/v1``, one file per thing it is about."""
