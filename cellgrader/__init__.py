"""The grader of a course of notebooks, built on nbgrader: from a release to the marks.

Each folder is a room; its face says in a line what every module of it does.

``profile``         all that the grader knows of the course whose work it grades
``checks``          what it asks of that course's checks
``errors``          the exception whose message is meant for a person
``printable``       one cleaner for text that a student wrote
``bounds``          what one submission may cost outside the sandbox
``sockets``         socket files by which kernels are talked to
``probe_files``     files by which a grader and a probe talk
``class_settings``  course.toml
``answers``         worked answers: sealed, read and shown
``notebook``        a notebook as a document: read what nobody trusts, mend it, lose no answer
``sandbox``         kernels for students' code, with limits of time, memory and sight
``processes``       work in forked processes and on workers; Ctrl-C
``course``          the folders of a class, its gradebook, records and due dates
``platforms``       the files of Canvas and Moodle
``release``         solutions/ -> assignments/, as a class wants them
``run``             examine one submission: run it, ask the probes, judge what they hand over
``submission``      who hands in together, which attempt it is
``marks``           points, penalties, their history, tables of them
``with_nbgrader``   what is saved through nbgrader, and what is set up in it
``appeals``         what students want looked at again, and the answers
``pages``           feedback for students, the report for instructors
``similar``         submissions that are alike
``leaderboard``     the page that ranks trained systems
``viva``            questions about a student's own code
``people``          who is in the class, comes late or leaves
``grade``           grade a class, or preview what a regrade would change
``watch``           grade what arrives while a class works

These modules do not import PyTorch. Only the kernels that run students' code do.
"""
