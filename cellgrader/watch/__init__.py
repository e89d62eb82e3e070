"""Grade what arrives while a class works: ``seqcourse watch ps3``.

``day``             the attempts of a student, and how many of them a day allows
``arrivals``        submissions that have arrived: in the inbox, or through nbgrader's exchange
``feedback_pages``  what the student finds
``passing``         work and feedback on their way through nbgrader's exchange
``board``           what the instructor sees
``standing``        whether a version is graded now: what is known of it, and what a day allows
``only_one``        one watcher at a time, and what a killed one left
``loop``            the watcher: from arrival to feedback, and on again after it was killed
"""
