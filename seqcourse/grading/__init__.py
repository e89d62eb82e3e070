"""Releasing, grading and feedback: nbgrader underneath, one student at a time.

``course``     where everything lies, and nbgrader's settings for it
``notebook``   the exercises of a notebook, read from nbgrader's metadata
``release``    solutions/ -> assignments/, byte-identical when generated again
``grade``      one process per submission, one record per student
``worker``     that process
``scores``     the gradebook as a table, and as CSV
``feedback``   pages for students that never show a hidden check
``sample``     a class of made-up students, to try all of it on

Nothing here imports PyTorch: the students' code does, in kernels of their own.
"""
