"""Grade a class.

``submissions``     workers examine in parallel, this process saves
``who``             whose submissions a run grades
``preview``         what a regrade would change
``how``             by which workers, within which limits, what is graded again
``which_counts``    the last attempt, or the best
``plain_nbgrader``  nbgrader's own autograde, with the same examination
"""
