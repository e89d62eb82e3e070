"""``seqcourse practice``: questions about a student's own answers, answered by running the code.

``items``    the questions about one answer
``running``  makes them in a process of its own
``ask``      asks them in the terminal, or writes a sheet
``public``   code of the package to ask about, and which questions
``page``     those as a page of the book
"""
