"""A class as it lies in its folder.

``folders``      the folders of a course, and nbgrader's settings for them
``address``      the address of the gradebook database
``gradebook``    makes the gradebook: a file, or tables in another database
``version``      what an older or a newer package left
``due``          due dates, from course.toml into the gradebook
``records``      what grading found, by student, and a fingerprint of what it was made from
``snapshot``     the content of folders, to be sent to workers
``small_files``  what nbgrader puts beside a notebook: its time and its secret
``watched``      where the files of a watched assignment are
"""
