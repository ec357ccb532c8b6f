"""Sanitizers known only by what they return: functions, programs, folders of releases."""
