"""Points, and what becomes of them.

``in_gradebook``   what the gradebook says of a submission
``by_hand``        points by hand count until the answer changes
``late``           penalties for being late
``late_days``      the account of late days
``history``        every change of a mark, with its reason
``in_words``       those changes in words: for the terminal and a feedback page
``only_gains``     marks that a regrade would lower stay
``appeal_points``  answers to appeals, which outlive a gradebook
``scores``         a table for the terminal
``export``         a table as CSV, or in a platform's form
``course_total``   a line per student over all assignments
"""
