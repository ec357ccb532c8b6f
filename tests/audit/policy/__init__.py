"""Policies: what each part of one means for an audit."""
