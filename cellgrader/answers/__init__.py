"""Worked answers, sealed in a file beside an assignment.

``sealing``  how a text is locked with a key
``sheet``    the file, and when its answers open
``folded``   how a notebook shows them
"""
