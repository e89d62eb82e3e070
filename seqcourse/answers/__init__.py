"""Worked answers, sealed in a file beside an assignment: how they are locked, read and shown."""
