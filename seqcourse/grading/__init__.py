"""Releasing, grading and feedback, built on nbgrader.

``course``     the folders of a course, and nbgrader's settings for them
``notebook``   the exercises of a notebook, read from nbgrader's metadata
``release``    solutions/ -> assignments/, reproducible byte for byte
``grade``      one process per submission, one record per student
``worker``     the code that runs in such a process
``scores``     the gradebook as a table, and as CSV
``feedback``   pages for students, without the hidden checks
``sample``     a class of made-up students to test the grader with

These modules do not import PyTorch. Only the kernels that run students' code do.
"""
