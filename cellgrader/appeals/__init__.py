"""Appeals, an optional part.

``requests``   what a student wants looked at again, in appeal.md
``answering``  answers with points and a comment
"""
