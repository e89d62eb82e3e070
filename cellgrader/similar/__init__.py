"""Submissions that are alike, an optional part.

``compare``     compares the answers of every pair of students
``pairs_page``  the page that shows them
"""
