"""Many calls of a slow or unreliable sanitizer: here or elsewhere, repeated, and kept on disk."""
