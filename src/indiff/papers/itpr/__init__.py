"""The ITPR paper."""
