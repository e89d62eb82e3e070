"""Grade a class.

``submissions``     workers examine in parallel, this process saves
``who``             whose submissions a run grades
``preview``         what a regrade would change
``which_counts``    the last attempt, or the best
``plain_nbgrader``  nbgrader's own autograde, with the same examination
"""
