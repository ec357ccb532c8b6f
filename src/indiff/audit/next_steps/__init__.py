"""Proposes what to do next, from what an audit measured."""
