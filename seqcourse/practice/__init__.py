"""Questions about a student's own answers, answered by running the code: ``seqcourse practice ps5``.

``items``    the questions about one answer
``running``  makes them in a process of its own
"""
