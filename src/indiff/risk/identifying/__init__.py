"""Finds what identifies people: columns by their values, records that few columns single out."""
