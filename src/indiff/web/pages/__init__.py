"""The pages: one file per step, each a thin face of the same functions as the HTTP interface."""
